"""New parents: is one concept of a list the parent of another?

A new concept has no children and no neighbours of its own yet, which is most of what the ranker goes by; it would
hardly ever find that "spring water" belongs below "water" where both are new. So pairs of new concepts have a model of
their own, trained on the taxonomy itself: branches are taken out as if they had arrived in one list, together with
leaves from beside them and from elsewhere, whose parents are not in the list. A logistic model over texts and names
answers. Nothing trained on the taxonomy's edges is among its features, because it has seen the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.hiding import LARGEST_SUBTREE
from taxosphere.taxonomy.structure import transpose
from taxosphere.typing import Floats, Longs

# By feature: mean, standard deviation and weight in three other taxonomies (benchmarks/bench_new_parents.py).
_USUAL = {
    "texts alike": (0.347, 0.193, 0.451),
    "names alike": (0.282, 0.199, -0.446),
    "its name fits the other's text": (0.281, 0.174, 0.524),
    "the other's name fits its text": (0.270, 0.180, 0.426),
    "its name fits the other's text better than the other way round": (0.011, 0.112, 0.130),
    "texts alike, beside the likest of the list": (-0.188, 0.158, -0.335),
    "its name fits the other's text, beside the best of the list": (-0.191, 0.156, 0.333),
    "its name fits the texts of the list": (0.247, 0.126, -0.113),
    "the other's name fits the texts of the list": (0.223, 0.130, -0.171),
    "its text is nearer to the list than the other's": (0.021, 0.102, 0.239),
    "share of the list that ends with its name": (0.005, 0.037, 0.016),
    "share of the list that ends with the other's name": (0.004, 0.035, 0.006),
    "share of the list whose text its name fits best": (0.071, 0.096, 0.249),
    "number of concepts in the list": (2.899, 0.438, -0.237),
    "the other's nearest existing concept": (0.738, 0.122, -0.189),
    "texts alike, beside the nearest existing concept": (-0.391, 0.211, 0.523),
    "the other's name ends with it": (0.006, 0.075, 0.244),
    "the other's name ends with it as a word": (0.002, 0.045, -0.081),
    "its name ends with the other's": (0.006, 0.075, -0.272),
    "all its words are in the other's name": (0.004, 0.063, 0.131),
    "shared words": (0.032, 0.102, -0.120),
    "named in the other's description": (0.003, 0.058, 0.098),
    "the other is named in its description": (0.003, 0.058, -0.030),
    "words in its name": (1.819, 0.999, 0.155),
    "words in the other's name": (1.790, 0.963, -0.010),
}
_USUAL_CONSTANT = -4.797
FEATURES = tuple(_USUAL)
_LISTS = 150  # branches taken out of the taxonomy to train on
_BESIDE = 4  # leaves from beside a branch in its list
_ELSEWHERE = (0, 4, 16)  # leaves from anywhere
_COMPARED = 12  # concepts of a list that are compared with each as parents, beside those that its name contains
_FEWEST = 20  # pairs of parent and child below which the usual model is taken
RIDGE = 1e-3  # of the usual model
# How strongly the weights of a taxonomy are drawn to the usual ones, divided by the number of its pairs. Without it a
# feature that hardly varies in a small taxonomy decided alone: in a catalogue of one-word names every new concept went
# below the only new one of three words.
_PULL = 100.0
_CELLS = 1 << 24  # cosines held at once
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Pairs:
    """Pairs of a list's concepts: numbers (p,) of ``child`` and ``parent``, and ``features`` (p, `FEATURES`)."""

    child: Longs
    parent: Longs
    features: NDArray[np.float64]


@dataclass(frozen=True)
class NewParents:
    """Predicts which concept of a list is the parent of another; ``model`` reads `FEATURES` of a pair."""

    model: Logistic

    @classmethod
    def fit(cls, taxonomy: Taxonomy, vectors: TextVectors, random_state: int) -> NewParents:
        """Train on branches of a taxonomy, beginning from `USUAL`; one with hardly any branch gets that itself.

        Parameters
        ----------
        taxonomy
            The n concepts.
        vectors
            Text vectors (n, m) by an encoder that was not trained on the taxonomy.
        random_state
            Chooses branches.
        """
        lists = training_lists(taxonomy, np.random.default_rng([random_state, 6]))
        return cls.fit_examples(*examples(taxonomy, vectors, lists))

    @classmethod
    def fit_examples(
        cls, rows: NDArray[np.float64], labels: NDArray[np.bool_], weights: NDArray[np.float64]
    ) -> NewParents:
        """Train on pairs as `examples` returns them."""
        if labels.sum() < _FEWEST:
            return USUAL
        pull = _PULL / len(labels)
        return cls(Logistic.fit(rows, labels, ridge=pull, weights=weights, towards=USUAL.model))

    def probabilities(
        self, concepts: Sequence[Concept], listed: TextVectors, existing: TextVectors
    ) -> list[dict[int, float]]:
        """For each concept of a list, the numbers of others that may be its parent, with probabilities.

        The probabilities of one concept add up to the probability that its parent is in the list.

        Parameters
        ----------
        concepts
            The list.
        listed
            Text vectors of its concepts, by the encoder of ``existing``.
        existing
            Text vectors of the taxonomy.
        """
        pairs = compare(concepts, listed, nearest(listed, existing))
        answer: list[dict[int, float]] = [{} for _ in concepts]
        if len(pairs.child) == 0:
            return answer
        each = self.model.probability(pairs.features)
        none = np.ones(len(concepts))
        np.multiply.at(none, pairs.child, 1 - each)
        total = np.bincount(pairs.child, each, len(concepts))
        share = (1 - none) / np.maximum(total, 1e-12)
        for child, parent, probability in zip(
            pairs.child.tolist(), pairs.parent.tolist(), (each * share[pairs.child]).tolist(), strict=True
        ):
            answer[child][parent] = probability
        return answer

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays for a model folder."""
        return self.model.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> NewParents:
        """What `to_arrays` wrote."""
        return cls(Logistic(**arrays))


def examples(
    taxonomy: Taxonomy, vectors: TextVectors, lists: Sequence[Longs]
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]:
    """Pairs of `training_lists` to train on: features (p, f), which are parent and child (p,), weights (p,)."""
    rows, labels, weights = [np.zeros((0, len(FEATURES)))], [np.zeros(0, bool)], [np.zeros(0)]
    for members in lists:
        listed = vectors.take(members)
        pairs = compare([taxonomy.concept(i) for i in members.tolist()], listed, nearest(listed, vectors, members))
        parents = [set(taxonomy.parent_csr.row(i).tolist()) for i in members.tolist()]
        right = [int(members[j]) in parents[i] for i, j in zip(pairs.child, pairs.parent, strict=True)]
        rows.append(pairs.features)
        labels.append(np.array(right, bool))
        weights.append(np.full(len(right), 1 / len(members)))  # lists count alike for each concept
    return np.concatenate(rows), np.concatenate(labels), np.concatenate(weights)


def training_lists(taxonomy: Taxonomy, rng: np.random.Generator) -> list[Longs]:
    """Positions of the concepts of lists to learn from: a branch each, and leaves whose parents are not in the list."""
    below = transpose(taxonomy.ancestor_csr)
    counts = taxonomy.child_csr.counts
    roots = np.flatnonzero((counts > 0) & (taxonomy.parent_csr.counts > 0) & (below.counts < LARGEST_SUBTREE))
    leaves = np.flatnonzero(taxonomy.hideable)
    lists = []
    for root in rng.permutation(roots)[:_LISTS].tolist():
        branch = np.append(below.row(root), root)
        siblings = taxonomy.child_csr.row(int(taxonomy.parent_csr.row(root)[0]))
        beside = rng.permutation(siblings[counts[siblings] == 0])[:_BESIDE]
        elsewhere = rng.permutation(leaves)[: int(rng.choice(_ELSEWHERE))]
        others = np.setdiff1d(np.concatenate([beside, elsewhere]), branch)
        lists.append(np.concatenate([branch, others]).astype(np.int64))
    return lists


def nearest(listed: TextVectors, existing: TextVectors, hidden: Longs | None = None) -> Floats:
    """(m,) largest cosine of each text with those of a taxonomy, without the ``hidden`` ones of its concepts."""
    size = len(existing.full)
    if size == 0:
        return np.zeros(len(listed.full), np.float32)
    largest = np.empty(len(listed.full), np.float32)
    step = max(1, _CELLS // size)
    for start in range(0, len(largest), step):
        cosine = listed.full[start : start + step] @ existing.full.T
        if hidden is not None:
            cosine[:, hidden] = -1.0
        largest[start : start + step] = cosine.max(1)
    return largest


def compare(concepts: Sequence[Concept], listed: TextVectors, near: Floats) -> Pairs:
    """The pairs of a list that may be parent and child, and their features.

    Parameters
    ----------
    concepts
        The m concepts; one without a name is in no pair.
    listed
        Their text vectors (m, dim).
    near
        (m,) cosine of each with its nearest existing concept.
    """
    size = len(concepts)
    named = np.array([bool(concept.name) for concept in concepts], bool)
    texts, names = listed.full @ listed.full.T, listed.name @ listed.name.T  # (m, m)
    fits = listed.full @ listed.name.T  # (m, m): text of the row, name of the column
    for table in (texts, fits):
        np.fill_diagonal(table, -1.0)
    child, parent = _candidates(texts + fits, concepts, named)
    lexical, endings = _lexical(concepts, child, parent)
    others = max(1, size - 1)
    name_fits, text_fits = (fits.sum(0) + 1) / others, (texts.sum(0) + 1) / others  # without the diagonal
    best = np.bincount(fits.argmax(1), minlength=size) / max(1, size)
    columns = [
        texts[child, parent],
        names[child, parent],
        fits[child, parent],
        fits[parent, child],
        fits[child, parent] - fits[parent, child],
        texts[child, parent] - texts.max(1, initial=-1.0)[child],
        fits[child, parent] - fits.max(1, initial=-1.0)[child],
        name_fits[parent],
        name_fits[child],
        text_fits[parent] - text_fits[child],
        endings[parent] / others,
        endings[child] / others,
        best[parent],
        np.full(len(child), np.log(max(1, size))),
        near[child],
        texts[child, parent] - near[child],
        *lexical.T,
    ]
    return Pairs(child, parent, np.column_stack(columns).astype(np.float64))


def _candidates(likeness: Floats, concepts: Sequence[Concept], named: NDArray[np.bool_]) -> tuple[Longs, Longs]:
    """Numbers of children and parents: the likest others of each, and those whose name ends its own."""
    size = len(concepts)
    likeness[:, ~named] = -np.inf
    np.fill_diagonal(likeness, -np.inf)
    by_name: dict[str, list[int]] = {}
    for number, concept in enumerate(concepts):
        if concept.name:
            by_name.setdefault(concept.name.lower(), []).append(number)
    likest = np.argsort(-likeness, axis=1, kind="stable")[:, : min(_COMPARED, max(0, size - 1))]
    child, parent = [], []
    for number in np.flatnonzero(named).tolist():
        words = concepts[number].name.lower().split(" ")
        endings = [other for i in range(1, len(words)) for other in by_name.get(" ".join(words[i:]), ())]
        for other in dict.fromkeys([*likest[number].tolist(), *endings]):
            if named[other] and other != number:
                child.append(number)
                parent.append(other)
    return np.array(child, np.int64), np.array(parent, np.int64)


def _lexical(concepts: Sequence[Concept], child: Longs, parent: Longs) -> tuple[NDArray[np.float64], Longs]:
    """(p, 9) the columns that compare names and descriptions; (m,) how many names end with each concept's name."""
    names = [concept.name.lower() for concept in concepts]
    words = [set(_WORD.findall(name)) for name in names]
    described = [f" {' '.join(_WORD.findall(concept.description.lower()))} " for concept in concepts]
    called = [f" {' '.join(_WORD.findall(name))} " for name in names]
    counted: dict[str, int] = {}
    for name in names:
        for start in range(1, len(name)):
            counted[name[start:]] = counted.get(name[start:], 0) + 1
    rows = np.zeros((len(child), 9))
    for row, (i, j) in enumerate(zip(child.tolist(), parent.tolist(), strict=True)):
        rows[row] = (
            names[i] != names[j] and names[i].endswith(names[j]),
            names[i].endswith(f" {names[j]}"),
            names[i] != names[j] and names[j].endswith(names[i]),
            bool(words[j]) and words[j] < words[i],
            len(words[i] & words[j]) / max(1, len(words[i] | words[j])),
            len(called[j]) > 4 and called[j] in described[i],
            len(called[i]) > 4 and called[i] in described[j],
            len(words[j]),
            len(words[i]),
        )
    return rows, np.array([counted.get(name, 0) if name else 0 for name in names], np.int64)


_COLUMNS = np.array(list(_USUAL.values())).T
USUAL = NewParents(Logistic(_COLUMNS[0], _COLUMNS[1], np.append(_COLUMNS[2], _USUAL_CONSTANT)))
"""For taxonomies with hardly any branch, and models of earlier versions."""
