"""The interface of a compared system: features of queries and candidates, their score, a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.taxonomy import Concept

BLOCK = 1 << 23  # numbers held at once while pairs are scored (32 MB each, a handful of them alive)
_VIEWS = 4096  # candidates whose features are computed at once


class Batch(NamedTuple):
    """Seed concepts to place and, for each, candidates: its true parent in column 0, then negatives."""

    query: Tensor  # (b,)
    candidate: Tensor  # (b, 1 + k)
    views: MaskedCandidates
    place: Tensor  # (b, 1 + k): row of ``views``


class Network(nn.Module, ABC):
    """Score and loss of one system."""

    def __init__(self, settings: Settings, seed: Seed) -> None:  # noqa: ARG002 - each keeps its own kind of settings
        super().__init__()
        self.seed = seed

    @property
    @abstractmethod
    def width(self) -> int:
        """Numbers one (query, candidate) pair needs while it is matched."""

    @abstractmethod
    def query(self, vectors: Tensor) -> Tensor:
        """Features (b, f) of concepts to be placed, from their text vectors."""

    @abstractmethod
    def candidate(self, views: MaskedCandidates) -> Tensor:
        """Features (m, g) of possible parents."""

    @abstractmethod
    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        """Scores of pairs, higher is better; broadcasts over all but the last dimension."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """What training minimises."""

    def scores(self, batch: Batch) -> Tensor:
        """Scores (b, 1 + k) of a batch, as `losses` takes them."""
        return self.match(*self.pairs(batch))

    def pairs(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Features of a batch, (b, 1, f) and (b, 1 + k, g); each distinct view is computed once."""
        query = self.query(self.seed.vectors[batch.query])
        return query[:, None], self.candidate(batch.views)[batch.place]

    def match_all(self, query: Tensor, candidate: Tensor) -> Tensor:
        """Scores (queries, candidates) of all pairs, computed block by block to bound the memory."""
        columns = max(1, min(len(candidate), BLOCK // self.width))
        rows = max(1, BLOCK // (self.width * columns))
        scores = query.new_empty(len(query), len(candidate))
        for i in range(0, len(query), rows):
            for j in range(0, len(candidate), columns):
                block = slice(i, i + rows), slice(j, j + columns)
                scores[block] = self.match(query[block[0], None], candidate[None, block[1]])
        return scores

    def candidates(self) -> Tensor:
        """Features (n, g) of all seed concepts as candidates of a query that is not in the seed."""
        masked = self.seed.all_candidates()
        parts = zip(*(torch.split(part, _VIEWS) for part in masked), strict=True)
        return torch.cat([self.candidate(MaskedCandidates(*part)) for part in parts])

    def rank(self, queries: Sequence[Concept], vectors: Tensor, candidates: Tensor) -> NDArray[np.float32]:
        """Scores (queries, seed concepts), from the queries' text vectors and from what `candidates` returned."""
        del queries  # a system that also reads strings overrides this
        scores: NDArray[np.float32] = self.match_all(self.query(vectors), candidates).numpy()
        return scores
