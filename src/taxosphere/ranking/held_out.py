"""What the ranker says of hidden leaves that its nets had not learned from, and how its probabilities are set by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.model.config import RankingConfig
from taxosphere.ranking import calibration, prior, scorer
from taxosphere.ranking.crossfit import Again, Examples, joined
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.shortlist import derived

Floats = NDArray[np.float32]

_KEPT = 10  # places of the lists that are remembered
_GROUPS = 3  # of examples, each scored by nets trained on the others
_RIDGE = 0.1  # on the weights of the question whether any candidate is right


@dataclass(frozen=True)
class HeldOut:
    """Lists of hidden leaves that the nets scoring them had not learned from: top probabilities (t, 10), which are
    true parents, how many true parents there are and P(none). ``none_again`` is P(none) of those that were asked again
    of a seed that lacked some true parents, and ``gone`` whether it lacked theirs."""

    probabilities: Floats
    labels: NDArray[np.bool_]
    golds: NDArray[np.int64]
    none: Floats
    none_again: Floats
    gone: NDArray[np.bool_]

    @classmethod
    def nothing(cls) -> HeldOut:
        few = np.zeros((0, _KEPT), np.float32)
        none = few[:, 0]
        return cls(few, few.astype(bool), np.zeros(0, np.int64), none, none, none.astype(bool))


def calibrate(
    found: Examples,
    table: Floats,
    names: Sequence[str],
    settings: RankingConfig,
    known: prior.Prior | None,
    random_state: int,
) -> tuple[HeldOut, float, Logistic]:
    """Score every example by a net that has not seen it, with and without its true parents."""
    group = np.random.default_rng([random_state, 2]).permutation(len(found)) % _GROUPS
    listed = found.labels.any(1)
    again = _without_parents(found)
    _, asked_again = derived(found.names, again.table)
    own = np.zeros(found.labels.shape, np.float32)
    here = np.zeros((len(found), calibration.signal_count(len(names))), np.float32)
    second = np.zeros((len(again.gone), here.shape[1]), np.float32)
    second_group = group[again.example]
    for number in range(_GROUPS):
        train, test = (group != number) & listed, group == number
        part = scorer.train(
            table[train],
            found.labels[train],
            settings,
            nets=1,
            random_state=random_state + number,
            prior=prior.aligned(known, names),
        )
        own[test] = part.scores(table[test])
        here[test] = calibration.none_signals(own[test], part.standardise(table[test]).numpy())
        lists = asked_again[second_group == number]
        second[second_group == number] = calibration.none_signals(part.scores(lists), part.standardise(lists).numpy())

    def answer(rows: NDArray[np.bool_]) -> Logistic:
        return Logistic.fit(second[rows], again.gone[rows], ridge=_RIDGE, share=settings.none_share)

    nobody, nobody_again = np.zeros(len(here)), np.zeros(len(second))
    for number in range(_GROUPS):
        others = answer(second_group != number)
        nobody[group == number] = others.probability(here[group == number])
        nobody_again[second_group == number] = others.probability(second[second_group == number])
    heat = calibration.first_place_temperature(own, found.labels, nobody)
    held = _held_out(own, found.labels, found.golds, heat, nobody, nobody_again, again.gone)
    return held, heat, answer(np.ones(len(second), bool))


def _without_parents(found: Examples) -> Again:
    """The lists as they are and with the true parents struck off, and those of seeds that lacked them.

    A parent struck off leaves its evidence among its siblings, one the seed never had does not: what is learned from
    either kind alone misses much of the other.
    """
    kept = ~found.labels
    width = int(kept.sum(1).min())
    shorter = np.argsort(~kept, axis=1, kind="stable")[:, :width]
    struck = np.take_along_axis(found.table, shorter[:, :, None], 1)
    everyone = np.arange(len(found))
    there = np.zeros(len(found), bool)
    parts = [Again(found.table, everyone, there), Again(struck, everyone, ~there)]
    return joined(parts if found.again is None else [*parts, found.again])


def _held_out(
    own: Floats,
    labels: NDArray[np.bool_],
    golds: NDArray[np.int64],
    heat: float,
    none: NDArray[np.float64],
    none_again: NDArray[np.float64],
    gone: NDArray[np.bool_],
) -> HeldOut:
    order = np.argsort(-own, axis=1, kind="stable")[:, :_KEPT]
    probability = np.take_along_axis(calibration.softmax(own, heat), order, 1) * (1 - none[:, None])
    return HeldOut(
        probability.astype(np.float32),
        np.take_along_axis(labels, order, 1),
        golds,
        none.astype(np.float32),
        none_again.astype(np.float32),
        gone,
    )
