"""The orbital gate: how similar a query must be to a candidate, given their orbits (Eq. 19, 20 of the paper).

A query has no depth. It is attached hypothetically: under candidate c it stands one level deeper and has no
descendants, while c gains one. Depth cancels and the difference of their radii is
Δr(c) = (log2(2 + N_c) − 1) / (R_max − R_min): zero for a leaf, large for a concept with much below it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taxosphere.orbit.radius import span
from taxosphere.ranks import Gold, best_true_ranks
from taxosphere.taxonomy import Taxonomy

Mode = Literal["hard", "hybrid", "off"]
Floats = NDArray[np.floating]

GAMMAS = tuple(0.25 * 2.0**k for k in range(10))
LIFT = 4.0  # more than two cosines can differ by, so accepted candidates stand above all others


def delta(taxonomy: Taxonomy) -> NDArray[np.float64]:
    """Δr of every candidate."""
    width = span(taxonomy)
    gap = np.log2(2.0 + taxonomy.descendants) - 1.0
    return gap / width if width > 0 else np.zeros(len(gap))


def thresholds(delta: Floats, gamma: float) -> Floats:
    """The cosine a query must exceed at each candidate: 1 − γ Δr²."""
    return 1.0 - gamma * delta**2


def scores(cosine: Floats, threshold: Floats, mode: Mode) -> Floats:
    """Scores of (queries, candidates): ``hard`` puts rejected ones at 0, ``hybrid`` behind all accepted ones."""
    if mode == "off":
        return cosine
    accepted = cosine > threshold
    if mode == "hard":
        return np.where(accepted, cosine, np.zeros((), cosine.dtype))
    return cosine + accepted.astype(cosine.dtype) * cosine.dtype.type(LIFT)


def choose_gamma(cosine: Floats, delta: Floats, gold: Gold, mode: Mode) -> float:
    """The mildest γ that ranks queries hidden from the seed as well as the best one, up to one standard error.

    ``cosine`` is (queries, candidates) and ``gold`` holds each query's true parents; their mean reciprocal rank counts.
    A dozen queries of a small seed cannot tell a lucky strict gate from a good one, and a gate that is too strict costs
    far more than one that is too mild.
    """
    if len(gold) == 0 or mode == "off":
        return GAMMAS[-1]
    gated = (scores(cosine, thresholds(delta, gamma), mode) for gamma in GAMMAS)
    reciprocal = np.stack([1 / best_true_ranks(rows, gold) for rows in gated])  # (γ, q)
    behind = reciprocal[reciprocal.mean(1).argmax()] - reciprocal
    error = behind.std(axis=1) / np.sqrt(max(1, len(gold) - 1))
    return GAMMAS[int(np.flatnonzero(behind.mean(1) <= error + 1e-9).max())]  # one query alone stands on the border
