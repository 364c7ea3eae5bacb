"""Making probabilities mean what they say: a temperature for the list, a probability that none of it is right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from taxosphere.ranking.logistic import Logistic

Floats = NDArray[np.floating]

TOP = 3  # best scores that the none-question looks at
PLACES = 10  # of held-out lists that are remembered; among as many first places the parents of a concept are sought
HEAD = 10  # candidates in front, by the first guess, whose mean signs the none-question looks at
RIDGE = 0.3  # on the weights of the none-question
ORPHAN_RIDGE_DIVISOR = 50  # times as little of it on loose ends


def softmax(scores: Floats, temperature: float = 1.0) -> NDArray[np.float64]:
    scaled = scores.astype(np.float64) / temperature
    scaled = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(scaled / scaled.sum(axis=1, keepdims=True))


def temperature(scores: Floats, labels: NDArray[np.bool_]) -> float:
    """The temperature with which held-out true parents are most probable (queries whose list has none say nothing)."""
    usable = labels.any(1)
    scores, labels = scores[usable], labels[usable]
    if len(scores) == 0:
        return 1.0

    def loss(log_temperature: float) -> float:
        probability = softmax(scores, float(np.exp(log_temperature)))
        return float(-np.log(np.maximum((probability * labels).sum(1), 1e-12)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-2.5, 2.5), method="bounded").x))


def first_place_temperature(scores: Floats, labels: NDArray[np.bool_], none: Floats) -> float:
    """The temperature with which the first place is a true parent as often as it says.

    True parents of one query share the probability of its list, so what makes the list most probable leaves the first
    place too modest where concepts have several.
    """
    if len(scores) == 0:
        return 1.0
    right = np.take_along_axis(labels, scores.argmax(1)[:, None], 1)[:, 0]

    def loss(log_temperature: float) -> float:
        sure = softmax(scores, float(np.exp(log_temperature))).max(1) * (1 - none)
        return float(-np.log(np.clip(np.where(right, sure, 1 - sure), 1e-12, 1)).mean())

    return float(np.exp(minimize_scalar(loss, bounds=(-2.5, 2.5), method="bounded").x))


def none_signals(scores: Floats, table: Floats, loose: Floats) -> NDArray[np.float32]:
    """What tells a list without the true parent: weak best scores, a flat top, weak features of the best candidates
    and of those in front; last, the loose ends around the query (q, s).

    ``scores`` (q, k) are log probabilities, ``table`` (q, k, f) the standardised features they were made from, in the
    order of the first guess. A mean over the whole list would say little but how long it is: ranks within a list add up
    to the same in all of one length, and a small taxonomy has short ones.
    """
    best = np.sort(scores, axis=1)[:, ::-1][:, :TOP]
    best = np.pad(best, ((0, 0), (0, TOP - best.shape[1])), mode="edge")
    probability = softmax(scores)
    entropy = -(probability * np.log(np.maximum(probability, 1e-12))).sum(1, keepdims=True)
    leader = np.take_along_axis(table, scores.argmax(1)[:, None, None], 1)[:, 0]
    parts = [best, entropy, leader, table.max(1), table[:, :HEAD].mean(1), loose]
    return np.concatenate(parts, axis=1).astype(np.float32)


def signal_count(features: int, loose: int) -> int:
    """How many none-signals a list with this many features and loose ends has."""
    return TOP + 1 + 3 * features + loose


def fit_none(signals: Floats, gone: NDArray[np.bool_], *, loose: int, share: float, ridge: float = RIDGE) -> Logistic:
    """Learn from lists whether their true parents are gone. Hundreds of signals that say much the same share a weight;
    the ``loose`` ends at their end are few and say something else, so they are held back less."""
    pull = np.full(signals.shape[1], ridge)
    pull[-loose:] /= ORPHAN_RIDGE_DIVISOR
    return Logistic.fit(signals, gone, ridge=pull, share=share)
