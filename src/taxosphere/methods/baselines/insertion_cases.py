"""Training cases for inserting a concept between a parent and a child."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from taxosphere.methods.baselines.seed import NOBODY
from taxosphere.taxonomy import Taxonomy


class Cases(NamedTuple):
    """Pairs (b, 1 + k) of parent and child, and whether each of the two is right; column 0 is right in both."""

    parent: Tensor
    child: Tensor
    right_parent: Tensor
    right_child: Tensor


class Insertions:
    """Draws children for parents; NOBODY stands for the pseudo-leaf.

    ``pairs`` is the share of negatives with a real child, ``half_right`` the share with the true parent and one of its
    other children.
    """

    def __init__(self, taxonomy: Taxonomy, pairs: float, half_right: float) -> None:
        rows, size = taxonomy.child_csr, len(taxonomy)
        self._pairs, self._half_right, self._size = pairs, half_right, size
        self._first, self._count = torch.from_numpy(rows.indptr[:-1]), torch.from_numpy(rows.counts)
        self._indices = torch.from_numpy(np.append(rows.indices, NOBODY).astype(np.int64))
        self._edges = torch.from_numpy(np.repeat(np.arange(size), rows.counts) * size + rows.indices)

    def cases(self, query: Tensor, candidate: Tensor) -> Cases:
        """Cases of queries (b,) with candidate parents (b, 1 + k), the true one in column 0."""
        draw, query_column = torch.rand(candidate.shape), query[:, None]
        half = draw > 1 - self._half_right
        half[:, 0] = False
        parent = torch.where(half, candidate[:, :1], candidate)
        child = torch.where((draw < self._pairs) | half, self._random_child(parent), NOBODY)
        child[:, 0] = self._random_child(query)
        child = torch.where(child == query_column, NOBODY, child)  # the query is not in the seed yet
        inner = self._count[query_column] > 0
        is_child = torch.isin(query_column * self._size + child, self._edges)
        right_parent = half.clone()
        right_parent[:, 0] = True
        return Cases(parent, child, right_parent, torch.where(child == NOBODY, ~inner, is_child))

    def _random_child(self, parent: Tensor) -> Tensor:
        count = self._count[parent]
        offset = torch.minimum((torch.rand(parent.shape) * count).long(), (count - 1).clamp(min=0))
        return torch.where(count > 0, self._indices[self._first[parent] + offset], NOBODY)
