"""Tests of whether one method is better than another: paired bootstrap and z-test over queries."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Record = Mapping[str, Any]

SAMPLES = 10_000
_BLOCK = 1 << 22  # drawn indices held at once


@dataclass(frozen=True)
class Comparison:
    """First minus second, per query: the mean, what resampling and what the normal approximation say of it."""

    queries: int
    difference: float
    low: float  # 95 % interval of the paired bootstrap
    high: float
    p: float  # two-sided, of the bootstrap
    z: float  # of the z-test the paper uses
    z_p: float  # two-sided and implied by z


def compare(first: ArrayLike, second: ArrayLike, *, samples: int = SAMPLES, random_state: int = 0) -> Comparison:
    """Paired bootstrap and z-test of two methods.

    Parameters
    ----------
    first, second : array-like of shape (q,)
        One value per query in the same order: a hit, a reciprocal rank, a mean of them over runs.
    samples : int
        Bootstrap samples.
    random_state : int

    Raises
    ------
    ValueError
        The two are not vectors of one length, or empty.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    if a.shape != b.shape or a.ndim != 1 or len(a) == 0:
        raise ValueError(f"paired values must be two vectors of one length, not {a.shape} and {b.shape}")
    gap = a - b
    means = _resampled_means(gap, samples, np.random.default_rng(random_state))
    low, high = np.quantile(means, [0.025, 0.975])
    # One is added on both sides: a p of exactly 0 would claim more than the samples can show.
    tail = min((means <= 0).sum(), (means >= 0).sum())
    p = min(1.0, 2.0 * (tail + 1) / (samples + 1))
    z = _z(gap)
    return Comparison(
        queries=len(gap),
        difference=float(gap.mean()),
        low=float(low),
        high=float(high),
        p=float(p),
        z=z,
        z_p=two_sided(z),
    )


def paired(ours: Sequence[Record], theirs: Sequence[Record]) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Reciprocal ranks of two methods by query, in the same order.

    On a published split, means over the runs; on random splits, the runs with the same random states one after the
    other. None where they have no random state in common.
    """
    if ours[0]["split"] == "published":
        first, second = (np.mean([_reciprocal_ranks(record) for record in side], 0) for side in (ours, theirs))
        return first, second
    other = {record["seed"]: record for record in theirs}
    shared = [record for record in ours if record["seed"] in other]
    if not shared:
        return None
    return (
        np.concatenate([_reciprocal_ranks(record) for record in shared]),
        np.concatenate([_reciprocal_ranks(other[record["seed"]]) for record in shared]),
    )


def _reciprocal_ranks(record: Record) -> NDArray[np.float64]:
    return np.asarray(1.0 / np.array(record["ranks"]))


def wilson(share: float, queries: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson's interval of a share of queries: what the share of infinitely many such queries may be.

    Parameters
    ----------
    share : float
        Between 0 and 1; a mean over runs need not be a whole number of queries.
    queries : int
    z : float
        Quantile of the normal distribution; the default gives 95 %.

    Returns
    -------
    low, high : float
        Between 0 and 1; (0, 1) without queries.
    """
    if queries == 0:
        return 0.0, 1.0
    spread = z * z / queries
    centre = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / queries + spread / (4 * queries)) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


def hit_interval(ranks: Sequence[ArrayLike], *, same_queries: bool) -> tuple[float, float, float]:
    """Share of queries whose best gold parent comes first, over all runs, with its Wilson interval.

    Parameters
    ----------
    ranks : sequence of array-like
        For every run, the rank of the best gold parent of each of its queries.
    same_queries : bool
        Whether all runs asked the same queries, as on a published split: these count once.

    Returns
    -------
    share, low, high : float
        Between 0 and 1.
    """
    hits = [np.asarray(run) <= 1 for run in ranks]
    share = float(np.mean(np.concatenate(hits)))
    return share, *wilson(share, len(hits[0]) if same_queries else sum(map(len, hits)))


def two_sided(z: float) -> float:
    """The p value that belongs to a z value."""
    return math.erfc(abs(z) / math.sqrt(2.0))


def _z(gap: NDArray[np.float64]) -> float:
    deviation = float(gap.std(ddof=1)) if len(gap) > 1 else 0.0
    if deviation == 0.0:
        return math.copysign(math.inf, gap[0]) if gap[0] and len(gap) > 1 else 0.0
    return float(gap.mean()) / (deviation / math.sqrt(len(gap)))


def _resampled_means(gap: NDArray[np.float64], samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
    step = max(1, _BLOCK // len(gap))
    means = [
        gap[rng.integers(0, len(gap), (min(step, samples - start), len(gap)))].mean(1)
        for start in range(0, samples, step)
    ]
    return np.concatenate(means)
