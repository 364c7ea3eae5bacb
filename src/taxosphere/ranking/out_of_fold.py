"""What the ranker says of hidden leaves that its nets had not learned from, and how its probabilities are set by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.model.config import RankingConfig
from taxosphere.ranking import calibration, net, prior
from taxosphere.ranking.crossfit import Examples, ParentRemovedExamples
from taxosphere.ranking.features.shortlist import derived
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.net import NetEnsemble

Floats = NDArray[np.float32]

_GROUPS = 3  # of examples, each scored by nets trained on the others


@dataclass(frozen=True)
class OutOfFold:
    """Lists of hidden leaves that the nets scoring them had not learned from: top probabilities (t, 10), which are
    true parents and how many true parents there are. ``none`` is P(none), first of these lists, then of those asked
    again of a seed that lacked some true parents, and ``gone`` whether theirs were lacking."""

    probabilities: Floats
    labels: NDArray[np.bool_]
    golds: NDArray[np.int64]
    none: Floats
    gone: NDArray[np.bool_]

    @classmethod
    def nothing(cls) -> OutOfFold:
        few = np.zeros((0, calibration.PLACES), np.float32)
        none = few[:, 0]
        return cls(few, few.astype(bool), np.zeros(0, np.int64), none, none.astype(bool))


def calibrate(
    found: Examples,
    table: Floats,
    names: Sequence[str],
    settings: RankingConfig,
    known: prior.Prior | None,
    random_state: int,
) -> tuple[OutOfFold, float, Logistic]:
    """Score every list by a net that has not seen its example."""
    group = np.random.default_rng([random_state, 2]).permutation(len(found)) % _GROUPS
    listed = found.labels.any(1)
    lists = with_and_without_parents(found)
    tables = [table, *(derived(found.names, each.table)[1] for each in lists[1:])]
    groups = [group[each.example] for each in lists]
    group_of, gone = np.concatenate(groups), np.concatenate([each.gone for each in lists])
    own = np.zeros(found.labels.shape, np.float32)
    loose = found.loose.shape[1]
    signals = np.zeros((len(gone), calibration.signal_count(len(names), loose)), np.float32)
    for number in range(_GROUPS):
        train, test = (group != number) & listed, group == number
        part = net.train(
            table[train],
            found.labels[train],
            settings,
            nets=1,
            random_state=random_state + number,
            prior=prior.aligned(known, names),
        )
        own[test] = part.scores(table[test])
        signals[group_of == number] = np.concatenate(
            [
                signals_by(part, own_table[rows == number], each.loose[rows == number])
                for own_table, each, rows in zip(tables, lists, groups, strict=True)
            ]
        )

    def answer(rows: NDArray[np.bool_]) -> Logistic:
        return calibration.fit_none(signals[rows], gone[rows], loose=loose, share=settings.none_share)

    nobody = np.zeros(len(gone))
    for number in range(_GROUPS):
        nobody[group_of == number] = answer(group_of != number).probability(signals[group_of == number])
    heat = calibration.first_place_temperature(own, found.labels, nobody[: len(found)])
    held = _out_of_fold(own, found.labels, found.golds, heat, nobody, gone)
    return held, heat, answer(np.ones(len(gone), bool))


def signals_by(nets: NetEnsemble, table: Floats, loose: Floats) -> Floats:
    """What the none-question looks at, in lists (q, k, f) as these nets see them."""
    x = nets.standardise(table)
    return calibration.none_signals(nets.scores_of(x), x.numpy(), loose)


def with_and_without_parents(found: Examples) -> list[ParentRemovedExamples]:
    """The lists as they are, then those of seeds that lacked some true parents; where no seed was asked again, the
    lists with the true parents struck off."""
    everyone, there = np.arange(len(found)), np.zeros(len(found), bool)
    whole = ParentRemovedExamples(found.table, found.loose, everyone, there)
    if found.again:
        return [whole, *found.again]
    kept = ~found.labels
    width = int(kept.sum(1).min())
    shorter = np.argsort(~kept, axis=1, kind="stable")[:, :width]
    struck = np.take_along_axis(found.table, shorter[:, :, None], 1)
    return [whole, ParentRemovedExamples(struck, found.loose, everyone, ~there)]


def _out_of_fold(
    own: Floats,
    labels: NDArray[np.bool_],
    golds: NDArray[np.int64],
    heat: float,
    none: NDArray[np.float64],
    gone: NDArray[np.bool_],
) -> OutOfFold:
    order = np.argsort(-own, axis=1, kind="stable")[:, : calibration.PLACES]
    probability = np.take_along_axis(calibration.softmax(own, heat), order, 1) * (1 - none[: len(own), None])
    return OutOfFold(
        probability.astype(np.float32),
        np.take_along_axis(labels, order, 1),
        golds,
        none.astype(np.float32),
        gone,
    )
