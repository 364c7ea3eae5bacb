"""Pictures and labels on one sphere: a head for each of the two towers, both solved in closed form.

Text head: label vectors centred, whitened up to a floor and scaled to unit length, so that alike names stay a little
alike and no two coincide: the anchors. Image head: regression with the von Mises-Fisher kernel exp(κ(p·p' − 1)) on the
sphere of picture vectors, from the training pictures onto the anchors of their labels. Beside it stand directions in a
space where pictures of one label scatter evenly; there a label is the mean direction of its pictures. A picture is
[regression, direction], a label [anchor, mean direction], and one inner product ranks them. Where labels hang in a
tree, their places in it may join the anchors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from taxosphere.errors import InputError

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

KAPPA = 2.0  # of the kernel
RIDGE = 0.1
SHRINK = 0.4  # of the scatter within labels towards its mean variance
MOST_LANDMARKS = 10_000  # pictures in the regression; its time grows with their third power
FLOORS = (0.03, 0.1, 0.3)  # of the text whitening, in mean variances
SHARES = (0.0, 0.3, 1.0)  # of the place in the tree beside the text
WEIGHTS = (0.5, 1.0, 2.0)  # of the direction beside the regression
_VALIDATION = 0.2
_BLOCK = 2048
_TINY = 1e-12


@dataclass(frozen=True)
class Directions:
    """Picture vectors to points on their own sphere, and to directions where within-label scatter is even."""

    rooted: bool  # activations that are never negative are skewed; their square roots are not
    centre: Floats
    even: Floats  # (m, m)

    @classmethod
    def fit(cls, vectors: Floats, label: Longs, labels: int) -> Self:
        rooted = bool((vectors >= 0).all())
        flat = _flatten(vectors, rooted)
        centre = flat.mean(0)
        spread = flat - label_means(flat, label, labels)[label]
        scatter = spread.T @ spread / len(spread)
        scatter = (1 - SHRINK) * scatter + SHRINK * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
        values, axes = np.linalg.eigh(scatter)
        even = (axes * np.maximum(values, 1e-6 * values[-1] + _TINY) ** -0.5) @ axes.T
        return cls(rooted, centre.astype(np.float32), even.astype(np.float32))

    def centred(self, vectors: Floats) -> Floats:
        return _flatten(vectors, self.rooted) - self.centre

    def points(self, vectors: Floats) -> Floats:
        return unit(self.centred(vectors))

    def __call__(self, vectors: Floats) -> Floats:
        return unit(self.centred(vectors) @ self.even)


@dataclass(frozen=True)
class TextHead:
    """Label text vectors to anchors on the sphere."""

    centre: Floats
    even: Floats

    @classmethod
    def fit(cls, texts: Floats, floor: float) -> Self:
        centre = texts.mean(0)
        spread = texts - centre
        scatter = spread.T @ spread / len(spread)
        values, axes = np.linalg.eigh(scatter)
        values = np.maximum(values, 0) + floor * (float(values.sum()) / max(1, len(texts) - 1)) + _TINY
        return cls(centre.astype(np.float32), ((axes * values**-0.5) @ axes.T).astype(np.float32))

    def __call__(self, texts: Floats) -> Floats:
        return unit((texts - self.centre) @ self.even)


@dataclass(frozen=True)
class Towers:
    """Fitted heads. `votes` are the regression's coefficients, one row per landmark and one column per label."""

    directions: Directions
    text: TextHead
    landmarks: Floats  # (n, m)
    votes: Floats  # (n, k)
    anchors: Floats  # (k, t)
    means: Floats  # (k, m)
    weight: float

    @classmethod
    def fit(
        cls, vectors: Floats, label: Longs, texts: Floats, *, places: Floats | None = None, random_state: int = 0
    ) -> Self:
        """``label`` is the row of ``texts`` (and ``places``) that a picture shows.

        How much texts, places and directions count is chosen on a part of the pictures.
        """
        _check(vectors, label, texts)
        mix = Mix(FLOORS[1], 0.0, WEIGHTS[1])
        inner, outer = hold_out(label, _VALIDATION, random_state)
        if len(outer):
            trial = _solve(vectors[inner], label[inner], len(texts), random_state)
            mix = _choose(trial, vectors[outer], label[outer], texts, places)
        directions, landmarks, votes, means = _solve(vectors, label, len(texts), random_state)
        head = TextHead.fit(texts, mix.floor)
        return cls(directions, head, landmarks, votes, anchors(head, texts, places, mix.share), means, mix.weight)

    def vote(self, vectors: Floats) -> Floats:
        """How much each label's pictures speak for a picture (q, k)."""
        return _vote(self.directions.points(vectors), self.landmarks, self.votes)

    def pictures(self, vectors: Floats) -> Floats:
        """Points (q, t + m) on the common sphere."""
        return unit(np.hstack([self.vote(vectors) @ self.anchors, self.weight * self.directions(vectors)]))

    def labels(self) -> Floats:
        """Points (k, t + m) on the common sphere."""
        return unit(np.hstack([self.anchors, self.means]))

    def score(self, vectors: Floats) -> Floats:
        """Cosines (q, k) of pictures and labels."""
        return np.vstack([self.pictures(part) @ self.labels().T for part in _blocks(vectors)])

    def arrays(self) -> dict[str, NDArray[np.floating]]:
        """Everything, for a safetensors file."""
        parts = {"centre": self.directions.centre, "even": self.directions.even}
        heads = {"text_centre": self.text.centre, "text_even": self.text.even}
        rest = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("directions", "text")
        }
        numbers = {"rooted": np.array([float(self.directions.rooted)], np.float32)}
        return {**parts, **heads, **numbers, **rest, "weight": np.array([self.weight], np.float32)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> Self:
        a = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
        directions = Directions(bool(a["rooted"][0]), a["centre"], a["even"])
        text = TextHead(a["text_centre"], a["text_even"])
        return cls(directions, text, a["landmarks"], a["votes"], a["anchors"], a["means"], float(a["weight"][0]))


class Mix(NamedTuple):
    floor: float
    share: float
    weight: float


def anchors(head: TextHead, texts: Floats, places: Floats | None, share: float) -> Floats:
    """Unit rows [text, √share · place]: cosines of texts and of places add up with these weights."""
    return head(texts) if places is None or share == 0 else unit(np.hstack([head(texts), share**0.5 * places]))


def label_means(rows: Floats, label: Longs, labels: int) -> Floats:
    """Mean row of each label (labels, m); zero where there is none."""
    total = np.zeros((labels, rows.shape[1]), np.float32)
    np.add.at(total, label, rows)
    counts = np.maximum(np.bincount(label, minlength=labels), 1).astype(np.float32)
    return np.divide(total, counts[:, None], dtype=np.float32)


def hold_out(label: Longs, share: float, random_state: int) -> tuple[Longs, Longs]:
    """Rows to keep and rows to hold out: of every label the same share (rounded), never its last picture."""
    order = np.random.default_rng(random_state).permutation(len(label))
    order = order[np.argsort(label[order], kind="stable")]
    counts = np.bincount(label)
    place = np.arange(len(label)) - np.repeat(np.cumsum(counts) - counts, counts)
    held = place < np.minimum(np.round(share * counts), np.maximum(counts - 1, 0))[label[order]]
    return np.sort(order[~held]), np.sort(order[held])


def unit(rows: NDArray[np.floating]) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Floats = (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)
    return found


def _flatten(vectors: Floats, rooted: bool) -> Floats:
    rows = np.asarray(vectors, np.float32)
    return unit(np.sqrt(np.maximum(rows, 0)) if rooted else rows)


def _check(vectors: Floats, label: Longs, texts: Floats) -> None:
    if len(vectors) != len(label) or (len(label) and label.max() >= len(texts)):
        raise InputError(
            f"{len(vectors)} pictures, {len(label)} labels of pictures and {len(texts)} label texts do not fit"
        )
    if len(np.unique(label)) < 2:
        raise InputError("pictures of at least two labels are needed to tell them apart")


_Solved = tuple[Directions, Floats, Floats, Floats]


def _solve(vectors: Floats, label: Longs, labels: int, random_state: int) -> _Solved:
    directions = Directions.fit(vectors, label, labels)
    means = unit(label_means(directions.centred(vectors), label, labels) @ directions.even)
    few = len(vectors) <= MOST_LANDMARKS
    rows = slice(None) if few else hold_out(label, MOST_LANDMARKS / len(vectors), random_state)[1]
    landmarks = directions.points(vectors[rows])
    wanted = np.eye(labels, dtype=np.float32)[label[rows]] - np.float32(1 / labels)
    kernel = landmarks @ landmarks.T
    np.exp(KAPPA * (kernel - 1), out=kernel)
    kernel[np.diag_indices(len(kernel))] += RIDGE
    votes = linalg.solve(kernel, wanted, assume_a="pos", overwrite_a=True, check_finite=False)
    return directions, landmarks, votes.astype(np.float32), means


def _vote(points: Floats, landmarks: Floats, votes: Floats) -> Floats:
    near: Floats = np.exp(np.float32(KAPPA) * (points @ landmarks.T - 1))
    return near @ votes


def _choose(solved: _Solved, vectors: Floats, label: Longs, texts: Floats, places: Floats | None) -> Mix:
    """The mixture with the best mean reciprocal rank of held-out pictures; of equals the first."""
    directions, landmarks, votes, means = solved
    raw = np.vstack([_vote(directions.points(part), landmarks, votes) for part in _blocks(vectors)])
    near = directions(vectors) @ means.T
    best, found = -1.0, Mix(FLOORS[0], SHARES[0], WEIGHTS[0])
    for floor, share in product(FLOORS, SHARES if places is not None else SHARES[:1]):
        rows = anchors(TextHead.fit(texts, floor), texts, places, share)
        cosines = raw @ (rows @ rows.T)
        for weight in WEIGHTS:
            scores = cosines + weight * near
            own = np.take_along_axis(scores, label[:, None], 1)
            value = float((1 / ((scores > own).sum(1) + 1)).mean())
            if value > best:
                best, found = value, Mix(floor, share, weight)
    return found


def _blocks(rows: Floats) -> list[Floats]:
    return [rows[start : start + _BLOCK] for start in range(0, max(1, len(rows)), _BLOCK)]
