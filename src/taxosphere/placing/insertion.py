"""Insertion: does a new concept belong *between* a parent and some of its children?

The model is trained on the taxonomy itself. Every inner concept is a case: removing it leaves its children below its
parent, and which of the parent's children belong below it is known. Every leaf is a case too, one that takes no
children; in a real list there are `LEAVES_PER_INNER` of them for each inner concept. A logistic model over a few
features answers; nothing trained on the taxonomy's edges (the sphere) is among them, because it has seen the answer.

These cases are asked below their true parent. In a list the parent is a suggestion and may be wrong, so a child's
probability falls with that of the parent. What it is worth is measured on concepts that were hidden while the ranker
was trained, below the parents suggested for them, by models that were not trained on these concepts. A child is
proposed from the probability on at which the share `AIM` of such proposals is expected to be right; it lies above the
`PRECISION` that is wanted, because what is chosen on a few hundred concepts turns out worse on others. Where not even
`PRECISION` was reached, nothing is proposed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.ranking.calibration import Logistic, shift_odds
from taxosphere.ranking.out_of_fold import SuggestedParents
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Booleans, Longs

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
AIM = 0.75  # that is expected there, see above
CUT = 0.45  # where the ranker was trained on too few inner concepts to choose one
_MOST_CASES = 400  # removed concepts to train on, of each kind: plenty for a few weights
_MOST_CHILDREN = 200  # of one parent
_FEWEST_CASES = 20  # below which the weights cannot be trained
_FEWEST_PROPOSALS = 10  # right ones among the training cases, below which a precision is chance
_GROUPS = 5
_UNLIKELY = 0.02  # below which children tell nothing of where proposals begin
_WORD = re.compile(r"\w+")
_PART_OF = r"\b(?:part|parts|component|components|region|portion|member|piece|segment|section|side)s? of (?:an? |the )?"


class Cases(NamedTuple):
    """Removed concepts (t,): which they are, whether they have children, and for each of the children that its parent
    then has, features (c, f), and which (c,) belong below it."""

    concept: Longs
    inner: Booleans
    features: list[NDArray[np.float64]]
    labels: list[Booleans]

    @property
    def child_weights(self) -> list[NDArray[np.float64]]:
        """How much each child counts: `LEAVES_PER_INNER` leaves for an inner concept."""
        n_inner = int(self.inner.sum())
        weight = LEAVES_PER_INNER * n_inner / max(1, len(self.inner) - n_inner)
        return [np.full(len(row), 1.0 if inner else weight) for row, inner in zip(self.labels, self.inner, strict=True)]


@dataclass(frozen=True)
class Insertion:
    """Predicts which children of a parent belong below a new concept.

    Attributes
    ----------
    model
        Reads the features of a child.
    cut
        Least probability (`below_suggested`) of a child that is proposed; infinite where nothing is to be proposed.
    slope, constant
        Of the log odds of a child below a suggested parent, see `below_suggested`.
    """

    model: Logistic
    cut: float
    slope: float = 1.0
    constant: float = 0.0

    @classmethod
    def fit(
        cls,
        taxonomy: Taxonomy,
        vectors: TextVectors,
        random_state: int,
        suggested: SuggestedParents | None = None,
    ) -> Insertion | None:
        """Train on the concepts of a taxonomy.

        Parameters
        ----------
        taxonomy
            The n concepts.
        vectors
            Text vectors (n, m) by an encoder that was not trained on the taxonomy.
        random_state
            Chooses concepts where there are many.
        suggested
            What was suggested for leaves and inner concepts while they were hidden; None where nothing was.

        Returns
        -------
        None where there are too few inner concepts.
        """
        cases = training_cases(taxonomy, vectors, random_state)
        if int(cases.inner.sum()) < _FEWEST_CASES:
            return None
        group = np.random.default_rng([random_state, 1]).permutation(len(taxonomy)) % _GROUPS  # of concepts
        weights = cases.child_weights

        def fit(chosen: Booleans) -> Logistic:
            rows = np.flatnonzero(chosen)
            return Logistic.fit(
                np.concatenate([cases.features[i] for i in rows]),
                np.concatenate([cases.labels[i] for i in rows]),
                ridge=1e-3,
                weights=np.concatenate([weights[i] for i in rows]),
            )

        of_group = [fit(group[cases.concept] != number) for number in range(_GROUPS)]
        asked, parent_probability = cases, np.ones(len(cases.concept))
        if suggested is not None:
            asked, parent_probability = suggested_cases(taxonomy, vectors, suggested, random_state)
            if int(asked.inner.sum()) < _FEWEST_CASES:
                asked, parent_probability, suggested = cases, np.ones(len(cases.concept)), None
        each = [
            below(of_group[group[i]].probability(features), probability)
            for i, features, probability in zip(asked.concept, asked.features, parent_probability, strict=True)
        ]
        probability, labels = np.concatenate(each), np.concatenate(asked.labels)
        slope, constant, cut = precise_cut(probability, labels, np.concatenate(asked.child_weights))
        model = fit(np.ones(len(cases.concept), bool))
        if suggested is None:
            return cls(model, cut if math.isinf(cut) else CUT)
        return cls(model, cut, slope, constant)

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays for a model folder."""
        return self.model.to_arrays() | {"cut": np.array([self.cut, self.slope, self.constant])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> Insertion:
        """What `to_arrays` wrote; earlier versions stored less, the earliest no cut, and proposed from one half on."""
        weights = {key: value for key, value in arrays.items() if key != "cut"}
        return cls(Logistic(**weights), *arrays.get("cut", np.array([0.5])).tolist())

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

    def below_suggested(self, probability: NDArray[np.float64], parent_probability: float) -> NDArray[np.float64]:
        """Probabilities (c,) that children belong below a new concept whose parent is a suggestion.

        Parameters
        ----------
        probability
            (c,) of `probabilities`: that they do if the parent is right.
        parent_probability
            Of the parent.
        """
        return shift_odds(below(probability, parent_probability), self.slope, self.constant)


def below(probability: NDArray[np.float64], parent_probability: float) -> NDArray[np.float64]:
    """Probabilities (c,) of children times the root of the parent's.

    Insertions are asked for where the parent is probable, and the product itself orders proposals no better.
    """
    return probability * math.sqrt(parent_probability)


def precise_cut(
    probability: NDArray[np.float64], labels: Booleans, weights: NDArray[np.float64]
) -> tuple[float, float, float]:
    """Slope and constant that calibrate log odds, and the least calibrated probability of a proposal.

    That is where the mean calibrated probability of all proposals is `AIM`; a mean changes smoothly with the line,
    which a count of right ones among a few dozen does not. It is infinite where from no probability on the weighted
    share of right ones is `PRECISION`.

    Parameters
    ----------
    probability, labels, weights
        (t,) of children: how probable, whether right, how much each counts.
    """
    order = np.argsort(-probability, kind="stable")
    order = order[probability[order] > _UNLIKELY]
    probability, labels, weights = probability[order], labels[order], weights[order]
    total = np.cumsum(weights)
    enough = (np.cumsum(weights * labels) >= PRECISION * total) & (np.cumsum(labels) >= _FEWEST_PROPOSALS)
    if not enough.any():
        return 1.0, 0.0, math.inf
    slope, constant = (1.0, 0.0) if labels.all() else _log_odds_line(probability, labels, weights)
    calibrated = shift_odds(probability, slope, constant)
    precise = np.flatnonzero(np.cumsum(weights * calibrated) >= AIM * total)
    return slope, constant, float(calibrated[precise[-1]]) if len(precise) and slope > 0 else math.inf


def _log_odds_line(
    probability: NDArray[np.float64], labels: Booleans, weights: NDArray[np.float64]
) -> tuple[float, float]:
    """Slope and constant of the log odds of being right over those of ``probability``; parameters of `precise_cut`."""
    odds = logit(np.clip(probability, 1e-6, 1 - 1e-6))
    line = Logistic.fit(odds[:, None], labels, ridge=1e-6, weights=weights)
    slope = float(line.weights[0] / line.scale[0])
    return slope, float(line.weights[1] - slope * line.mean[0])


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


def training_cases(taxonomy: Taxonomy, vectors: TextVectors, random_state: int) -> Cases:
    """Cases of removed inner concepts and of removed leaves below a true parent; parameters as for `Insertion.fit`."""
    children, parents = taxonomy.child_csr.counts, taxonomy.parent_csr.counts
    rng = np.random.default_rng(random_state)
    inner = rng.permutation(np.flatnonzero((children > 0) & (parents > 0)))[:_MOST_CASES]
    leaves = rng.permutation(np.flatnonzero((children == 0) & (parents > 0)))[:_MOST_CASES]
    concept = np.concatenate([inner, leaves])
    parent = [int(taxonomy.parent_csr.row(i)[0]) for i in concept]
    return _cases(taxonomy, vectors, concept, parent, rng)[0]


def suggested_cases(
    taxonomy: Taxonomy, vectors: TextVectors, suggested: SuggestedParents, random_state: int
) -> tuple[Cases, NDArray[np.float64]]:
    """Cases of hidden concepts below the parents suggested for them, and the probabilities of these parents.

    Parameters
    ----------
    taxonomy, vectors, suggested, random_state
        As for `Insertion.fit`.
    """
    rng = np.random.default_rng([random_state, 2])
    is_inner = taxonomy.child_csr.counts[suggested.concept] > 0
    chosen = [rng.permutation(np.flatnonzero(kind))[:_MOST_CASES] for kind in (is_inner, ~is_inner)]
    rows = np.concatenate(chosen)
    cases, kept = _cases(taxonomy, vectors, suggested.concept[rows], suggested.parent[rows].tolist(), rng)
    return cases, suggested.probability[rows][kept].astype(np.float64)


def _cases(
    taxonomy: Taxonomy,
    vectors: TextVectors,
    concepts: NDArray[np.integer],
    parents: Sequence[int],
    rng: np.random.Generator,
) -> tuple[Cases, NDArray[np.int64]]:
    """A case for each of the concepts whose parent then has children, and which of the concepts these are."""
    kept, features, labels = [], [], []
    for number, (position, parent) in enumerate(zip(concepts.tolist(), parents, strict=True)):
        below = taxonomy.child_csr.row(position)
        shown = taxonomy.child_csr.row(parent)
        if position in shown:  # a true parent: the children move up to it
            shown = np.concatenate([below, np.setdiff1d(shown, np.append(below, position))])
        if len(shown) > _MOST_CHILDREN:
            shown = np.sort(rng.choice(shown, _MOST_CHILDREN, replace=False))
        if len(shown) == 0 or parent == position:
            continue
        concept, query_vectors = taxonomy.concept(position), vectors.take(np.array([position]))
        kept.append(number)
        features.append(insertion_features(taxonomy, vectors, shown, parent, concept, query_vectors))
        labels.append(np.isin(shown, below))
    rows = np.array(kept, np.int64)
    asked = concepts[rows].astype(np.int64)
    return Cases(asked, taxonomy.child_csr.counts[asked] > 0, features, labels), rows
