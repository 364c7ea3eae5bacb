from __future__ import annotations

import numpy as np
from scipy.special import expit

from taxosphere.ranking.logistic import Logistic


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
