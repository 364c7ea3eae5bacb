from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from taxosphere.orbit import gate, search
from taxosphere.orbit.search import Candidates, top_k


def _unit(count: int, dim: int, seed: int) -> Tensor:
    return normalize(torch.randn(count, dim, generator=torch.Generator().manual_seed(seed)), dim=1)


def _brute(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.stack([np.lexsort((np.arange(len(row)), -row)) for row in scores])[:, :k]
    return np.take_along_axis(scores, order, 1), order


@pytest.mark.parametrize("mode", ["off", "hard", "hybrid"])
@pytest.mark.parametrize(("queries", "candidates", "k"), [(1, 1, 1), (3, 5, 10), (7, 300, 10), (40, 129, 129)])
def test_equals_brute_force(
    mode: gate.Mode, queries: int, candidates: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_CANDIDATES", 64)  # several blocks even for small numbers
    monkeypatch.setattr(search, "_QUERIES", 16)
    asked, rows = _unit(queries, 8, 0), _unit(candidates, 8, 1)
    threshold = torch.rand(candidates, generator=torch.Generator().manual_seed(2)) * 2 - 1
    found = top_k(asked, Candidates(rows), k, threshold=threshold, mode=mode)
    expected = gate.gated_scores((asked @ rows.T).numpy(), threshold.numpy(), mode)
    scores, order = _brute(expected, k)
    np.testing.assert_allclose(found.scores.numpy(), scores, atol=1e-6)
    if mode != "hard":  # with a hard gate most scores are 0 and the last bit of a product could swap others
        assert (found.positions.numpy() == order).all()


def test_ties_go_to_the_first_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_CANDIDATES", 4)
    rows = torch.ones(10, 1)
    assert top_k(torch.ones(2, 1), Candidates(rows), 3).positions.tolist() == [[0, 1, 2]] * 2
    closed = top_k(torch.ones(1, 1), Candidates(rows), 3, threshold=torch.full((10,), 2.0), mode="hard")
    assert closed.positions.tolist() == [[0, 1, 2]]
    assert closed.scores.tolist() == [[0.0, 0.0, 0.0]]


def test_half_the_size_finds_the_same() -> None:
    asked, rows = _unit(200, 64, 3), _unit(5000, 64, 4)
    whole, half = top_k(asked, Candidates(rows), 10), top_k(asked, Candidates.compact(rows), 10)
    assert Candidates.compact(rows).rows.element_size() * 2 == rows.element_size()
    assert (half.scores - whole.scores).abs().max() < 1e-4
    gaps = whole.scores[:, :-1] - whole.scores[:, 1:]
    clear = (gaps > 1e-4).all(1)
    assert clear.float().mean() > 0.5
    assert (half.positions[clear][:, :9] == whole.positions[clear][:, :9]).all()


def test_nothing_to_search() -> None:
    assert top_k(torch.zeros(2, 4), Candidates(torch.zeros(0, 4)), 5).positions.shape == (2, 0)
    assert top_k(torch.zeros(0, 4), Candidates(torch.ones(3, 4)), 2).positions.shape[0] == 0
