"""Queries with known answers, taken out of the seed, that say when to stop."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taxosphere.model.config import LossConfig
from taxosphere.model.inputs import Source
from taxosphere.model.network import Embedding, SphereNetwork
from taxosphere.model.objectives import affinity

Longs = NDArray[np.int64]

_CELLS = 1 << 24  # scores held at once


@dataclass(frozen=True)
class Validation:
    """Gold parents of the queries as positions in the seed; vectors (q, m), or texts when the encoder learns."""

    gold: tuple[Longs, ...]
    vectors: Tensor | None = None
    texts: tuple[str, ...] | None = None

    def to_bytes(self) -> bytes:
        """All of it, to tell it from other queries."""
        vectors = b"" if self.vectors is None else self.vectors.detach().numpy().tobytes()
        return json.dumps([[gold.tolist() for gold in self.gold], self.texts]).encode() + vectors

    def require_vectors(self) -> Tensor:
        if self.vectors is None:
            raise ValueError("validation with a frozen encoder needs the vectors of the queries")
        return self.vectors

    def require_texts(self) -> tuple[str, ...]:
        if self.texts is None:
            raise ValueError("validation while fine-tuning needs the texts of the queries")
        return self.texts


def mean_reciprocal_rank(
    network: SphereNetwork, seed: Source, queries: Source, gold: tuple[Longs, ...], config: LossConfig
) -> float:
    """Among all concepts of the seed, compared as in the loss: best-ranked gold parent, ties at their mean rank."""
    with torch.no_grad():
        candidates = network.from_lifted(seed.everything())
        asked = network.points(queries.everything())
    return float((1.0 / ranks(asked, candidates, gold, config)).mean())


def ranks(asked: Tensor, candidates: Embedding, gold: tuple[Longs, ...], config: LossConfig) -> Tensor:
    """(q,) rank of the best gold parent of every query; behind everything when its score is not a number."""
    found = torch.empty(len(asked), dtype=torch.float64)
    step = max(1, _CELLS // max(1, len(candidates.z)))
    for start in range(0, len(asked), step):
        scores = affinity(asked[start : start + step], candidates, config)  # (b, n)
        best = torch.stack([row[torch.from_numpy(g)].max() for row, g in zip(scores, gold[start:], strict=False)])
        above = (scores > best[:, None]).sum(1)
        level = (scores == best[:, None]).sum(1)
        found[start : start + step] = torch.where(best.isnan(), scores.shape[1], above + (level + 1) / 2)
    return found
