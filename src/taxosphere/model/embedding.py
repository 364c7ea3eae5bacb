"""The embedding of a seed: text vectors and a trained head, and how to train both again without some leaves.

The ranker learns from leaves that are held out, so whatever was trained on the seed is trained again without them: the
head, and with it the encoder where that is fine-tuned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from taxosphere.encoders.device import CPU
from taxosphere.encoders.text.registry import (
    TextEncoder,
    TextVectors,
    Trainable,
    bare,
    encode_text_vectors,
    part_dims,
    trainable,
    with_tuned,
)
from taxosphere.errors import InputError
from taxosphere.model.checkpoint import NO_CHECKPOINTS, Checkpoints
from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.early_stopping import SelectedHead, fit_head, fit_tuned, try_tuned, tuned_encoder
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainingRun, fine_tune, train_head
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.hiding import HiddenFold, hidden_folds
from taxosphere.taxonomy.split import Split, hide
from taxosphere.typing import CountProgress, Longs

_MANY = 10
_FEWEST_EXAMPLES = 400  # food, with 350 leaves for the ranker, gained nothing from fine-tuning; WordNet with 500 did

RefitWithout = Callable[[Taxonomy, Longs, int], tuple[TextVectors, SphereNetwork]]
"""``refit(part, kept, random_state)`` trains on a part of the seed alone.

``part`` is the seed without some concepts, ``kept`` (p,) the positions of its concepts in the seed. Returns text
vectors of ALL concepts of the seed, followed by those of foreign concepts, and a head, neither of which was trained
with what the part lacks.
"""


@dataclass(frozen=True)
class FittedEmbedding:
    """The encoder (fine-tuned or not), its vectors of the seed's concepts, the same followed by those of foreign
    concepts, the trained head, and `RefitWithout`."""

    encoder: TextEncoder
    views: TextVectors
    with_foreign: TextVectors
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
    foreign: Sequence[Concept] = (),
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
    foreign : sequence of Concept
        Concepts of other fields, of which `RefitWithout` returns vectors too.

    Raises
    ------
    InputError
        Fine-tuning is asked for and the encoder has no weights of its own, or several stand side by side and the seed
        is small.
    """
    every = [*seed.concepts(), *foreign]
    vectors = encode_text_vectors(encoder, every, encoding)
    views = _of_seed(vectors, seed)
    learner = trainable(encoder) if config.training.fine_tune else None
    share = has_many_leaves(seed, config.ranking)
    split = split_for_ranker(seed, config.ranking, run.random_state) if share or learner is not None else None
    if learner is not None and learner is not encoder and split is None:
        raise InputError(
            f"the taxonomy has too few leaves to fine-tune a part of '{encoder.name}'; fine-tune '{learner.name}' "
            "alone, or keep all of it frozen"
        )
    share = share and split is not None
    head = fit_head(torch.from_numpy(views.full), seed, config, run, start=start, split=split, once=share)
    _add_heads_of_parts(head, encoder, views, seed, config, run, share=share, start=start)
    refit = _refit_head(vectors, head, config, run, share=share)
    untuned = FittedEmbedding(encoder, views, vectors, head, refit)
    if learner is None:
        return untuned
    if split is None:
        return _fit_tuned(untuned, learner, seed, foreign, config, run)
    return _fit_tuned_once(untuned, learner, seed, foreign, config, run, share=share)


def _fit_tuned_once(
    untuned: FittedEmbedding,
    learner: Trainable,
    seed: Taxonomy,
    foreign: Sequence[Concept],
    config: PolarisConfig,
    run: TrainingRun,
    *,
    share: bool,
) -> FittedEmbedding:
    """Fine-tune without what the ranker hides, so that one fine-tuning serves all folds."""
    encoder, head, split = untuned.encoder, untuned.head, untuned.head.split
    if learner is not encoder:  # it learns alone, from a head of its own; the encoders beside it stay frozen
        alone = torch.from_numpy(learner.encode([concept.text for concept in seed.concepts()]))
        head = fit_head(alone, seed, config, _labelled(run, "alone-"), split=split)
    trial = try_tuned(head, bare(learner), config, run)
    if trial is None:
        return untuned
    tuned = with_tuned(encoder, tuned_encoder(trial).tuned)
    vectors = encode_text_vectors(tuned, [*seed.concepts(), *foreign])
    views = _of_seed(vectors, seed)
    run = _labelled(run, "on-tuned-")
    head = fit_head(torch.from_numpy(views.full), seed, config, run, split=split, once=share)
    _add_heads_of_parts(head, tuned, views, seed, config, run, share=share)
    refit = _refit_head(vectors, head, config, run, share=share)
    return FittedEmbedding(tuned, views, vectors, head, refit)


def _add_heads_of_parts(
    head: SelectedHead,
    encoder: TextEncoder,
    views: TextVectors,
    seed: Taxonomy,
    config: PolarisConfig,
    run: TrainingRun,
    *,
    share: bool,
    start: SphereNetwork | None = None,
) -> None:
    """Where several encoders stand side by side, train a head for each, as long as the one for all was trained.

    With ``share``, where one head serves the folds and the queries, on what that was trained on.
    """
    dims = part_dims(encoder)
    if not dims:
        return
    before = start.heads_of_parts if start is not None and start.part_dims == dims else (None,) * len(dims)
    taxonomy, name = (head.split.seed, "validated") if share and head.split is not None else (seed, "final")
    rows = np.array([seed.position(id) for id in taxonomy.ids])
    for number, part in enumerate(views.take(rows).split(dims)):
        trained = train_head(
            torch.from_numpy(part.full),
            taxonomy,
            config,
            random_state=run.random_state,
            start=before[number],
            epochs=head.epochs,
            checkpoint=run.checkpoints.at(f"{name}-encoder-{number + 1}"),
            device=run.device,
        )
        head.network.parts.append(trained.network)


def _labelled(run: TrainingRun, label: str) -> TrainingRun:
    """The run with checkpoints under names of their own."""
    return replace(run, checkpoints=replace(run.checkpoints, label=label))


def _refit_head(
    vectors: TextVectors, head: SelectedHead, config: PolarisConfig, run: TrainingRun, *, share: bool
) -> RefitWithout:
    """`RefitWithout` on fixed vectors: a head for each fold, or with ``share`` the head of the trial for all.

    The trial was trained without anything that a fold hides.
    """
    if share and head.trial is not None:
        trained = vectors, head.trial
        return lambda *_: trained
    return frozen(vectors, config, head.epochs, run.checkpoints, run.device, head.network.part_dims)


def _fit_tuned(
    untuned: FittedEmbedding,
    encoder: Trainable,
    seed: Taxonomy,
    foreign: Sequence[Concept],
    config: PolarisConfig,
    run: TrainingRun,
) -> FittedEmbedding:
    """Fine-tune on the whole seed; every fold of the ranker is then fine-tuned again without what it hides."""
    head = fit_tuned(untuned.head, bare(encoder), seed, config, run)
    if head.encoder is None:
        return untuned
    tuned = encoder.with_weights(head.encoder.tuned)
    every = [*seed.concepts(), *foreign]
    refit = fine_tuned(encoder, every, untuned.refit, config, head.encoder_epochs, run.checkpoints)
    vectors = encode_text_vectors(tuned, every)
    return FittedEmbedding(tuned, _of_seed(vectors, seed), vectors, head, refit)


def _of_seed(vectors: TextVectors, seed: Taxonomy) -> TextVectors:
    """Vectors of the seed's concepts, which come before those of foreign ones."""
    return TextVectors(vectors.full[: len(seed)], vectors.name[: len(seed)])


def ranker_leaves(seed: Taxonomy, settings: RankingConfig, random_state: int) -> Longs:
    """Positions of the leaves that the ranker learns from, at most `RankingConfig.most_examples`, in random order."""
    leaves = np.random.default_rng([random_state, 1]).permutation(np.flatnonzero(seed.hideable))
    return leaves[: settings.most_examples]


def ranker_folds(seed: Taxonomy, settings: RankingConfig, random_state: int) -> list[HiddenFold]:
    """What is hidden together while the ranker learns."""
    return hidden_folds(seed, ranker_leaves(seed, settings, random_state), settings.folds, random_state)


def limit_examples(seed: Taxonomy, config: PolarisConfig) -> PolarisConfig:
    """The settings with fewer leaves for the ranker to learn from, where the encoder learns along.

    Parameters
    ----------
    seed : Taxonomy
    config : PolarisConfig

    Returns
    -------
    PolarisConfig
        With fine-tuning, ``ranking.examples`` is at most a third of the leaves, so that the encoder can learn from the
        others; unchanged where it is stated, and where a third would be fewer than the ranker needs.
    """
    third = int(np.count_nonzero(seed.hideable)) // 3
    if not config.training.fine_tune or config.ranking.examples is not None or third < _FEWEST_EXAMPLES:
        return config
    ranking = config.ranking.model_copy(update={"examples": min(third, config.ranking.most_examples)})
    return config.model_copy(update={"ranking": ranking})


def has_many_leaves(seed: Taxonomy, settings: RankingConfig) -> bool:
    """Whether the seed hardly misses all the leaves that the ranker learns from: it has `_MANY` times as many.

    Parameters
    ----------
    seed : Taxonomy
    settings : RankingConfig

    Returns
    -------
    bool
        Then one head, trained without these leaves, serves all folds and the queries after them.
    """
    return int(np.count_nonzero(seed.hideable)) >= _MANY * settings.most_examples


def split_for_ranker(seed: Taxonomy, settings: RankingConfig, random_state: int) -> Split | None:
    """The seed without all that the ranker hides; None unless at least a third of all leaves remain.

    An encoder fine-tuned on this part has seen nothing that a fold hides, so one fine-tuning serves every fold.
    """
    leaves = ranker_leaves(seed, settings, random_state)
    parts = [fold.hidden for fold in ranker_folds(seed, settings, random_state)]
    hidden = np.unique(np.concatenate([leaves, *parts]))
    n_leaves = np.count_nonzero(seed.hideable)
    enough = len(leaves) > 0 and 3 * np.count_nonzero(seed.hideable[hidden]) <= 2 * n_leaves
    return hide(seed, hidden, np.sort(leaves), name="split_for_ranker") if enough else None


def frozen(
    views: TextVectors,
    config: PolarisConfig,
    epochs: int,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
    device: str = CPU,
    dims: Sequence[int] = (),
) -> RefitWithout:
    """`RefitWithout` for an encoder that was not trained on the seed: its vectors stay, only the head is trained.

    Of several encoders side by side, ``dims`` are the lengths of their vectors; each gets a head of its own.
    """

    def train(vectors: TextVectors, part: Taxonomy, random_state: int, name: str) -> SphereNetwork:
        return train_head(
            torch.from_numpy(vectors.full),
            part,
            config,
            random_state=random_state,
            epochs=epochs,
            checkpoint=checkpoints.at(name),
            device=device,
        ).network

    def refit(part: Taxonomy, kept: Longs, random_state: int) -> tuple[TextVectors, SphereNetwork]:
        name, vectors = f"fold-{random_state}", views.take(kept)
        network = train(vectors, part, random_state, name)
        for number, each in enumerate(vectors.split(dims) if dims else [], 1):
            network.parts.append(train(each, part, random_state, f"{name}-encoder-{number}"))
        return views, network

    return refit


def fine_tuned(
    encoder: Trainable,
    concepts: Sequence[Concept],
    refit_head: RefitWithout,
    config: PolarisConfig,
    epochs: int,
    checkpoints: Checkpoints,
) -> RefitWithout:
    """`RefitWithout` for an encoder that was fine-tuned on the whole seed: fine-tune again on the part alone.

    ``concepts`` are those of the seed, followed by foreign ones.
    """

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
        return encode_text_vectors(tuned_encoder(trained), concepts), trained.network

    return refit
