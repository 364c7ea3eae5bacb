from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from support.meadow import Fitted
from taxosphere import Concept
from taxosphere.errors import TaxosphereError
from taxosphere.ranking import retrieval
from taxosphere.ranking.features.catalogue import FAMILIES
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.pool import FeatureColumns, Pool
from taxosphere.ranking.retrieval import (
    DEFAULT_FIRST_STAGE,
    FirstStage,
    Sample,
    fit_first_stage,
    sample_candidates,
)


def _made_up(queries: int, *, seed: int = 0) -> Sample:
    """True parents have a high first feature; the second is noise; all of the thirty candidates are sampled."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(queries, 30, 2)).astype(np.float32)
    labels = np.zeros((queries, 30), bool)
    labels[np.arange(queries), (2 * table[..., 0] + rng.gumbel(size=(queries, 30))).argmax(1)] = True
    return Sample(("text similarity", "siblings"), table, labels, np.zeros((queries, 30), np.float32))


def _loss(weights: FirstStage, sample: Sample) -> float:
    scores = sample.features @ np.array([weights.weights[name] for name in sample.names])
    return float(-log_softmax(scores, axis=1)[sample.labels].mean())


def test_weights_behind_the_choices_are_found_again() -> None:
    found = fit_first_stage([_made_up(3000), _made_up(3000, seed=1)])
    np.testing.assert_allclose([found.weights["text similarity"], found.weights["siblings"]], [2, 0], atol=0.1)


def test_no_nearby_weights_explain_the_choices_better() -> None:
    sample = _made_up(5000)
    found = fit_first_stage([sample])
    for name in sample.names:
        for step in (-0.1, 0.1):
            moved = FirstStage(found.weights | {name: found.weights[name] + step})
            assert _loss(found, sample) < _loss(moved, sample)


def test_few_queries_move_the_weights_less_than_many() -> None:
    few, many = fit_first_stage([_made_up(5)]).weights, fit_first_stage([_made_up(3000)]).weights
    nearly_default = fit_first_stage([_made_up(1)]).weights
    assert abs(nearly_default["siblings"]) < 0.2
    assert few["text similarity"] != many["text similarity"]


def _columns(
    fitted: Fitted, count: int, families: tuple[str, ...], columns: dict[str, np.ndarray] | None = None
) -> FeatureColumns:
    return FeatureColumns(
        pool=Pool.whole(count, len(fitted.seed)),
        families=families,
        columns=columns or {},
        orphan_features=np.zeros((count, 0), np.float32),
    )


def test_features_of_families_that_are_switched_off_count_nothing(fitted: Fitted) -> None:
    stage = FirstStage({"text similarity": 1.0, "parent of similar concepts, by words": 2.0})
    nothing = stage(fitted.index, _columns(fitted, 3, ("votes",)))  # by words needs the descriptions too
    assert nothing.shape == (3 * len(fitted.seed),)
    assert not nothing.any()


def test_a_feature_that_was_to_be_computed_and_was_not_is_missed(fitted: Fitted) -> None:
    with pytest.raises(TaxosphereError, match="needs the feature 'text similarity', which was not computed"):
        FirstStage({"text similarity": 1.0})(fitted.index, _columns(fitted, 3, ("encoder",)))


def test_a_weight_of_no_feature_is_refused() -> None:
    with pytest.raises(TaxosphereError, match="there is no feature 'text similarty'; the nearest is 'text similarity'"):
        FirstStage({"text similarty": 1.0})


def test_above_zero_weighs_whether_there_is_any(fitted: Fitted) -> None:
    values = np.zeros(len(fitted.seed), np.float32)
    values[:2] = 0.1, 7.0
    found = FirstStage({"at the end of the query's name, above zero": 0.5})(
        fitted.index, _columns(fitted, 1, (), {"at the end of the query's name": values})
    )
    np.testing.assert_array_equal(found[:3], [0.5, 0.5, 0.0])


def test_every_candidate_is_represented_once(fitted: Fitted, strangers: list[Concept], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    size = len(fitted.seed)
    monkeypatch.setattr(retrieval, "N_BEST", 5)
    encoded = fitted.queries(strangers)
    found = compute_features(fitted.index, encoded, FAMILIES)
    gold = [np.array([0]), np.array([size - 1, 3]), np.array([7]), np.array([1])]
    draws = [sample_candidates(fitted.index, found, gold, np.random.default_rng(s)) for s in range(200)]
    represented = np.mean([np.exp(each.log_importance).sum(1) for each in draws], 0)
    np.testing.assert_allclose(represented, size, rtol=0.05)
    for each in draws[:5]:
        counted = each.labels & np.isfinite(each.log_importance)
        assert counted.sum(1).tolist() == [1, 2, 1, 1]
        assert (each.log_importance[counted] == 0).all()


def test_the_sample_holds_the_features_of_its_candidates(fitted: Fitted, strangers: list[Concept]) -> None:
    encoded = fitted.queries(strangers)
    found = compute_features(fitted.index, encoded, FAMILIES)
    bird = fitted.seed.position("bird")
    each = sample_candidates(fitted.index, found, [np.array([bird])] * 4, np.random.default_rng(0))
    row, place = np.argwhere(each.labels)[0]
    for name in ("text similarity", "descendants", "sphere direction similarity"):
        column = found.columns.get(name)
        at = row * len(fitted.seed) + bird
        expected = fitted.index.static_features[name][bird] if column is None else column[at]
        assert each.features[row, place, each.names.index(name)] == np.float32(expected)


def test_a_trained_first_stage_starts_from_the_default_order(fitted: Fitted, strangers: list[Concept]) -> None:
    """With a single query, the order of all candidates stays close to that of the default weights."""
    encoded = fitted.queries(strangers)
    found = compute_features(fitted.index, encoded, FAMILIES)
    bird = fitted.seed.position("bird")
    one = compute_features(fitted.index, fitted.queries(strangers[:1]), FAMILIES)
    learned = fit_first_stage([sample_candidates(fitted.index, one, [np.array([bird])], np.random.default_rng(0))])
    here, there = (g(fitted.index, found)[: len(fitted.seed)] for g in (DEFAULT_FIRST_STAGE, learned))
    assert np.corrcoef(here, there)[0, 1] > 0.7
