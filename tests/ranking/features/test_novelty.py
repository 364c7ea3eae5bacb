from __future__ import annotations

import numpy as np

from taxosphere.ranking.features.novelty import NOVELTY_FEATURES, NoveltyScale, nearness, pool_nearness
from taxosphere.ranking.features.pool import Pool
from taxosphere.typing import Floats


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _vectors(rng: np.random.Generator, n: int, centre: float) -> Floats:
    return _unit(rng.normal(size=(n, 16)) + centre * np.eye(16)[0])


def test_nearness_is_the_mean_over_the_nearest() -> None:
    rng = np.random.default_rng(0)
    queries, concepts = _vectors(rng, 3, 0.0), _vectors(rng, 50, 0.0)
    values = nearness(queries, concepts)
    assert values.shape == (3, len(NOVELTY_FEATURES))
    for row in range(3):
        cosines = sorted((float(queries[row] @ other) for other in concepts), reverse=True)
        expected = [np.mean(cosines[:count]) for count in (30, 5, 1)]
        np.testing.assert_allclose(values[row], expected, atol=1e-6)


def test_own_concepts_are_about_zero_and_foreign_ones_far_below() -> None:
    rng = np.random.default_rng(0)
    concepts = _vectors(rng, 200, 4.0)
    scale = NoveltyScale.of(concepts)
    new = scale.novelty(nearness(_vectors(rng, 100, 4.0), concepts))
    assert abs(new[:, 0].mean()) < 0.5
    assert scale.novelty(nearness(_vectors(rng, 100, 0.0), concepts))[:, 0].mean() < -3


def test_a_single_concept_has_no_neighbour() -> None:
    one = _vectors(np.random.default_rng(0), 1, 0.0)
    assert np.isfinite(NoveltyScale.of(one).novelty(nearness(one, one))).all()


def test_a_pool_of_all_concepts_gives_the_same() -> None:
    rng = np.random.default_rng(0)
    queries, concepts = _vectors(rng, 4, 0.0), _vectors(rng, 60, 0.0)
    values = pool_nearness(Pool.whole(4, 60), (queries @ concepts.T).ravel())
    np.testing.assert_allclose(values, nearness(queries, concepts), atol=1e-6)
