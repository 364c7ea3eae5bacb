"""Insertion: does a new concept belong *between* a parent and some of its children?

The model is trained on the taxonomy itself: every inner concept is such a case. Removing it leaves its children below
its parent, and which of the parent's children belong below it is known. A logistic model over six features answers;
nothing trained on the taxonomy's edges (the sphere) is among them, because it has seen the answer in training.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.logistic import Logistic
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Booleans, Floats

INSERTION_FEATURES = (
    "similarity to the child",
    "closer to the child than the parent is",
    "child's name ends with it",
    "shared words",
    "named in the child's description",
    "child's name is longer",
)
_MOST_CASES = 400  # removed concepts to train on: plenty for seven weights
_MOST_CHILDREN = 200  # of one parent
_FEWEST_CASES = 20  # below which seven weights cannot be trained
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Insertion:
    """Predicts which children of a parent belong below a new concept."""

    model: Logistic

    @classmethod
    def fit(cls, taxonomy: Taxonomy, vectors: Floats, random_state: int) -> Insertion | None:
        """Train on the inner concepts of a taxonomy.

        Parameters
        ----------
        taxonomy
            The n concepts.
        vectors
            (n, m) text vectors by an encoder that was not trained on the taxonomy.
        random_state
            Chooses concepts where there are many.

        Returns
        -------
        None where there are too few inner concepts.
        """
        features, labels = training_cases(taxonomy, vectors, random_state)
        if len(features) < _FEWEST_CASES:
            return None
        return cls(Logistic.fit(np.concatenate(features), np.concatenate(labels), ridge=1e-3))

    def probabilities(
        self, taxonomy: Taxonomy, vectors: Floats, parent: int, concept: Concept, vector: Floats
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Positions (c,) of the parent's children, and for each the probability that it belongs below the concept.

        Parameters
        ----------
        taxonomy, vectors
            As for `fit`.
        parent
            Position of the concept's parent.
        concept, vector
            The new concept and its text vector (m,).
        """
        children = taxonomy.child_csr.row(parent)
        if len(children) == 0:
            return children, np.zeros(0)
        features = insertion_features(taxonomy, vectors, children, vectors[parent], concept, vector)
        return children, self.model.probability(features)


def insertion_features(
    taxonomy: Taxonomy,
    vectors: Floats,
    children: NDArray[np.integer],
    parent_vector: Floats,
    concept: Concept,
    vector: Floats,
) -> NDArray[np.float64]:
    """(c, 6): a row per child, a column per entry of `INSERTION_FEATURES`.

    Parameters
    ----------
    taxonomy, vectors
        The n concepts and their text vectors (n, m).
    children
        (c,) positions.
    parent_vector
        (m,) of their parent.
    concept, vector
        The concept to insert and its text vector (m,).
    """
    name = concept.name.lower()
    words = set(_WORD.findall(name))
    whole_name = re.compile(rf"\b{re.escape(name)}\b")
    lexical = np.zeros((len(children), 4))
    for row, child in enumerate(children.tolist()):
        child_name = taxonomy.names[child].lower()
        child_words = set(_WORD.findall(child_name))
        lexical[row] = (
            child_name != name and child_name.endswith(name),
            len(words & child_words) / max(1, len(words | child_words)),
            whole_name.search(taxonomy.descriptions[child].lower()) is not None,
            len(child_words) > len(words),
        )
    similarity = vectors[children] @ vector
    closer = similarity - vectors[children] @ parent_vector
    return np.column_stack([similarity, closer, lexical]).astype(np.float64)


def training_cases(
    taxonomy: Taxonomy, vectors: Floats, random_state: int
) -> tuple[list[NDArray[np.float64]], list[Booleans]]:
    """Features (c, 6) and answers (c,) of each removed inner concept; parameters as for `Insertion.fit`."""
    inner = np.flatnonzero((taxonomy.child_csr.counts > 0) & (taxonomy.parent_csr.counts > 0))
    rng = np.random.default_rng(random_state)
    features, labels = [], []
    for position in rng.permutation(inner)[:_MOST_CASES].tolist():
        parent = int(taxonomy.parent_csr.row(position)[0])
        below = taxonomy.child_csr.row(position)
        beside = np.setdiff1d(taxonomy.child_csr.row(parent), np.append(below, position))
        children = np.concatenate([below, beside])
        if len(children) > _MOST_CHILDREN:
            children = np.sort(rng.choice(children, _MOST_CHILDREN, replace=False))
        concept, vector = taxonomy.concept(position), vectors[position]
        features.append(insertion_features(taxonomy, vectors, children, vectors[parent], concept, vector))
        labels.append(np.isin(children, below))
    return features, labels
