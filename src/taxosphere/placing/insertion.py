"""Insertion: does a new concept belong *between* a parent and some of its children?

The model is trained on the taxonomy itself. Every inner concept is a case: removing it leaves its children below its
parent, and which of the parent's children belong below it is known. Every leaf is a case too, one that takes no
children; in a real list there are `LEAVES_PER_INNER` of them for each inner concept. A logistic model over a few
features answers; nothing trained on the taxonomy's edges (the sphere) is among them, because it has seen the answer.

These cases are asked below their true parent. In a list the parent is a suggestion and may be wrong, so how sure a
proposal is (`sureness`) falls with the parent's probability. A child is proposed from `CUT` on, where the share
`PRECISION` of the proposals was right for concepts hidden inside the seeds of food, EDAM and MeSH; the few dozen
proposals of one taxonomy say too little to choose a cut by. Where no probability has that precision for cases that the
model was not trained on, nothing is proposed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Booleans

INSERTION_FEATURES = (
    "similarity to the child",
    "closer to the child than the parent is",
    "child's name ends with it",
    "shared words",
    "named in the child's description",
    "child's name is longer",
    "child's name ends with it as a word",
    "ends with the child's name",
    "named as a whole of which the child is a part",
    "closer to the child than its siblings are",
    "nearer than most siblings to the child",
    "closer to the parent than the child is",
    "child has children",
    "share of the children that end with its name",
    "mean similarity to the children",
    "words in its name",
    "child named in its description",
    "names alike",
    "its name fits the child's text",
    "the child's name fits its text",
    "its name fits the child's text better than the other way round",
    "number of children",
    "mean closeness to the children beside the parent's",
    "share of siblings that children are farther from",
    "largest share of siblings that a child is farther from",
    "mean closeness to the children beside their siblings'",
    "share of the children that are closer to it than to their siblings",
    "similarity to the three nearest children",
)
LEAVES_PER_INNER = 9
PRECISION = 0.7  # of proposals, at the default cut
CUT = 0.45  # least sureness of a proposal
_MOST_CASES = 400  # removed concepts to train on, of each kind: plenty for a few weights
_MOST_CHILDREN = 200  # of one parent
_FEWEST_CASES = 20  # below which the weights cannot be trained
_FEWEST_PROPOSALS = 10  # right ones among the training cases, below which a precision is chance
_GROUPS = 5
_WORD = re.compile(r"\w+")
_PART_OF = r"\b(?:part|parts|component|components|region|portion|member|piece|segment|section|side)s? of (?:an? |the )?"


class Case(NamedTuple):
    """A removed concept: features (c, f) of the children its parent then has, and which (c,) belong below it."""

    features: NDArray[np.float64]
    labels: Booleans


@dataclass(frozen=True)
class Insertion:
    """Predicts which children of a parent belong below a new concept.

    Attributes
    ----------
    model
        Reads the features of a child.
    cut
        Least `sureness` of a child that is proposed; infinite where nothing is to be proposed.
    """

    model: Logistic
    cut: float

    @classmethod
    def fit(cls, taxonomy: Taxonomy, vectors: TextVectors, random_state: int) -> Insertion | None:
        """Train on the concepts of a taxonomy.

        Parameters
        ----------
        taxonomy
            The n concepts.
        vectors
            Text vectors (n, m) by an encoder that was not trained on the taxonomy.
        random_state
            Chooses concepts where there are many.

        Returns
        -------
        None where there are too few inner concepts.
        """
        inner, leaves = training_cases(taxonomy, vectors, random_state)
        if len(inner) < _FEWEST_CASES:
            return None
        cases = inner + leaves
        weight = LEAVES_PER_INNER * len(inner) / max(1, len(leaves))
        weights = [np.full(len(case.labels), 1.0 if i < len(inner) else weight) for i, case in enumerate(cases)]
        group = np.random.default_rng([random_state, 1]).permutation(len(cases)) % _GROUPS

        def fit(chosen: list[int]) -> Logistic:
            return Logistic.fit(
                np.concatenate([cases[i].features for i in chosen]),
                np.concatenate([cases[i].labels for i in chosen]),
                ridge=1e-3,
                weights=np.concatenate([weights[i] for i in chosen]),
            )

        probabilities: list[NDArray[np.float64]] = [np.zeros(0)] * len(cases)
        for number in range(_GROUPS):
            model = fit([i for i in range(len(cases)) if group[i] != number])
            for i in np.flatnonzero(group == number):
                probabilities[i] = model.probability(cases[i].features)
        labels = np.concatenate([case.labels for case in cases])
        cut = precise_cut(np.concatenate(probabilities), labels, np.concatenate(weights))
        return cls(fit(list(range(len(cases)))), cut)

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays for a model folder."""
        return self.model.to_arrays() | {"cut": np.array([self.cut])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> Insertion:
        """What `to_arrays` wrote; earlier versions stored no cut and proposed from one half on."""
        weights = {key: value for key, value in arrays.items() if key != "cut"}
        return cls(Logistic(**weights), float(arrays["cut"][0]) if "cut" in arrays else 0.5)

    def probabilities(
        self, taxonomy: Taxonomy, vectors: TextVectors, parent: int, concept: Concept, query_vectors: TextVectors
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Positions (c,) of the parent's children, and for each the probability that it belongs below the concept.

        Parameters
        ----------
        taxonomy, vectors
            As for `fit`.
        parent
            Position of the concept's parent.
        concept, query_vectors
            The new concept and its text vectors (1, m).
        """
        children = taxonomy.child_csr.row(parent)
        if len(children) == 0:
            return children, np.zeros(0)
        features = insertion_features(taxonomy, vectors, children, parent, concept, query_vectors)
        return children, self.model.probability(features[:, : len(self.model.mean)])  # fewer in earlier models


def sureness(probability: float, parent_probability: float) -> float:
    """How sure it is that a child belongs below a new concept whose parent is a suggestion.

    Parameters
    ----------
    probability
        That it belongs there if the parent is right.
    parent_probability
        Of the parent. Its root counts: insertions are asked for where the parent is probable, and the product itself
        ranks proposals no better.
    """
    return probability * math.sqrt(parent_probability)


def precise_cut(probability: NDArray[np.float64], labels: Booleans, weights: NDArray[np.float64]) -> float:
    """`CUT`, or infinite where from no probability on the weighted share of right ones is `PRECISION`.

    Parameters
    ----------
    probability, labels, weights
        (t,) of children: how probable, whether right, how much each counts.
    """
    order = np.argsort(-probability, kind="stable")
    precision = np.cumsum((weights * labels)[order]) / np.cumsum(weights[order])
    enough = (precision >= PRECISION) & (np.cumsum(labels[order]) >= _FEWEST_PROPOSALS)
    return CUT if enough.any() else math.inf


def insertion_features(
    taxonomy: Taxonomy,
    vectors: TextVectors,
    children: NDArray[np.integer],
    parent: int,
    concept: Concept,
    query_vectors: TextVectors,
) -> NDArray[np.float64]:
    """(c, f): a row per child, a column per entry of `INSERTION_FEATURES`.

    Parameters
    ----------
    taxonomy, vectors
        The n concepts and their text vectors (n, m).
    children
        (c,) positions.
    parent
        Position of their parent.
    concept, query_vectors
        The concept to insert and its text vectors (1, m).
    """
    lexical = _lexical_features(taxonomy, children, concept)
    theirs, names = vectors.full[children], vectors.name[children]
    vector, name, parent_vector = query_vectors.full[0], query_vectors.name[0], vectors.full[parent]
    similarity, to_parent = theirs @ vector, theirs @ parent_vector
    some = np.arange(0, len(children), -(-len(children) // _MOST_CHILDREN))  # siblings to compare with
    among = theirs @ theirs[some].T  # (c, s)
    among[some, np.arange(len(some))] = -1.0
    every = np.ones(len(children))
    closer, beside = similarity - to_parent, similarity - (among.max(1) if len(children) > 1 else 0.0)
    farther = (among < similarity[:, None]).mean(1)
    to_text, from_name = theirs @ name, names @ vector
    return np.column_stack(
        [
            similarity,
            closer,
            lexical[:, :7],
            beside,
            farther,
            float(vector @ parent_vector) - to_parent,
            taxonomy.child_csr.counts[children] > 0,
            lexical[:, 0].mean() * every,
            similarity.mean() * every,
            len(_WORD.findall(concept.name)) * every,
            lexical[:, 7],
            names @ name,
            to_text,
            from_name,
            to_text - from_name,
            np.log1p(len(children)) * every,
            closer.mean() * every,
            farther.mean() * every,
            farther.max() * every,
            beside.mean() * every,
            (beside > 0).mean() * every,
            np.sort(similarity)[-3:].mean() * every,
        ]
    ).astype(np.float64)


def _lexical_features(taxonomy: Taxonomy, children: NDArray[np.integer], concept: Concept) -> NDArray[np.float64]:
    """(c, 8): the columns that compare names and descriptions; parameters as for `insertion_features`."""
    name, described = concept.name.lower(), concept.description.lower()
    words = set(_WORD.findall(name))
    whole_name = re.compile(rf"\b{re.escape(name)}\b")
    part_of_it = re.compile(_PART_OF + rf"{re.escape(name)}\b")
    lexical = np.zeros((len(children), 8))
    for row, child in enumerate(children.tolist()):
        child_name, text = taxonomy.names[child].lower(), taxonomy.descriptions[child].lower()
        child_words = set(_WORD.findall(child_name))
        lexical[row] = (
            child_name != name and child_name.endswith(name),
            len(words & child_words) / max(1, len(words | child_words)),
            whole_name.search(text) is not None,
            len(child_words) > len(words),
            child_name.endswith(f" {name}"),
            name != child_name and name.endswith(child_name),
            part_of_it.search(text) is not None or part_of_it.search(child_name) is not None,
            len(child_name) > 2 and re.search(rf"\b{re.escape(child_name)}\b", described) is not None,
        )
    return lexical


def training_cases(taxonomy: Taxonomy, vectors: TextVectors, random_state: int) -> tuple[list[Case], list[Case]]:
    """Cases of removed inner concepts, and of removed leaves; parameters as for `Insertion.fit`."""
    children, parents = taxonomy.child_csr.counts, taxonomy.parent_csr.counts
    rng = np.random.default_rng(random_state)
    inner = rng.permutation(np.flatnonzero((children > 0) & (parents > 0)))[:_MOST_CASES]
    leaves = rng.permutation(np.flatnonzero((children == 0) & (parents > 0)))[:_MOST_CASES]

    def case(position: int) -> Case | None:
        parent = int(taxonomy.parent_csr.row(position)[0])
        below = taxonomy.child_csr.row(position)
        beside = np.setdiff1d(taxonomy.child_csr.row(parent), np.append(below, position))
        shown = np.concatenate([below, beside])
        if len(shown) == 0:
            return None
        if len(shown) > _MOST_CHILDREN:
            shown = np.sort(rng.choice(shown, _MOST_CHILDREN, replace=False))
        concept, query_vectors = taxonomy.concept(position), vectors.take(np.array([position]))
        features = insertion_features(taxonomy, vectors, shown, parent, concept, query_vectors)
        return Case(features, np.isin(shown, below))

    def cases(positions: NDArray[np.integer]) -> list[Case]:
        return [each for each in map(case, positions.tolist()) if each is not None]

    return cases(inner), cases(leaves)
