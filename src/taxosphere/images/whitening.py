"""The image head: vectors to directions on a sphere on which images of one label scatter equally in all directions.

Where the two towers of an encoder share a space (CLIP, SigLIP), the same map is used for texts. Texts and images form
two separate clouds there, so each has its own centre; everything after centring is shared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranks import ranks_of_scores
from taxosphere.typing import Floats, Longs

SHRINK = 0.4  # of the covariance within labels towards its mean variance
_TINY = 1e-12
_STANDARD_ERRORS = 2.5  # by which texts must beat chance


@dataclass(frozen=True)
class WithinClassWhitening:
    """Maps vectors to unit directions after centring and whitening by the covariance within labels.

    Attributes
    ----------
    square_root
        Take square roots first: activations that are never negative are skewed, their square roots are not.
    centre
        (m,) subtracted.
    matrix
        (m, m) inverse square root of the shrunken covariance.
    """

    square_root: bool
    centre: Floats
    matrix: Floats

    @classmethod
    def fit(cls, vectors: Floats, label: Longs, n_labels: int, *, shared: bool = False) -> Self:
        """Fit to labelled vectors.

        Parameters
        ----------
        vectors
            (i, m) of images.
        label
            (i,) from 0 to ``n_labels`` − 1.
        n_labels
            Number of labels.
        shared
            Texts are vectors of the same space. Then no square roots are taken: texts are compared with the vectors.
        """
        square_root = not shared and bool((vectors >= 0).all())
        rows = _normalise(vectors, square_root)
        centre = rows.mean(0)
        deviation = rows - label_means(rows, label, n_labels)[label]
        covariance = deviation.T @ deviation / len(deviation)
        shrunken = SHRINK * np.trace(covariance) / len(covariance)
        covariance = (1 - SHRINK) * covariance + shrunken * np.eye(len(covariance))
        values, axes = np.linalg.eigh(covariance)
        matrix = (axes * np.maximum(values, 1e-6 * values[-1] + _TINY) ** -0.5) @ axes.T
        return cls(square_root, centre.astype(np.float32), matrix.astype(np.float32))

    def for_texts(self, texts: Floats, label: Longs) -> Self:
        """The same map with the centre of texts.

        Parameters
        ----------
        texts
            (labels, m) in the space of the images.
        label
            (i,) of the images. A text counts once per image, so that both centres are means over the same mixture of
            labels, and a label without images moves neither.
        """
        return self.with_centre(_normalise(texts, self.square_root)[label].mean(0))

    def with_centre(self, centre: Floats) -> Self:
        """The same map with another centre (m,)."""
        return replace(self, centre=np.asarray(centre, np.float32))

    def centred(self, vectors: Floats) -> Floats:
        """Normalised vectors (i, m) minus the centre."""
        return _normalise(vectors, self.square_root) - self.centre

    def centred_points(self, vectors: Floats) -> Floats:
        """Unit rows (i, m): centred, not whitened."""
        return unit(self.centred(vectors))

    def __call__(self, vectors: Floats) -> Floats:
        """Unit rows (i, m): centred and whitened."""
        return unit(self.centred(vectors) @ self.matrix)


def texts_match_images(texts: Floats, images: Floats) -> bool:
    """Whether directions of texts rank the images of the same label clearly higher than chance.

    Nothing that is tested here was trained on pairs of texts and images.

    Parameters
    ----------
    texts
        (labels, m) directions of the labels' texts.
    images
        (labels, m) mean directions of their images; zero rows, for labels without images, are left out.
    """
    has_images = images.any(1)
    scores = images[has_images] @ texts[has_images].T
    if len(scores) < 2:
        return False
    by_chance = 1 / np.arange(1, len(scores) + 1)
    enough = by_chance.mean() + _STANDARD_ERRORS * by_chance.std() / len(scores) ** 0.5
    return mean_reciprocal_rank(scores, np.arange(len(scores))) > float(enough)


def mean_reciprocal_rank(scores: Floats, label: Longs) -> float:
    """Mean of 1 / rank of the right label (q,) by the scores (q, labels)."""
    return float((1 / ranks_of_scores(scores, scores[np.arange(len(label)), label])).mean())


def label_means(rows: Floats, label: Longs, n_labels: int) -> Floats:
    """Mean row of each label (labels, m); zero for a label without rows."""
    total = np.zeros((n_labels, rows.shape[1]), np.float32)
    np.add.at(total, label, rows)
    counts = np.maximum(np.bincount(label, minlength=n_labels), 1).astype(np.float32)
    return np.divide(total, counts[:, None], dtype=np.float32)


def unit(rows: NDArray[np.floating]) -> Floats:
    """Rows divided by their length; zero rows stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Floats = (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    return scaled


def _normalise(vectors: Floats, square_root: bool) -> Floats:
    rows = np.asarray(vectors, np.float32)
    return unit(np.sqrt(np.maximum(rows, 0)) if square_root else rows)
