"""Several vectors of a concept together in few dimensions, so that a large taxonomy is searched in one short pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taxosphere.typing import Floats, Longs

PRODUCTS = 1 << 14
"""With at most this many concepts each query is compared with all; else a search over compressed vectors leaves few."""
DIMENSIONS = 96
_SAMPLE = 20_000  # concepts that the directions are computed from
_BLOCK = 1 << 14  # concepts compressed at once


@dataclass(frozen=True)
class CompressedVectors:
    """Joined vectors of n concepts, projected onto the directions that keep most of their dot products.

    The dot product of two joined vectors is the sum of those of their parts. It is kept best, in the mean square over
    the concepts, by the leading eigenvectors of their second moments.

    Attributes
    ----------
    directions
        (m, d): d orthonormal directions of the m joined dimensions.
    rows
        (n, d) of the concepts.
    """

    directions: Floats
    rows: Floats

    @classmethod
    def fit(cls, parts: Sequence[Floats]) -> CompressedVectors:
        """Compress concepts given by several arrays (n, ·), whose rows are joined."""
        size = len(parts[0])
        chosen = np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.int64)
        sample = np.hstack([part[chosen] for part in parts])
        _, vectors = np.linalg.eigh((sample.T @ sample).astype(np.float64))
        directions = np.ascontiguousarray(vectors[:, ::-1][:, :DIMENSIONS], np.float32)
        rows = np.empty((size, directions.shape[1]), np.float32)
        for start in range(0, size, _BLOCK):
            block = slice(start, start + _BLOCK)
            np.matmul(np.hstack([part[block] for part in parts]), directions, out=rows[block])
        return cls(directions, rows)

    def take(self, kept: Longs) -> CompressedVectors:
        """Only these concepts, in the same directions."""
        return CompressedVectors(self.directions, self.rows[kept])

    def project(self, parts: Sequence[Floats]) -> Floats:
        """(q, d) of queries given by the same arrays (q, ·)."""
        return np.asarray(np.hstack(list(parts)) @ self.directions, np.float32)
