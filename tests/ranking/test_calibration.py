from __future__ import annotations

import numpy as np
import pytest
from scipy.special import log_softmax

from taxosphere.evaluation.reliability import auroc
from taxosphere.ranking import calibration
from taxosphere.ranking.logistic import Logistic


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
    assert abs(calibration.temperature(scores, labels) / truth - 1) < 0.1


def test_lists_without_an_answer_do_not_move_the_temperature() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(200, 5))
    labels = np.arange(5) == scores.argmax(1)[:, None]
    empty = np.zeros((100, 5), bool)
    doubled = calibration.temperature(np.concatenate([scores, -scores[:100]]), np.concatenate([labels, empty]))
    assert doubled == pytest.approx(calibration.temperature(scores, labels))
    assert calibration.temperature(scores, np.zeros_like(labels)) == 1.0


def test_the_first_place_is_right_as_often_as_it_says() -> None:
    """Every query has two true parents, both drawn from the list; one in ten has lost them."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(5000, 8)) * 3
    chance = calibration.softmax(scores, 1.5)
    drawn = [(chance.cumsum(1) < rng.random((5000, 1))).sum(1).clip(max=7) for _ in range(2)]
    labels = (np.arange(8) == drawn[0][:, None]) | (np.arange(8) == drawn[1][:, None])
    labels[:500] = False
    none = np.full(5000, 0.1)
    heat = calibration.first_place_temperature(scores, labels, none)
    sure = calibration.softmax(scores, heat).max(1) * 0.9
    right = labels[np.arange(5000), scores.argmax(1)]
    assert abs(sure.mean() - right.mean()) < 0.02
    modest = calibration.softmax(scores, calibration.temperature(scores, labels)).max(1) * 0.9
    assert modest.mean() < right.mean() - 0.05
    assert calibration.first_place_temperature(scores[:0], labels[:0], none[:0]) == 1.0


def test_none_signals_by_hand() -> None:
    scores = log_softmax(np.array([[0.0, 2.0, 1.0, -1.0]]), axis=1)
    table = np.arange(8.0).reshape(1, 4, 2)
    found = calibration.none_signals(scores, table, np.array([[0.25, 0.5]]))[0]
    probability = np.exp(scores[0])
    np.testing.assert_allclose(found[:3], scores[0, [1, 2, 0]])
    np.testing.assert_allclose(found[3], -(probability * scores[0]).sum())
    np.testing.assert_allclose(found[4:6], [2, 3])  # features of the best candidate
    np.testing.assert_allclose(found[6:8], [6, 7])  # largest of the list
    np.testing.assert_allclose(found[8:10], [3, 4])  # mean of those in front
    np.testing.assert_allclose(found[10:], [0.25, 0.5])  # loose ends
    assert len(found) == calibration.signal_count(features=2, loose=2)


def test_none_signals_do_not_tell_how_long_a_list_is() -> None:
    rng = np.random.default_rng(0)
    scores = np.sort(rng.normal(size=(5, 20)))[:, ::-1]
    table = rng.normal(size=(5, 20, 3))
    behind = np.full((5, 80), -40.0), np.full((5, 80, 3), -3.0)
    loose = rng.random((5, 2))
    long = calibration.none_signals(
        log_softmax(np.hstack([scores, behind[0]]), axis=1), np.concatenate([table, behind[1]], 1), loose
    )
    np.testing.assert_allclose(long, calibration.none_signals(log_softmax(scores, axis=1), table, loose), atol=1e-5)


def test_a_list_shorter_than_the_top_is_padded() -> None:
    found = calibration.none_signals(np.zeros((2, 1)), np.ones((2, 1, 3)), np.zeros((2, 2)))
    assert found.shape == (2, calibration.signal_count(features=3, loose=2))
    assert np.isfinite(found).all()


def test_loose_ends_are_heard_beside_hundreds_of_other_signals() -> None:
    """One signal that tells everything, behind 300 that tell a little and much the same."""
    rng = np.random.default_rng(0)
    gone = rng.random(2000) < 0.3
    same = gone * 0.3 + rng.normal(size=2000)
    signals = np.column_stack([same[:, None] + 0.3 * rng.normal(size=(2000, 300)), gone + 0.3 * rng.normal(size=2000)])
    none = calibration.fit_none(signals, gone, loose=1, share=0.05)
    alike = Logistic.fit(signals, gone, ridge=calibration.RIDGE, share=0.05)
    assert auroc(none.probability(signals), gone) > auroc(alike.probability(signals), gone) + 0.05
    assert abs(none.weights[-2]) > abs(none.weights[:-2]).sum()
