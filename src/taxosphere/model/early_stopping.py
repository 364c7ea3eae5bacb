"""How many epochs to train: chosen on leaves held out of the seed, then trained for on all of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.model.config import PolarisConfig
from taxosphere.model.history import Epoch, highest
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainedHead, TrainingRun, fine_tune, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, leaves

_VALIDATED = 1024  # held-out leaves that are ranked after an epoch, at most: ranking all would grow with the square
_CANDIDATES = 1 << 17  # concepts, besides their parents, that they are ranked among, at most
_FEWEST_LEAVES = 20  # below, a tenth of them says nothing about when to stop


def validation_split(seed: Taxonomy, share: float, random_state: int) -> Split | None:
    """Hold out a share of the seed's leaves as validation queries; None where the seed has too few leaves."""
    hideable = np.count_nonzero(seed.hideable)
    if share == 0 or hideable < _FEWEST_LEAVES:
        return None
    return leaves(seed, share, random_state)


@dataclass(frozen=True)
class SelectedHead:
    """A network trained on the whole seed, and the trial that chose the number of epochs.

    Attributes
    ----------
    network : SphereNetwork
        Trained on the whole seed for ``epochs``; or that of the trial, where the seed hardly misses what that lacks.
    history : tuple of Epoch
        Of the trial, so that its validation MRR is an honest estimate; without a trial, of the training itself.
    epochs : int
        Epochs of the network on fixed vectors.
    trial : SphereNetwork or None
        Trained without the leaves of ``split``; None where there was no trial.
    split : Split or None
        The seed of the trial and the leaves that were held out of it.
    vectors : Tensor of shape (n, m)
        All of the seed's concepts as the trial's encoder gives them.
    encoder : TransformerEncoder or None
        The fine-tuned encoder that the network belongs to; None: the encoder was not fine-tuned.
    encoder_epochs : int
        Epochs of fine-tuning.
    """

    network: SphereNetwork
    history: tuple[Epoch, ...]
    epochs: int
    trial: SphereNetwork | None
    split: Split | None
    vectors: Tensor
    encoder: TransformerEncoder | None = None
    encoder_epochs: int = 0


def fit_head(
    vectors: Tensor,
    seed: Taxonomy,
    config: PolarisConfig,
    run: TrainingRun,
    *,
    start: SphereNetwork | None = None,
    split: Split | None = None,
    once: bool = False,
) -> SelectedHead:
    """Train a head on fixed vectors twice: with leaves held out to choose the epochs, then on the whole seed.

    Parameters
    ----------
    vectors : Tensor of shape (n, m)
        Encoder vectors, one row per concept of the seed.
    seed : Taxonomy
    config : PolarisConfig
    run : TrainingRun
        Random state, checkpoints, progress and device of both trainings.
    start : SphereNetwork, optional
        Weights to begin from in place of random ones.
    split : Split, optional
        Leaves to hold out; default: a share ``training.validation`` of them, none of a very small seed.
    once : bool
        Where leaves are held out, return the head trained without them and train none on the whole seed.
    """
    split = split or validation_split(seed, config.training.validation, run.random_state)
    train = partial(
        train_head,
        config=config,
        random_state=run.random_state,
        start=start,
        progress=run.progress,
        device=run.device,
    )
    trial = None
    if split is not None:
        kept = torch.tensor([seed.position(id) for id in split.seed.ids])
        validation = _validation(vectors, seed, split, run.random_state)
        trial = train(vectors[kept], split.seed, validation=validation, checkpoint=run.checkpoints.at("validated"))
    if trial is not None and once:
        final = trial
    else:
        epochs = None if trial is None else trial.best
        final = train(vectors, seed, epochs=epochs, checkpoint=run.checkpoints.at("final"))
    return SelectedHead(
        network=final.network,
        history=(trial or final).history,
        epochs=(trial or final).best,
        trial=None if trial is None else trial.network,
        split=split,
        vectors=vectors,
    )


def _validation(vectors: Tensor, seed: Taxonomy, split: Split, random_state: int) -> Validation:
    """At most `_VALIDATED` of the leaves held out, ranked among at most `_CANDIDATES` concepts and their parents."""
    chosen = np.linspace(0, len(split.queries) - 1, min(len(split.queries), _VALIDATED)).astype(np.int64)
    queries = vectors[torch.tensor([seed.position(split.queries[i].id) for i in chosen])]
    gold = tuple(split.gold[i] for i in chosen)
    if len(split.seed) <= _CANDIDATES:
        return Validation(gold, queries)
    drawn = np.random.default_rng([random_state, 17]).permutation(len(split.seed))[:_CANDIDATES]
    candidates = np.unique(np.concatenate([drawn, *gold]))
    return Validation(tuple(np.searchsorted(candidates, row) for row in gold), queries, candidates=candidates)


def fit_tuned(
    head: SelectedHead, encoder: TransformerEncoder, seed: Taxonomy, config: PolarisConfig, run: TrainingRun
) -> SelectedHead:
    """Fine-tune encoder and head from a trained head on; returns ``head`` itself where validation does not improve."""
    texts = [concept.text for concept in seed.concepts()]
    trial, epochs = None, config.training.encoder_epochs
    if head.split is not None:
        trial = try_tuned(head, encoder, config, run)
        if trial is None:
            return head
        epochs = trial.best
    final = fine_tune(
        encoder,
        texts,
        seed,
        config,
        random_state=run.random_state,
        start=head.network,
        epochs=epochs,
        checkpoint=run.checkpoints.at("tuned-final"),
        progress=run.progress,
    )
    return replace(
        head,
        network=final.network,
        history=(trial or final).history,
        trial=None if trial is None else trial.network,
        vectors=head.vectors if trial is None else torch.from_numpy(tuned_encoder(trial).encode(texts)),
        encoder=final.encoder,
        encoder_epochs=epochs,
    )


def try_tuned(
    head: SelectedHead, encoder: TransformerEncoder, config: PolarisConfig, run: TrainingRun
) -> TrainedHead | None:
    """Fine-tune from the head's trial on, without the leaves held out; None where validation does not improve."""
    assert head.split is not None
    assert head.trial is not None
    trial = fine_tune(
        encoder,
        [concept.text for concept in head.split.seed.concepts()],
        head.split.seed,
        config,
        random_state=run.random_state,
        start=head.trial,
        validation=Validation(head.split.gold, texts=tuple(query.text for query in head.split.queries)),
        epochs=config.training.encoder_epochs,
        checkpoint=run.checkpoints.at("tuned-validated"),
        progress=run.progress,
    )
    return trial if highest(trial.history) > highest(head.history) else None


def tuned_encoder(trained: TrainedHead) -> TransformerEncoder:
    """The encoder of a fine-tuned head."""
    assert trained.encoder is not None
    return trained.encoder
