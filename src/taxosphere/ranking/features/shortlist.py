"""The shortlist: the candidates that the first stage scores highest, and the table of their features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import CATALOGUE, FIRST_STAGE_SCORE, GAP, RANK, feature_of
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.layout import largest_columns
from taxosphere.ranking.queries import Queries
from taxosphere.ranking.retrieval import FirstStage
from taxosphere.ranks import count_better
from taxosphere.typing import Floats, Longs

LENGTH = 100
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
    first_stage_scores
        (q, n) of all candidates; 0 for the best, −∞ for one that is not allowed.
    orphan_features
        (q, s), see `compute.orphan_features`.
    """

    feature_names: tuple[str, ...]
    features: Floats
    positions: Longs
    first_stage_scores: Floats
    orphan_features: Floats


def query_blocks(n_queries: int, n_candidates: int) -> Iterator[slice]:
    """Slices of at most 256 queries whose features fit into memory."""
    step = int(np.clip(_CELLS // max(1, n_candidates), 1, 256))
    return (slice(start, start + step) for start in range(0, n_queries, step))


def make_shortlist(
    index: CandidateIndex,
    queries: Queries,
    families: Sequence[str],
    first_stage: FirstStage,
    *,
    exclude: Longs | None = None,
    length: int = LENGTH,
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
        Orders all candidates.
    exclude
        (q,) position of a candidate that each query must not see; None excludes none.
    length
        Candidates per list; fewer where there are fewer.
    """
    columns = compute_features(index, queries, families)
    scores = first_stage(index, columns)  # (q, n)
    scores[:, index.obsolete] = -np.inf
    if exclude is not None:
        scores[np.arange(len(scores)), exclude] = -np.inf
    scores -= scores.max(axis=1, keepdims=True)
    k = min(length, scores.shape[1] - len(index.obsolete) - (exclude is not None))
    best = largest_columns(scores, k)
    order = np.argsort(-np.take_along_axis(scores, best, 1), axis=1, kind="stable")
    positions = np.take_along_axis(best, order, 1)  # (q, k)
    features = columns.at(positions)
    features[FIRST_STAGE_SCORE] = np.take_along_axis(scores, positions, 1)
    if "structure" in families:
        features |= {name: values[positions] for name, values in index.static_features.items()}
    return Shortlist(
        feature_names=tuple(features),
        features=np.stack(list(features.values()), axis=-1).astype(np.float32),
        positions=positions.astype(np.int64),
        first_stage_scores=scores,
        orphan_features=columns.orphan_features,
    )


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
    place = {feature_of(name).name: column for column, name in enumerate(feature_names)}
    relative = [row.name for row in CATALOGUE if row.relative and row.name in place]
    values = features[..., [place[name] for name in relative]]
    gaps = np.maximum(values - values.max(axis=1, keepdims=True), -1e3)
    ranks = count_better(np.round(values, 4))  # values that differ by rounding alone share a rank
    decay = -np.log1p(np.arange(values.shape[1])).astype(np.float32)
    columns = [*feature_names, *(name + GAP for name in relative), *(name + RANK for name in relative)]
    return columns, np.concatenate([features, gaps, decay[ranks]], axis=-1)
