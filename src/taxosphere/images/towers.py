"""Pictures and labels on one sphere: a head for each of the two towers, both solved in closed form.

Text head: label vectors centred, whitened up to a floor and scaled to unit length, so that alike names stay a little
alike and no two coincide: the anchors. Image head: regression with the von Mises-Fisher kernel exp(κ(p·p' − 1)) on the
sphere of picture vectors, from the training pictures onto the anchors of their labels. Beside it stand directions in a
space where pictures of one label scatter evenly; there a label is the mean direction of its pictures. A picture is
[regression, direction], a label [anchor, mean direction], and one inner product ranks them. Where labels hang in a
tree, their places in it may join the anchors.

Where the towers share a space, one head serves both: texts become directions by the same map as pictures. A label's
text then stands beside the mean of its pictures, stands in for them where it has none, and may be asked itself.
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
from taxosphere.images.whitening import WithinClassWhitening, label_means, reciprocal_rank, texts_match_images, unit

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

KAPPA = 2.0  # of the kernel
RIDGE = 0.1
MOST_LANDMARKS = 10_000  # in the regression, and at most one more per label; its time grows with their third power
FLOORS = (0.03, 0.1, 0.3)  # of the text whitening, in mean variances
SHARES = (0.0, 0.3, 1.0)  # of the place in the tree beside the text
WEIGHTS = (0.5, 1.0, 2.0)  # of the direction beside the regression
SPOKEN = (1.0, 2.0, 0.5, 4.0, 0.0)  # of the text's direction, where the space is shared; of equals the first
UNTRIED = 2.0  # of the text's direction beside the pictures', where no picture can be set aside to choose
_VALIDATION = 0.2
_ONE_OF_TWO = 0.5
_BLOCK = 2048
_TINY = 1e-12


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
class Spoken:
    """Labels as their texts say, through the pictures' own head."""

    head: WithinClassWhitening  # that of the pictures, around the centre of the texts
    labels: Floats  # (k, m)
    weight: float  # zero where the texts add nothing to the pictures


@dataclass(frozen=True)
class Towers:
    """Fitted heads. `votes` are the regression's coefficients, one row per landmark and one column per label."""

    directions: WithinClassWhitening
    text: TextHead
    landmarks: Floats  # (n, m)
    votes: Floats  # (n, k)
    anchors: Floats  # (k, t)
    means: Floats  # (k, m)
    weight: float
    spoken: Spoken | None = None

    @classmethod
    def fit(
        cls,
        vectors: Floats,
        label: Longs,
        texts: Floats,
        *,
        places: Floats | None = None,
        shared: bool = False,
        random_state: int = 0,
    ) -> Self:
        """``label`` is the row of ``texts`` (and ``places``) that a picture shows; ``shared`` says that texts and
        pictures are vectors of one space.

        How much texts, places and directions count is chosen on a part of the pictures.
        """
        _check(vectors, label, texts, shared)
        mix = Mix(FLOORS[1], 0.0, WEIGHTS[1], 0.0)
        solved = _solve(vectors, label, texts, shared, random_state)
        inner, outer = hold_out(label, _VALIDATION, random_state)
        if solved.heard and not len(outer):
            inner, outer = hold_out(label, _ONE_OF_TWO, random_state)
        landmarks, votes = solved.landmarks, solved.votes
        if len(outer):
            inner = strip(label, inner, len(texts), random_state) if solved.heard else inner
            trial = _solve(vectors[inner], label[inner], texts, shared, random_state)
            trial = trial._replace(heard=trial.heard and solved.heard)
            mix = _choose(trial, vectors[outer], label[outer], texts, places)
        elif solved.heard:  # nothing says how far separate heads can be trusted
            landmarks, votes, mix = landmarks[:0], votes[:0], mix._replace(spoken=UNTRIED)
        head = TextHead.fit(texts, mix.floor)
        spoken = Spoken(solved.spoken, solved.spoken(texts), mix.spoken) if solved.spoken else None
        rows = anchors(head, texts, places, mix.share)
        return cls(solved.directions, head, landmarks, votes, rows, solved.means, mix.weight, spoken)

    def pictures(self, vectors: Floats) -> Floats:
        """Points (q, t + m) on the common sphere; (q, t + 2m) where texts have a say there."""
        return self._points(self.directions, vectors)

    def texts(self, vectors: Floats) -> Floats:
        """Texts as points among those of `pictures`, where the space is shared."""
        if self.spoken is None:
            raise InputError("texts can be put among pictures only where one encoder reads both")
        return self._points(self.spoken.head, vectors)

    def _points(self, head: WithinClassWhitening, vectors: Floats) -> Floats:
        votes, directions = _vote(head.points(vectors), self.landmarks, self.votes), head(vectors)
        weights = [self.weight, self.spoken.weight] if self.spoken and self.spoken.weight else [self.weight]
        return unit(np.hstack([votes @ self.anchors, *(weight * directions for weight in weights)]))

    def labels(self) -> Floats:
        """Points on the common sphere, as long as those of `pictures`."""
        said = [self.spoken.labels] if self.spoken and self.spoken.weight else []
        return unit(np.hstack([self.anchors, self.means, *said]))

    def score(self, vectors: Floats) -> Floats:
        """Cosines (q, k) of pictures and labels."""
        return np.vstack([self.pictures(part) @ self.labels().T for part in _blocks(vectors)])

    def arrays(self) -> dict[str, NDArray[np.floating]]:
        """Everything, for a safetensors file."""
        parts = {"centre": self.directions.centre, "even": self.directions.even}
        heads = {"text_centre": self.text.centre, "text_even": self.text.even}
        rest = {name: getattr(self, name) for name in ("landmarks", "votes", "anchors", "means")}
        numbers = {"rooted": float(self.directions.rooted), "weight": self.weight}
        if self.spoken is not None:
            rest |= {"spoken_centre": self.spoken.head.centre, "spoken_labels": self.spoken.labels}
            numbers |= {"spoken_weight": self.spoken.weight}
        return {**parts, **heads, **rest} | {key: np.array([value], np.float32) for key, value in numbers.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> Self:
        a = {name: np.asarray(value, np.float32) for name, value in arrays.items()}
        directions = WithinClassWhitening(bool(a["rooted"][0]), a["centre"], a["even"])
        text = TextHead(a["text_centre"], a["text_even"])
        spoken = None
        if "spoken_labels" in a:
            spoken = Spoken(directions.around(a["spoken_centre"]), a["spoken_labels"], float(a["spoken_weight"][0]))
        rest = (a["landmarks"], a["votes"], a["anchors"], a["means"], float(a["weight"][0]))
        return cls(directions, text, *rest, spoken)


def strip(label: Longs, rows: Longs, labels: int, random_state: int) -> Longs:
    """``rows`` without the pictures of some labels: as large a share of the pictured ones as the share of all labels
    that have no picture, so that what is tried out on held-out pictures holds for those as well."""
    shown = np.unique(label)
    count = min(round(len(shown) * (1 - len(shown) / labels)), len(shown) - 2)
    return rows[~np.isin(label[rows], np.random.default_rng([random_state, 1]).permutation(shown)[:count])]


class Mix(NamedTuple):
    floor: float
    share: float
    weight: float
    spoken: float


def anchors(head: TextHead, texts: Floats, places: Floats | None, share: float) -> Floats:
    """Unit rows [text, √share · place]: cosines of texts and of places add up with these weights."""
    return head(texts) if places is None or share == 0 else unit(np.hstack([head(texts), share**0.5 * places]))


def hold_out(label: Longs, share: float, random_state: int) -> tuple[Longs, Longs]:
    """SparseRows to keep and rows to hold out: of every label the same share (rounded), never its last picture."""
    order = np.random.default_rng(random_state).permutation(len(label))
    order = order[np.argsort(label[order], kind="stable")]
    counts = np.bincount(label)
    place = np.arange(len(label)) - np.repeat(np.cumsum(counts) - counts, counts)
    held = place < np.minimum(np.round(share * counts), np.maximum(counts - 1, 0))[label[order]]
    return np.sort(order[~held]), np.sort(order[held])


def _check(vectors: Floats, label: Longs, texts: Floats, shared: bool) -> None:
    if len(vectors) != len(label) or (len(label) and label.max() >= len(texts)):
        raise InputError(
            f"{len(vectors)} pictures, {len(label)} labels of pictures and {len(texts)} label texts do not fit"
        )
    if len(np.unique(label)) < 2:
        raise InputError("pictures of at least two labels are needed to tell them apart")
    if shared and vectors.shape[1] != texts.shape[1]:
        raise InputError(
            f"pictures of {vectors.shape[1]} numbers and texts of {texts.shape[1]} cannot be vectors of one space"
        )


class _Solved(NamedTuple):
    directions: WithinClassWhitening
    landmarks: Floats
    votes: Floats
    means: Floats
    spoken: WithinClassWhitening | None
    heard: bool  # do the texts say which label is which?


def _solve(vectors: Floats, label: Longs, texts: Floats, shared: bool, random_state: int) -> _Solved:
    labels = len(texts)
    directions = WithinClassWhitening.fit(vectors, label, labels, shared=shared)
    spoken = directions.of_texts(texts, label) if shared else None
    centred = directions.centred(vectors)
    means = unit(label_means(centred, label, labels) @ directions.even)
    heard = spoken is not None and texts_match_images(spoken(texts), means)
    if spoken is not None and heard:  # a text is the picture of a label that has none
        bare = np.flatnonzero(np.bincount(label, minlength=labels) == 0)
        centred, label = np.vstack([centred, spoken.centred(texts[bare])]), np.concatenate([label, bare])
        means[bare] = spoken(texts[bare])
    few = len(centred) <= MOST_LANDMARKS
    rows = slice(None) if few else hold_out(label, 1 - MOST_LANDMARKS / len(centred), random_state)[0]
    landmarks = unit(centred[rows])
    wanted = np.eye(labels, dtype=np.float32)[label[rows]] - np.float32(1 / labels)
    kernel = landmarks @ landmarks.T
    np.exp(KAPPA * (kernel - 1), out=kernel)
    kernel[np.diag_indices(len(kernel))] += RIDGE
    votes = linalg.solve(kernel, wanted, assume_a="pos", overwrite_a=True, check_finite=False)
    return _Solved(directions, landmarks, votes.astype(np.float32), means, spoken, heard)


def _vote(points: Floats, landmarks: Floats, votes: Floats) -> Floats:
    near: Floats = np.exp(np.float32(KAPPA) * (points @ landmarks.T - 1))
    return near @ votes


def _choose(solved: _Solved, vectors: Floats, label: Longs, texts: Floats, places: Floats | None) -> Mix:
    """The mixture with the best mean reciprocal rank of held-out pictures; of equals the first."""
    directions, landmarks, votes, means, spoken, heard = solved
    raw = np.vstack([_vote(directions.points(part), landmarks, votes) for part in _blocks(vectors)])
    near = directions(vectors) @ means.T
    said = directions(vectors) @ spoken(texts).T if spoken is not None and heard else None
    best, found = -1.0, Mix(FLOORS[0], SHARES[0], WEIGHTS[0], 0.0)
    for floor, share in product(FLOORS, SHARES if places is not None else SHARES[:1]):
        rows = anchors(TextHead.fit(texts, floor), texts, places, share)
        cosines = raw @ (rows @ rows.T)
        for weight, loud in product(WEIGHTS, (0.0,) if said is None else SPOKEN):
            scores = cosines + weight * near
            if said is not None:
                scores += loud * said
            value = reciprocal_rank(scores, label)
            if value > best:
                best, found = value, Mix(floor, share, weight, loud)
    return found


def _blocks(rows: Floats) -> list[Floats]:
    return [rows[start : start + _BLOCK] for start in range(0, max(1, len(rows)), _BLOCK)]
