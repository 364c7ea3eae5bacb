from __future__ import annotations

import numpy as np

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.ranking.features.novelty import NOVELTY_FEATURES, NoveltyScale, nearness
from taxosphere.typing import Floats


def _unit(rows: Floats) -> Floats:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _vectors(rng: np.random.Generator, n: int, centre: float) -> TextVectors:
    full, name = (_unit(rng.normal(size=(n, 16)) + centre * np.eye(16)[0]) for _ in range(2))
    return TextVectors(full, name)


def test_nearness_is_the_mean_over_the_nearest() -> None:
    rng = np.random.default_rng(0)
    queries, concepts = _vectors(rng, 3, 0.0), _vectors(rng, 50, 0.0)
    values = nearness(queries, concepts)
    assert values.shape == (3, len(NOVELTY_FEATURES))
    for row in range(3):
        by_text = sorted((float(queries.full[row] @ other) for other in concepts.full), reverse=True)
        by_name = sorted((float(queries.name[row] @ other) for other in concepts.name), reverse=True)
        expected = [np.mean(each[:count]) for each in (by_text, by_name) for count in (30, 5, 1)]
        np.testing.assert_allclose(values[row], expected, atol=1e-6)


def test_own_concepts_are_about_zero_and_foreign_ones_far_below() -> None:
    rng = np.random.default_rng(0)
    concepts = _vectors(rng, 200, 4.0)
    scale = NoveltyScale.of(concepts)
    new = scale.novelty(_vectors(rng, 100, 4.0), concepts)
    assert abs(new[:, 0].mean()) < 0.5
    assert scale.novelty(_vectors(rng, 100, 0.0), concepts)[:, 0].mean() < -3


def test_a_single_concept_has_no_neighbour() -> None:
    one = _vectors(np.random.default_rng(0), 1, 0.0)
    assert np.isfinite(NoveltyScale.of(one).novelty(one, one)).all()
