from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from taxosphere.evaluation.reliability import auroc
from taxosphere.ranking import calibration
from taxosphere.ranking.calibration import Logistic


def test_softmax_sums_to_one_for_extreme_scores() -> None:
    scores = np.array([[1000.0, 999.0, -1e6], [0.0, 0.0, 0.0]])
    found = calibration.softmax(scores)
    np.testing.assert_allclose(found.sum(1), 1)
    np.testing.assert_allclose(found[1], 1 / 3)


@pytest.mark.parametrize("truth", [0.5, 1.0, 2.5])
def test_the_temperature_that_made_the_answers_is_found(truth: float) -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5000, 8)) * 3
    chance = calibration.softmax(scores, truth)
    drawn = (chance.cumsum(1) < rng.random((5000, 1))).sum(1).clip(max=7)
    labels = np.arange(8) == drawn[:, None]
    assert abs(calibration.fit_temperature(scores, labels) / truth - 1) < 0.1


def test_lists_without_an_answer_do_not_move_the_temperature() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(200, 5))
    labels = np.arange(5) == scores.argmax(1)[:, None]
    empty = np.zeros((100, 5), bool)
    doubled = calibration.fit_temperature(np.concatenate([scores, -scores[:100]]), np.concatenate([labels, empty]))
    assert doubled == pytest.approx(calibration.fit_temperature(scores, labels))
    assert calibration.fit_temperature(scores, np.zeros_like(labels)) == 1.0


def _two_encoders(count: int, noise: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Log probabilities (count, 5, 2) whose truth stands out by two, blurred by two kinds of noise; and the truth."""
    chance = np.random.default_rng(0)
    labels = np.arange(5) == chance.integers(0, 5, (count, 1))
    scores = 2.0 * labels[..., None] + chance.normal(size=(count, 5, 2)) * noise
    return (scores - np.log(np.exp(scores).sum(1, keepdims=True))).astype(np.float32), labels


def test_the_encoder_that_says_more_gets_the_larger_share() -> None:
    by_net, labels = _two_encoders(2000, (1.0, 2.0))
    shares = calibration.fit_shares(by_net, labels, np.ones(2000, np.float32))
    # Of scores with errors of variances 1 and 4 the best mean weighs them 4 to 1.
    np.testing.assert_allclose(shares, [0.8, 0.2], atol=0.03)
    assert shares.sum() == pytest.approx(1)


def test_a_few_lists_leave_the_shares_nearly_equal() -> None:
    by_net, labels = _two_encoders(4, (1.0, 2.0))
    shares = calibration.fit_shares(by_net, labels, np.ones(4, np.float32))
    np.testing.assert_allclose(shares, 0.5, atol=0.2)


def test_the_first_place_is_right_as_often_as_it_says() -> None:
    """Every query has two true parents, both drawn from the list; one in ten has lost them."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5000, 8)) * 3
    chance = calibration.softmax(scores, 1.5)
    drawn = [(chance.cumsum(1) < rng.random((5000, 1))).sum(1).clip(max=7) for _ in range(2)]
    labels = (np.arange(8) == drawn[0][:, None]) | (np.arange(8) == drawn[1][:, None])
    labels[:500] = False
    none = np.full(5000, 0.1)
    first = calibration.fit_first_place(scores, labels, none)
    sure = first.probability(scores, none)
    right = labels[np.arange(5000), scores.argmax(1)]
    assert abs(sure.mean() - right.mean()) < 0.02
    modest = calibration.softmax(scores, calibration.fit_temperature(scores, labels)).max(1) * 0.9
    assert modest.mean() < right.mean() - 0.05
    assert calibration.fit_first_place(scores[:0], labels[:0], none[:0]) == calibration.FirstPlace()


def test_none_is_calibrated_where_it_is_said_too_seldom() -> None:
    """The models of "none" know how often each list has lost its parents, but say so at odds e times too low."""
    rng = np.random.default_rng(0)
    scores = np.zeros((4000, 2)) + np.array([3.0, 0.0])
    lost = rng.random(4000)
    labels = (rng.random(4000) >= lost)[:, None] & (np.arange(2) == 0)
    said = calibration.shift_odds(lost, 1.0, -1.0)
    first = calibration.fit_first_place(scores, labels, said)
    assert abs(first.constant - 1) < 0.15
    assert abs(first.slope - 1) < 0.15
    np.testing.assert_allclose(calibration.shift_odds(said, 1.0, 1.0), lost, atol=1e-6)


def test_inputs_of_none_by_hand() -> None:
    scores = log_softmax(np.array([[0.0, 2.0, 1.0, -1.0]]), axis=1)
    table = np.arange(8.0).reshape(1, 4, 2)
    found = calibration.none_inputs(scores, table, np.array([[0.25, 0.5]]))[0]
    probability = np.exp(scores[0])
    np.testing.assert_allclose(found[:3], scores[0, [1, 2, 0]])
    np.testing.assert_allclose(found[3], -(probability * scores[0]).sum())
    np.testing.assert_allclose(found[4:6], [2, 3])  # features of the best candidate
    np.testing.assert_allclose(found[6:8], [6, 7])  # largest of the list
    np.testing.assert_allclose(found[8:10], [3, 4])  # mean of those in front
    np.testing.assert_allclose(found[10:], [0.25, 0.5])  # query features
    assert len(found) == calibration.n_none_inputs(n_features=2, n_query_features=2)


def test_inputs_of_none_do_not_tell_how_long_a_list_is() -> None:
    rng = np.random.default_rng(0)
    scores = np.sort(rng.normal(size=(5, 20)))[:, ::-1]
    table = rng.normal(size=(5, 20, 3))
    behind = np.full((5, 80), -40.0), np.full((5, 80, 3), -3.0)
    orphans = rng.random((5, 2))
    long = calibration.none_inputs(
        log_softmax(np.hstack([scores, behind[0]]), axis=1), np.concatenate([table, behind[1]], 1), orphans
    )
    np.testing.assert_allclose(long, calibration.none_inputs(log_softmax(scores, axis=1), table, orphans), atol=1e-5)


def test_a_list_shorter_than_the_top_is_padded() -> None:
    found = calibration.none_inputs(np.zeros((2, 1)), np.ones((2, 1, 3)), np.zeros((2, 2)))
    assert found.shape == (2, calibration.n_none_inputs(n_features=3, n_query_features=2))
    assert np.isfinite(found).all()


def test_query_features_count_beside_hundreds_of_other_inputs() -> None:
    """One input that tells everything, behind 300 that tell a little and much the same."""
    rng = np.random.default_rng(0)
    removed = rng.random(2000) < 0.3
    same = removed * 0.3 + rng.normal(size=2000)
    many = same[:, None] + 0.3 * rng.normal(size=(2000, 300))
    inputs = np.column_stack([many, removed + 0.3 * rng.normal(size=2000)])
    weights = np.where(removed, 0.05 / removed.sum(), 0.95 / (~removed).sum())
    none = calibration.fit_none(inputs, removed, n_query_features=1, weights=weights)
    alike = Logistic.fit(inputs, removed, ridge=0.3, weights=weights)
    assert auroc(none.probability(inputs), removed) > auroc(alike.probability(inputs), removed) + 0.05
    assert abs(none.weights[-2]) > abs(none.weights[:-2]).sum()


def test_none_of_these_is_a_missing_parent_or_a_foreign_query() -> None:
    rng = np.random.default_rng(0)
    inputs = rng.normal(size=(400, 2))
    missing, foreign = (Logistic.fit(inputs, inputs[:, column] > 1, ridge=0.01) for column in (0, 1))
    both = calibration.NoneOfThese(missing, foreign)
    apart = [model.probability(inputs) for model in (missing, foreign)]
    np.testing.assert_allclose(both.probability(inputs), apart[0] + apart[1] - apart[0] * apart[1])
    again = calibration.NoneOfThese.from_arrays(both.to_arrays())
    np.testing.assert_array_equal(again.probability(inputs), both.probability(inputs))
    alone = calibration.NoneOfThese.from_arrays(missing.to_arrays())
    np.testing.assert_allclose(alone.probability(inputs), apart[0])


def test_known_weights_are_found_again() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 2))
    truth = expit(x @ [1.5, -0.7] + 0.4)
    fitted = Logistic.fit(x, rng.random(len(x)) < truth, ridge=0.0)
    assert np.abs(fitted.probability(x) - truth).mean() < 0.02


def test_the_share_of_yes_is_the_one_asked_for_not_the_sample_s() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4000, 1))
    labels = np.arange(4000) % 2 == 0  # nothing to learn: half are yes
    assert abs(Logistic.fit(x, labels, ridge=0.0, positive_share=0.05).probability(x).mean() - 0.05) < 0.01


def test_a_strong_ridge_leaves_the_constant_only() -> None:
    x = np.linspace(-1, 1, 100)[:, None]
    labels = x[:, 0] > -0.5
    fitted = Logistic.fit(x, labels, ridge=1e6)
    np.testing.assert_allclose(fitted.probability(x), labels.mean(), atol=1e-3)


def test_arrays_bring_it_back() -> None:
    x = np.random.default_rng(2).normal(size=(50, 3))
    fitted = Logistic.fit(x, x[:, 0] > 0, ridge=0.1)
    np.testing.assert_array_equal(Logistic(**fitted.to_arrays()).probability(x), fitted.probability(x))


def test_no_probability_is_larger_than_the_surest_lists_were_right() -> None:
    stated = np.linspace(0.99, 0.3, 200)
    right = np.arange(200) % 4 > 0  # three quarters, however sure
    supported = calibration.supported_probability(stated, right)
    assert 0.7 < supported < 0.78
    assert calibration.supported_probability(stated, np.ones(200, bool)) == pytest.approx(201 / 202)
    assert calibration.supported_probability(stated, np.zeros(200, bool)) == 0.5
    assert calibration.supported_probability(stated[:19], right[:19]) == 1.0, "too few to tell"


def test_lists_that_count_little_support_little() -> None:
    stated, right = np.linspace(0.99, 0.5, 40), np.ones(40, bool)
    heavy = np.where(np.arange(40) == 0, 100.0, 1e-3)  # one list counts for nearly all
    assert calibration.supported_probability(stated, right, heavy) < 0.7
    assert calibration.supported_probability(stated, right, np.full(40, 0.01)) == pytest.approx(41 / 42)


def test_what_a_first_place_loses_goes_to_the_others() -> None:
    lists = np.array([[0.05, 0.9, 0.03], [0.5, 0.2, 0.1]])
    lowered = calibration.lower_first_places(lists, 0.7)
    np.testing.assert_allclose(lowered[0], [0.05 * 0.28 / 0.08, 0.7, 0.03 * 0.28 / 0.08])
    np.testing.assert_allclose(lowered[1], lists[1])
    np.testing.assert_allclose(lowered.sum(1), lists.sum(1))
    assert calibration.lower_first_places(lists, 1.0) is lists


def test_weights_drawn_towards_those_of_another_model() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(400, 2))
    labels = rng.random(400) < 1 / (1 + np.exp(-2 * x[:, 0]))
    other = Logistic(np.array([1.0, 1.0]), np.array([2.0, 2.0]), np.array([0.0, 3.0, 0.0]))
    drawn = Logistic.fit(x, labels, ridge=1e6, towards=other)
    np.testing.assert_allclose(drawn.weights[:-1], [0, 3], atol=1e-3)
    assert abs(drawn.probability(x).mean() - labels.mean()) < 1e-3  # the constant is free
    free = Logistic.fit(x, labels, ridge=0.0)
    loose = Logistic.fit(x, labels, ridge=0.0, towards=other)
    np.testing.assert_allclose(loose.probability(x), free.probability(x), atol=1e-3)
