"""The orbital gate: how similar a query must be to a candidate, given their orbits (Eq. 19, 20 of the paper).

A query has no depth. It is attached hypothetically: under candidate c it is one level deeper and has no descendants,
while c gains one. Depth cancels and the difference of their radii is
Δr(c) = (log2(2 + N_c) − 1) / (R_max − R_min): zero for a leaf, large for a concept with many descendants N_c.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taxosphere.orbit.radius import span
from taxosphere.ranks import Gold, best_true_ranks
from taxosphere.taxonomy import Taxonomy

Mode = Literal["hard", "hybrid", "off"]

GAMMAS = tuple(0.25 * 2.0**k for k in range(10))
"""Values of γ that `choose_gamma` chooses from; the largest makes the mildest gate."""
LIFT = 4.0  # more than two cosines can differ by, so that accepted candidates rank before all others


def delta(taxonomy: Taxonomy) -> NDArray[np.float64]:
    """Δr (n,): how much higher each concept of ``taxonomy`` would stand than a query attached below it (Eq. 19).

    Parameters
    ----------
    taxonomy : Taxonomy
        Without a cycle.

    Returns
    -------
    float array of shape (n,)
        In the taxonomy's order.
    """
    width = span(taxonomy)
    gaps = np.log2(2.0 + taxonomy.descendants) - 1.0
    return gaps / width if width > 0 else np.zeros(len(gaps))


def counted_delta(taxonomy: Taxonomy, candidates: Sequence[str]) -> NDArray[np.float64]:
    """Δr (n,) of some concepts of ``taxonomy``, with all of its concepts counted.

    Where ``taxonomy`` holds the queries at their true places, every gold parent has a descendant and passes as none of
    the seed's leaves does: that is how the paper counts, and what is measured with it is not honest.

    Parameters
    ----------
    taxonomy : Taxonomy
    candidates : sequence of str
        Ids.

    Returns
    -------
    float array of shape (n,)
    """
    return delta(taxonomy)[[taxonomy.position(id) for id in candidates]]


def thresholds(radius_gaps: NDArray[np.floating], gamma: float) -> NDArray[np.floating]:
    """The cosine (n,) that a query must exceed at each candidate: 1 − ``gamma`` · ``radius_gaps``² (Eq. 20).

    Parameters
    ----------
    radius_gaps : float array of shape (n,)
        Δr of the candidates.
    gamma : float
        Strictness of the gate.

    Returns
    -------
    float array of shape (n,)
        At most 1.
    """
    return 1.0 - gamma * radius_gaps**2


def gated_scores(cosine: NDArray[np.floating], threshold: NDArray[np.floating], mode: Mode) -> NDArray[np.floating]:
    """Scores (q, n) from cosines (q, n) and thresholds (n,).

    Parameters
    ----------
    cosine
        (q, n) of queries and candidates.
    threshold
        (n,) what the cosine of an accepted candidate exceeds.
    mode
        ``hard`` sets rejected candidates to 0, ``hybrid`` ranks them behind all accepted ones, ``off`` leaves the
        cosine as it is.

    Returns
    -------
    float array of shape (q, n)
        Higher is better.
    """
    if mode == "off":
        return cosine
    accepted = cosine > threshold
    if mode == "hard":
        return np.asarray(np.where(accepted, cosine, np.zeros((), cosine.dtype)))
    return np.asarray(cosine + accepted.astype(cosine.dtype) * cosine.dtype.type(LIFT))


def choose_gamma(
    blocks: Iterable[tuple[NDArray[np.floating], Gold]], radius_gaps: NDArray[np.floating], mode: Mode
) -> float:
    """The mildest γ that ranks hidden queries as well as the best one, up to one standard error.

    A dozen queries of a small seed cannot tell a lucky strict gate from a good one, and a gate that is too strict costs
    far more than one that is too mild.

    Parameters
    ----------
    blocks
        Of hidden queries: cosines (q, n) with the candidates, and positions of the true parents of each query, of which
        the reciprocal rank of the best one counts.
    radius_gaps
        (n,) Δr of the candidates.
    mode
        How the gate is applied. Without queries or with ``off`` the answer is the mildest γ of all.

    Returns
    -------
    float
        γ.
    """
    if mode == "off":
        return GAMMAS[-1]
    limits = [thresholds(radius_gaps, gamma) for gamma in GAMMAS]
    reciprocal = np.zeros((len(GAMMAS), 0))
    for cosine, gold in blocks:
        if len(gold) == 0:
            continue
        gated = (gated_scores(cosine, limit, mode) for limit in limits)
        reciprocal = np.hstack([reciprocal, np.stack([1 / best_true_ranks(scores, gold) for scores in gated])])
    n_queries = reciprocal.shape[1]
    if n_queries == 0:
        return GAMMAS[-1]
    loss = reciprocal[reciprocal.mean(1).argmax()] - reciprocal
    error = loss.std(axis=1) / np.sqrt(max(1, n_queries - 1))
    return GAMMAS[int(np.flatnonzero(loss.mean(1) <= error + 1e-9).max())]  # with one query they are equal


@dataclass(frozen=True)
class Gate:
    """A gate with the thresholds (n,) of all candidates and its mode."""

    thresholds: NDArray[np.floating]
    mode: Mode

    def scores(self, cosine: NDArray[np.floating]) -> NDArray[np.floating]:
        """`gated_scores` of cosines (q, n)."""
        return gated_scores(cosine, self.thresholds, self.mode)
