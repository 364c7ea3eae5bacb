"""The first guess: one weighted sum of the signs, cheap enough for every candidate.

It brings the true parent onto the list that the ranker reads, and orders everything that stays off it. Weights set by
hand are the home; hidden leaves of the seed move them by a softmax over *all* candidates, of which the best, the true
ones and a random sample that stands for the rest are looked at. Weights learned from the best candidates alone would
never have seen the far end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar
from scipy.special import logsumexp

from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.layout import FeatureColumns, largest, positive
from taxosphere.ranking.logistic import moments

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

BEST = 60
RANDOM = 100
_PULL = 30.0  # towards the weights set by hand: a ridge shared out over the queries
_AT_ALL = ", at all"
_DEFAULT_WEIGHTS = {
    "sphere mean": 1.0,
    "encoder": 0.5,
    "encoder, names": 0.3,
    "votes, sphere": 1.0,
    "votes, full": 1.0,
    "votes, name": 0.5,
    "votes, text": 0.5,
    "most similar child, full": 0.5,
    "most similar child, sphere": 0.5,
    "mentioned early": 0.3,
    "name head below, share": 0.5,
    "phrase words below, share": 0.5,
    "phrase start below, share": 0.5,
    "ends the first phrase, at all": 0.4,
    "named as the head, at all": 0.4,
    "named at the end, at all": 0.3,
    "descendants": 0.05,
}


@dataclass(frozen=True)
class FirstStage:
    """A weight for each sign; a name that ends in "at all" asks whether the sign is above zero."""

    weights: dict[str, float]

    def __call__(self, context: CandidateIndex, found: FeatureColumns) -> Floats:
        """(queries, candidates); signs that were not computed say nothing."""
        own = np.zeros(len(context.taxonomy), np.float32)
        terms = []
        for name, weight in self.weights.items():
            sign = name.removesuffix(_AT_ALL)
            if sign in found.forms:
                form = found.forms[sign]
                terms.append((form if sign == name else positive(form), weight))
            elif sign in context.candidate_features:
                own += np.float32(weight) * context.candidate_features[sign]
        total = found.weighted(terms)
        total += own
        return total


DEFAULT_FIRST_STAGE = FirstStage(_DEFAULT_WEIGHTS)
COSINE = FirstStage({"encoder": 1.0})


@dataclass(frozen=True)
class Sample:
    """Some candidates of each query: signs (t, s, f), which are true parents (t, s), and the logarithm of how many
    candidates each stands for (t, s), −∞ for one that is on the list twice."""

    names: tuple[str, ...]
    table: Floats
    labels: NDArray[np.bool_]
    log_importance: Floats

    def __len__(self) -> int:
        return len(self.table)


def sample(
    context: CandidateIndex,
    found: FeatureColumns,
    gold: Sequence[NDArray[np.integer]],
    families: Sequence[str],
    rng: np.random.Generator,
) -> Sample:
    """The best candidates by hand, random ones, and all true parents of a block of queries."""
    count, size = len(gold), len(context.taxonomy)
    guess = DEFAULT_FIRST_STAGE(context, found)
    true = np.zeros((count, size), bool)
    for row, parents in enumerate(gold):
        true[row, parents] = True
    near = min(BEST, size)
    best = largest(guess, near)
    chance = rng.integers(0, size, (count, min(RANDOM, size)))
    most = int(true.sum(1).max())
    golden = np.argsort(~true, axis=1, kind="stable")[:, :most]
    listed = np.zeros((count, size), bool)
    np.put_along_axis(listed, best, True, 1)
    at = np.concatenate([best, chance, golden], axis=1)
    log_importance = np.zeros(at.shape, np.float32)
    drawn = slice(near, near + chance.shape[1])
    known = np.take_along_axis(listed | true, chance, 1)
    log_importance[:, drawn] = np.where(known, -np.inf, np.log(size / chance.shape[1]))
    extra = np.take_along_axis(true & ~listed, golden, 1)
    log_importance[:, near + chance.shape[1] :] = np.where(extra, 0.0, -np.inf)
    columns = found.at(at)
    columns |= {
        f"{name}{_AT_ALL}": (values > 0).astype(np.float32)
        for name, values in columns.items()
        if f"{name}{_AT_ALL}" in _DEFAULT_WEIGHTS
    }
    if "structure" in families:
        columns |= {name: values[at] for name, values in context.candidate_features.items()}
    table = np.stack(list(columns.values()), axis=-1).astype(np.float32)
    return Sample(tuple(columns), table, np.take_along_axis(true, at, 1), log_importance)


def fit(samples: Sequence[Sample]) -> FirstStage:
    """Weights with which the true parents are most probable among all candidates."""
    names = samples[0].names
    tables = [each.table.reshape(-1, len(names)) for each in samples]
    mean, scale = moments(np.concatenate(tables))
    parts = [((table - mean) / scale, each) for table, each in zip(tables, samples, strict=True)]
    queries = sum(map(len, samples))
    home = np.array([_DEFAULT_WEIGHTS.get(name, 0.0) for name in names]) * scale

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, gradient = 0.0, np.zeros(len(names))
        for table, each in parts:
            scores = (table @ weights.astype(np.float32)).reshape(each.labels.shape) + each.log_importance
            everything = logsumexp(scores, axis=1, keepdims=True)
            true = np.where(each.labels, scores, -np.inf)
            right = logsumexp(true, axis=1, keepdims=True)
            total += float((everything - right).sum())
            slope = np.exp(scores - everything) - np.exp(true - right)
            gradient += slope.ravel().astype(np.float32) @ table
        return total / queries, gradient / queries

    sharp = np.exp(minimize_scalar(lambda s: loss(np.exp(s) * home)[0], bounds=(-2, 4), method="bounded").x)
    home = sharp * home

    def pulled(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = loss(weights)
        away = weights - home
        return value + _PULL / queries * float(away @ away), gradient + 2 * _PULL / queries * away

    found = minimize(pulled, home, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return FirstStage({name: float(weight) for name, weight in zip(names, found / scale, strict=True)})
