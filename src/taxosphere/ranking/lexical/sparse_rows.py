"""Sparse rows as three arrays.

scipy validates every matrix it makes, and for a single query this takes longer than the work itself. So rows stay
arrays until all of them are multiplied at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.typing import Floats, Matrix


class SparseRows(NamedTuple):
    """Rows in CSR layout: row i has ``data[ends[i]:ends[i + 1]]`` in ``columns[ends[i]:ends[i + 1]]``."""

    data: Floats
    columns: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def of_ones(cls, columns: Iterable[Sequence[int]]) -> SparseRows:
        """Rows that are 1 in the columns listed for each."""
        entries, ends = list[int](), [0]
        for row in columns:
            entries += row
            ends.append(len(entries))
        return cls(np.ones(len(entries), np.float32), np.array(entries, np.int32), np.array(ends, np.int32))

    def take(self, kept: NDArray[np.integer]) -> SparseRows:
        """Only these rows, in this order."""
        counts = self.counts[kept]
        ends = np.zeros(len(kept) + 1, np.int32)
        np.cumsum(counts, out=ends[1:])
        entries = np.arange(ends[-1]) + np.repeat(self.ends[kept] - ends[:-1], counts)
        return SparseRows(self.data[entries], self.columns[entries], ends)

    @property
    def counts(self) -> NDArray[np.int32]:
        """(q,) entries of each row."""
        return self.ends[1:] - self.ends[:-1]

    def sums(self, values: Floats) -> NDArray[np.float64]:
        """(q,) sums over each row of ``values`` (e,), one per entry."""
        row = np.repeat(np.arange(len(self.ends) - 1), self.counts)
        return np.asarray(np.bincount(row, values, len(self.ends) - 1), np.float64)

    def repeat(self, values: NDArray[np.floating]) -> Floats:
        """(e,) the value (q,) of its row for every entry."""
        return np.repeat(values.astype(np.float32), self.counts)

    def matrix(self, width: int) -> Matrix:
        """The rows as a scipy CSR array (q, width)."""
        return sparse.csr_array((self.data, self.columns, self.ends), shape=(len(self.ends) - 1, width))


def stack_rows(parts: Sequence[SparseRows], shifts: Sequence[int] | None = None) -> SparseRows:
    """Rows of each part below those of the one before; ``shifts`` are added to the column indices of each part."""
    right = shifts or [0] * len(parts)
    counts = np.concatenate([part.counts for part in parts])
    columns = np.concatenate([part.columns + np.int32(shift) for part, shift in zip(parts, right, strict=True)])
    ends = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    return SparseRows(np.concatenate([part.data for part in parts]), columns, ends)
