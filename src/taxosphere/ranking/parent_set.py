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
_SMALLEST = 1e-9  # probability


@dataclass(frozen=True)
class ParentSet:
    """Decides which of the first places are parents together: those with the largest expected F1.

    Attributes
    ----------
    model
        Predicts that a place behind the first is a true parent; None where all concepts have one parent.
    """

    model: Logistic | None

    @classmethod
    def fit(cls, out_of_fold: OutOfFold) -> ParentSet:
        """Train on hidden leaves.

        Parameters
        ----------
        out_of_fold
            Rankings of hidden leaves by nets that were not trained on them.
        """
        probabilities, labels, n_gold = out_of_fold.probabilities, out_of_fold.labels, out_of_fold.n_gold
        if n_gold.max(initial=1) <= 1 or labels.shape[1] < 2 or not labels[:, 1:].any():
            return ONE_PARENT
        features = place_features(probabilities)[:, 1:]
        return cls(Logistic.fit(features.reshape(-1, features.shape[2]), labels[:, 1:].ravel(), ridge=_RIDGE))

    def choose(self, probabilities: NDArray[np.floating]) -> Booleans:
        """(q, k): which places are parents together.

        Of the best place and m − 1 others, the F1 with the true parents is expected to be twice the number of true ones
        among them by m and the number of all true ones; neither is known, so both are sums of probabilities.

        Parameters
        ----------
        probabilities
            (q, k) of the first places of q lists, the largest first.
        """
        taken = np.zeros(probabilities.shape, bool)
        taken[:, :1] = True
        if self.model is None or probabilities.shape[1] < 2:
            return taken
        features = place_features(probabilities)[:, 1:]
        further = self.model.probability(features.reshape(-1, features.shape[2])).reshape(len(features), -1)
        order = np.argsort(-further, axis=1, kind="stable")
        right = np.cumsum(np.column_stack([probabilities[:, 0], np.take_along_axis(further, order, 1)]), axis=1)
        expected = right / (np.arange(1, probabilities.shape[1] + 1) + np.maximum(right[:, -1:], 1.0))
        np.put_along_axis(taken[:, 1:], order, np.arange(order.shape[1]) < expected.argmax(1)[:, None], 1)
        return taken

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays for a model folder; none where there is no model."""
        return {} if self.model is None else self.model.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> ParentSet:
        """What `to_arrays` wrote; earlier versions stored a cut as well."""
        weights = {key: value for key, value in arrays.items() if key != "cut"}
        return cls(Logistic(**weights) if weights else None)


ONE_PARENT = ParentSet(None)
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
