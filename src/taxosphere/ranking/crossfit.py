"""Training examples for the ranker, made from the seed: hide concepts, train without them, rank their parents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from taxosphere.model.config import PolarisConfig, RankingConfig
from taxosphere.model.embedding import RefitWithout, ranker_folds, split_for_ranker
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.novelty import NoveltyScale
from taxosphere.ranking.features.shortlist import Shortlist, make_shortlist, novelty_of, query_blocks
from taxosphere.ranking.folds import Fold, Kind, make_folds
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.queries import Queries, encode_queries
from taxosphere.ranking.reading import MakeReader, ShortlistReader
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE, FirstStage, Sample, fit_first_stage, sample_candidates
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Booleans, Floats, Longs, Progress

_FIRST_STAGE_QUERIES = 200  # of a fold, to train the first stage on: it has few weights
_NONE_QUERIES = 480  # of a fold, to train "none of these" on


NONE_KINDS = (Kind.MISSING, Kind.FOREIGN, Kind.PARENT_REMOVED)
"""Kinds of examples to which "none of these" is a right answer."""


@dataclass(frozen=True)
class Examples:
    """Shortlists of t queries with the right answers.

    Attributes
    ----------
    feature_names
        (f,) names of the features.
    features
        (t, k, f) of the shortlists.
    labels
        (t, k): which of the listed candidates are right.
    n_gold
        (t,): how many right candidates there are, listed or not.
    query_features
        (t, s) orphan features and novelty of the queries, see `calibration.none_inputs`.
    kind
        (t,) a `Kind` each.
    concept
        (t,) number of the concept that is asked; some are asked several times.
    candidates
        (t, k) positions of the listed candidates in the seed.
    first_stage
        Trained on all folds.
    """

    feature_names: tuple[str, ...]
    features: Floats
    labels: Booleans
    n_gold: Longs
    query_features: Floats
    kind: Longs
    concept: Longs
    candidates: Longs
    first_stage: FirstStage = DEFAULT_FIRST_STAGE

    def __len__(self) -> int:
        return len(self.features)

    @property
    def taught(self) -> Booleans:
        """(t,): whether the nets learn from it: a right candidate is listed, and nothing but the query was hidden."""
        return np.asarray(self.labels.any(1) & (self.kind < Kind.FOREIGN))

    @property
    def is_none(self) -> Booleans:
        """(t,): whether "none of these" is a right answer."""
        return np.isin(self.kind, NONE_KINDS)

    def of_kind(self, kind: Kind) -> Booleans:
        """(t,): which examples are of a kind."""
        return np.asarray(self.kind == kind)


@dataclass(frozen=True)
class AskedBlock:
    """A block of q queries of one kind.

    Attributes
    ----------
    kind
        Of all of them.
    shortlist
        Their candidates.
    novelty
        (q, v).
    gold
        For each, positions of its right candidates among those that it was asked of.
    concept
        (q,) numbers of the concepts that are asked.
    kept
        Positions in the seed of the candidates that they were asked of; None where these are the whole seed.
    """

    kind: Kind
    shortlist: Shortlist
    novelty: Floats
    gold: Sequence[Longs]
    concept: Longs
    kept: Longs | None = None

    def candidates(self, length: int) -> Longs:
        """(q, length) positions in the seed of the first candidates."""
        listed = self.shortlist.positions[:, :length]
        return listed if self.kept is None else self.kept[listed]


def join_blocks(blocks: Sequence[AskedBlock], first_stage: FirstStage = DEFAULT_FIRST_STAGE) -> Examples:
    """Examples from several blocks of queries.

    Parameters
    ----------
    blocks
        At least one, all with the same features. Longer shortlists are cut to the length of the shortest: folds of a
        tiny seed may differ in their number of candidates.
    first_stage
        Stored with the examples.
    """
    length = min(block.shortlist.positions.shape[1] for block in blocks)
    labels = [
        np.isin(row, parents)
        for block in blocks
        for row, parents in zip(block.shortlist.positions[:, :length], block.gold, strict=True)
    ]
    query_features = [np.concatenate([b.shortlist.orphan_features, b.novelty], axis=1) for b in blocks]
    return Examples(
        feature_names=blocks[0].shortlist.feature_names,
        features=np.concatenate([block.shortlist.features[:, :length] for block in blocks]),
        labels=np.stack(labels),
        n_gold=np.array([len(parents) for block in blocks for parents in block.gold]),
        query_features=np.concatenate(query_features).astype(np.float32),
        kind=np.concatenate([np.full(len(block.gold), block.kind, np.int64) for block in blocks]),
        concept=np.concatenate([block.concept for block in blocks]),
        candidates=np.concatenate([block.candidates(length) for block in blocks]),
        first_stage=first_stage,
    )


def make_examples(
    seed: Taxonomy,
    refit: RefitWithout,
    config: PolarisConfig,
    *,
    foreign: Sequence[Concept] = (),
    outside: Longs | None = None,
    novelty: NoveltyScale | None = None,
    make_reader: MakeReader | None = None,
    tokens: ConceptTokens | None = None,
    random_state: int,
    progress: Progress | None,
) -> Examples | None:
    """Rank every fold of hidden concepts with a head and a first stage that were trained without it.

    Parameters
    ----------
    seed
        The taxonomy to hide concepts of.
    refit
        Trains a head on a part of the seed.
    config
        All settings; ``ranking`` says how many leaves in how many folds.
    foreign
        Concepts of other fields; ``refit`` returns vectors of all of them behind those of the seed.
    outside
        Numbers of those to ask; None: all.
    novelty
        Of the seed; None where novelty is not used.
    make_reader
        Makes a second reader for each fold, from the seed without what the fold hides; or one for all folds, from the
        seed without what any of them hides, where that leaves enough (`split_for_ranker`). None: there is none.
    tokens
        The words of the seed where they were parsed before.
    random_state
        Chooses concepts and samples.
    progress
        Called before each fold; None is silent.

    Returns
    -------
    None where the seed has fewer than two leaves that can be hidden.
    """
    asked = np.arange(len(foreign)) if outside is None else outside
    folds = list(make_folds(seed, refit, config, tokens=tokens, random_state=random_state, progress=progress))
    if len(folds) < 2:
        return None
    families, rng, blocks = config.ranking.families, np.random.default_rng([random_state, 4]), list[AskedBlock]()
    samples = [_first_stage_samples(fold, families, random_state) for fold in folds]
    reader_of = _readers(make_reader, seed, folds, config.ranking, random_state)
    for number, fold in enumerate(folds):
        if progress is not None:
            progress(number, len(folds), f"ranking parents of the concepts of fold {number + 1} of {len(folds)}")
        others = [part for other, parts in enumerate(samples) for part in parts if other != number]
        asking = _Asking(fold, families, fit_first_stage(others), novelty, reader_of(number))
        blocks += asking.all_queries(foreign, asked[number :: len(folds)], len(seed), rng)
    return join_blocks(blocks, fit_first_stage([part for parts in samples for part in parts]))


def _readers(
    make_reader: MakeReader | None, seed: Taxonomy, folds: Sequence[Fold], settings: RankingConfig, random_state: int
) -> Callable[[int], ShortlistReader | None]:
    """The second reader of each fold, by the fold's number; it has not seen what the fold hides."""
    if make_reader is None:
        return lambda _number: None
    if (part := split_for_ranker(seed, settings, random_state)) is not None:
        for_all = make_reader(part.seed, random_state)
        return lambda _number: for_all
    return lambda number: make_reader(folds[number].split.seed, random_state + number)


def n_lists(seed: Taxonomy, settings: RankingConfig, n_foreign: int, random_state: int) -> int:
    """How many lists `make_examples` makes at most."""
    folds = ranker_folds(seed, settings, random_state)
    asked = sum(len(fold.leaves) + len(fold.inner) + len(fold.missing) for fold in folds)
    return asked + n_foreign + sum(2 * min(len(fold.leaves), _NONE_QUERIES) for fold in folds)


@dataclass(frozen=True)
class _Asking:
    """Ranks queries of a fold."""

    fold: Fold
    families: Sequence[str]
    first_stage: FirstStage
    novelty: NoveltyScale | None
    reader: ShortlistReader | None = None

    def all_queries(
        self, foreign: Sequence[Concept], numbers: Longs, n_seed: int, rng: np.random.Generator
    ) -> list[AskedBlock]:
        """Everything that is asked of the fold, whose candidates fill the memory only as long; see `foreign`."""
        index, blocks = self.fold.candidate_index(), list[AskedBlock]()
        for kind in (Kind.LEAF, Kind.INNER, Kind.MISSING):
            blocks += self.hidden(index, self.fold.numbers(kind), kind, self.fold.kept)
        blocks += self.foreign(index, foreign, numbers, n_seed)
        del index  # the candidates without some parents take as much memory
        return [*blocks, *self.without_parents(rng)]

    def hidden(self, index: CandidateIndex, numbers: Longs, kind: Kind, kept: Longs) -> Iterator[AskedBlock]:
        """Hidden concepts of the fold, by number; ``kept`` are the positions in the seed of the candidates."""
        for block in query_blocks(len(numbers), len(index.taxonomy)):
            queries, gold = self.fold.queries(numbers[block])
            yield self._ask(index, queries, gold, kind, self.fold.hidden[numbers[block]], kept)

    def foreign(
        self, index: CandidateIndex, concepts: Sequence[Concept], numbers: Longs, n_seed: int
    ) -> Iterator[AskedBlock]:
        """Foreign concepts, by number; their vectors stand behind those of the seed's ``n_seed`` concepts."""
        for block in query_blocks(len(numbers), len(index.taxonomy)):
            rows = n_seed + numbers[block]
            vectors = self.fold.text_vectors.take(rows)
            queries = encode_queries(self.fold.network, [concepts[i] for i in numbers[block]], vectors)
            nowhere = [np.zeros(0, np.int64)] * len(rows)
            yield self._ask(index, queries, nowhere, Kind.FOREIGN, rows, self.fold.kept)

    def without_parents(self, rng: np.random.Generator) -> Iterator[AskedBlock]:
        """Remove half of the leaves' parents from the fold's seed and rank the leaves again; then the other half.

        Children of a removed concept are left without it: would they move up to its parents, those would be right.
        Leaves that lose no parent are asked of the same seed, for comparison. It is parents that are drawn, not leaves:
        parents of drawn leaves would mostly be those with many children, and the number of children would seem to tell
        whether a parent is missing.
        """
        gold, size = self.fold.split.gold, len(self.fold.kept)
        some = rng.permutation(self.fold.numbers(Kind.LEAF))[:_NONE_QUERIES]
        if len(some) == 0:
            return
        parents = rng.permutation(np.unique(np.concatenate([gold[i] for i in some])))
        for removed in (parents[::2], parents[1::2]):
            kept = np.delete(np.arange(size), removed)
            if len(kept) not in (0, size):
                share_removed = np.array([np.isin(gold[i], removed).mean() for i in some])
                yield from self._reduced(kept, some[share_removed == 1], some[share_removed == 0])

    def _reduced(self, left: Longs, without: Longs, others: Longs) -> Iterator[AskedBlock]:
        """Leaves ``without`` parents and ``others``, by number, asked of the candidates ``left`` in the fold.

        Those with some of their parents are in neither: there is no clear answer to them.
        """
        index = self.fold.candidate_index(left)
        for kind, numbers in ((Kind.PARENT_REMOVED, without), (Kind.PARENT_KEPT, others)):
            for block in self.hidden(index, numbers, kind, self.fold.kept[left]):
                unanswered = [np.zeros(0, np.int64)] * len(block.gold)  # positions in the reduced seed differ
                yield replace(block, gold=unanswered)

    def _ask(
        self, index: CandidateIndex, queries: Queries, gold: Sequence[Longs], kind: Kind, concept: Longs, kept: Longs
    ) -> AskedBlock:
        shortlist = make_shortlist(index, queries, self.families, self.first_stage)
        if self.reader is not None:
            shortlist = self.reader.add_scores(shortlist, queries.concepts, index.taxonomy)
        return AskedBlock(kind, shortlist, novelty_of(self.novelty, shortlist), gold, concept, kept)


def _first_stage_samples(fold: Fold, families: Sequence[str], random_state: int) -> list[Sample]:
    """Candidates of some queries of a fold, to train the first stage on."""
    rng = np.random.default_rng([random_state, 3])
    numbers = rng.permutation(len(fold.split.queries))[:_FIRST_STAGE_QUERIES]
    index = fold.candidate_index()
    asked = (fold.queries(numbers[block]) for block in query_blocks(len(numbers), len(fold.split.seed)))
    return [sample_candidates(index, compute_features(index, queries, families), gold, rng) for queries, gold in asked]
