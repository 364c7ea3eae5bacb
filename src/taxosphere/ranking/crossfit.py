"""Training examples for the ranker, made from the seed: hide leaves, train without them, ask where they belong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import RefitWithout, ranker_leaves
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking import retrieval
from taxosphere.ranking.features.candidates import CandidateIndex, Points
from taxosphere.ranking.features.compute import Queries, signs
from taxosphere.ranking.features.shortlist import blocks, shortlist
from taxosphere.ranking.lexical.index import ConceptTokens
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE, FirstStage, Sample
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.split import Split, hide

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Progress = Callable[[int, int, str], None]

_SAMPLED = 200  # queries of a fold that the first guess learns from: it has few weights
_ASKED_AGAIN = 480  # queries of a fold that the question whether any candidate is right is learned from


@dataclass(frozen=True)
class ParentRemovedExamples:
    """Lists (o, k, f) of examples that were asked again of a seed from which some true parents had been taken out, and
    their loose ends (o, s).

    ``example`` (o,) says which ones, ``gone`` (o,) whether all true parents of it were among those taken out.
    """

    table: Floats
    loose: Floats
    example: NDArray[np.int64]
    gone: NDArray[np.bool_]


@dataclass(frozen=True)
class Examples:
    """Features (t, k, f), which candidates are true parents (t, k), how many true parents there are (t,), and the loose
    ends around the query (t, s)."""

    names: tuple[str, ...]
    table: Floats
    labels: NDArray[np.bool_]
    golds: NDArray[np.int64]
    loose: Floats
    guess: FirstStage = DEFAULT_FIRST_STAGE
    again: tuple[ParentRemovedExamples, ...] = ()

    def __len__(self) -> int:
        return len(self.table)


def points(network: SphereNetwork, vectors: Floats) -> Points:
    with torch.no_grad():
        embedding = network(torch.from_numpy(vectors))
    return Points(*(part.numpy() for part in embedding))


def encode_queries(network: SphereNetwork, concepts: Sequence[Concept], views: TextVectors) -> Queries:
    return Queries([parse_concept(concept) for concept in concepts], views, points(network, views.full))


@dataclass(frozen=True)
class Fold:
    """Leaves hidden together, and what was learned without them."""

    part: Split
    kept: Longs
    """Where the concepts of the part's seed stand in the whole one,"""
    asked: Longs
    """and where its queries do."""
    tokens: ConceptTokens
    views: TextVectors
    """Both of the whole seed."""
    network: SphereNetwork

    def context(self) -> CandidateIndex:
        """Made when it is needed: those of all folds together would be the largest thing in memory."""
        seed, views = self.part.seed, self.views.take(self.kept)
        return CandidateIndex(seed, views, points(self.network, views.full), len(seed), self.tokens.take(self.kept))

    def encode_queries(self, which: Longs) -> tuple[Queries, list[Longs]]:
        """Some of the hidden leaves as queries, and their true parents."""
        concepts = [self.part.queries[i] for i in which]
        return encode_queries(self.network, concepts, self.views.take(self.asked[which])), [
            self.part.gold[i] for i in which
        ]


def examples(
    seed: Taxonomy, refit: RefitWithout, config: PolarisConfig, *, random_state: int, progress: Progress | None
) -> Examples | None:
    """Every fold of leaves is asked of a head trained without it; None when the seed has no leaf to hide.

    The list of a fold is made by a first guess learned from the other folds.
    """
    families = config.ranking.families
    hidden = list(folds(seed, refit, config, random_state=random_state, progress=progress))
    if len(hidden) < 2:
        return None
    samples = [sampled(fold, families, random_state) for fold in hidden]
    names: tuple[str, ...] = ()
    tables: list[Floats] = []
    again: list[ParentRemovedExamples] = []
    labels, golds, loose = [], [], []
    rng = np.random.default_rng([random_state, 4])
    for number, fold in enumerate(hidden):
        first = retrieval.fit([part for other, parts in enumerate(samples) for part in parts if other != number])
        if progress is not None:
            progress(number, len(hidden), f"encoded where the leaves of fold {number + 1} of {len(hidden)} belong")
        everyone = np.arange(len(fold.part.queries))
        before = sum(map(len, tables))
        context = fold.context()
        for block in blocks(len(everyone), len(fold.part.seed)):
            encoded, gold = fold.encode_queries(everyone[block])
            found = shortlist(context, encoded, families, first)
            names = found.names
            tables.append(found.features)
            labels.append(np.stack([np.isin(p, g) for p, g in zip(found.positions, gold, strict=True)]))
            golds.append(np.array([len(g) for g in gold]))
            loose.append(found.loose)
        again += asked_again(fold, context, families, first, before, rng)
    width = min(table.shape[1] for table in tables)  # folds of a tiny seed may differ in their number of candidates
    return Examples(
        names,
        np.concatenate([table[:, :width] for table in tables]),
        np.concatenate([label[:, :width] for label in labels]),
        np.concatenate(golds),
        np.concatenate(loose),
        retrieval.fit([part for parts in samples for part in parts]),
        tuple(again),
    )


def asked_again(
    fold: Fold, whole: CandidateIndex, families: Sequence[str], first: FirstStage, before: int, rng: np.random.Generator
) -> Iterator[ParentRemovedExamples]:
    """Take half of the queries' parents out of the ``whole`` context of the fold and ask who misses one; then the other
    half.

    Children of what is taken out stay without it. Were they to move up, the grandparents would be right answers. Who
    lost nothing is asked of the same seed. Parents are drawn, not queries: the parents of drawn queries would be those
    of large families, and the size of the family would seem to tell the two kinds apart. ``before`` examples came
    earlier.
    """
    gold, size = fold.part.gold, len(fold.part.seed)
    some = rng.permutation(len(gold))[:_ASKED_AGAIN]
    parents = rng.permutation(np.unique(np.concatenate([gold[i] for i in some])))
    for lost in (parents[::2], parents[1::2]):
        kept = np.delete(np.arange(size), lost)
        if len(kept) in (0, size):
            continue
        points = Points(*(part[kept] for part in astuple(whole.points)))
        tokens = whole.tokens.take(kept)
        reduced = CandidateIndex(whole.taxonomy.keep(kept), whole.views.take(kept), points, len(kept), tokens)
        missing = np.array([np.isin(gold[i], lost).mean() for i in some])
        clear = np.flatnonzero((missing == 0) | (missing == 1))
        for block in blocks(len(clear), len(kept)):
            which = some[clear[block]]
            encoded, _ = fold.encode_queries(which)
            found = shortlist(reduced, encoded, families, first)
            yield ParentRemovedExamples(found.features, found.loose, before + which, missing[clear[block]] == 1)


def folds(
    seed: Taxonomy, refit: RefitWithout, config: PolarisConfig, *, random_state: int, progress: Progress | None
) -> Iterator[Fold]:
    # A leaf that is not asked stays: new concepts, too, meet a seed that is whole.
    leaves = ranker_leaves(seed, config.ranking, random_state)
    count = min(config.ranking.folds, len(leaves))
    tokens = ConceptTokens.of(seed.concepts())
    for number in range(count):
        if progress is not None:
            progress(number, count, f"hiding fold {number + 1} of {count} for the ranker")
        fold = np.sort(leaves[number::count])
        part = hide(seed, fold)
        if not part.queries:
            continue
        kept = np.delete(np.arange(len(seed)), fold)
        views, network = refit(part.seed, kept, 1000 + number + random_state)
        asked = np.array([seed.position(query.id) for query in part.queries])
        yield Fold(part, kept, asked, tokens, views, network)


def sampled(fold: Fold, families: Sequence[str], random_state: int) -> list[Sample]:
    """What the first guess learns from a fold."""
    rng = np.random.default_rng([random_state, 3])
    few = rng.permutation(len(fold.part.queries))[:_SAMPLED]
    made = []
    context = fold.context()
    for block in blocks(len(few), len(fold.part.seed)):
        encoded, gold = fold.encode_queries(few[block])
        found = signs(context, encoded, families)
        made.append(retrieval.sample(context, found, gold, families, rng))
    return made
