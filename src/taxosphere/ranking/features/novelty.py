"""Novelty: how far a query is from everything there is, relative to how far the taxonomy's own concepts are.

A concept of another field has no near neighbour at all. The shortlist cannot tell: it compares candidates with each
other. Values are standardised by those that the taxonomy's own concepts have when each is compared with the others, so
that they mean the same in every taxonomy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.ranking.logistic import moments
from taxosphere.typing import Floats

NOVELTY_FEATURES = (
    "mean similarity to the 30 nearest texts",
    "mean similarity to the 5 nearest texts",
    "similarity to the nearest text",
    "mean similarity to the 30 nearest names",
    "mean similarity to the 5 nearest names",
    "similarity to the nearest name",
)
_NEAREST = (30, 5, 1)
_SAMPLE = 1000  # concepts of a taxonomy whose values give the scale


@dataclass(frozen=True)
class NoveltyScale:
    """Mean and standard deviation (f,) of the values of a taxonomy's own concepts."""

    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, vectors: TextVectors) -> NoveltyScale:
        """The scale of a taxonomy with these vectors (n, m); of a sample of its concepts where there are many."""
        size = len(vectors.full)
        rows = np.unique(np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.int64))
        values = nearness(vectors.take(rows), vectors, itself=rows)
        return cls(*moments(values))

    def novelty(self, queries: TextVectors, vectors: TextVectors) -> Floats:
        """(q, f) standardised values of queries (q, m) among concepts (n, m); low for what is far from all."""
        return np.asarray((nearness(queries, vectors) - self.mean) / self.scale, np.float32)


def nearness(queries: TextVectors, vectors: TextVectors, *, itself: np.ndarray | None = None) -> Floats:
    """(q, f): mean cosines to the nearest concepts, a column per entry of `NOVELTY_FEATURES`.

    Parameters
    ----------
    queries, vectors
        Text vectors (q, m) of the queries and (n, m) of the concepts.
    itself
        (q,) position of the concept that each query is, which is no neighbour of its own; None where they are new.
    """
    columns = []
    for mine, theirs in ((queries.full, vectors.full), (queries.name, vectors.name)):
        cosine = mine @ theirs.T  # (q, n)
        if itself is not None:
            cosine[np.arange(len(cosine)), itself] = -np.inf
        most = min(_NEAREST[0], cosine.shape[1] - (itself is not None))
        if most < 1:
            columns += [np.zeros(len(cosine), np.float32)] * len(_NEAREST)
            continue
        nearest = -np.sort(-np.partition(cosine, -most, axis=1)[:, -most:], axis=1)
        columns += [nearest[:, :count].mean(1) for count in _NEAREST]
    return np.stack(columns, 1).astype(np.float32)
