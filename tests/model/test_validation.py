from __future__ import annotations

import numpy as np
import pytest
import torch

from taxosphere.model import validation
from taxosphere.model.config import LossConfig, NetworkConfig
from taxosphere.model.inputs import FixedVectors
from taxosphere.model.network import Embedding, SphereNetwork


def brute_force(scores: np.ndarray, gold: list[int]) -> float:
    best = max(scores[g] for g in gold)
    return 1 + (scores > best).sum() + ((scores == best).sum() - 1) / 2


@pytest.mark.parametrize("cells", [1 << 24, 30])
def test_ranks_agree_with_counting(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    monkeypatch.setattr(validation, "_CELLS", cells)
    rng = np.random.default_rng(0)
    # Small whole numbers: many ties, no rounding.
    asked = rng.integers(-2, 3, size=(17, 3)).astype(np.float32)
    candidates = rng.integers(-2, 3, size=(12, 3)).astype(np.float32)
    gold = tuple(rng.choice(12, size=rng.integers(1, 4), replace=False) for _ in range(17))
    points = torch.from_numpy(candidates)
    config = LossConfig(logit="cosine", temperature=1.0)
    found = validation.ranks(torch.from_numpy(asked), Embedding(points, points, torch.ones(12)), gold, config)
    expected = [brute_force(row, g.tolist()) for row, g in zip(asked @ candidates.T, gold, strict=True)]
    np.testing.assert_array_equal(found, expected)


def test_a_query_equal_to_its_parent_ranks_first() -> None:
    network = SphereNetwork(4, NetworkConfig(dim=3, hidden=3), generator=torch.Generator().manual_seed(0))
    vectors = torch.randn(9, 4, generator=torch.Generator().manual_seed(1))
    gold = tuple(np.array([i]) for i in range(9))
    source = FixedVectors(vectors, network)
    assert (
        validation.mean_reciprocal_rank(
            network, source, source, validation.Validation(gold), LossConfig(logit="cosine")
        )
        == 1.0
    )


def test_ranks_among_some_candidates_are_those_of_a_seed_with_these_alone() -> None:
    network = SphereNetwork(4, NetworkConfig(dim=3, hidden=3), generator=torch.Generator().manual_seed(0))
    vectors = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    rows, gold = np.array([1, 4, 5, 9, 17, 28]), tuple(np.array([i % 6]) for i in range(30))
    queries = FixedVectors(torch.randn(30, 4, generator=torch.Generator().manual_seed(2)), network)
    among, alone = (
        validation.mean_reciprocal_rank(
            network, FixedVectors(source, network), queries, validation.Validation(gold, candidates=some), LossConfig()
        )
        for source, some in ((vectors, rows), (vectors[rows], None))
    )
    assert 0.1 < among == alone < 1.0


def test_a_score_that_is_no_number_ranks_last() -> None:
    broken = Embedding(torch.full((4, 2), torch.nan), torch.zeros(4, 2), torch.ones(4))
    found = validation.ranks(torch.ones(1, 2), broken, (np.array([1]),), LossConfig(logit="cosine"))
    assert found.tolist() == [4.0]
