"""Training examples for the ranker, made from the seed: hide leaves, train without them, rank their parents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import RefitWithout, ranker_leaves
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.shortlist import Shortlist, make_shortlist, query_blocks
from taxosphere.ranking.lexical.index import ConceptTokens
from taxosphere.ranking.queries import Queries, embed, encode_queries
from taxosphere.ranking.retrieval import (
    DEFAULT_FIRST_STAGE,
    FirstStage,
    Sample,
    fit_first_stage,
    sample_candidates,
)
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide
from taxosphere.typing import Booleans, Floats, Longs, Progress

_FIRST_STAGE_QUERIES = 200  # of a fold, to train the first stage on: it has few weights
_NONE_QUERIES = 480  # of a fold, to train "none of these" on


@dataclass(frozen=True)
class ParentRemovedExamples:
    """Shortlists of hidden leaves in a seed taxonomy from which some of their true parents were removed.

    Attributes
    ----------
    features
        (o, k, f) of the shortlists.
    orphan_features
        (o, s), see `compute.orphan_features`.
    example
        (o,): number of the example among `Examples` that is asked again.
    parent_removed
        (o,): True where all its true parents were removed, False where none was.
    """

    features: Floats
    orphan_features: Floats
    example: Longs
    parent_removed: Booleans


@dataclass(frozen=True)
class Examples:
    """Shortlists of t hidden leaves with the right answers.

    Attributes
    ----------
    feature_names
        (f,) names of the features.
    features
        (t, k, f) of the shortlists.
    labels
        (t, k): which of the listed candidates are true parents.
    n_gold
        (t,): how many true parents there are, listed or not.
    orphan_features
        (t, s), see `compute.orphan_features`.
    first_stage
        Trained on all folds.
    parent_removed
        Some of the examples, asked again without their parents.
    """

    feature_names: tuple[str, ...]
    features: Floats
    labels: Booleans
    n_gold: Longs
    orphan_features: Floats
    first_stage: FirstStage = DEFAULT_FIRST_STAGE
    parent_removed: tuple[ParentRemovedExamples, ...] = ()

    def __len__(self) -> int:
        return len(self.features)

    @property
    def listed(self) -> Booleans:
        """(t,): whether a true parent is on the shortlist."""
        return np.asarray(self.labels.any(1))


def join_shortlists(
    shortlists: Sequence[Shortlist],
    gold: Sequence[Longs],
    first_stage: FirstStage = DEFAULT_FIRST_STAGE,
    parent_removed: Sequence[ParentRemovedExamples] = (),
) -> Examples:
    """Examples from the shortlists of several blocks of queries.

    Parameters
    ----------
    shortlists
        At least one, all with the same features. Longer ones are cut to the length of the shortest: folds of a tiny
        seed may differ in their number of candidates.
    gold
        Positions of the true parents of each query, block after block.
    first_stage, parent_removed
        Stored with the examples.
    """
    length = min(shortlist.positions.shape[1] for shortlist in shortlists)
    positions = np.concatenate([shortlist.positions[:, :length] for shortlist in shortlists])
    return Examples(
        feature_names=shortlists[0].feature_names,
        features=np.concatenate([shortlist.features[:, :length] for shortlist in shortlists]),
        labels=np.stack([np.isin(row, parents) for row, parents in zip(positions, gold, strict=True)]),
        n_gold=np.array([len(parents) for parents in gold]),
        orphan_features=np.concatenate([shortlist.orphan_features for shortlist in shortlists]),
        first_stage=first_stage,
        parent_removed=tuple(parent_removed),
    )


@dataclass(frozen=True)
class Fold:
    """Leaves hidden together, and what was trained without them.

    Attributes
    ----------
    split
        The seed without these leaves, the leaves as queries, and their true parents.
    kept
        Positions in the whole seed of the concepts that are left.
    hidden
        Positions in the whole seed of the queries.
    tokens, text_vectors
        Of the whole seed.
    network
        The head trained without the leaves.
    """

    split: Split
    kept: Longs
    hidden: Longs
    tokens: ConceptTokens
    text_vectors: TextVectors
    network: SphereNetwork

    def candidate_index(self) -> CandidateIndex:
        """The concepts that are left, as candidates. Not cached: those of all folds would fill the memory."""
        seed, text_vectors = self.split.seed, self.text_vectors.take(self.kept)
        return CandidateIndex(
            taxonomy=seed,
            text_vectors=text_vectors,
            points=embed(self.network, text_vectors.full),
            n_trusted=len(seed),
            parsed_tokens=self.tokens.take(self.kept),
        )

    def queries(self, numbers: Longs) -> tuple[Queries, list[Longs]]:
        """Hidden leaves as queries, by number, and the positions of their true parents."""
        concepts = [self.split.queries[i] for i in numbers]
        encoded = encode_queries(self.network, concepts, self.text_vectors.take(self.hidden[numbers]))
        return encoded, [self.split.gold[i] for i in numbers]


def make_examples(
    seed: Taxonomy, refit: RefitWithout, config: PolarisConfig, *, random_state: int, progress: Progress | None
) -> Examples | None:
    """Rank every fold of hidden leaves with a head and a first stage that were trained without it.

    Parameters
    ----------
    seed
        The taxonomy to hide leaves of.
    refit
        Trains a head on a part of the seed.
    config
        All settings; ``ranking`` says how many leaves in how many folds.
    random_state
        Chooses leaves and samples.
    progress
        Called before each fold; None is silent.

    Returns
    -------
    None where the seed has fewer than two leaves that can be hidden.
    """
    families = config.ranking.families
    folds = list(make_folds(seed, refit, config, random_state=random_state, progress=progress))
    if len(folds) < 2:
        return None
    samples = [_first_stage_samples(fold, families, random_state) for fold in folds]
    shortlists: list[Shortlist] = []
    gold: list[Longs] = []
    parent_removed: list[ParentRemovedExamples] = []
    rng = np.random.default_rng([random_state, 4])
    for number, fold in enumerate(folds):
        others = [part for other, parts in enumerate(samples) for part in parts if other != number]
        first_stage = fit_first_stage(others)
        if progress is not None:
            progress(number, len(folds), f"ranking parents of the leaves of fold {number + 1} of {len(folds)}")
        index, n_before = fold.candidate_index(), len(gold)
        for block in query_blocks(len(fold.hidden), len(fold.split.seed)):
            queries, parents = fold.queries(np.arange(len(fold.hidden))[block])
            shortlists.append(make_shortlist(index, queries, families, first_stage))
            gold += parents
        parent_removed += _without_parents(fold, index, families, first_stage, n_before, rng)
    first_stage = fit_first_stage([part for parts in samples for part in parts])
    return join_shortlists(shortlists, gold, first_stage, parent_removed)


def _without_parents(
    fold: Fold,
    index: CandidateIndex,
    families: Sequence[str],
    first_stage: FirstStage,
    n_before: int,
    rng: np.random.Generator,
) -> Iterator[ParentRemovedExamples]:
    """Remove half of the queries' parents from the fold's seed and rank the queries again; then the other half.

    Children of a removed concept are left without it: would they move up to its parents, those would be right answers.
    Queries that lose no parent are asked of the same seed, for comparison. It is parents that are drawn, not queries:
    parents of drawn queries would mostly be those with many children, and the number of children would seem to tell
    whether a parent is missing. ``n_before`` is the number of the fold's first example.
    """
    gold, size = fold.split.gold, len(fold.split.seed)
    some = rng.permutation(len(gold))[:_NONE_QUERIES]
    parents = rng.permutation(np.unique(np.concatenate([gold[i] for i in some])))
    for removed in (parents[::2], parents[1::2]):
        kept = np.delete(np.arange(size), removed)
        if len(kept) in (0, size):
            continue
        reduced = CandidateIndex(
            taxonomy=index.taxonomy.keep(kept),
            text_vectors=index.text_vectors.take(kept),
            points=index.points.take(kept),
            n_trusted=len(kept),
            parsed_tokens=index.tokens.take(kept),
        )
        share_removed = np.array([np.isin(gold[i], removed).mean() for i in some])
        clear = np.flatnonzero((share_removed == 0) | (share_removed == 1))  # neither some nor all: no clear answer
        for block in query_blocks(len(clear), len(kept)):
            numbers = some[clear[block]]
            queries, _ = fold.queries(numbers)
            shortlist = make_shortlist(reduced, queries, families, first_stage)
            yield ParentRemovedExamples(
                features=shortlist.features,
                orphan_features=shortlist.orphan_features,
                example=n_before + numbers,
                parent_removed=share_removed[clear[block]] == 1,
            )


def make_folds(
    seed: Taxonomy, refit: RefitWithout, config: PolarisConfig, *, random_state: int, progress: Progress | None
) -> Iterator[Fold]:
    """Hide the chosen leaves fold by fold, and train a head without each; parameters as for `make_examples`.

    Leaves that are not chosen are never hidden, so that queries meet a taxonomy as complete as new concepts will.
    """
    leaves = ranker_leaves(seed, config.ranking, random_state)
    count = min(config.ranking.folds, len(leaves))
    tokens = ConceptTokens.parse(seed.concepts())
    for number in range(count):
        if progress is not None:
            progress(number, count, f"hiding fold {number + 1} of {count} for the ranker")
        fold = np.sort(leaves[number::count])
        split = hide(seed, fold)
        if not split.queries:
            continue
        kept = np.delete(np.arange(len(seed)), fold)
        text_vectors, network = refit(split.seed, kept, 1000 + number + random_state)
        yield Fold(
            split=split,
            kept=kept,
            hidden=np.array([seed.position(query.id) for query in split.queries]),
            tokens=tokens,
            text_vectors=text_vectors,
            network=network,
        )


def _first_stage_samples(fold: Fold, families: Sequence[str], random_state: int) -> list[Sample]:
    """Candidates of some queries of a fold, to train the first stage on."""
    rng = np.random.default_rng([random_state, 3])
    numbers = rng.permutation(len(fold.split.queries))[:_FIRST_STAGE_QUERIES]
    index = fold.candidate_index()
    samples = []
    for block in query_blocks(len(numbers), len(fold.split.seed)):
        queries, gold = fold.queries(numbers[block])
        samples.append(sample_candidates(index, compute_features(index, queries, families), gold, rng))
    return samples
