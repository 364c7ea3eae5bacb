"""How long to train: decided on queries hidden from the seed, then done on all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.model.checkpoint import NO_CHECKPOINTS, Checkpoints, Epoch
from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import Progress, TrainedHead, fine_tune, highest, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, leaves

_FEWEST_LEAVES = 20  # below, a tenth of them says nothing about when to stop


def validation_split(seed: Taxonomy, share: float, random_state: int) -> Split | None:
    """Hide a share of the seed's leaves as validation queries; None when the seed is too small to spare any."""
    hideable = np.count_nonzero(seed.hideable)
    if share == 0 or hideable < _FEWEST_LEAVES:
        return None
    return leaves(seed, share, random_state)


@dataclass(frozen=True)
class SelectedHead:
    """A network trained on the whole seed for ``epochs``, and the trial that told how long.

    ``history`` is the trial's, whose MRR is an honest estimate; without a trial it is that of the training itself.
    """

    network: SphereNetwork
    history: tuple[Epoch, ...]
    epochs: int
    trial: SphereNetwork | None
    split: Split | None
    vectors: Tensor
    """All of the seed's concepts as the trial's encoder sees them."""
    encoder: TransformerEncoder | None = None
    """The fine-tuned encoder the network stands on; None: the one that was given."""
    encoder_epochs: int = 0


def fit_head(
    vectors: Tensor,
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    start: SphereNetwork | None = None,
    split: Split | None = None,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    progress: Progress | None = None,
) -> SelectedHead:
    """Find the best number of epochs with some leaves hidden, those of ``split`` or a share of all; then train that
    long on the whole seed."""
    split = split or validation_split(seed, config.training.validation, random_state)
    trial = None
    if split is not None:
        kept = torch.tensor([seed.position(id) for id in split.seed.ids])
        asked = torch.tensor([seed.position(query.id) for query in split.queries])
        trial = train_head(
            vectors[kept],
            split.seed,
            config,
            random_state=random_state,
            start=start,
            validation=Validation(split.gold, vectors[asked]),
            checkpoint=checkpoints.at("validated"),
            progress=progress,
        )
    final = train_head(
        vectors,
        seed,
        config,
        random_state=random_state,
        start=start,
        epochs=None if trial is None else trial.best,
        checkpoint=checkpoints.at("final"),
        progress=progress,
    )
    if trial is None:
        return SelectedHead(final.network, final.history, final.best, None, None, vectors)
    return SelectedHead(final.network, trial.history, trial.best, trial.network, split, vectors)


def fit_tuned(
    head: SelectedHead,
    encoder: TransformerEncoder,
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    progress: Progress | None = None,
) -> SelectedHead:
    """Let the encoder learn along from a trained head on; that head is returned where this answers no better."""
    texts = [concept.text for concept in seed.concepts()]
    tried, epochs = None, config.training.encoder_epochs
    if head.split is not None:
        tried = try_tuned(head, encoder, config, random_state=random_state, checkpoints=checkpoints, progress=progress)
        if tried is None:
            return head
        epochs = tried.best
    final = fine_tune(
        encoder,
        texts,
        seed,
        config,
        random_state=random_state,
        start=head.network,
        epochs=epochs,
        checkpoint=checkpoints.at("tuned-final"),
        progress=progress,
    )
    return replace(
        head,
        network=final.network,
        history=(tried or final).history,
        trial=None if tried is None else tried.network,
        vectors=head.vectors if tried is None else torch.from_numpy(learned(tried).encode(texts)),
        encoder=final.encoder,
        encoder_epochs=epochs,
    )


def try_tuned(
    head: SelectedHead,
    encoder: TransformerEncoder,
    config: PolarisConfig,
    *,
    random_state: int,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    progress: Progress | None = None,
) -> TrainedHead | None:
    """Go on from the head's trial with an encoder that learns along; None where that answers no better."""
    assert head.split is not None
    assert head.trial is not None
    tried = fine_tune(
        encoder,
        [concept.text for concept in head.split.seed.concepts()],
        head.split.seed,
        config,
        random_state=random_state,
        start=head.trial,
        validation=Validation(head.split.gold, texts=tuple(query.text for query in head.split.queries)),
        epochs=config.training.encoder_epochs,
        checkpoint=checkpoints.at("tuned-validated"),
        progress=progress,
    )
    return tried if highest(tried.history) > highest(head.history) else None


def learned(trained: TrainedHead) -> TransformerEncoder:
    assert trained.encoder is not None
    return trained.encoder
