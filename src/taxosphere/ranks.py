"""Ranks with one policy for ties: candidates with equal scores share their mean rank.

A method that gives the same score to everything therefore gains nothing by it: each of n candidates ranks (n + 1) / 2.
The best rank is 1. The one exception is `count_better`, whose whole-number result is a feature and not a measurement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from taxosphere.typing import Longs

Gold: TypeAlias = Sequence[NDArray[np.integer]]
"""For each query, the positions of its true parents among the candidates."""

_PAIRS = 1 << 22  # comparisons of a score with a candidate's held in memory at once


def ranks_of_scores(scores: NDArray[np.floating], values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Rank that a candidate with this score has in each list: 1 + higher scores + half of the other equal ones.

    Parameters
    ----------
    scores
        (q, n), higher is better.
    values
        (q,): for each list the score of one of its candidates.

    Returns
    -------
    (q,) ranks from 1 to n; n where the score is not a number.
    """
    value = values[:, None]
    ranks = 1.0 + (scores > value).sum(1) + ((scores == value).sum(1) - 1) / 2
    return np.asarray(np.where(np.isnan(values), scores.shape[1], ranks))


def ranks_at(
    scores: NDArray[np.floating], queries: NDArray[np.integer], positions: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Ranks of single candidates, several of one query if need be.

    Parameters
    ----------
    scores
        (q, n), higher is better.
    queries, positions
        (m,) each: entry i asks for the rank of candidate ``positions[i]`` for query ``queries[i]``. The position -1
        stands for a candidate that is missing.

    Returns
    -------
    (m,) ranks as in `ranks_of_scores`; n + 1 where the candidate is missing.
    """
    ranks = np.full(len(positions), scores.shape[1] + 1.0)
    present = np.flatnonzero(positions >= 0)
    step = max(1, _PAIRS // max(1, scores.shape[1]))
    for start in range(0, len(present), step):
        part = present[start : start + step]
        ranks[part] = ranks_of_scores(scores[queries[part]], scores[queries[part], positions[part]])
    return ranks


def best_true_ranks(scores: NDArray[np.floating], gold: Gold) -> NDArray[np.float64]:
    """Rank of each query's best-ranked true parent.

    Parameters
    ----------
    scores
        (q, n), higher is better.
    gold
        For each query the positions of its true parents, at least one.

    Returns
    -------
    (q,) ranks as in `ranks_of_scores`; n where the score of any true parent is not a number.
    """
    best = np.array([row[parents].max() for row, parents in zip(scores, gold, strict=True)], scores.dtype)
    return ranks_of_scores(scores, best)


def count_better(values: NDArray[np.floating]) -> Longs:
    """How many candidates of the list have a larger value, for every candidate and feature.

    Parameters
    ----------
    values
        (q, k, f): f features of the k candidates on each of q lists.

    Returns
    -------
    (q, k, f), 0 for the largest; equal values have the same count.
    """
    columns = np.ascontiguousarray(-np.moveaxis(values, 1, 2))  # (q, f, k): sorting along the last axis is fastest
    size = columns.shape[2]
    order = np.argsort(columns, axis=2).reshape(-1, size)
    order += size * np.arange(len(order))[:, None]  # into all values in one row, which are reached faster
    ordered = columns.ravel().take(order)
    is_first = np.ones(order.shape, bool)  # of a run of equal values
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=is_first[:, 1:])
    first = np.flatnonzero(is_first)
    runs = np.repeat(first, np.diff(first, append=order.size)).reshape(order.shape)
    runs -= size * np.arange(len(order))[:, None]
    counts = np.empty(columns.shape, np.int64)
    counts.reshape(-1)[order] = runs
    return np.moveaxis(counts, 2, 1)
