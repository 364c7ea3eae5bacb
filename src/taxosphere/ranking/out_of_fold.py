"""Out-of-fold rankings: what nets say of examples they were not trained on, and the calibration that follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taxosphere.model.config import RankingConfig
from taxosphere.ranking import calibration
from taxosphere.ranking.crossfit import Examples, ParentRemovedExamples
from taxosphere.ranking.features.shortlist import add_relative_columns
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.net import NetEnsemble, train_nets
from taxosphere.ranking.prior import Prior, nets_for_columns
from taxosphere.typing import Booleans, Floats, Longs

_GROUPS = 3  # of examples, each scored by a net trained on the others


@dataclass(frozen=True)
class OutOfFold:
    """Rankings of t hidden leaves by nets that were not trained on them.

    Attributes
    ----------
    probabilities
        (t, 10) of the first places.
    labels
        (t, 10): which of these are true parents.
    n_gold
        (t,): true parents of each leaf.
    none_probability
        (t + o,): probability that no candidate is right, first of these lists, then of o lists made after some true
        parents were removed from the taxonomy.
    parent_removed
        (t + o,): whether the true parents were removed.
    """

    probabilities: Floats
    labels: Booleans
    n_gold: Longs
    none_probability: Floats
    parent_removed: Booleans

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
        )


class Calibrated(NamedTuple):
    """Out-of-fold rankings, and the temperature and "none of these" model fitted to them."""

    out_of_fold: OutOfFold
    temperature: float
    none_model: Logistic


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
        Divides the examples into groups, and trains the nets.
    """
    group = np.random.default_rng([random_state, 2]).permutation(len(examples)) % _GROUPS  # (t,)
    lists = with_and_without_parents(examples)
    tables = [table, *(add_relative_columns(examples.feature_names, each.features)[1] for each in lists[1:])]
    groups = [group[each.example] for each in lists]
    n_orphan = examples.orphan_features.shape[1]
    scores = np.zeros(examples.labels.shape, np.float32)  # (t, k)
    inputs = np.zeros((sum(map(len, groups)), calibration.n_none_inputs(len(columns), n_orphan)), np.float32)
    group_of = np.concatenate(groups)  # (t + o,)
    for number in range(_GROUPS):
        train, test = (group != number) & examples.listed, group == number
        nets = train_nets(
            table[train],
            examples.labels[train],
            settings,
            n_nets=1,
            random_state=random_state + number,
            prior=nets_for_columns(prior, columns),
        )
        scores[test] = nets.scores(nets.standardise(table[test]))
        inputs[group_of == number] = np.concatenate(
            [
                none_inputs_by(nets, rows[which == number], each.orphan_features[which == number])
                for rows, each, which in zip(tables, lists, groups, strict=True)
            ]
        )
    parent_removed = np.concatenate([each.parent_removed for each in lists])
    none_model, none_probability = _fit_none(inputs, parent_removed, group_of, n_orphan, settings.none_share)
    temperature = calibration.fit_first_place_temperature(scores, examples.labels, none_probability[: len(examples)])
    out_of_fold = _first_places(examples, scores, temperature, none_probability, parent_removed)
    return Calibrated(out_of_fold, temperature, none_model)


def _fit_none(
    inputs: Floats, parent_removed: Booleans, group_of: Longs, n_orphan: int, none_share: float
) -> tuple[Logistic, NDArray[np.float64]]:
    """ "None of these" trained on all lists, and its probabilities (t + o,) by models trained on the other groups."""

    def fit(rows: Booleans) -> Logistic:
        return calibration.fit_none(
            inputs[rows], parent_removed[rows], n_orphan_features=n_orphan, none_share=none_share
        )

    probability = np.zeros(len(parent_removed))
    for number in range(_GROUPS):
        test = group_of == number
        probability[test] = fit(~test).probability(inputs[test])
    return fit(np.ones(len(parent_removed), bool)), probability


def none_inputs_by(nets: NetEnsemble, table: Floats, orphan_features: Floats) -> Floats:
    """Inputs of "none of these" (q, columns) for lists with features (q, k, f), scored by these nets."""
    x = nets.standardise(table)
    return calibration.none_inputs(nets.scores(x), x.numpy(), orphan_features)


def with_and_without_parents(examples: Examples) -> list[ParentRemovedExamples]:
    """The examples as they are, then those asked again with parents removed; without any, true parents are deleted from
    the lists instead."""
    everyone, nothing_removed = np.arange(len(examples)), np.zeros(len(examples), bool)
    complete = ParentRemovedExamples(
        features=examples.features,
        orphan_features=examples.orphan_features,
        example=everyone,
        parent_removed=nothing_removed,
    )
    if examples.parent_removed:
        return [complete, *examples.parent_removed]
    kept = ~examples.labels
    length = int(kept.sum(1).min())
    shorter = np.argsort(~kept, axis=1, kind="stable")[:, :length]
    without = ParentRemovedExamples(
        features=np.take_along_axis(examples.features, shorter[:, :, None], 1),
        orphan_features=examples.orphan_features,
        example=everyone,
        parent_removed=~nothing_removed,
    )
    return [complete, without]


def _first_places(
    examples: Examples,
    scores: Floats,
    temperature: float,
    none_probability: NDArray[np.float64],
    parent_removed: Booleans,
) -> OutOfFold:
    order = np.argsort(-scores, axis=1, kind="stable")[:, : calibration.N_PLACES]
    probability = np.take_along_axis(calibration.softmax(scores, temperature), order, 1)
    probability = probability * (1 - none_probability[: len(scores), None])
    return OutOfFold(
        probabilities=probability.astype(np.float32),
        labels=np.take_along_axis(examples.labels, order, 1),
        n_gold=examples.n_gold,
        none_probability=none_probability.astype(np.float32),
        parent_removed=parent_removed,
    )
