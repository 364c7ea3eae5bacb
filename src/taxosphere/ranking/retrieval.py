"""The first stage: one weighted sum of features for every concept of a query's pool.

It puts the true parent onto the shortlist that the ranker reads, and orders the candidates that stay off it. The
weights start from the defaults of the catalogue and are trained on hidden leaves with a softmax over the whole pool.
Of it, the best candidates, the true parents and a random sample that represents the rest are used: weights trained on
the best candidates alone would not be fit to order the rest. Concepts outside the pool come last, in the order of
those of its weights that need no pool, or of `REST` where it was not trained.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from taxosphere.errors import TaxosphereError
from taxosphere.orbit.search import largest_columns
from taxosphere.ranking.calibration import moments
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import CATALOGUE, POSITIVE, Feature, encoder_of, feature_of
from taxosphere.ranking.features.pool import FeatureColumns
from taxosphere.typing import Booleans, Floats, Longs

N_BEST, N_RANDOM = 60, 100  # candidates of a query that are sampled: by the default weights, and from the whole pool
_PULL = 30.0  # strength of the ridge towards the default weights, divided by the number of queries


@dataclass(frozen=True)
class FirstStage:
    """A weight per feature; a name that ends in `POSITIVE` weighs whether the feature is above zero.

    Raises
    ------
    TaxosphereError
        A name is not in the catalogue.
    """

    weights: dict[str, float]

    def __post_init__(self) -> None:
        self._entries  # noqa: B018 — raises where a feature does not exist

    @cached_property
    def _entries(self) -> list[tuple[Feature, bool, np.float32]]:
        """For each weight the feature, whether it counts only that it is above zero, and the weight."""
        weights = self.weights.items()
        return [(feature_of(name), name.endswith(POSITIVE), np.float32(weight)) for name, weight in weights]

    def __call__(self, index: CandidateIndex, features: FeatureColumns) -> Floats:
        """Scores (p,) of the pairs of the pool; features whose family is switched off count nothing.

        Raises
        ------
        TaxosphereError
            A feature that is switched on was not computed.
        """
        positions, static = features.pool.positions, np.zeros(len(features.pool), np.float32)
        row = {name: number for number, name in enumerate(features.columns)}
        weights, if_positive = np.zeros((2, len(row)), np.float32)
        for feature, positive, weight in self._entries:
            if feature.static:
                static += weight * index.static_features[feature.name].take(positions)
            elif feature.name in row:
                (if_positive if positive else weights)[row[feature.name]] = weight
            elif feature.is_on(features.families):
                raise TaxosphereError(f"the first stage needs the feature '{feature.name}', which was not computed")
        some = np.flatnonzero(if_positive)
        scores = static + np.einsum("f,fp->p", weights, features.table)
        scores += np.einsum("f,fp->p", if_positive[some], (features.table[some] > 0).astype(np.float32))
        return np.asarray(scores, np.float32)

    def limited_to(self, names: Collection[str]) -> FirstStage:
        """Only the weights of these features, and of those that depend on the candidate alone."""
        features = {name: feature_of(name) for name in self.weights}
        return FirstStage(
            {name: self.weights[name] for name, row in features.items() if row.static or row.name in names}
        )


_DEFAULT_WEIGHTS = {row.name: row.weight for row in CATALOGUE if row.weight}
_DEFAULT_WEIGHTS |= {row.name + POSITIVE: row.weight_if_positive for row in CATALOGUE if row.weight_if_positive}
DEFAULT_FIRST_STAGE = FirstStage(_DEFAULT_WEIGHTS)
COSINE = FirstStage({"text similarity": 1.0})
REST = FirstStage(
    {
        "sphere direction similarity": 1.0,
        "sphere similarity to children": 0.5,
        "text similarity": 0.5,
        "text similarity to children": 0.5,
        "name similarity": 0.3,
        "descendants": 0.05,
    }
)
"""Orders the concepts outside a query's pool where the first stage was not trained; features of switched-off families
count nothing."""


@dataclass(frozen=True)
class Sample:
    """A sample of the pool of each of t queries, to train the first stage on.

    Attributes
    ----------
    names
        (f,) names of the columns.
    features
        (t, s, f) of the sampled candidates.
    labels
        (t, s): which of them are true parents.
    log_importance
        (t, s): logarithm of the number of candidates each represents; −∞ for a candidate sampled before.
    """

    names: tuple[str, ...]
    features: Floats
    labels: Booleans
    log_importance: Floats

    def __len__(self) -> int:
        return len(self.features)


def sample_candidates(
    index: CandidateIndex,
    features: FeatureColumns,
    gold: Sequence[NDArray[np.integer]],
    rng: np.random.Generator,
) -> Sample:
    """Sample the best candidates by the default weights, random ones of the pool, and all true parents in it.

    Queries without a true parent in their pool are left out: no weights would find it.

    Parameters
    ----------
    index
        The n candidates.
    features
        Features of the q queries.
    gold
        Positions of the true parents of each query.
    rng
        Draws the random candidates.
    """
    pool = features.pool
    counts = np.diff(pool.ends)  # (q,)
    is_true = np.zeros(len(pool), bool)
    place, present = pool.find(np.concatenate([row * pool.size + parents for row, parents in enumerate(gold)]))
    is_true[place[present]] = True
    answered = np.flatnonzero(np.bincount(pool.row, is_true, pool.n_queries))  # queries with a true parent in the pool
    first, counts = pool.ends[answered, None], counts[answered, None]  # (t, 1)
    n_best, n_drawn = (min(most, int(counts.min(initial=most))) for most in (N_BEST, N_RANDOM))
    scores = pool.padded(DEFAULT_FIRST_STAGE(index, features), -np.inf)[answered]
    best = first + largest_columns(scores, n_best)
    below = int(counts[0, 0]) if len(np.unique(counts)) == 1 else counts
    drawn = first + rng.integers(0, below, (len(answered), n_drawn))
    table = pool.padded(is_true.astype(np.float32), 0.0)[answered]
    columns = np.argsort(-table, axis=1, kind="stable")[:, : int(table.sum(1).max(initial=0))]
    true = first + np.minimum(columns, counts - 1)
    is_best = np.zeros(len(pool), bool)
    is_best[best] = True
    places = np.concatenate([best, drawn, true], axis=1)  # (t, s)
    log_importance = np.zeros(places.shape, np.float32)
    repeated = is_best[drawn] | is_true[drawn]
    log_importance[:, n_best : n_best + n_drawn] = np.where(repeated, -np.inf, np.log(counts / n_drawn))
    unlisted = (np.take_along_axis(table, columns, 1) > 0) & ~is_best[true]
    log_importance[:, n_best + n_drawn :] = np.where(unlisted, 0.0, -np.inf)
    values = _features_at(index, features, places)
    return Sample(
        names=tuple(values),
        features=np.stack(list(values.values()), axis=-1).astype(np.float32),
        labels=is_true[places],
        log_importance=log_importance,
    )


def _features_at(index: CandidateIndex, features: FeatureColumns, places: Longs) -> dict[str, Floats]:
    """Columns (q, s) that the first stage may weigh, at ``places`` (q, s) of the pool."""
    table = {name: values[places] for name, values in features.columns.items() if not encoder_of(name)[1]}
    table |= {
        name + POSITIVE: (values > 0).astype(np.float32)
        for name, values in table.items()
        if feature_of(name).weight_if_positive
    }
    if "structure" in features.families:
        positions = features.pool.positions[places]
        table |= {name: values[positions] for name, values in index.static_features.items()}
    return table


def fit_first_stage(samples: Sequence[Sample]) -> FirstStage:
    """Train the weights so that the true parents are most probable among all candidates.

    Parameters
    ----------
    samples
        At least one, all with the same columns.
    """
    from scipy.optimize import minimize, minimize_scalar  # here: only fitting needs it, and its import is slow

    names = samples[0].names
    tables = [each.features.reshape(-1, len(names)) for each in samples]
    mean, scale = moments(np.concatenate(tables))
    parts = [((table - mean) / scale, each) for table, each in zip(tables, samples, strict=True)]
    n_queries = sum(map(len, samples))
    default = np.array([_DEFAULT_WEIGHTS.get(name, 0.0) for name in names]) * scale  # (f,) of standardised features

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        total, gradient = 0.0, np.zeros(len(names))
        for table, each in parts:
            scores = (table @ weights.astype(np.float32)).reshape(each.labels.shape) + each.log_importance  # (t, s)
            log_all = logsumexp(scores, axis=1, keepdims=True)
            true_scores = np.where(each.labels, scores, -np.inf)
            log_true = logsumexp(true_scores, axis=1, keepdims=True)
            total += float((log_all - log_true).sum())
            slope = np.exp(scores - log_all) - np.exp(true_scores - log_true)
            gradient += slope.ravel().astype(np.float32) @ table
        return total / n_queries, gradient / n_queries

    # The defaults are in proportion to each other; first their common factor, then all weights are trained.
    factor = np.exp(minimize_scalar(lambda s: loss(np.exp(s) * default)[0], bounds=(-2, 4), method="bounded").x)
    default = factor * default

    def regularised(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, gradient = loss(weights)
        distance = weights - default
        ridge = _PULL / n_queries
        return value + ridge * float(distance @ distance), gradient + 2 * ridge * distance

    weights = minimize(regularised, default, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return FirstStage({name: float(weight) for name, weight in zip(names, weights / scale, strict=True)})
