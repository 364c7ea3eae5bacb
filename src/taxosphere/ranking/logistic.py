"""Logistic regression: a handful of weights that answer yes or no with a probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

Floats = NDArray[np.float64]


def moments(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and deviation of each column; a column that never varied keeps its scale, lest a trifle become a giant."""
    deviation = rows.std(0)
    return rows.mean(0), np.where(deviation > 1e-4, deviation, 1.0).astype(rows.dtype)


@dataclass(frozen=True)
class Logistic:
    """Weights of standardised signals; the last one is the constant."""

    mean: Floats
    scale: Floats
    weights: Floats

    @classmethod
    def fit(
        cls,
        signals: NDArray[np.floating],
        labels: NDArray[np.bool_],
        *,
        ridge: float | Floats,
        share: float | None = None,
    ) -> Logistic:
        """``ridge`` pulls the weights (not the constant) to zero, each as strongly as the others or with a strength of
        its own; ``share`` is how common a yes is, where the sample has another share of them."""
        mean, scale = moments(signals.astype(np.float64))
        x = np.column_stack([(signals - mean) / scale, np.ones(len(signals))])
        sign = np.where(labels, 1.0, -1.0)
        importance = np.ones(len(labels))
        if share is not None and 0 < labels.sum() < len(labels):
            importance = np.where(labels, share / labels.mean(), (1 - share) / (1 - labels.mean()))

        def loss(w: Floats) -> tuple[float, Floats]:
            margin = sign * (x @ w)
            pull = np.append(ridge * w[:-1], 0.0)
            gradient = -(x * (importance * sign * expit(-margin))[:, None]).mean(0)
            return float((importance * np.logaddexp(0, -margin)).mean() + 0.5 * pull @ w), gradient + pull

        return cls(mean, scale, minimize(loss, np.zeros(x.shape[1]), jac=True, method="L-BFGS-B").x)

    def probability(self, signals: NDArray[np.floating]) -> Floats:
        x = np.column_stack([(signals - self.mean) / self.scale, np.ones(len(signals))])
        return np.asarray(expit(x @ self.weights))

    def to_arrays(self) -> dict[str, Floats]:
        return {"mean": self.mean, "scale": self.scale, "weights": self.weights}
