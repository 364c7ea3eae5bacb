"""Logistic regression: a few weights that answer yes or no with a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from taxosphere.typing import Booleans

Doubles: TypeAlias = NDArray[np.float64]


def moments(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and standard deviation (f,) of the columns of ``rows`` (t, f).

    A column that hardly varies gets deviation 1: divided by its own, rounding errors would become large values.
    """
    deviation = rows.std(0)
    return rows.mean(0), np.where(deviation > 1e-4, deviation, 1.0).astype(rows.dtype)


@dataclass(frozen=True)
class Logistic:
    """A fitted regression: ``mean`` and ``scale`` (f,) of the columns, ``weights`` (f + 1,) with the constant last."""

    mean: Doubles
    scale: Doubles
    weights: Doubles

    @classmethod
    def fit(
        cls,
        rows: NDArray[np.floating],
        labels: Booleans,
        *,
        ridge: float | Doubles,
        positive_share: float | None = None,
        weights: NDArray[np.floating] | None = None,
    ) -> Logistic:
        """Fit on standardised columns with a ridge penalty.

        Parameters
        ----------
        rows
            (t, f).
        labels
            (t,).
        ridge
            Strength of the penalty on the weights (not on the constant): one for all, or (f,) one for each.
        positive_share
            How common True is where the model is applied, if not as in ``labels``; examples are weighted accordingly.
        weights
            (t,) how much each row counts; None: all the same.
        """
        mean, scale = moments(rows.astype(np.float64))
        x = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
        target = np.where(labels, 1.0, -1.0)
        importance = np.ones(len(labels)) if weights is None else np.asarray(weights, np.float64) / np.mean(weights)
        if positive_share is not None and 0 < labels.sum() < len(labels):
            actual = labels.mean()
            importance *= np.where(labels, positive_share / actual, (1 - positive_share) / (1 - actual))

        def loss(w: Doubles) -> tuple[float, Doubles]:
            margin = target * (x @ w)
            penalty = np.append(ridge * w[:-1], 0.0)
            gradient = -(x * (importance * target * expit(-margin))[:, None]).mean(0)
            return float((importance * np.logaddexp(0, -margin)).mean() + 0.5 * penalty @ w), gradient + penalty

        from scipy.optimize import minimize  # here: only fitting needs it, and its import is slow

        return cls(mean, scale, minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)

    def probability(self, rows: NDArray[np.floating]) -> Doubles:
        """(t,) probabilities of True for ``rows`` (t, f)."""
        x = np.column_stack([(rows - self.mean) / self.scale, np.ones(len(rows))])
        return np.asarray(expit(x @ self.weights))

    def to_arrays(self) -> dict[str, Doubles]:
        """Arrays for a model folder; ``Logistic(**arrays)`` restores the model."""
        return {"mean": self.mean, "scale": self.scale, "weights": self.weights}
