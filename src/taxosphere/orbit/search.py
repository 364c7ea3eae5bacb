"""Exact top-k over all candidates, gate included, in blocks of bounded memory.

A block of candidates is scored by one matrix product. After the first block each query has a k-th best score so far,
and of later blocks only scores above it are searched, so that the selection costs little beside the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from taxosphere.orbit.gate import LIFT, Mode

_CANDIDATES = 1 << 14  # scored at once
_QUERIES = 256  # scored at once
_STRIP = 64  # columns whose maximum is compared before they are compared one by one


class TopK(NamedTuple):
    """``scores`` and ``positions`` (q, k) of the best candidates, best first and equal scores by position."""

    scores: Tensor
    positions: Tensor


@dataclass(frozen=True)
class Candidates:
    """Unit rows (n, d) as float32, or at half the size as 16-bit fractions of each row's largest coordinate.

    The fractions are equally spaced over the row, so they lose about a tenth of what half-precision floats lose.
    """

    rows: Tensor
    scale: Tensor | None = None

    @classmethod
    def compact(cls, rows: Tensor) -> Candidates:
        """Unit rows (n, d) at half the size."""
        scale = rows.abs().amax(1, keepdim=True).clamp_min(torch.finfo(rows.dtype).tiny) / 32767
        return cls((rows / scale).round().to(torch.int16), scale)

    def __len__(self) -> int:
        return len(self.rows)

    def block(self, start: int, stop: int) -> Tensor:
        """Rows from ``start`` to ``stop`` as float32."""
        rows = self.rows[start:stop]
        return rows if self.scale is None else rows.float() * self.scale[start:stop]


def top_k(
    queries: Tensor, candidates: Candidates, k: int, *, threshold: Tensor | None = None, mode: Mode = "off"
) -> TopK:
    """The k best candidates of each query, exactly.

    Parameters
    ----------
    queries
        (q, d) unit rows.
    candidates
        The n candidates.
    k
        At most n are returned.
    threshold
        (n,) of the gate, see `gate.thresholds`; None for no gate.
    mode
        How the gate is applied, see `gate.gated_scores`.
    """
    k = min(k, len(candidates))
    parts = [
        _search(queries[start : start + _QUERIES], candidates, k, threshold, mode)
        for start in range(0, len(queries), _QUERIES)
    ]
    if not parts or k == 0:
        return TopK(queries.new_zeros(len(queries), 0), torch.zeros(len(queries), 0, dtype=torch.long))
    return TopK(torch.cat([p.scores for p in parts]), torch.cat([p.positions for p in parts]))


def _search(queries: Tensor, candidates: Candidates, k: int, threshold: Tensor | None, mode: Mode) -> TopK:
    best = TopK(queries.new_full((len(queries), k), -torch.inf), torch.full((len(queries), k), -1, dtype=torch.long))
    for start in range(0, len(candidates), _CANDIDATES):
        stop = min(start + _CANDIDATES, len(candidates))
        block = _gated(queries @ candidates.block(start, stop).T, threshold, start, stop, mode)
        best = _merge(best, block, start, k)
    return best


def _gated(cosine: Tensor, threshold: Tensor | None, start: int, stop: int, mode: Mode) -> Tensor:
    if threshold is None or mode == "off":
        return cosine
    # 1 where the cosine exceeds the threshold, else 0; several times faster than a comparison to booleans.
    accepted = (cosine - threshold[start:stop]).sign_().clamp_min_(0)
    return cosine.mul_(accepted) if mode == "hard" else cosine.add_(accepted, alpha=LIFT)


def _merge(best: TopK, block: Tensor, start: int, k: int) -> TopK:
    floor = best.scores[:, -1:]
    if torch.isinf(floor).any():  # fewer than k so far: take this block's best, with all that tie with the last one
        reach = block.topk(min(k, block.shape[1]), dim=1, sorted=True).values[:, -1:]
        query, column = (block >= reach).nonzero(as_tuple=True)
    else:
        query, column = _above(block, floor)
    if len(query) == 0:
        return best
    n_queries, width = best.scores.shape
    row = torch.cat([torch.arange(n_queries).repeat_interleave(width), query])
    score = torch.cat([best.scores.flatten(), block[query, column]])
    position = torch.cat([best.positions.flatten(), column + start])
    # Three stable sorts, least important key first: position, score, query.
    order = torch.argsort(position, stable=True)
    order = order[torch.argsort(score[order], descending=True, stable=True)]
    order = order[torch.argsort(row[order], stable=True)]
    counts = torch.bincount(row, minlength=n_queries)
    first = torch.cumsum(counts, 0) - counts
    kept = order[(first[:, None] + torch.arange(k)).flatten()]
    return TopK(score[kept].view(n_queries, k), position[kept].view(n_queries, k))


def _above(block: Tensor, floor: Tensor) -> tuple[Tensor, Tensor]:
    """(query, column) of the scores above their query's floor, sought in strips of columns, most of which have none."""
    n_queries, width = block.shape
    strips = width // _STRIP
    high = block[:, : strips * _STRIP].reshape(n_queries, strips, _STRIP)
    query, strip = (high.amax(2) > floor).nonzero(as_tuple=True)
    which, inside = (high[query, strip] > floor[query]).nonzero(as_tuple=True)
    rest_query, rest = (block[:, strips * _STRIP :] > floor).nonzero(as_tuple=True)
    return torch.cat([query[which], rest_query]), torch.cat([strip[which] * _STRIP + inside, rest + strips * _STRIP])
