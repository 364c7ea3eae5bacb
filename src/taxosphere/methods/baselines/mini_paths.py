"""Mini-paths a₁ → a₂ → a₃ of a taxonomy, and training cases from them."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from taxosphere.methods.baselines.seed import NOBODY
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.structure import compress
from taxosphere.typing import Longs

_DRAWS = 4  # paths tried for a candidate before the case is left out


class MiniPaths:
    """All chains of three concepts; a concept that is in none has the longest chain it is in, filled with NOBODY."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        chains = all_chains(taxonomy)
        self.anchors = torch.from_numpy(chains)  # (m, 3)
        path, slot = np.nonzero(chains >= 0)
        self._through = compress(len(taxonomy), chains[path, slot], path)
        self._parents = np.sort(taxonomy.edge_array[:, 1].astype(np.int64) * len(taxonomy) + taxonomy.edge_array[:, 0])
        self._size = len(taxonomy)

    def cases(self, query: Tensor, candidate: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """For each candidate (b, k) a random path through it (b, k, 3), which of its concepts is a parent of the query
        (3: none), and whether the case can be used: a path with the query itself on it cannot."""
        first = torch.from_numpy(self._through.indptr[:-1])[candidate]
        count = torch.from_numpy(self._through.counts)[candidate]
        through = torch.from_numpy(self._through.indices.astype(np.int64))
        draws = torch.rand((_DRAWS, *candidate.shape))
        drawn = self.anchors[through[first + (draws * count).long().clamp(max=count - 1)]]  # (draws, b, k, 3)
        free = (drawn != query[:, None, None]).all(-1)
        choice = free.to(torch.uint8).argmax(0, keepdim=True)
        path = drawn.gather(0, choice[..., None].expand(-1, -1, -1, 3))[0]
        keys = (query[:, None, None] * self._size + path).numpy()
        place = np.minimum(np.searchsorted(self._parents, keys), len(self._parents) - 1)
        parent = torch.from_numpy((self._parents[place] == keys) & (path.numpy() >= 0))
        label = torch.where(parent.any(-1), parent.to(torch.uint8).argmax(-1), 3)
        return path, label, free.any(0)


def all_chains(taxonomy: Taxonomy) -> Longs:
    """All chains (m, 3) of parent, child and grandchild; shorter ones are filled with NOBODY."""
    parent, child = taxonomy.edge_array.astype(np.int64).T
    edge, last = taxonomy.child_csr.expand(child)
    full = np.stack([parent[edge], child[edge], last], axis=1)
    missing = np.ones(len(taxonomy), bool)
    missing[full.ravel()] = False
    pairs = np.stack([parent, child, np.full(len(parent), NOBODY)], axis=1)
    pairs = pairs[missing[parent] | missing[child]]
    missing[pairs[:, :2].ravel()] = False
    alone = np.flatnonzero(missing)
    single = np.stack([alone, *[np.full(len(alone), NOBODY)] * 2], axis=1)
    return np.concatenate([full, pairs, single])
