"""The parent set: which further parents a new concept gets beside the best one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.calibration import Logistic
from taxosphere.ranking.out_of_fold import OutOfFold
from taxosphere.typing import Booleans

_RIDGE = 1e-2
_GROUPS = 3
_SMALLEST = 1e-9  # probability


@dataclass(frozen=True)
class ParentSet:
    """Decides how many of the first places are parents together.

    Attributes
    ----------
    model
        Predicts that a place behind the first is a true parent; None where all concepts have one parent.
    cut
        Least probability of a place that is taken along.
    """

    model: Logistic | None
    cut: float

    @classmethod
    def fit(cls, out_of_fold: OutOfFold) -> ParentSet:
        """Train on hidden leaves.

        The cut is the one with the best mean F1 between the parents taken and the true ones, where the model was not
        trained on the leaf.

        Parameters
        ----------
        out_of_fold
            Rankings of hidden leaves by nets that were not trained on them.
        """
        probabilities, labels, n_gold = out_of_fold.probabilities, out_of_fold.labels, out_of_fold.n_gold
        if n_gold.max(initial=1) <= 1 or labels.shape[1] < 2 or not labels[:, 1:].any():
            return ONE_PARENT

        def train(rows: Booleans) -> Logistic:
            features = place_features(probabilities[rows])[:, 1:]
            return Logistic.fit(features.reshape(-1, features.shape[2]), labels[rows, 1:].ravel(), ridge=_RIDGE)

        everyone = np.ones(len(labels), bool)
        group = np.arange(len(labels)) % _GROUPS
        is_parent = np.zeros(labels.shape)
        for number in range(_GROUPS):
            test = group == number
            is_parent[test] = cls(train(~test), 0.0).probability(probabilities[test])
        f1 = {cut: _mean_f1(is_parent >= cut, labels, n_gold) for cut in np.linspace(0.05, 1.0, 39).tolist()}
        return cls(train(everyone), max(f1, key=lambda cut: f1[cut]))

    def probability(self, probabilities: NDArray[np.floating]) -> NDArray[np.float64]:
        """(q, k): probability that a place is a parent, the first one being taken for sure.

        Parameters
        ----------
        probabilities
            (q, k) of the first places of q lists, the largest first.
        """
        is_parent = np.zeros(probabilities.shape)
        if self.model is not None:
            features = place_features(probabilities)
            is_parent = self.model.probability(features.reshape(-1, features.shape[2])).reshape(probabilities.shape)
        is_parent[:, :1] = 1.0
        return is_parent

    def choose(self, probabilities: NDArray[np.floating]) -> Booleans:
        """(q, k): which places are parents together; ``probabilities`` as for `probability`."""
        return np.asarray(self.probability(probabilities) >= self.cut)

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays for a model folder."""
        return {"cut": np.array([self.cut]), **({} if self.model is None else self.model.to_arrays())}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> ParentSet:
        """What `to_arrays` wrote."""
        weights = {key: value for key, value in arrays.items() if key != "cut"}
        return cls(Logistic(**weights) if weights else None, float(arrays["cut"][0]))


ONE_PARENT = ParentSet(None, 1.0)
"""Takes the best candidate alone."""


def place_features(probabilities: NDArray[np.floating]) -> NDArray[np.float64]:
    """(q, k, 8) of the first places: how probable each is, beside the first, its neighbours and all before it."""
    values = np.maximum(probabilities.astype(np.float64), _SMALLEST)
    logs = np.log(values)
    first = np.broadcast_to(logs[:, :1], logs.shape)
    before = np.concatenate([logs[:, :1], logs[:, :-1]], axis=1)
    behind = np.concatenate([logs[:, 1:], logs[:, -1:]], axis=1)
    rank = np.broadcast_to(np.log1p(np.arange(logs.shape[1])), logs.shape)
    total = np.cumsum(values, axis=1) - values
    return np.stack([logs, logs - first, first, rank, logs - before, logs - behind, values, total], axis=-1)


def _mean_f1(taken: Booleans, labels: Booleans, n_gold: NDArray[np.integer]) -> float:
    return float((2 * (taken & labels).sum(1) / (taken.sum(1) + n_gold)).mean())
