"""One ranking from two: what a concept's text says and what its pictures say.

Given the true parent, text and pictures are taken as independent witnesses, so their rankings p and q combine as a
product of experts over the base rate b: p·q / b. Witnesses that agree by habit would make the product too sure; each
ratio to the base rate is therefore raised to a power below one, `TEXT` and `PICTURES`, chosen on leaves hidden from the
training parts of two collections (benchmarks/bench_fusion.py). A candidate that only one of the two lists stands at the
other's end; one that the pictures cannot know (because it is as new as the query) is judged by its text alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.calibration import softmax
from taxosphere.ranking.ranker import Ranking

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

TEXT, PICTURES = 0.75, 0.5
LISTED = 300  # candidates that are kept
_TINY = 1e-9


def fuse(
    text: Ranking, pictures: Ranking, none_share: float, *, powers: tuple[float, float] = (TEXT, PICTURES)
) -> Ranking:
    """``pictures`` may know fewer candidates than ``text``: the first ones."""
    n, known = text.scores.shape[1], pictures.scores.shape[1]
    base = (1 - none_share) / n
    both = powers[0] * _ratio(text, n, base) + powers[1] * _ratio(pictures, known, base, n)
    both[~np.isfinite(text.scores)] = -np.inf  # what the query must not see
    none = np.log(none_share)
    for power, ranked in zip(powers, (text, pictures), strict=True):
        none = none + power * np.log(np.maximum(ranked.none, _TINY) / none_share)
    listed = min(LISTED, int(np.isfinite(both).sum(1).min(initial=n)))
    order = np.argsort(-both, axis=1, kind="stable")[:, :listed]
    own = np.take_along_axis(both, order, 1)
    probability = softmax(np.column_stack([own + np.log(base), none]))
    ranks = [_at(ranked, order) for ranked in (text, pictures)]
    return Ranking(
        order,
        probability[:, :-1].astype(np.float32),
        probability[:, -1].astype(np.float32),
        both.astype(np.float32),
        _either(ranks, [text.cosine, pictures.cosine]),
        _either(ranks, [text.gate, pictures.gate]) > 0,
        np.concatenate(
            [power * _pick(r.contributions, at) for power, r, at in zip(powers, (text, pictures), ranks, strict=True)],
            axis=-1,
        ).astype(np.float32),
        (*text.names, *(f"pictures: {name}" for name in pictures.names)),
    )


def _ratio(ranked: Ranking, known: int, base: float, n: int | None = None) -> NDArray[np.float64]:
    """Log of probability over base rate (q, n); what is not listed keeps its order below the list's end."""
    listed = np.log(np.maximum(ranked.probabilities / np.maximum(1 - ranked.none[:, None], _TINY), _TINY) / base)
    rank = np.argsort(np.argsort(-ranked.scores, axis=1, kind="stable"), axis=1)
    found: NDArray[np.float64] = listed.min(1, keepdims=True) - 1e-3 * rank / known
    np.put_along_axis(found, ranked.shortlist, listed, 1)
    if n is None or n == known:
        return found
    return np.hstack([found, np.zeros((len(found), n - known))])


def _at(ranked: Ranking, wanted: Longs) -> Longs:
    """Place of each wanted candidate in the list, -1 where it is not on it."""
    place = np.full((len(wanted), max(int(wanted.max(initial=0)) + 1, ranked.scores.shape[1])), -1, np.int64)
    np.put_along_axis(place, ranked.shortlist, np.arange(ranked.shortlist.shape[1])[None, :], 1)
    return np.take_along_axis(place, wanted, 1)


def _pick(values: NDArray[np.generic], at: Longs) -> Floats:
    """Values (q, k, …) of listed candidates at their places, zero for others."""
    wide = at.reshape(*at.shape, *(1,) * (values.ndim - 2))
    found = np.take_along_axis(values.astype(np.float32), np.maximum(wide, 0), 1)
    return np.where(wide >= 0, found, np.float32(0))


def _either(at: list[Longs], values: list[NDArray[np.generic]]) -> Floats:
    """Mean over the rankings that list a candidate."""
    total = sum((_pick(v, a) for v, a in zip(values, at, strict=True)), np.zeros(1, np.float32))
    count = sum(((a >= 0).astype(np.float32) for a in at), np.zeros(1, np.float32))
    return np.asarray(total / np.maximum(count, 1), np.float32)
