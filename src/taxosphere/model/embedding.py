"""Where the concepts of a seed lie, and where they would lie had some of its leaves never been seen.

The ranker learns from hidden leaves, so whatever was trained on the seed has to be trained again without them: the
head, and with it the encoder when that learns along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere.encoders.text import transformer
from taxosphere.encoders.text.registry import TextEncoder, Trainable, bare, trainable
from taxosphere.encoders.text.vectors import TextVectors, encode_text_vectors
from taxosphere.model.checkpoint import NO_CHECKPOINTS, Checkpoints
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.early_stopping import SelectedHead, fit_head, fit_tuned, learned, try_tuned
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import Progress, fine_tune, train_head
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide

Longs = NDArray[np.int64]

# (part of the seed, where its concepts stand in the seed, random state) to views of ALL concepts of the seed and a
# head; neither has learned from what the part lacks.
RefitWithout = Callable[[Taxonomy, Longs, int], tuple[TextVectors, SphereNetwork]]


@dataclass(frozen=True)
class FittedEmbedding:
    encoder: TextEncoder
    views: TextVectors
    head: SelectedHead
    refit: RefitWithout


def fit(
    encoder: TextEncoder,
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    start: SphereNetwork | None = None,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    encoding: transformer.Progress | None = None,
    progress: Progress | None = None,
) -> FittedEmbedding:
    """A head on the encoder as it is and, when asked for and better, one on a fine-tuned encoder."""
    concepts = list(seed.concepts())
    views = encode_text_vectors(encoder, concepts, encoding)
    learner = trainable(encoder) if config.training.fine_tune else None
    spare = None if learner is None else split_for_ranker(seed, config.ranking, random_state)
    head = fit_head(
        torch.from_numpy(views.full),
        seed,
        config,
        random_state=random_state,
        start=start,
        split=spare,
        checkpoints=checkpoints,
        progress=progress,
    )
    still = frozen(views, config, head.epochs, checkpoints)
    if learner is None:
        return FittedEmbedding(encoder, views, head, still)
    if spare is None:
        better = fit_tuned(
            head, bare(learner), seed, config, random_state=random_state, checkpoints=checkpoints, progress=progress
        )
        if better.encoder is None:
            return FittedEmbedding(encoder, views, head, still)
        own = learner.with_weights(better.encoder.tuned)
        refit = tuned(learner, seed, still, config, better.encoder_epochs, checkpoints)
        return FittedEmbedding(own, encode_text_vectors(own, concepts), better, refit)
    tried = try_tuned(
        head, bare(learner), config, random_state=random_state, checkpoints=checkpoints, progress=progress
    )
    if tried is None:
        return FittedEmbedding(encoder, views, head, still)
    own = learner.with_weights(learned(tried).tuned)
    views = encode_text_vectors(own, concepts, encoding)
    better = fit_head(
        torch.from_numpy(views.full),
        seed,
        config,
        random_state=random_state,
        split=spare,
        checkpoints=replace(checkpoints, label="on-tuned-"),
        progress=progress,
    )
    return FittedEmbedding(own, views, better, frozen(views, config, better.epochs, checkpoints))


def ranker_leaves(seed: Taxonomy, settings: RankingConfig, random_state: int) -> Longs:
    """Leaves that the ranker learns from, in random order."""
    leaves = np.random.default_rng([random_state, 1]).permutation(np.flatnonzero(seed.hideable))
    return leaves[: settings.examples]


def split_for_ranker(seed: Taxonomy, settings: RankingConfig, random_state: int) -> Split | None:
    """The seed without the leaves that the ranker learns from, where at least a third are not among them.

    An encoder that learned from the rest may show the ranker all of them, and one training does for every fold.
    """
    wanted = ranker_leaves(seed, settings, random_state)
    enough = 0 < 3 * len(wanted) <= 2 * np.count_nonzero(seed.hideable)
    return hide(seed, np.sort(wanted), name="split_for_ranker") if enough else None


def frozen(
    views: TextVectors, config: PolarisConfig, epochs: int, checkpoints: Checkpoints = NO_CHECKPOINTS
) -> RefitWithout:
    """The encoder has learned nothing from the seed: its views stay."""

    def refit(part: Taxonomy, kept: Longs, random_state: int) -> tuple[TextVectors, SphereNetwork]:
        head = train_head(
            torch.from_numpy(views.full[kept]),
            part,
            config,
            random_state=random_state,
            epochs=epochs,
            checkpoint=checkpoints.at(f"fold-{random_state}"),
        )
        return views, head.network

    return refit


def tuned(
    encoder: Trainable,
    seed: Taxonomy,
    still: RefitWithout,
    config: PolarisConfig,
    epochs: int,
    checkpoints: Checkpoints,
) -> RefitWithout:
    """From the encoder as it was, fine-tune on the part alone and look at everything anew."""

    def refit(part: Taxonomy, kept: Longs, random_state: int) -> tuple[TextVectors, SphereNetwork]:
        learned = fine_tune(
            bare(encoder),
            [concept.text for concept in part.concepts()],
            part,
            config,
            random_state=random_state,
            start=still(part, kept, random_state)[1],
            epochs=epochs,
            checkpoint=checkpoints.at(f"tuned-{random_state}"),
        )
        assert learned.encoder is not None
        return encode_text_vectors(learned.encoder, list(seed.concepts())), learned.network

    return refit
