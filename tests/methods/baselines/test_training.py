from __future__ import annotations

import numpy as np
import pytest
import torch

from support.gram_encoder import GramEncoder
from taxosphere import Taxonomy
from taxosphere.errors import TaxosphereError
from taxosphere.methods.baselines.heads import Head, start_at_similarity
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.training import budget, mean_reciprocal_rank, train, validation_split
from taxosphere.methods.baselines.transe import TransENetwork, TransESettings


def wide(leaves: int = 40) -> Taxonomy:
    return Taxonomy.from_edges([("r", f"k{i}") for i in range(4)] + [(f"k{i % 4}", f"leaf {i}") for i in range(leaves)])


def test_reciprocal_rank_by_hand() -> None:
    scores = np.array([[3, 2, 1], [1, 1, 0], [0, 1, 2]], np.float32)
    gold = (np.array([1]), np.array([0]), np.array([0, 2]))  # ranks 2, 1.5 (a tie), 1 (the better of two)
    assert mean_reciprocal_rank(scores, gold) == pytest.approx((1 / 2 + 1 / 1.5 + 1) / 3)


def test_scores_that_are_no_numbers_are_no_success() -> None:
    with pytest.raises(TaxosphereError, match="diverged"):
        mean_reciprocal_rank(np.array([[np.nan, 1]], np.float32), (np.array([0]),))


def test_validation_queries_come_out_of_the_seed() -> None:
    taxonomy = wide()
    split = validation_split(taxonomy, TransESettings(validation=0.25), 0)
    assert split is not None
    assert len(split.queries) == 10
    assert len(split.seed) == len(taxonomy) - 10
    assert all(query.id.startswith("leaf") and query.id not in split.seed for query in split.queries)
    assert validation_split(wide(8), TransESettings(validation=0.25), 0) is None  # two queries decide nothing


def test_small_seeds_train_by_steps_and_large_ones_by_epochs() -> None:
    settings = TransESettings(steps=30, epochs=10, batch_size=4)
    assert budget(wide(8), settings) == 30
    assert budget(wide(40), settings) == 10 * 11  # 44 edges


def test_training_stops_after_patience_and_names_the_best_step() -> None:
    taxonomy = wide()
    vectors = torch.from_numpy(GramEncoder().encode(taxonomy.names))
    settings = TransESettings(dim=4, evaluations=20, patience=3)
    network = TransENetwork(settings, Seed(taxonomy, vectors))
    values = iter([0.1, 0.5, 0.4, 0.3, 0.2, 0.9])
    assert train(network, settings, np.random.default_rng(0), 100, lambda: next(values)) == 10
    assert next(values) == 0.9  # never looked at: three looks without improvement were enough


def test_divergence_is_said_not_hidden() -> None:
    taxonomy = wide()
    network = TransENetwork(TransESettings(dim=4), Seed(taxonomy, torch.full((len(taxonomy), 3), torch.nan)))
    with pytest.raises(TaxosphereError, match="smaller learning_rate"):
        train(network, TransESettings(), np.random.default_rng(0), 5)


def test_an_orthogonal_head_keeps_the_encoders_geometry() -> None:
    torch.manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(7, 12), dim=1)
    out = Head(12, 12, scale=0.5)(vectors)
    torch.testing.assert_close(out @ out.T, 0.25 * 12 * vectors @ vectors.T, rtol=1e-4, atol=1e-4)


def test_a_matcher_can_start_as_likeness() -> None:
    """With as many directions as dimensions the start follows the cosine closely."""
    torch.manual_seed(0)
    q, p = (torch.nn.functional.normalize(torch.randn(200, 16), dim=1) for _ in range(2))
    below, above = torch.nn.Linear(16, 64), torch.nn.Linear(16, 64, bias=False)
    out = start_at_similarity(below, above, 1.0)
    with torch.no_grad():
        score = torch.relu(below(q) + above(p)) @ out
    assert np.corrcoef(score, (q * p).sum(1))[0, 1] > 0.95
