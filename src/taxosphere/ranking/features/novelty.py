"""Novelty: how far a query is from everything there is, relative to how far the taxonomy's own concepts are.

A concept of another field has no near neighbour at all. The shortlist cannot tell: it compares candidates with each
other. Values are standardised by those that the taxonomy's own concepts have when each is compared with the others, so
that they mean the same in every taxonomy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taxosphere.ranking.calibration import moments
from taxosphere.ranking.features.pool import Pool
from taxosphere.typing import Floats, Longs

NOVELTY_FEATURES = (
    "mean similarity to the 30 nearest texts",
    "mean similarity to the 5 nearest texts",
    "similarity to the nearest text",
)
_NEAREST = (30, 5, 1)
_SAMPLE = 1000  # concepts of a taxonomy whose values give the scale
_CELLS = 1 << 24  # cosines held at once


@dataclass(frozen=True)
class NoveltyScale:
    """Mean and standard deviation (f,) of the values of a taxonomy's own concepts."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, vectors: Floats) -> NoveltyScale:
        """The scale of a taxonomy with these text vectors (n, m); of a sample of its concepts where there are many."""
        size = len(vectors)
        rows = np.unique(np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.int64))
        step = max(1, _CELLS // size)
        blocks = (rows[start : start + step] for start in range(0, len(rows), step))
        return cls(*moments(np.concatenate([nearness(vectors[part], vectors, itself=part) for part in blocks])))

    def novelty(self, values: Floats) -> Floats:
        """(q, f) values of `nearness`, standardised; low for queries that are far from all."""
        return np.asarray((values - self.mean) / self.scale, np.float32)


def nearness(queries: Floats, vectors: Floats, *, itself: Longs | None = None) -> Floats:
    """(q, f): mean cosines to the nearest concepts, a column per entry of `NOVELTY_FEATURES`.

    Parameters
    ----------
    queries, vectors
        Text vectors (q, m) of the queries and (n, m) of the concepts.
    itself
        (q,) position of the concept that each query is, which is no neighbour of its own; None where they are new.
    """
    cosine = queries @ vectors.T  # (q, n)
    if itself is not None:
        cosine[np.arange(len(cosine)), itself] = -np.inf
    return _means_of_largest(cosine)


def pool_nearness(pool: Pool, similarity: Floats) -> Floats:
    """The same from a pool, which holds the concepts nearest to each query.

    Parameters
    ----------
    pool
        The pairs of a query and a concept.
    similarity
        (p,) cosines of their text vectors.
    """
    return _means_of_largest(pool.padded(similarity, -np.inf))


def _means_of_largest(cosine: Floats) -> Floats:
    """(q, f) means of the largest finite values of each row (q, n); 0 where there is none."""
    most = min(_NEAREST[0], cosine.shape[1])
    nearest = -np.sort(-np.partition(cosine, -most, axis=1)[:, -most:], axis=1) if most else cosine
    finite = np.isfinite(nearest)
    values = np.where(finite, nearest, 0.0)
    counts = [np.maximum(finite[:, :count].sum(1), 1) for count in _NEAREST]
    return np.stack([values[:, :n].sum(1) / count for n, count in zip(_NEAREST, counts)], 1).astype(np.float32)
