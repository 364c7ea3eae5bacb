from __future__ import annotations

import numpy as np
from scipy.special import log_softmax

from support.meadow import Fitted
from taxosphere import Concept
from taxosphere.ranking import retrieval
from taxosphere.ranking.crossfit import encode_queries
from taxosphere.ranking.features.compute import FAMILIES, signs
from taxosphere.ranking.features.layout import FeatureColumns, Form
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE, FirstStage, Sample


def _made_up(queries: int, *, seed: int = 0) -> Sample:
    """True parents have a high first sign; the second is noise; there are thirty candidates, all of them looked at."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(queries, 30, 2)).astype(np.float32)
    labels = np.zeros((queries, 30), bool)
    labels[np.arange(queries), (2 * table[..., 0] + rng.gumbel(size=(queries, 30))).argmax(1)] = True
    return Sample(("encoder", "siblings"), table, labels, np.zeros((queries, 30), np.float32))


def _loss(weights: FirstStage, sample: Sample) -> float:
    scores = sample.table @ np.array([weights.weights[name] for name in sample.names])
    return float(-log_softmax(scores, axis=1)[sample.labels].mean())


def test_weights_behind_the_choices_are_found_again() -> None:
    found = retrieval.fit([_made_up(3000), _made_up(3000, seed=1)])
    np.testing.assert_allclose([found.weights["encoder"], found.weights["siblings"]], [2, 0], atol=0.1)


def test_no_nearby_weights_explain_the_choices_better() -> None:
    sample = _made_up(5000)
    found = retrieval.fit([sample])
    for name in sample.names:
        for step in (-0.1, 0.1):
            moved = FirstStage(found.weights | {name: found.weights[name] + step})
            assert _loss(found, sample) < _loss(moved, sample)


def test_few_queries_move_the_weights_less_than_many() -> None:
    few, many = retrieval.fit([_made_up(5)]).weights, retrieval.fit([_made_up(3000)]).weights
    by_hand = retrieval.fit([_made_up(1)]).weights
    assert abs(by_hand["siblings"]) < 0.2
    assert few["encoder"] != many["encoder"]


def _signs(fitted: Fitted, count: int, forms: dict[str, Form] | None = None) -> FeatureColumns:
    return FeatureColumns(
        (count, len(fitted.seed)), fitted.context.non_leaves, forms or {}, np.zeros((count, 0), np.float32)
    )


def test_signs_that_were_not_computed_say_nothing(fitted: Fitted) -> None:
    nothing = FirstStage({"encoder": 1.0, "votes, full": 2.0})(fitted.context, _signs(fitted, 3))
    assert nothing.shape == (3, len(fitted.seed))
    assert not nothing.any()


def test_at_all_asks_whether_there_is_any(fitted: Fitted) -> None:
    values = np.zeros((1, len(fitted.seed)), np.float32)
    values[0, :2] = 0.1, 7.0
    found = FirstStage({"named at the end, at all": 0.5})(
        fitted.context, _signs(fitted, 1, {"named at the end": values})
    )
    np.testing.assert_array_equal(found[0, :3], [0.5, 0.5, 0.0])


def test_every_candidate_is_stood_for_once(fitted: Fitted, strangers: list[Concept], monkeypatch) -> None:  # type: ignore[no-untyped-def]
    size = len(fitted.seed)
    monkeypatch.setattr(retrieval, "BEST", 5)
    encoded = encode_queries(fitted.network, strangers, fitted.views(strangers))
    found = signs(fitted.context, encoded, FAMILIES)
    gold = [np.array([0]), np.array([size - 1, 3]), np.array([7]), np.array([1])]
    draws = [retrieval.sample(fitted.context, found, gold, FAMILIES, np.random.default_rng(s)) for s in range(200)]
    stood_for = np.mean([np.exp(each.log_importance).sum(1) for each in draws], 0)
    np.testing.assert_allclose(stood_for, size, rtol=0.05)
    for each in draws[:5]:
        counted = each.labels & np.isfinite(each.log_importance)
        assert counted.sum(1).tolist() == [1, 2, 1, 1]
        assert (each.log_importance[counted] == 0).all()


def test_the_sample_holds_the_signs_of_its_candidates(fitted: Fitted, strangers: list[Concept]) -> None:
    encoded = encode_queries(fitted.network, strangers, fitted.views(strangers))
    found = signs(fitted.context, encoded, FAMILIES)
    bird = fitted.seed.position("bird")
    each = retrieval.sample(fitted.context, found, [np.array([bird])] * 4, FAMILIES, np.random.default_rng(0))
    row, column = np.argwhere(each.labels)[0]
    for name in ("encoder", "descendants", "sphere mean"):
        form = found.forms.get(name)
        expected = fitted.context.candidate_features[name][bird] if form is None else form[row, bird]  # type: ignore[index]
        assert each.table[row, column, each.names.index(name)] == np.float32(expected)


def test_a_learned_guess_begins_at_the_hand_set_order(fitted: Fitted, strangers: list[Concept]) -> None:
    """With a single query, the order of all candidates stays close to that of the weights set by hand."""
    encoded = encode_queries(fitted.network, strangers, fitted.views(strangers))
    found = signs(fitted.context, encoded, FAMILIES)
    bird = fitted.seed.position("bird")
    one = signs(fitted.context, encode_queries(fitted.network, strangers[:1], fitted.views(strangers[:1])), FAMILIES)
    learned = retrieval.fit(
        [retrieval.sample(fitted.context, one, [np.array([bird])], FAMILIES, np.random.default_rng(0))]
    )
    here, there = (g(fitted.context, found)[0] for g in (DEFAULT_FIRST_STAGE, learned))
    assert np.corrcoef(here, there)[0, 1] > 0.7
