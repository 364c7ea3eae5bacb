"""The shortlist: the candidates of the pool that the first stage scores highest, and the table of their features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taxosphere.orbit.search import largest_columns
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import CATALOGUE, FIRST_STAGE_SCORE, GAP, RANK, feature_of
from taxosphere.ranking.features.compression import PRODUCTS
from taxosphere.ranking.features.compute import compute_features, vector_features
from taxosphere.ranking.features.gather import DEFAULT_RETRIEVAL, Retrieval, VectorSimilarities
from taxosphere.ranking.features.novelty import NoveltyScale
from taxosphere.ranking.features.pool import FeatureColumns, Pool
from taxosphere.ranking.queries import Queries
from taxosphere.ranking.retrieval import COSINE, DEFAULT_FIRST_STAGE, REST, FirstStage
from taxosphere.ranks import count_better
from taxosphere.typing import Floats, Longs

LENGTH = 100
_ORDER = {row.name: number for number, row in enumerate(CATALOGUE)}
_LISTS = 32  # lists whose relative columns are computed at once; those of all training examples would fill the memory
_CELLS = 1 << 21  # (query, candidate) pairs whose features are held in memory at once


@dataclass(frozen=True)
class Shortlist:
    """The k best candidates of each of q queries by the first stage, best first.

    Attributes
    ----------
    feature_names
        (f,) names of the features.
    features
        (q, k, f).
    positions
        (q, k) of the listed candidates.
    scores
        (q, k) of the first stage; 0 for the best.
    orphan_features
        (q, s), see `compute.orphan_features`.
    nearness
        (q, v), see `novelty.pool_nearness`; None where concepts are compared by images.
    all_scores
        (q, n) of all candidates, −∞ for one that is not allowed; None where they were not asked for.
    """

    feature_names: tuple[str, ...]
    features: Floats
    positions: Longs
    scores: Floats
    orphan_features: Floats
    all_scores: Floats | None = None
    nearness: Floats | None = None


def query_blocks(n_queries: int, n_candidates: int) -> Iterator[slice]:
    """Slices of at most 256 queries whose features fit into memory."""
    whole = n_candidates if n_candidates <= PRODUCTS else PRODUCTS  # concepts of a block that are held for a query
    step = int(np.clip(_CELLS // max(1, whole), 1, 256))
    return (slice(start, start + step) for start in range(0, n_queries, step))


def make_shortlist(
    index: CandidateIndex,
    queries: Queries,
    families: Sequence[str],
    first_stage: FirstStage,
    *,
    length: int = LENGTH,
    all_scores: bool = False,
    retrieval: Retrieval = DEFAULT_RETRIEVAL,
) -> Shortlist:
    """Compute features for one block of queries and list the best candidates of the first stage.

    Parameters
    ----------
    index
        The n candidates.
    queries
        The q queries.
    families
        Feature families that are switched on.
    first_stage
        Orders the pool of each query.
    length
        Candidates per list; fewer where there are fewer.
    all_scores
        Whether to score all n candidates, which takes time and memory.
    retrieval
        How the pool is made.
    """
    k = min(length, len(index.taxonomy) - len(index.obsolete))
    features = compute_features(index, queries, families, n_needed=k, retrieval=retrieval)
    pool, scores = features.pool, first_stage(index, features)  # (p,)
    _forbid_obsolete(scores, index, pool)
    table = pool.padded(scores, -np.inf)
    table = table - table.max(axis=1, keepdims=True)  # (q, widest)
    best = largest_columns(table, k)
    order = np.argsort(-np.take_along_axis(table, best, 1), axis=1, kind="stable")
    columns = np.take_along_axis(best, order, 1)  # (q, k)
    places = pool.ends[:-1, None] + columns
    positions = pool.positions[places]
    listed = np.take_along_axis(table, columns, 1)
    static = index.static_features if "structure" in families else {}
    names = (*features.columns, FIRST_STAGE_SCORE, *static)
    # (features, q, k): each feature in one piece, as it was computed and as relative columns read it
    values = np.empty((len(names), *places.shape), np.float32)
    n_columns = len(features.columns)
    features.table.take(places, axis=1, out=values[:n_columns], mode="clip")
    values[n_columns] = listed
    for column, chosen in zip(static.values(), values[n_columns + 1 :], strict=True):
        column.take(positions, out=chosen, mode="clip")
    return Shortlist(
        feature_names=names,
        features=np.moveaxis(values, 0, -1),
        positions=positions.astype(np.int64, copy=False),
        scores=listed,
        orphan_features=features.orphan_features,
        nearness=features.nearness,
        all_scores=_scores_of_all(index, queries, families, first_stage, pool, scores) if all_scores else None,
    )


def _forbid_obsolete(scores: Floats, index: CandidateIndex, pool: Pool) -> None:
    """Set the scores (p,) of obsolete candidates to −∞."""
    if len(index.obsolete):
        scores[np.isin(pool.positions, index.obsolete)] = -np.inf


def _scores_of_all(
    index: CandidateIndex,
    queries: Queries,
    families: Sequence[str],
    first_stage: FirstStage,
    pool: Pool,
    scores: Floats,
) -> Floats:
    """(q, n): scores of the pool (p,), 0 for the best, and below them those of the other concepts by `_rest`."""
    shape = len(queries), len(index.taxonomy)
    if len(pool) == shape[0] * shape[1]:
        everything = scores.reshape(shape).copy()
    else:
        everything = np.empty(shape, np.float32)
        finite = pool.padded(np.where(np.isfinite(scores), scores, np.inf).astype(np.float32), np.inf).min(1)
        step = max(1, _CELLS // shape[1])
        for start in range(0, shape[0], step):
            block = slice(start, start + step)
            rest = _rest(index, queries.part(block), families, first_stage)
            rest -= rest.max(axis=1, keepdims=True)
            everything[block] = rest + (finite[block, None] - 1)
        everything[:, index.obsolete] = -np.inf
        everything.reshape(-1)[pool.keys] = scores
    everything -= everything.max(axis=1, keepdims=True)
    return everything


def _rest(index: CandidateIndex, queries: Queries, families: Sequence[str], first_stage: FirstStage) -> Floats:
    """(q, n) scores of all concepts by vectors and structure alone, weighted as in the trained first stage."""
    pool, vectors = Pool.whole(len(queries), len(index.taxonomy)), VectorSimilarities(index, queries)
    similarity = vectors.at(("text", "name", "text to name", "name to text", "sphere"), pool)
    columns = vector_features(index, vectors, pool, families, similarity)
    features = FeatureColumns(pool, tuple(families), columns, np.zeros((len(queries), 0), np.float32))
    untrained = first_stage in (DEFAULT_FIRST_STAGE, COSINE)
    order = REST if untrained else first_stage.limited_to(columns)
    return order(index, features).reshape(len(queries), -1)


def novelty_of(scale: NoveltyScale | None, shortlist: Shortlist) -> Floats:
    """Novelty (q, v) of the queries of a shortlist; without a scale there are no columns."""
    if scale is None or shortlist.nearness is None:
        return np.zeros((len(shortlist.positions), 0), np.float32)
    return scale.novelty(shortlist.nearness)


def add_relative_columns(feature_names: Sequence[str], features: Floats) -> tuple[list[str], Floats]:
    """The table with two more columns per relative feature: its gap to the best of the list, and its rank there.

    Parameters
    ----------
    feature_names
        (f,) names of the columns.
    features
        (q, k, f).

    Returns
    -------
    columns
        Names of all columns: the features, then the gaps, then the ranks, each in the order of the catalogue.
    table
        (q, k, columns). A rank r, counted from 0, is given as −log(1 + r).

    Raises
    ------
    TaxosphereError
        A name is not in the catalogue.
    """
    place = {name: column for column, name in enumerate(feature_names)}
    relative = sorted(
        (name for name in place if feature_of(name).relative), key=lambda name: _ORDER[feature_of(name).name]
    )
    f, r = len(feature_names), len(relative)
    table = np.empty((*features.shape[:2], f + 2 * r), np.float32)
    decay = -np.log1p(np.arange(features.shape[1])).astype(np.float32)
    chosen = np.array([place[name] for name in relative], np.int64)
    for start in range(0, len(features), _LISTS):
        block = slice(start, start + _LISTS)
        by_feature = np.moveaxis(features[block], -1, 0)  # (f, lists, k)
        table[block, :, :f] = features[block]
        values = by_feature.take(chosen, axis=0)
        gaps = np.maximum(values - values.max(axis=2, keepdims=True), -1e3)
        table[block, :, f : f + r] = np.moveaxis(gaps, 0, -1)
        # values that differ by rounding alone share a rank
        ranks = decay.take(count_better(np.moveaxis(np.round(values, 4), 0, -1)))
        table[block, :, f + r :] = ranks
    columns = [*feature_names, *(name + GAP for name in relative), *(name + RANK for name in relative)]
    return columns, table
