"""Out-of-fold rankings: what nets say of examples they were not trained on, and the calibration that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taxosphere.model.config import RankingConfig
from taxosphere.ranking import calibration
from taxosphere.ranking.calibration import FirstPlace, Logistic, NoneOfThese
from taxosphere.ranking.crossfit import Examples
from taxosphere.ranking.features.catalogue import encoder_of
from taxosphere.ranking.folds import Kind
from taxosphere.ranking.net import NetEnsemble, join_ensembles, train_nets
from taxosphere.ranking.prior import Prior, nets_for_columns
from taxosphere.typing import Booleans, Floats, Longs

SHARES = {Kind.LEAF: 0.6, Kind.INNER: 0.15, Kind.MISSING: 0.15, Kind.FOREIGN: 0.05}
"""How much each kind counts for the nets, where all are present."""
ARRIVING = {Kind.LEAF: 0.6, Kind.INNER: 0.1, Kind.MISSING: 0.1, Kind.FOREIGN: 0.05}
"""How common each kind is among what arrives, for which probabilities are calibrated."""
_MISSING = {Kind.MISSING: 1.0, Kind.PARENT_REMOVED: 1.0}
_PRESENT = {Kind.LEAF: 4.0, Kind.INNER: 1.0, Kind.PARENT_KEPT: 1.0}
"""Kinds whose parent is missing, and is there; in proportion to each other, how much they count."""
_OWN = {**_PRESENT, Kind.MISSING: 1.0}
"""Kinds of the taxonomy's own concepts, as opposed to foreign ones."""
_GROUPS = 3  # of examples, each scored by a net trained on the others


class SuggestedParents(NamedTuple):
    """Hidden concepts (s,) by position, the parent suggested first for each, and its probability."""

    concept: Longs
    parent: Longs
    probability: Floats


@dataclass(frozen=True)
class OutOfFold:
    """Rankings of t hidden leaves by nets that were not trained on them, and what "none of these" says of all examples.

    Attributes
    ----------
    probabilities
        (t, 10) of the first places.
    labels
        (t, 10): which of these are true parents.
    n_gold
        (t,): true parents of each leaf.
    none_probability
        (t + o,): probability that no candidate is right, first of these leaves, then of o examples of other kinds.
    parent_removed
        (t + o,): whether the true parents were not there, or the concept was a foreign one.
    kind
        (t + o,): a `Kind` each.
    concept
        (t,): positions of the leaves in the seed; -1 for one that is no longer there. Empty in models of earlier
        versions.
    candidates
        (t, 10): positions in the seed of the first places, as for ``concept``.
    inner_concept, inner_candidate, inner_probability
        (i,) of inner concepts that were hidden, too: their positions, those of the first places, and the probabilities
        of these. Empty in models of earlier versions.
    """

    probabilities: Floats
    labels: Booleans
    n_gold: Longs
    none_probability: Floats
    parent_removed: Booleans
    kind: Longs
    concept: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    candidates: Longs = field(default_factory=lambda: np.zeros((0, calibration.N_PLACES), np.int64))
    inner_concept: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    inner_candidate: Longs = field(default_factory=lambda: np.zeros(0, np.int64))
    inner_probability: Floats = field(default_factory=lambda: np.zeros(0, np.float32))

    @classmethod
    def empty(cls) -> OutOfFold:
        """Without any list."""
        lists = np.zeros((0, calibration.N_PLACES), np.float32)
        return cls(
            probabilities=lists,
            labels=lists.astype(bool),
            n_gold=np.zeros(0, np.int64),
            none_probability=lists[:, 0],
            parent_removed=lists[:, 0].astype(bool),
            kind=np.zeros(0, np.int64),
        )

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> OutOfFold:
        """What a model folder holds; older ones know leaves alone, asked with and without their parents."""
        if "kind" in arrays:
            return cls(**arrays)
        removed = arrays["parent_removed"]
        kind = np.where(removed, Kind.PARENT_REMOVED, Kind.PARENT_KEPT).astype(np.int64)
        kind[: len(arrays["n_gold"])] = Kind.LEAF
        return cls(**arrays, kind=kind)

    def moved(self, position: Longs) -> OutOfFold:
        """The same for another taxonomy.

        Parameters
        ----------
        position
            (n,) where each concept of the seed stands there, -1 where it does not.
        """
        position = np.append(position, -1)  # what was nowhere stays nowhere
        return replace(
            self,
            concept=position[self.concept],
            candidates=position[self.candidates],
            inner_concept=position[self.inner_concept],
            inner_candidate=position[self.inner_candidate],
        )

    @property
    def first_places(self) -> SuggestedParents:
        """The first place of every leaf and inner concept that was hidden and is there, as its first place is."""
        concept = np.concatenate([self.concept, self.inner_concept])
        parent = np.concatenate([self.candidates[:, 0], self.inner_candidate])
        probability = np.concatenate([self.probabilities[: len(self.concept), 0], self.inner_probability])
        there = (concept >= 0) & (parent >= 0)
        return SuggestedParents(concept[there], parent[there], probability[there])


class Calibrated(NamedTuple):
    """Out-of-fold rankings, and what is fitted to them.

    Attributes
    ----------
    out_of_fold
        The rankings.
    temperature, ceiling, none
        As for the ranker.
    shares
        (e,) how much the nets of each of several encoders count; None where there is one.
    """

    out_of_fold: OutOfFold
    temperature: float
    ceiling: float
    none: NoneOfThese
    shares: Floats | None


def kind_weights(kind: Longs, shares: Mapping[Kind, float]) -> Floats:
    """(t,) weights of examples that give each kind its share of their sum, which is one.

    Parameters
    ----------
    kind
        (t,) a `Kind` each.
    shares
        In proportion to each other; kinds that are absent leave theirs to the others, kinds without one get none.
    """
    counts = np.bincount(kind, minlength=len(Kind))
    share = np.array([shares.get(each, 0.0) if counts[each] else 0.0 for each in Kind])
    return np.asarray((share / max(share.sum(), 1e-12) / np.maximum(counts, 1))[kind], np.float32)


def calibrate(
    examples: Examples,
    table: Floats,
    columns: Sequence[str],
    settings: RankingConfig,
    prior: Prior | None,
    random_state: int,
) -> Calibrated:
    """Score every example by a net trained on the others, and calibrate on these scores.

    Parameters
    ----------
    examples
        The t training examples.
    table, columns
        (t, k, columns) their features with relative columns, and the names of these.
    settings
        How nets are trained.
    prior
        What nets start from, or None.
    random_state
        Divides the concepts into groups, and trains the nets.
    """
    concepts, number_of = np.unique(examples.concept, return_inverse=True)
    group = (np.random.default_rng([random_state, 2]).permutation(len(concepts)) % _GROUPS)[number_of]  # (t,)
    n_encoders = len(encoders_of(columns))
    by_net = np.zeros((*examples.labels.shape, n_encoders), np.float32)  # (t, k, e)
    trained = []
    for number in range(_GROUPS):
        test, train = group == number, (group != number) & examples.taught
        nets = train_on(examples, table, train, columns, settings, prior, 1, random_state + number)
        by_net[test] = nets.by_net(nets.standardise(table[test], overwrite=True)).numpy()
        trained.append(nets)
    taught = examples.taught
    shares = (
        None
        if n_encoders == 1
        else calibration.fit_shares(
            by_net[taught], examples.labels[taught], kind_weights(examples.kind[taught], SHARES) * taught.sum()
        )
    )
    scores = by_net[..., 0] if shares is None else by_net @ shares  # (t, k)
    n_inputs = calibration.n_none_inputs(len(columns), examples.query_features.shape[1])
    inputs = np.zeros((len(examples), n_inputs), np.float32)
    for number, nets in enumerate(trained):
        test = group == number
        x = nets.standardise(table[test], overwrite=True)
        inputs[test] = calibration.none_inputs(scores[test], x.numpy(), examples.query_features[test])
    none, none_probability = _fit_none(examples, inputs, group, settings.none_share)
    asked = examples.kind <= Kind.FOREIGN
    first = calibration.fit_first_place(
        scores[asked], examples.labels[asked], none_probability[asked], kind_weights(examples.kind[asked], ARRIVING)
    )
    none = replace(none, slope=first.slope, constant=first.constant)
    places = _first_places(examples, scores, first, first.none(none_probability))
    return Calibrated(places, first.temperature, first.ceiling, none, shares)


def train_on(
    examples: Examples,
    table: Floats,
    chosen: Booleans,
    columns: Sequence[str],
    settings: RankingConfig,
    prior: Prior | None,
    n_nets: int,
    random_state: int,
) -> NetEnsemble:
    """Nets trained on the chosen (t,) examples, mixed by `SHARES`; other parameters as for `calibrate`.

    Where several encoders stand side by side, ``n_nets`` are trained for each of them: they read its columns and those
    that belong to no encoder.
    """
    names, encoder = zip(*map(encoder_of, columns), strict=True)
    read = [np.flatnonzero(np.isin(encoder, (0, number))) for number in encoders_of(columns)]
    rows = np.flatnonzero(chosen)
    ensembles = [
        train_nets(
            table[rows] if len(read) == 1 else table[np.ix_(rows, np.arange(table.shape[1]), each)],
            examples.labels[chosen],
            settings,
            n_nets=n_nets,
            random_state=random_state,
            prior=nets_for_columns(prior, [names[column] for column in each]),
            weights=kind_weights(examples.kind[chosen], SHARES) * chosen.sum(),
            overwrite=True,  # a part of the table is a copy
        )
        for each in read
    ]
    return ensembles[0] if len(ensembles) == 1 else join_ensembles(ensembles, read, len(columns))


def encoders_of(columns: Sequence[str]) -> list[int]:
    """Numbers of the encoders that have nets of their own; [0] where one encoder has no number."""
    return sorted({number for _, number in map(encoder_of, columns)} - {0}) or [0]


def _fit_none(
    examples: Examples, inputs: Floats, group: Longs, none_share: float
) -> tuple[NoneOfThese, NDArray[np.float64]]:
    """ "None of these" trained on all lists, and its probabilities (t,) by models trained on the other groups."""
    n_query_features = examples.query_features.shape[1]
    probability = np.zeros(len(examples))
    for number in range(_GROUPS):
        test = group == number
        probability[test] = fit_none(inputs[~test], examples.kind[~test], n_query_features, none_share).probability(
            inputs[test]
        )
    return fit_none(inputs, examples.kind, n_query_features, none_share), probability


def fit_none(
    inputs: Floats, kind: Longs, n_query_features: int, none_share: float, ridge: float = calibration.RIDGE
) -> NoneOfThese:
    """Train both models of "none of these".

    Parameters
    ----------
    inputs
        (t, columns) of `calibration.none_inputs`.
    kind
        (t,) a `Kind` each. Without foreign ones there is no model of them.
    n_query_features, none_share, ridge
        As for `calibration.fit_none`.
    """

    def fit(positive: Mapping[Kind, float], negative: Mapping[Kind, float]) -> Logistic:
        return calibration.fit_none(
            inputs,
            np.isin(kind, list(positive)),
            n_query_features=n_query_features,
            weights=none_share * kind_weights(kind, positive) + (1 - none_share) * kind_weights(kind, negative),
            ridge=ridge,
        )

    has_foreign = bool((kind == Kind.FOREIGN).any())
    return NoneOfThese(fit(_MISSING, _PRESENT), fit({Kind.FOREIGN: 1.0}, _OWN) if has_foreign else None)


def with_parents_deleted(examples: Examples) -> Examples:
    """The examples, and those among them that have none to which "none of these" is right asked again: right candidates
    are deleted from their lists. For lists that cannot be made anew without their parents."""
    if examples.is_none.any():
        return examples
    kept = ~examples.labels
    length = int(kept.sum(1).min())
    shorter = np.argsort(~kept, axis=1, kind="stable")[:, :length]

    def both(values: NDArray[Any], again: NDArray[Any] | None = None) -> NDArray[Any]:
        return np.concatenate([values, values if again is None else again])

    return Examples(
        feature_names=examples.feature_names,
        features=both(examples.features[:, :length], np.take_along_axis(examples.features, shorter[:, :, None], 1)),
        labels=both(examples.labels[:, :length], np.zeros_like(shorter, bool)),
        n_gold=both(examples.n_gold),
        query_features=both(examples.query_features),
        kind=both(examples.kind, np.full(len(examples), Kind.PARENT_REMOVED)),
        concept=both(examples.concept),
        candidates=both(examples.candidates[:, :length], np.take_along_axis(examples.candidates, shorter, 1)),
        first_stage=examples.first_stage,
    )


def _first_places(
    examples: Examples, scores: Floats, first: FirstPlace, none_probability: NDArray[np.float64]
) -> OutOfFold:
    asked, inner = (np.flatnonzero(examples.of_kind(kind)) for kind in (Kind.LEAF, Kind.INNER))
    every = np.concatenate([asked, np.flatnonzero(~examples.of_kind(Kind.LEAF))])

    def places(rows: Longs, most: int) -> tuple[Longs, NDArray[np.float64]]:
        order = np.argsort(-scores[rows], axis=1, kind="stable")[:, :most]
        probability = calibration.softmax(scores[rows], first.temperature) * (1 - none_probability[rows, None])
        return order, np.take_along_axis(calibration.lower_first_places(probability, first.ceiling), order, 1)

    order, probability = places(asked, calibration.N_PLACES)
    inner_order, inner_probability = places(inner, 1)
    return OutOfFold(
        probabilities=probability.astype(np.float32),
        labels=np.take_along_axis(examples.labels[asked], order, 1),
        n_gold=examples.n_gold[asked],
        none_probability=none_probability[every].astype(np.float32),
        parent_removed=examples.is_none[every],
        kind=examples.kind[every],
        concept=examples.concept[asked],
        candidates=np.take_along_axis(examples.candidates[asked], order, 1),
        inner_concept=examples.concept[inner],
        inner_candidate=np.take_along_axis(examples.candidates[inner], inner_order, 1)[:, 0],
        inner_probability=inner_probability[:, 0].astype(np.float32),
    )
