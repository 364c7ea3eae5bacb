"""Calibration: a temperature for the probabilities of a list, and a model of "none of these"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.logistic import Logistic
from taxosphere.typing import Booleans, Floats

N_PLACES = 10  # first places of out-of-fold lists that are stored, and among which parents of a concept are chosen
_TOP = 3  # best scores that "none of these" reads
_HEAD = 10  # first candidates of the first stage whose mean features "none of these" reads
_RIDGE = 0.3  # on the weights of "none of these"
_ORPHAN_RIDGE_DIVISOR = 50  # the ridge on the weights of orphan features is divided by this


def softmax(scores: NDArray[np.floating], temperature: float = 1.0) -> NDArray[np.float64]:
    """Probabilities (q, k) from scores (q, k) divided by the temperature."""
    scaled = scores.astype(np.float64) / temperature
    scaled = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def fit_temperature(scores: NDArray[np.floating], labels: Booleans) -> float:
    """The temperature that makes the true answers of held-out lists most probable.

    Parameters
    ----------
    scores
        (q, k).
    labels
        (q, k): the true answers. Lists without any are left out; without lists the temperature is 1.
    """
    usable = labels.any(1)
    scores, labels = scores[usable], labels[usable]
    if len(scores) == 0:
        return 1.0

    def loss(log_temperature: float) -> float:
        probability = softmax(scores, float(np.exp(log_temperature)))
        return float(-np.log(np.maximum((probability * labels).sum(1), 1e-12)).mean())

    return _minimum(loss)


def fit_first_place_temperature(
    scores: NDArray[np.floating], labels: Booleans, none_probability: NDArray[np.floating]
) -> float:
    """The temperature that makes the first place a true parent as often as its probability says.

    True parents of one query share the probability of its list. The most probable lists would therefore leave the first
    place with too low a probability where concepts have several parents.

    Parameters
    ----------
    scores, labels
        As for `fit_temperature`.
    none_probability
        (q,): probability that no candidate is right.
    """
    if len(scores) == 0:
        return 1.0
    right = np.take_along_axis(labels, scores.argmax(1)[:, None], 1)[:, 0]

    def loss(log_temperature: float) -> float:
        probability = softmax(scores, float(np.exp(log_temperature))).max(1) * (1 - none_probability)
        return float(-np.log(np.clip(np.where(right, probability, 1 - probability), 1e-12, 1)).mean())

    return _minimum(loss)


def none_inputs(scores: NDArray[np.floating], features: NDArray[np.floating], orphan_features: Floats) -> Floats:
    """What "none of these" is predicted from: low best scores, a flat list, weak features of the best candidates.

    A mean of features over the whole list would mainly tell its length: ranks within a list add up to the same in all
    lists of one length, and small taxonomies have short ones. So the mean is over the first candidates.

    Parameters
    ----------
    scores
        (q, k) log probabilities.
    features
        (q, k, f) standardised, in the order of the first stage.
    orphan_features
        (q, s), see `compute.orphan_features`.

    Returns
    -------
    (q, `n_none_inputs`): best scores, entropy, features of the best candidate, their maxima, their means over the first
    candidates, orphan features.
    """
    best = np.sort(scores, axis=1)[:, ::-1][:, :_TOP]
    best = np.pad(best, ((0, 0), (0, _TOP - best.shape[1])), mode="edge")
    probability = softmax(scores)
    entropy = -(probability * np.log(np.maximum(probability, 1e-12))).sum(1, keepdims=True)
    first = np.take_along_axis(features, scores.argmax(1)[:, None, None], 1)[:, 0]
    parts = [best, entropy, first, features.max(1), features[:, :_HEAD].mean(1), orphan_features]
    return np.concatenate(parts, axis=1).astype(np.float32)


def n_none_inputs(n_features: int, n_orphan_features: int) -> int:
    """Columns of `none_inputs`."""
    return _TOP + 1 + 3 * n_features + n_orphan_features


def fit_none(
    inputs: NDArray[np.floating],
    parent_removed: Booleans,
    *,
    n_orphan_features: int,
    none_share: float,
    ridge: float = _RIDGE,
) -> Logistic:
    """Train "none of these": whether the true parents of a list were removed from the taxonomy.

    Hundreds of columns say much the same and share a weight. The few orphan features, which come last, say something
    else, so the penalty on their weights is weaker.

    Parameters
    ----------
    inputs
        (o, columns) of `none_inputs`.
    parent_removed
        (o,).
    n_orphan_features
        How many of the last columns are orphan features.
    none_share
        How common a concept without a right candidate is.
    ridge
        Penalty on the other weights.
    """
    penalty = np.full(inputs.shape[1], ridge)
    penalty[-n_orphan_features:] /= _ORPHAN_RIDGE_DIVISOR
    return Logistic.fit(inputs, parent_removed, ridge=penalty, positive_share=none_share)


def _minimum(loss: Callable[[float], float]) -> float:
    """exp(x) for the x in [-2.5, 2.5] with the smallest loss."""
    from scipy.optimize import minimize_scalar  # here: only fitting needs it, and its import is slow

    return float(np.exp(minimize_scalar(loss, bounds=(-2.5, 2.5), method="bounded").x))
