"""Does a new concept belong *between* a parent and some of its children?

Learned from the seed itself: every inner concept was once such a case. Taking it out leaves its children under its
parent, and the question which of the parent's children it should take back has a known answer. A logistic model over
six plain signals answers it; nothing trained on the seed's edges (the sphere head) is among them, because for the
training cases such a signal has already seen the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.logistic import Logistic
from taxosphere.taxonomy import Concept, Taxonomy

Floats = NDArray[np.float32]

SIGNALS = (
    "similarity to the child",
    "closer to the child than the parent is",
    "child's name ends with it",
    "shared words",
    "named in the child's description",
    "child's name is longer",
)
_CASES = 400  # taken-out concepts to learn from: plenty for seven weights
_CHILDREN = 200  # of one parent
_FEWEST = 20  # cases below which seven weights would be guesses
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Insertion:
    """Answers, for a child of the parent, whether it belongs below the new concept."""

    model: Logistic

    @classmethod
    def fit(cls, taxonomy: Taxonomy, vectors: Floats, random_state: int) -> Insertion | None:
        """Learn from the inner concepts of the seed; None where there are too few."""
        rows, labels = training_cases(taxonomy, vectors, random_state)
        if len(rows) < _FEWEST:
            return None
        return cls(Logistic.fit(np.concatenate(rows), np.concatenate(labels), ridge=1e-3))

    def probabilities(
        self, taxonomy: Taxonomy, vectors: Floats, parent: int, concept: Concept, vector: Floats
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """The parent's children and, for each, how probably it belongs below the new concept."""
        children = taxonomy.child_csr.row(parent)
        if len(children) == 0:
            return children, np.zeros(0)
        x = signals(taxonomy, vectors, children, vectors[parent], concept, vector)
        return children, self.model.probability(x)


def signals(
    taxonomy: Taxonomy,
    vectors: Floats,
    children: NDArray[np.integer],
    parent_vector: Floats,
    concept: Concept,
    vector: Floats,
) -> NDArray[np.float64]:
    """One row per child, one column per entry of `SIGNALS`."""
    name = concept.name.lower()
    words = set(_WORD.findall(name))
    whole = re.compile(rf"\b{re.escape(name)}\b")
    lexical = np.zeros((len(children), 4))
    for row, child in enumerate(children.tolist()):
        own = taxonomy.names[child].lower()
        others = set(_WORD.findall(own))
        lexical[row] = (
            own != name and own.endswith(name),
            len(words & others) / max(1, len(words | others)),
            whole.search(taxonomy.descriptions[child].lower()) is not None,
            len(others) > len(words),
        )
    near = vectors[children] @ vector
    return np.column_stack([near, near - vectors[children] @ parent_vector, lexical]).astype(np.float64)


def training_cases(
    taxonomy: Taxonomy, vectors: Floats, random_state: int
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.bool_]]]:
    """Signals and answers of each taken-out inner concept."""
    inner = np.flatnonzero((taxonomy.child_csr.counts > 0) & (taxonomy.parent_csr.counts > 0))
    rng = np.random.default_rng(random_state)
    rows, labels = [], []
    for position in rng.permutation(inner)[:_CASES].tolist():
        parent = int(taxonomy.parent_csr.row(position)[0])
        own = taxonomy.child_csr.row(position)
        others = np.setdiff1d(taxonomy.child_csr.row(parent), np.append(own, position))
        children = np.concatenate([own, others])
        if len(children) > _CHILDREN:
            children = np.sort(rng.choice(children, _CHILDREN, replace=False))
        rows.append(
            signals(taxonomy, vectors, children, vectors[parent], taxonomy.concept(position), vectors[position])
        )
        labels.append(np.isin(children, own))
    return rows, labels
