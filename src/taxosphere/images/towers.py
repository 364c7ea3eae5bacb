"""Images and labels on one sphere: a head for each of the two towers, both solved in closed form.

Text head: label vectors are centred, whitened up to a floor and scaled to unit length, so that similar names stay a
little similar and no two coincide: the anchors. Image head: regression with the von Mises-Fisher kernel
exp(κ(p·p' − 1)) on the sphere of image vectors, from the training images to the anchors of their labels. Beside it are
directions in a space in which images of one label scatter equally in all directions; there a label is the mean
direction of its images. An image is [regression, direction], a label [anchor, mean direction], and one inner product
ranks them. Where labels belong to a taxonomy, their ancestors may join the anchors.

Where the towers share a space, one head serves both: texts become directions by the same map as images. A label's text
is then a third part beside the mean of its images, takes the place of the images where it has none, and can itself be
ranked like an image.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taxosphere.errors import InputError
from taxosphere.images.whitening import (
    WithinClassWhitening,
    label_means,
    mean_reciprocal_rank,
    texts_match_images,
    unit,
)
from taxosphere.typing import Floats, Longs

KAPPA = 2.0  # of the kernel
RIDGE = 0.1
MOST_LANDMARKS = 10_000  # in the regression, and at most one more per label; its time grows with their third power
# What `Mixture` is chosen from; of equally good ones the first.
TEXT_FLOORS = (0.03, 0.1, 0.3)
ANCESTOR_WEIGHTS = (0.0, 0.3, 1.0)
DIRECTION_WEIGHTS = (0.5, 1.0, 2.0)
TEXT_WEIGHTS = (1.0, 2.0, 0.5, 4.0, 0.0)
UNTRIED_TEXT_WEIGHT = 2.0  # where no image can be held out to choose one
_VALIDATION = 0.2
_ONE_OF_TWO = 0.5
_BLOCK = 2048
_TINY = 1e-12


@dataclass(frozen=True)
class TextHead:
    """Label text vectors to anchors: centred by ``centre`` (t,), whitened by ``matrix`` (t, t), of unit length."""

    centre: Floats
    matrix: Floats

    @classmethod
    def fit(cls, texts: Floats, floor: float) -> Self:
        """Fit to the texts (labels, t); ``floor``, in mean variances, is added to the variance in every direction."""
        centre = texts.mean(0)
        deviation = texts - centre
        covariance = deviation.T @ deviation / len(deviation)
        values, axes = np.linalg.eigh(covariance)
        values = np.maximum(values, 0) + floor * (float(values.sum()) / max(1, len(texts) - 1)) + _TINY
        return cls(centre.astype(np.float32), ((axes * values**-0.5) @ axes.T).astype(np.float32))

    def __call__(self, texts: Floats) -> Floats:
        """Anchors (labels, t)."""
        return unit((texts - self.centre) @ self.matrix)


class Mixture(NamedTuple):
    """How much each part counts.

    Attributes
    ----------
    text_floor
        Of the text head's whitening.
    ancestor_weight
        Of the ancestors beside the text in the anchors.
    direction_weight
        Of the direction beside the regression.
    text_weight
        Of the text's direction, where the space is shared.
    """

    text_floor: float
    ancestor_weight: float
    direction_weight: float
    text_weight: float


@dataclass(frozen=True)
class TextDirections:
    """Texts as directions in a shared space.

    Attributes
    ----------
    whitening
        That of the images, with the centre of the texts.
    labels
        (k, m) directions of the labels' texts.
    weight
        Zero where the texts add nothing to the images.
    """

    whitening: WithinClassWhitening
    labels: Floats
    weight: float


@dataclass(frozen=True, kw_only=True)
class Towers:
    """Fitted heads for k labels.

    Attributes
    ----------
    whitening
        Image vectors to directions.
    text_head
        Label texts to anchors.
    landmarks
        (l, m) training images of the regression.
    dual_coef
        (l, k) coefficients of the regression.
    anchors
        (k, t) of the labels.
    means
        (k, m) mean directions of the labels' images.
    direction_weight
        Of the direction beside the regression.
    text_directions
        Where the space is shared, else None.
    """

    whitening: WithinClassWhitening
    text_head: TextHead
    landmarks: Floats
    dual_coef: Floats
    anchors: Floats
    means: Floats
    direction_weight: float
    text_directions: TextDirections | None = None

    @classmethod
    def fit(
        cls,
        vectors: Floats,
        label: Longs,
        texts: Floats,
        *,
        ancestors: Floats | None = None,
        shared: bool = False,
        random_state: int = 0,
    ) -> Self:
        """Fit both heads; the mixture is chosen on held-out images.

        Parameters
        ----------
        vectors
            (i, m) of images.
        label
            (i,): the row of ``texts`` and ``ancestors`` that each image shows.
        texts
            (k, t) vectors of the labels' texts.
        ancestors
            (k, …) unit rows that are the more alike the more ancestors two labels share, or None.
        shared
            Texts and images are vectors of one space.
        random_state
            Chooses the images to hold out.

        Raises
        ------
        InputError
            The shapes do not fit, or images show fewer than two labels.
        """
        _check(vectors, label, texts, shared)
        mixture = Mixture(TEXT_FLOORS[1], 0.0, DIRECTION_WEIGHTS[1], 0.0)
        solved = _solve(vectors, label, texts, shared, random_state)
        train, test = hold_out(label, _VALIDATION, random_state)
        if solved.texts_match and not len(test):
            train, test = hold_out(label, _ONE_OF_TWO, random_state)
        landmarks, dual_coef = solved.landmarks, solved.dual_coef
        if len(test):
            train = drop_labels(label, train, len(texts), random_state) if solved.texts_match else train
            trial = _solve(vectors[train], label[train], texts, shared, random_state)
            trial = trial._replace(texts_match=trial.texts_match and solved.texts_match)
            mixture = _choose(trial, vectors[test], label[test], texts, ancestors)
        elif solved.texts_match:  # nothing tells how far separate heads can be trusted
            landmarks, dual_coef = landmarks[:0], dual_coef[:0]
            mixture = mixture._replace(text_weight=UNTRIED_TEXT_WEIGHT)
        text_head = TextHead.fit(texts, mixture.text_floor)
        by_text = solved.text_whitening
        return cls(
            whitening=solved.whitening,
            text_head=text_head,
            landmarks=landmarks,
            dual_coef=dual_coef,
            anchors=label_anchors(text_head, texts, ancestors, mixture.ancestor_weight),
            means=solved.means,
            direction_weight=mixture.direction_weight,
            text_directions=TextDirections(by_text, by_text(texts), mixture.text_weight) if by_text else None,
        )

    def embed_images(self, vectors: Floats) -> Floats:
        """Points (q, t + m) of image vectors (q, m) on the common sphere; (q, t + 2m) where texts have a weight."""
        return self._points(self.whitening, vectors)

    def embed_texts(self, vectors: Floats) -> Floats:
        """Points of text vectors (q, m) among those of `embed_images`.

        Raises
        ------
        InputError
            Texts and images do not share a space.
        """
        if self.text_directions is None:
            raise InputError("texts can be compared with images only where one encoder reads both")
        return self._points(self.text_directions.whitening, vectors)

    def embed_labels(self) -> Floats:
        """Points of the k labels on the common sphere, as wide as those of `embed_images`."""
        texts = self.text_directions
        return unit(np.hstack([self.anchors, self.means, *([texts.labels] if texts and texts.weight else [])]))

    def _points(self, whitening: WithinClassWhitening, vectors: Floats) -> Floats:
        regression = _regress(whitening.centred_points(vectors), self.landmarks, self.dual_coef) @ self.anchors
        directions, texts = whitening(vectors), self.text_directions
        weights = [self.direction_weight, *([texts.weight] if texts and texts.weight else [])]
        return unit(np.hstack([regression, *(weight * directions for weight in weights)]))

    def score(self, vectors: Floats) -> Floats:
        """Cosines (q, k) of images (q, m) and labels."""
        return np.vstack([self.embed_images(part) @ self.embed_labels().T for part in _blocks(vectors)])

    def to_arrays(self) -> dict[str, NDArray[np.floating]]:
        """Arrays for a model folder."""
        arrays = {
            "centre": self.whitening.centre,
            "matrix": self.whitening.matrix,
            "text_centre": self.text_head.centre,
            "text_matrix": self.text_head.matrix,
            **{name: getattr(self, name) for name in ("landmarks", "dual_coef", "anchors", "means")},
        }
        numbers = {"square_root": float(self.whitening.square_root), "direction_weight": self.direction_weight}
        if self.text_directions is not None:
            texts = self.text_directions
            arrays |= {"text_directions_centre": texts.whitening.centre, "text_directions_labels": texts.labels}
            numbers |= {"text_directions_weight": texts.weight}
        return arrays | {key: np.array([value], np.float32) for key, value in numbers.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> Self:
        """The towers that `to_arrays` wrote."""
        a = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
        whitening = WithinClassWhitening(bool(a["square_root"][0]), a["centre"], a["matrix"])
        texts = None
        if "text_directions_labels" in a:
            by_text = whitening.with_centre(a["text_directions_centre"])
            texts = TextDirections(by_text, a["text_directions_labels"], float(a["text_directions_weight"][0]))
        return cls(
            whitening=whitening,
            text_head=TextHead(a["text_centre"], a["text_matrix"]),
            landmarks=a["landmarks"],
            dual_coef=a["dual_coef"],
            anchors=a["anchors"],
            means=a["means"],
            direction_weight=float(a["direction_weight"][0]),
            text_directions=texts,
        )


def drop_labels(label: Longs, rows: Longs, n_labels: int, random_state: int) -> Longs:
    """``rows`` without the images of some labels, so that a mixture is also tried on labels without images.

    The share of labels that lose their images is that of all labels that have none.

    Parameters
    ----------
    label
        (i,) of all images.
    rows
        Images to choose from.
    n_labels
        Number of labels, with images or without.
    random_state
        Chooses the labels.
    """
    with_images = np.unique(label)
    count = min(round(len(with_images) * (1 - len(with_images) / n_labels)), len(with_images) - 2)
    dropped = np.random.default_rng([random_state, 1]).permutation(with_images)[:count]
    return rows[~np.isin(label[rows], dropped)]


def label_anchors(head: TextHead, texts: Floats, ancestors: Floats | None, ancestor_weight: float) -> Floats:
    """Unit rows [text, √weight · ancestors]: cosines of texts and of ancestors add up with these weights."""
    if ancestors is None or ancestor_weight == 0:
        return head(texts)
    return unit(np.hstack([head(texts), ancestor_weight**0.5 * ancestors]))


def hold_out(label: Longs, share: float, random_state: int) -> tuple[Longs, Longs]:
    """Rows to train on and rows to hold out: of every label the same share (rounded), never its last image.

    Parameters
    ----------
    label
        (i,) of the images.
    share
        To hold out.
    random_state
        Chooses the images.
    """
    order = np.random.default_rng(random_state).permutation(len(label))
    order = order[np.argsort(label[order], kind="stable")]
    counts = np.bincount(label)
    place = np.arange(len(label)) - np.repeat(np.cumsum(counts) - counts, counts)
    held_out = place < np.minimum(np.round(share * counts), np.maximum(counts - 1, 0))[label[order]]
    return np.sort(order[~held_out]), np.sort(order[held_out])


def _check(vectors: Floats, label: Longs, texts: Floats, shared: bool) -> None:
    if len(vectors) != len(label) or (len(label) and label.max() >= len(texts)):
        raise InputError(
            f"{len(vectors)} images, {len(label)} labels of images and {len(texts)} label texts do not fit"
        )
    if len(np.unique(label)) < 2:
        raise InputError("images of at least two labels are needed to tell them apart")
    if shared and vectors.shape[1] != texts.shape[1]:
        raise InputError(
            f"images of {vectors.shape[1]} numbers and texts of {texts.shape[1]} cannot be vectors of one space"
        )


class _Solved(NamedTuple):
    whitening: WithinClassWhitening
    landmarks: Floats
    dual_coef: Floats
    means: Floats
    text_whitening: WithinClassWhitening | None
    texts_match: bool  # whether the texts tell which label is which


def _solve(vectors: Floats, label: Longs, texts: Floats, shared: bool, random_state: int) -> _Solved:
    n_labels = len(texts)
    whitening = WithinClassWhitening.fit(vectors, label, n_labels, shared=shared)
    by_text = whitening.for_texts(texts, label) if shared else None
    centred = whitening.centred(vectors)
    means = unit(label_means(centred, label, n_labels) @ whitening.matrix)
    texts_match = by_text is not None and texts_match_images(by_text(texts), means)
    if by_text is not None and texts_match:  # a text takes the place of the images of a label that has none
        without = np.flatnonzero(np.bincount(label, minlength=n_labels) == 0)
        centred = np.vstack([centred, by_text.centred(texts[without])])
        label = np.concatenate([label, without])
        means[without] = by_text(texts[without])
    few = len(centred) <= MOST_LANDMARKS
    rows = slice(None) if few else hold_out(label, 1 - MOST_LANDMARKS / len(centred), random_state)[0]
    landmarks = unit(centred[rows])  # (l, m)
    target = np.eye(n_labels, dtype=np.float32)[label[rows]] - np.float32(1 / n_labels)  # (l, k)
    kernel = landmarks @ landmarks.T
    np.exp(KAPPA * (kernel - 1), out=kernel)
    kernel[np.diag_indices(len(kernel))] += RIDGE
    dual_coef = linalg.solve(kernel, target, assume_a="pos", overwrite_a=True, check_finite=False)
    return _Solved(whitening, landmarks, dual_coef.astype(np.float32), means, by_text, texts_match)


def _regress(points: Floats, landmarks: Floats, dual_coef: Floats) -> Floats:
    """Kernel regression (q, k) at points (q, m)."""
    kernel: Floats = np.exp(np.float32(KAPPA) * (points @ landmarks.T - 1))
    return kernel @ dual_coef


def _choose(solved: _Solved, vectors: Floats, label: Longs, texts: Floats, ancestors: Floats | None) -> Mixture:
    """The mixture with the best mean reciprocal rank of held-out images; of equals the first."""
    whitening, landmarks, dual_coef = solved.whitening, solved.landmarks, solved.dual_coef
    regression = [_regress(whitening.centred_points(part), landmarks, dual_coef) for part in _blocks(vectors)]
    coefficients = np.vstack(regression)  # (q, k)
    directions, by_text = whitening(vectors), solved.text_whitening
    by_image = directions @ solved.means.T
    by_label_text = directions @ by_text(texts).T if by_text is not None and solved.texts_match else None
    best, mixture = -1.0, Mixture(TEXT_FLOORS[0], ANCESTOR_WEIGHTS[0], DIRECTION_WEIGHTS[0], 0.0)
    ancestor_weights = ANCESTOR_WEIGHTS if ancestors is not None else ANCESTOR_WEIGHTS[:1]
    for floor, ancestor_weight in product(TEXT_FLOORS, ancestor_weights):
        anchors = label_anchors(TextHead.fit(texts, floor), texts, ancestors, ancestor_weight)
        cosines = coefficients @ (anchors @ anchors.T)
        for weight, text_weight in product(DIRECTION_WEIGHTS, (0.0,) if by_label_text is None else TEXT_WEIGHTS):
            scores = cosines + weight * by_image
            if by_label_text is not None:
                scores += text_weight * by_label_text
            value = mean_reciprocal_rank(scores, label)
            if value > best:
                best, mixture = value, Mixture(floor, ancestor_weight, weight, text_weight)
    return mixture


def _blocks(rows: Floats) -> list[Floats]:
    return [rows[start : start + _BLOCK] for start in range(0, max(1, len(rows)), _BLOCK)]
