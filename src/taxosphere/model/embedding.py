"""The embedding of a seed: text vectors and a trained head, and how to train both again without some leaves.

The ranker learns from leaves that are held out, so whatever was trained on the seed is trained again without them: the
head, and with it the encoder where that is fine-tuned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch

from taxosphere.encoders.device import CPU
from taxosphere.encoders.text.registry import TextEncoder, Trainable, bare, trainable
from taxosphere.encoders.text.vectors import TextVectors, encode_text_vectors
from taxosphere.model.checkpoint import NO_CHECKPOINTS, Checkpoints
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.early_stopping import SelectedHead, fit_head, fit_tuned, try_tuned, tuned_encoder
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainingRun, fine_tune, train_head
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide
from taxosphere.typing import CountProgress, Longs

RefitWithout = Callable[[Taxonomy, Longs, int], tuple[TextVectors, SphereNetwork]]
"""``refit(part, kept, random_state)`` trains on a part of the seed alone.

``part`` is the seed without some leaves, ``kept`` (p,) the positions of its concepts in the seed. Returns text vectors
of ALL concepts of the seed and a head, neither of which was trained with what the part lacks.
"""


@dataclass(frozen=True)
class FittedEmbedding:
    """The encoder (fine-tuned or not), its vectors of the seed's concepts, the trained head, and `RefitWithout`."""

    encoder: TextEncoder
    views: TextVectors
    head: SelectedHead
    refit: RefitWithout


def fit(
    encoder: TextEncoder,
    seed: Taxonomy,
    config: PolarisConfig,
    run: TrainingRun,
    *,
    start: SphereNetwork | None = None,
    encoding: CountProgress | None = None,
) -> FittedEmbedding:
    """Train a head on the encoder's vectors and, with ``training.fine_tune``, fine-tune the encoder where that helps.

    Parameters
    ----------
    encoder : TextEncoder
    seed : Taxonomy
    config : PolarisConfig
    run : TrainingRun
        Random state, checkpoints, progress and device of all trainings.
    start : SphereNetwork, optional
        Weights of the head to begin from in place of random ones.
    encoding : callable, optional
        Called while texts are encoded as ``encoding(done, total)``.

    Raises
    ------
    InputError
        Fine-tuning is asked for and the encoder has no weights of its own.
    """
    concepts = list(seed.concepts())
    views = encode_text_vectors(encoder, concepts, encoding)
    learner = trainable(encoder) if config.training.fine_tune else None
    split = None if learner is None else split_for_ranker(seed, config.ranking, run.random_state)
    head = fit_head(torch.from_numpy(views.full), seed, config, run, start=start, split=split)
    untuned = FittedEmbedding(encoder, views, head, frozen(views, config, head.epochs, run.checkpoints, run.device))
    if learner is None:
        return untuned
    if split is None:
        return _fit_tuned(untuned, learner, seed, config, run)
    trial = try_tuned(head, bare(learner), config, run)
    if trial is None:
        return untuned
    # The encoder was fine-tuned without the ranker's leaves, so that one fine-tuning serves all folds.
    tuned = learner.with_weights(tuned_encoder(trial).tuned)
    views = encode_text_vectors(tuned, concepts, encoding)
    relabelled = replace(run, checkpoints=replace(run.checkpoints, label="on-tuned-"))
    head = fit_head(torch.from_numpy(views.full), seed, config, relabelled, split=split)
    return FittedEmbedding(tuned, views, head, frozen(views, config, head.epochs, run.checkpoints, run.device))


def _fit_tuned(
    untuned: FittedEmbedding, encoder: Trainable, seed: Taxonomy, config: PolarisConfig, run: TrainingRun
) -> FittedEmbedding:
    """Fine-tune on the whole seed; every fold of the ranker is then fine-tuned again without its leaves."""
    head = fit_tuned(untuned.head, bare(encoder), seed, config, run)
    if head.encoder is None:
        return untuned
    tuned = encoder.with_weights(head.encoder.tuned)
    refit = fine_tuned(encoder, seed, untuned.refit, config, head.encoder_epochs, run.checkpoints)
    return FittedEmbedding(tuned, encode_text_vectors(tuned, list(seed.concepts())), head, refit)


def ranker_leaves(seed: Taxonomy, settings: RankingConfig, random_state: int) -> Longs:
    """Positions of the leaves that the ranker learns from, at most ``ranking.examples``, in random order."""
    leaves = np.random.default_rng([random_state, 1]).permutation(np.flatnonzero(seed.hideable))
    return leaves[: settings.examples]


def split_for_ranker(seed: Taxonomy, settings: RankingConfig, random_state: int) -> Split | None:
    """The seed without the leaves that the ranker learns from; None unless at least a third of all leaves remain.

    An encoder fine-tuned on this part has seen none of the ranker's leaves, so one fine-tuning serves every fold.
    """
    wanted = ranker_leaves(seed, settings, random_state)
    enough = 0 < 3 * len(wanted) <= 2 * np.count_nonzero(seed.hideable)
    return hide(seed, np.sort(wanted), name="split_for_ranker") if enough else None


def frozen(
    views: TextVectors,
    config: PolarisConfig,
    epochs: int,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    device: str = CPU,
) -> RefitWithout:
    """`RefitWithout` for an encoder that was not trained on the seed: its vectors stay, only the head is trained."""

    def refit(part: Taxonomy, kept: Longs, random_state: int) -> tuple[TextVectors, SphereNetwork]:
        head = train_head(
            torch.from_numpy(views.full[kept]),
            part,
            config,
            random_state=random_state,
            epochs=epochs,
            checkpoint=checkpoints.at(f"fold-{random_state}"),
            device=device,
        )
        return views, head.network

    return refit


def fine_tuned(
    encoder: Trainable,
    seed: Taxonomy,
    refit_head: RefitWithout,
    config: PolarisConfig,
    epochs: int,
    checkpoints: Checkpoints,
) -> RefitWithout:
    """`RefitWithout` for an encoder that was fine-tuned on the whole seed: fine-tune again on the part alone."""

    def refit(part: Taxonomy, kept: Longs, random_state: int) -> tuple[TextVectors, SphereNetwork]:
        trained = fine_tune(
            bare(encoder),
            [concept.text for concept in part.concepts()],
            part,
            config,
            random_state=random_state,
            start=refit_head(part, kept, random_state)[1],
            epochs=epochs,
            checkpoint=checkpoints.at(f"tuned-{random_state}"),
        )
        return encode_text_vectors(tuned_encoder(trained), list(seed.concepts())), trained.network

    return refit
