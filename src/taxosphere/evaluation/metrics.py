"""Metrics of rankings: the paper's, with ties counted fairly.

Scores are a (queries, candidates) block, higher is better. Gold is one array of candidate positions per query; -1
stands for a gold parent that is not among the candidates and ranks behind all of them. Candidates with equal scores
share their mean rank, so a method gains nothing by refusing to decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import TaxosphereError
from taxosphere.ranks import Gold, ranks_at
from taxosphere.taxonomy import Taxonomy, structure
from taxosphere.typing import Longs

Doubles = NDArray[np.float64]

CUTS = (1, 5, 10)
_PAIRS = 1 << 22  # (gold parent, candidate) comparisons held at once


@dataclass(frozen=True)
class Outcome:
    """Ranks of all gold parents of all queries, and the Wu & Palmer similarity of every first answer."""

    candidates: int
    sizes: Longs  # gold parents of each query
    ranks: Doubles  # of every gold parent, query after query
    wup: Doubles  # one per query

    @property
    def best(self) -> Doubles:
        """Rank of each query's best-ranked gold parent."""
        starts = np.cumsum(self.sizes) - self.sizes
        return np.minimum.reduceat(self.ranks, starts) if len(starts) else self.ranks

    @property
    def owner(self) -> Longs:
        """The query each entry of ``ranks`` belongs to."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def share_within(self, k: int) -> Doubles:
        """Per query, the share of its gold parents among the first k."""
        return np.bincount(self.owner, self.ranks <= k, len(self.sizes)) / self.sizes


def judge(scores: NDArray[np.floating], gold: Gold, seed: Taxonomy) -> Outcome:
    """Compare the scores of one block of queries with their gold parents.

    Parameters
    ----------
    scores : float array of shape (q, n)
        Score of every seed concept for every query, higher is better.
    gold : sequence of integer arrays
        Positions of every query's gold parents; -1 for one that is not in the seed.
    seed : Taxonomy
        The n candidates.

    Returns
    -------
    Outcome
        Ranks, hits and similarities query by query.

    Raises
    ------
    TaxosphereError
        The scores have another shape, or one of them is not a number.
    """
    scores = np.asarray(scores)
    if scores.shape != (len(gold), len(seed)):
        raise TaxosphereError(
            f"a method gave scores of shape {scores.shape} for {len(gold)} queries and {len(seed)} candidates"
        )
    if np.isnan(scores).any():
        raise TaxosphereError("a method gave scores that are not numbers, so its ranking has no meaning")
    gold = [row if len(row) else np.array([-1]) for row in gold]
    sizes = np.array([len(row) for row in gold], np.int64)
    flat = np.concatenate([*gold, np.zeros(0, np.int64)]).astype(np.int64)
    owner = np.repeat(np.arange(len(gold)), sizes)
    return Outcome(
        candidates=scores.shape[1],
        sizes=sizes,
        ranks=ranks_at(scores, owner, flat),
        wup=_similarities(scores, owner, flat, seed),
    )


def join(blocks: Sequence[Outcome]) -> Outcome:
    """One outcome from those of several blocks of queries.

    Parameters
    ----------
    blocks : sequence of Outcome
        In the order of the queries.

    Returns
    -------
    Outcome
        Of all queries.
    """
    return Outcome(
        max((block.candidates for block in blocks), default=0),
        np.concatenate([block.sizes for block in blocks] or [np.zeros(0, np.int64)]),
        np.concatenate([block.ranks for block in blocks] or [np.zeros(0)]),
        np.concatenate([block.wup for block in blocks] or [np.zeros(0)]),
    )


def _similarities(scores: NDArray[np.floating], owner: Longs, gold: Longs, seed: Taxonomy) -> Doubles:
    """Wu & Palmer of the first answer and its nearest gold parent; the mean over answers that tie for first place."""
    similarities = np.zeros(len(scores))
    if scores.size == 0:
        return similarities
    query, answer = np.nonzero(scores == scores.max(1, keepdims=True))
    parents = structure.compress(len(scores), owner, gold)
    step = max(1, _PAIRS // 64)  # each pair expands to its ancestors
    for start in range(0, len(query), step):
        rows, answers = query[start : start + step], answer[start : start + step]
        pair, parent = parents.expand(rows)
        present = np.flatnonzero(parent >= 0)
        nearest = np.zeros(len(rows))
        similar = structure.wu_palmer(seed.parent_csr, seed.levels, answers[pair[present]], parent[present])
        np.maximum.at(nearest, pair[present], similar)
        similarities += np.bincount(rows, nearest, len(scores))
    return similarities / np.bincount(query, minlength=len(scores))


def summary(outcome: Outcome) -> dict[str, float]:
    """The paper's text metrics (its appendix on metrics) of an ``outcome``; shares and similarities as percentages.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    dict of str to float
        Metrics by name.
    """
    best = outcome.best
    hits = {f"hit@{k}": 100.0 * _mean(best <= k) for k in CUTS}
    recalls = {f"recall@{k}": 100.0 * _mean(outcome.share_within(k)) for k in CUTS}
    ranks = {"mr": _mean(best), "mrr": 100.0 * _mean(1.0 / best)}
    return hits | recalls | ranks | {"wup": 100.0 * _mean(outcome.wup)}


def variants(outcome: Outcome) -> dict[str, float]:
    """Metrics of an ``outcome`` that others report under similar names: recall over all gold parents, and precision.

    Parameters
    ----------
    outcome : Outcome

    Returns
    -------
    dict of str to float
        Metrics by name.
    """
    queries = max(1, len(outcome.sizes))
    micro = {f"recall_micro@{k}": 100.0 * _mean(outcome.ranks <= k) for k in CUTS}
    return micro | {f"precision@{k}": 100.0 * float((outcome.ranks <= k).sum()) / (k * queries) for k in CUTS}


def evaluate(scores: NDArray[np.floating], gold: Gold, seed: Taxonomy) -> dict[str, float]:
    """All metrics of ``scores`` (q, n) by name, given ``gold`` and ``seed`` as for `judge`; shares are percentages.

    Parameters
    ----------
    scores : float array of shape (q, n)
    gold : sequence of integer arrays
    seed : Taxonomy

    Returns
    -------
    dict of str to float
        `summary` and `variants` together.
    """
    outcome = judge(scores, gold, seed)
    return summary(outcome) | variants(outcome)


def _mean(values: Doubles | NDArray[np.bool_]) -> float:
    return float(np.mean(values)) if len(values) else 0.0
