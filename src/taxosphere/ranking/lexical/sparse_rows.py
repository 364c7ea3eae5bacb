"""Sparse rows as three arrays.

scipy checks every matrix it makes, and for a single query its checks take longer than the work: rows stay arrays until
all of them are multiplied at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.ranking.features.layout import Matrix

Floats = NDArray[np.float32]


class SparseRows(NamedTuple):
    """Row i holds ``data`` in ``columns``, both from ``ends[i]`` to ``ends[i + 1]``."""

    data: Floats
    columns: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def of_ones(cls, columns: Iterable[Sequence[int]]) -> SparseRows:
        """A one in each of the columns given for each row."""
        used, ends = list[int](), [0]
        for row in columns:
            used += row
            ends.append(len(used))
        return cls(np.ones(len(used), np.float32), np.array(used, np.int32), np.array(ends, np.int32))

    def take(self, kept: NDArray[np.integer]) -> SparseRows:
        """Some of the rows, in the order given."""
        counts = self.counts[kept]
        ends = np.zeros(len(kept) + 1, np.int32)
        np.cumsum(counts, out=ends[1:])
        entries = np.arange(ends[-1]) + np.repeat(self.ends[kept] - ends[:-1], counts)
        return SparseRows(self.data[entries], self.columns[entries], ends)

    @property
    def counts(self) -> NDArray[np.int32]:
        return self.ends[1:] - self.ends[:-1]

    def sums(self, values: Floats) -> NDArray[np.float64]:
        """The sum of one value per entry over each row."""
        owner = np.repeat(np.arange(len(self.ends) - 1), self.counts)
        return np.asarray(np.bincount(owner, values, len(self.ends) - 1), np.float64)

    def spread(self, values: NDArray[np.floating]) -> Floats:
        """One value per row, for each entry of it."""
        return np.repeat(values.astype(np.float32), self.counts)

    def matrix(self, width: int) -> Matrix:
        return sparse.csr_array((self.data, self.columns, self.ends), shape=(len(self.ends) - 1, width))


def stacked(parts: Sequence[SparseRows], shifts: Sequence[int] | None = None) -> SparseRows:
    """SparseRows of each part below those of the one before; a part's columns may begin further to the right."""
    right = shifts or [0] * len(parts)
    counts = np.concatenate([part.counts for part in parts])
    columns = np.concatenate([part.columns + np.int32(shift) for part, shift in zip(parts, right, strict=True)])
    ends = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    return SparseRows(np.concatenate([part.data for part in parts]), columns, ends)
