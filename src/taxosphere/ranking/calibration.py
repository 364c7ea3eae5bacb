"""Calibration: logistic regression, a temperature for the probabilities of a list, and a model of "none of these"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, logsumexp

from taxosphere.model.checkpoint import strip_prefix
from taxosphere.typing import Booleans, Floats

N_PLACES = 10  # first places of out-of-fold lists that are stored, and among which parents of a concept are chosen
_TOP = 3  # best scores that "none of these" reads
_HEAD = 10  # first candidates of the first stage whose mean features "none of these" reads
_CELLS = 1 << 24  # values whose deviations are held at once
RIDGE = 0.3  # on the weights of "none of these"
_WIDEST = 2.5  # log temperature
_CALIBRATION_RIDGE = 1e-3  # keeps what few lists cannot tell near no change
_FEWEST_SURE = 20  # lists of which a share of right ones is believed
_LOWEST_CEILING = 0.5  # of a first place; what is taken from it cannot make another place the first
_QUERY_RIDGE_DIVISOR = 50  # the ridge on the weights of query features is divided by this

Doubles: TypeAlias = NDArray[np.float64]


def moments(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Mean and standard deviation (f,) of the columns of ``rows`` (t, f).

    A column that hardly varies gets deviation 1: divided by its own, rounding errors would become large values.
    """
    step = max(1, _CELLS // max(1, len(rows)))  # columns at once: the deviations of all would fill the memory
    parts = [rows[:, start : start + step] for start in range(0, rows.shape[1], step)]
    deviation = np.concatenate([np.zeros(0, rows.dtype), *(part.std(0) for part in parts)])
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
        towards: Logistic | None = None,
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
        towards
            A model of the same columns, fitted on other data. The penalty is then on the difference from its weights,
            and its mean and scale standardise the columns instead of their own.
        """
        mean, scale = moments(rows.astype(np.float64)) if towards is None else (towards.mean, towards.scale)
        x = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
        target = np.where(labels, 1.0, -1.0)
        importance = np.ones(len(labels)) if weights is None else np.asarray(weights, np.float64) / np.mean(weights)
        if positive_share is not None and 0 < labels.sum() < len(labels):
            actual = labels.mean()
            importance *= np.where(labels, positive_share / actual, (1 - positive_share) / (1 - actual))

        start = np.zeros(x.shape[1]) if towards is None else towards.weights

        def loss(w: Doubles) -> tuple[float, Doubles]:
            margin = target * (x @ w)
            penalty = np.append(ridge * (w - start)[:-1], 0.0)
            gradient = -(x * (importance * target * expit(-margin))[:, None]).mean(0)
            value = (importance * np.logaddexp(0, -margin)).mean() + 0.5 * penalty @ (w - start)
            return float(value), gradient + penalty

        from scipy.optimize import minimize  # here: only fitting needs it, and its import is slow

        return cls(mean, scale, minimize(loss, start, jac=True, method="L-BFGS-B").x)

    def probability(self, rows: NDArray[np.floating]) -> Doubles:
        """(t,) probabilities of True for ``rows`` (t, f)."""
        return np.asarray(expit((rows - self.mean) / self.scale @ self.weights[:-1] + self.weights[-1]))

    def to_arrays(self) -> dict[str, Doubles]:
        """Arrays for a model folder; ``Logistic(**arrays)`` restores the model."""
        return {"mean": self.mean, "scale": self.scale, "weights": self.weights}


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


@dataclass(frozen=True)
class FirstPlace:
    """How the probability of a first place follows from scores and from "none of these".

    Attributes
    ----------
    temperature
        Divides the scores before the softmax.
    slope, constant
        Of the log odds of "none of these": its models were trained one by one, and for other shares of each kind.
    ceiling
        The largest probability that is given to a candidate, see `supported_probability`.
    """

    temperature: float = 1.0
    slope: float = 1.0
    constant: float = 0.0
    ceiling: float = 1.0

    def none(self, probability: NDArray[np.floating]) -> NDArray[np.float64]:
        """Probabilities of "none of these" (q,), calibrated."""
        return shift_odds(probability, self.slope, self.constant)

    def probability(self, scores: NDArray[np.floating], none: NDArray[np.floating]) -> NDArray[np.float64]:
        """(q,) of the first places of lists with these scores (q, k) and uncalibrated ``none`` (q,)."""
        return np.asarray(softmax(scores, self.temperature).max(1) * (1 - self.none(none)))


def fit_shares(by_net: Floats, labels: Booleans, weights: Floats) -> Floats:
    """How much the nets of each of several encoders count in the average: shares (e,), which add up to one.

    They make the right candidates as probable as they can be, together with a temperature that is then dropped. A
    normal prior of deviation one on the logarithms of the shares keeps those of a few lists near equal.

    Parameters
    ----------
    by_net
        (q, k, e) log probabilities by the nets of each encoder, trained on other lists.
    labels
        (q, k): which candidates are right; each list has one.
    weights
        (q,) how much each list counts; they add up to about q.
    """
    n_encoders = by_net.shape[2]

    def shares(x: Doubles) -> Doubles:
        return np.asarray(softmax(np.append(x[:-1], 0.0)[None])[0])

    def loss(x: Doubles) -> float:
        scores = by_net @ shares(x).astype(np.float32) / np.float32(np.exp(x[-1]))
        log_true = logsumexp(np.where(labels, scores, -np.inf), 1) - logsumexp(scores, 1)
        towards_equal = np.append(x[:-1], 0.0)
        return float(-(weights * log_true).sum() + ((towards_equal - towards_equal.mean()) ** 2).sum() / 2)

    from scipy.optimize import minimize  # here: only fitting needs it, and its import is slow

    bounds = [(-_WIDEST, _WIDEST)] * n_encoders
    return np.asarray(shares(minimize(loss, np.zeros(n_encoders), method="Powell", bounds=bounds).x), np.float32)


def shift_odds(probability: NDArray[np.floating], slope: float, constant: float) -> NDArray[np.float64]:
    """Probabilities (q,) whose log odds are multiplied by ``slope``, plus ``constant``."""
    return np.asarray(expit(slope * logit(np.clip(probability.astype(np.float64), 1e-9, 1 - 1e-9)) + constant))


def fit_first_place(
    scores: NDArray[np.floating],
    labels: Booleans,
    none_probability: NDArray[np.floating],
    weights: NDArray[np.floating] | None = None,
) -> FirstPlace:
    """What makes the first place a true parent as often as its probability says.

    True parents of one query share the probability of its list. The most probable lists would therefore leave the first
    place with too low a probability where concepts have several parents.

    Parameters
    ----------
    scores, labels
        As for `fit_temperature`.
    none_probability
        (q,): probability that no candidate is right.
    weights
        (q,) how much each list counts; None: all the same.
    """
    if len(scores) == 0:
        return FirstPlace()
    right = np.take_along_axis(labels, scores.argmax(1)[:, None], 1)[:, 0]

    def loss(x: Doubles) -> float:
        probability = FirstPlace(float(np.exp(x[0])), 1 + x[1], x[2]).probability(scores, none_probability)
        losses = -np.log(np.clip(np.where(right, probability, 1 - probability), 1e-12, 1))
        return float(np.average(losses, weights=weights) + _CALIBRATION_RIDGE * (x @ x))

    from scipy.optimize import minimize  # here: only fitting needs it, and its import is slow

    bounds = [(-_WIDEST, _WIDEST), (-0.5, 0.5), (-2.0, 2.0)]
    x = minimize(loss, np.zeros(3), method="Powell", bounds=bounds).x
    first = FirstPlace(float(np.exp(x[0])), float(1 + x[1]), float(x[2]))
    return replace(first, ceiling=supported_probability(first.probability(scores, none_probability), right, weights))


def supported_probability(
    probability: NDArray[np.floating], right: Booleans, weights: NDArray[np.floating] | None = None
) -> float:
    """The largest probability that lists of first places give evidence for; 1 where there are too few to tell.

    The surest 20 lists, the surest 21 and so on each have a share of right ones, counted with one right and one wrong
    list more. The largest of these shares is what sure answers can be trusted with, whatever a curve fitted to all
    lists says of the few at its end.

    Parameters
    ----------
    probability, right, weights
        (q,) of first places: how probable, whether right, how much each list counts (None: all the same).
    """
    if len(probability) < _FEWEST_SURE:
        return 1.0
    order = np.argsort(-probability, kind="stable")
    weight = np.ones(len(order)) if weights is None else np.asarray(weights, np.float64)[order]
    total = np.cumsum(weight)
    size = total**2 / np.cumsum(weight**2)  # how many lists of one weight say as much
    shares = (size * np.cumsum(weight * right[order]) / total + 1) / (size + 2)
    return max(_LOWEST_CEILING, float(shares[_FEWEST_SURE - 1 :].max()))


def lower_first_places(probability: NDArray[np.float64], ceiling: float) -> NDArray[np.float64]:
    """Probabilities (q, k) of lists, none above ``ceiling``; what is taken away goes to the others in proportion."""
    best = probability.max(axis=1, keepdims=True, initial=0.0)
    excess = np.maximum(best - ceiling, 0.0)
    if not excess.any():
        return probability
    rest = probability.sum(axis=1, keepdims=True) - best
    others = probability * (1 + excess / np.maximum(rest, 1e-12))
    return np.asarray(np.where((probability == best) & (excess > 0), best - excess, others))


@dataclass(frozen=True)
class NoneOfThese:
    """Two reasons why no candidate is right: a parent is missing, or the query belongs nowhere.

    Attributes
    ----------
    missing
        Predicts that the true parents are not in the taxonomy.
    foreign
        Predicts that the query is of another field; None where no foreign concepts were at hand to learn from.
    slope, constant
        Calibrate both together, see `FirstPlace`.
    """

    missing: Logistic
    foreign: Logistic | None
    slope: float = 1.0
    constant: float = 0.0

    @property
    def n_inputs(self) -> int:
        """Columns of the inputs that both models read."""
        return len(self.missing.mean)

    def probability(self, inputs: NDArray[np.floating]) -> NDArray[np.float64]:
        """(q,) probability that no candidate is right, from inputs (q, `n_inputs`)."""
        fits = 1 - self.missing.probability(inputs)
        fits = fits if self.foreign is None else fits * (1 - self.foreign.probability(inputs))
        return shift_odds(1 - fits, self.slope, self.constant)

    def to_arrays(self) -> dict[str, NDArray[np.float64]]:
        """Arrays for a model folder: those of ``missing`` as they are, those of ``foreign`` with this prefix."""
        foreign = {} if self.foreign is None else self.foreign.to_arrays()
        arrays = self.missing.to_arrays() | {f"foreign.{key}": value for key, value in foreign.items()}
        return arrays | {"shift": np.array([self.slope, self.constant])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.float64]]) -> NoneOfThese:
        """What `to_arrays` wrote; folders of earlier versions have no model of foreign concepts, and no shift."""
        foreign = strip_prefix("foreign.", arrays)
        missing = {key: value for key, value in arrays.items() if key in ("mean", "scale", "weights")}
        slope, constant = arrays.get("shift", np.array([1.0, 0.0])).tolist()
        return cls(Logistic(**missing), Logistic(**foreign) if foreign else None, slope, constant)


def none_inputs(scores: NDArray[np.floating], features: NDArray[np.floating], query_features: Floats) -> Floats:
    """What "none of these" is predicted from: low best scores, a flat list, weak features of the best candidates.

    A mean of features over the whole list would mainly tell its length: ranks within a list add up to the same in all
    lists of one length, and small taxonomies have short ones. So the mean is over the first candidates.

    Parameters
    ----------
    scores
        (q, k) log probabilities.
    features
        (q, k, f) standardised, in the order of the first stage.
    query_features
        (q, s) what is known of the query beside its list: orphan features (`compute.orphan_features`) and novelty.

    Returns
    -------
    (q, `n_none_inputs`): best scores, entropy, features of the best candidate, their maxima, their means over the first
    candidates, query features.
    """
    best = np.sort(scores, axis=1)[:, ::-1][:, :_TOP]
    best = best[:, np.minimum(np.arange(_TOP), best.shape[1] - 1)]  # a short list repeats its last score
    probability = softmax(scores)
    entropy = -(probability * np.log(np.maximum(probability, 1e-12))).sum(1, keepdims=True)
    first = np.take_along_axis(features, scores.argmax(1)[:, None, None], 1)[:, 0]
    parts = [best, entropy, first, features.max(1), features[:, :_HEAD].mean(1), query_features]
    return np.concatenate(parts, axis=1).astype(np.float32)


def n_none_inputs(n_features: int, n_query_features: int) -> int:
    """Columns of `none_inputs`."""
    return _TOP + 1 + 3 * n_features + n_query_features


def fit_none(
    inputs: NDArray[np.floating],
    labels: Booleans,
    *,
    n_query_features: int,
    weights: NDArray[np.floating],
    ridge: float = RIDGE,
) -> Logistic:
    """Train a model of why no candidate is right.

    Hundreds of columns say much the same and share a weight. The few query features, which come last, say something
    else, so the penalty on their weights is weaker.

    Parameters
    ----------
    inputs
        (t, columns) of `none_inputs`.
    labels
        (t,): whether it is so.
    n_query_features
        How many of the last columns are query features.
    weights
        (t,): how much each list counts.
    ridge
        Penalty on the other weights.
    """
    penalty = np.full(inputs.shape[1], ridge)
    penalty[inputs.shape[1] - n_query_features :] /= _QUERY_RIDGE_DIVISOR
    return Logistic.fit(inputs, labels, ridge=penalty, weights=weights)


def _minimum(loss: Callable[[float], float]) -> float:
    """exp(x) for the x within `_WIDEST` of 0 with the smallest loss."""
    from scipy.optimize import minimize_scalar  # here: only fitting needs it, and its import is slow

    return float(np.exp(minimize_scalar(loss, bounds=(-_WIDEST, _WIDEST), method="bounded").x))
