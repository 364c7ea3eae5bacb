"""The head of the picture tower: vectors to directions on a sphere where pictures of one label scatter evenly.

Where an encoder's two towers share a space (CLIP, SigLIP), the same map serves texts. Texts and pictures lie in two
clouds side by side there, so each has its own centre; everything after the centre is one head.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranks import ranks_of_scores

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

SHRINK = 0.4  # of the scatter within labels towards its mean variance
_TINY = 1e-12
_ERRORS = 2.5  # standard errors by which texts must beat chance


@dataclass(frozen=True)
class WithinClassWhitening:
    """Picture vectors to points on their own sphere, and to directions where within-label scatter is even."""

    rooted: bool  # activations that are never negative are skewed; their square roots are not
    centre: Floats
    even: Floats  # (m, m)

    @classmethod
    def fit(cls, vectors: Floats, label: Longs, labels: int, *, shared: bool = False) -> Self:
        """In a ``shared`` space vectors stay as they are: texts are compared with them."""
        rooted = not shared and bool((vectors >= 0).all())
        flat = _flatten(vectors, rooted)
        centre = flat.mean(0)
        spread = flat - label_means(flat, label, labels)[label]
        scatter = spread.T @ spread / len(spread)
        scatter = (1 - SHRINK) * scatter + SHRINK * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
        values, axes = np.linalg.eigh(scatter)
        even = (axes * np.maximum(values, 1e-6 * values[-1] + _TINY) ** -0.5) @ axes.T
        return cls(rooted, centre.astype(np.float32), even.astype(np.float32))

    def of_texts(self, texts: Floats, label: Longs) -> Self:
        """The same head for texts: row ``label[i]`` of them says what picture i shows.

        Counting a text once per picture puts both centres at the same mixture of labels, so that a label without
        pictures moves neither.
        """
        return self.around(_flatten(texts, self.rooted)[label].mean(0))

    def around(self, centre: Floats) -> Self:
        return replace(self, centre=np.asarray(centre, np.float32))

    def centred(self, vectors: Floats) -> Floats:
        return _flatten(vectors, self.rooted) - self.centre

    def points(self, vectors: Floats) -> Floats:
        return unit(self.centred(vectors))

    def __call__(self, vectors: Floats) -> Floats:
        return unit(self.centred(vectors) @ self.even)


def texts_match_images(texts: Floats, means: Floats) -> bool:
    """Do directions of texts find the mean direction of the same row, clearly more often than chance would?

    SparseRows without pictures (zero) are passed over. Nothing of what is judged was learned from the pairs.
    """
    shown = means.any(1)
    scores = means[shown] @ texts[shown].T
    if len(scores) < 2:
        return False
    chance = 1 / np.arange(1, len(scores) + 1)
    enough = chance.mean() + _ERRORS * chance.std() / len(scores) ** 0.5
    return reciprocal_rank(scores, np.arange(len(scores))) > float(enough)


def reciprocal_rank(scores: Floats, label: Longs) -> float:
    """Mean of 1 / rank of the right label of each row; scores (q, labels), ``label`` (q,)."""
    return float((1 / ranks_of_scores(scores, scores[np.arange(len(label)), label])).mean())


def label_means(rows: Floats, label: Longs, labels: int) -> Floats:
    """Mean row of each label (labels, m); zero where there is none."""
    total = np.zeros((labels, rows.shape[1]), np.float32)
    np.add.at(total, label, rows)
    counts = np.maximum(np.bincount(label, minlength=labels), 1).astype(np.float32)
    return np.divide(total, counts[:, None], dtype=np.float32)


def unit(rows: NDArray[np.floating]) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Floats = (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    return found


def _flatten(vectors: Floats, rooted: bool) -> Floats:
    rows = np.asarray(vectors, np.float32)
    return unit(np.sqrt(np.maximum(rows, 0)) if rooted else rows)
