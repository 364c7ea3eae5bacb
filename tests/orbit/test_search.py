from __future__ import annotations

import numpy as np
import pytest

from taxosphere.orbit import search
from taxosphere.orbit.search import largest_columns, top_k


def _unit(count: int, dim: int, seed: int) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(("queries", "candidates", "k"), [(1, 1, 1), (3, 5, 10), (7, 300, 10), (40, 129, 129)])
def test_equals_brute_force(queries: int, candidates: int, k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_BLOCK", 64)  # several blocks even for small numbers
    asked, rows = _unit(queries, 8, 0), _unit(candidates, 8, 1)
    expected = [sorted(np.argsort(-row, kind="stable")[:k].tolist()) for row in asked @ rows.T]
    assert top_k(asked, rows, k).tolist() == expected


def test_ties_go_to_the_first_position(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_BLOCK", 4)
    assert top_k(np.ones((2, 1), np.float32), np.ones((10, 1), np.float32), 3).tolist() == [[0, 1, 2]] * 2


@pytest.mark.parametrize("k", [1, 9, 30])
def test_whole_numbers_with_many_ties_over_several_blocks(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_BLOCK", 128)
    rng = np.random.default_rng(2)
    asked, rows = rng.integers(-2, 3, (5, 3)), rng.integers(-2, 3, (1000, 3))
    expected = [sorted(np.argsort(-row, kind="stable")[:k].tolist()) for row in asked @ rows.T]
    assert top_k(asked.astype(np.float32), rows.astype(np.float32), k).tolist() == expected


def test_nothing_to_search() -> None:
    assert top_k(np.zeros((2, 4), np.float32), np.zeros((0, 4), np.float32), 5).shape == (2, 0)
    assert top_k(np.zeros((0, 4), np.float32), np.ones((3, 4), np.float32), 2).shape == (0, 2)
    assert top_k(np.zeros((2, 4), np.float32), np.ones((3, 4), np.float32), 0).shape == (2, 0)


@pytest.mark.parametrize("wide", [10, 1 << 14])
@pytest.mark.parametrize("kinds", [1000, 4, 1])
@pytest.mark.parametrize("count", [1, 5, 12, 40])
@pytest.mark.parametrize("size", [12, 700])
def test_the_largest_of_each_row_and_of_equal_ones_the_first(
    kinds: int, count: int, size: int, wide: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_WIDE", wide)
    values = np.random.default_rng(kinds).integers(0, kinds, (6, size)).astype(np.float32)
    values[0, 3] = values[1, 5:] = -np.inf
    expected = [sorted(np.argsort(-row, kind="stable")[:count].tolist()) for row in values]
    assert largest_columns(values, count).tolist() == expected
    assert largest_columns(values[2:3], count).tolist() == expected[2:3]


@pytest.mark.parametrize("n_pairs", [40, 3])
def test_products_of_pairs_are_those_of_the_whole_product(n_pairs: int) -> None:
    rng = np.random.default_rng(4)
    queries, candidates = (rng.normal(size=(rows, 6)).astype(np.float32) for rows in (4, 30))
    rows, positions = np.sort(rng.integers(0, 4, n_pairs)), rng.integers(0, 30, n_pairs)
    products = search.products_of_pairs(queries, candidates, rows, positions)
    np.testing.assert_allclose(products, (queries @ candidates.T)[rows, positions], rtol=1e-5, atol=1e-6)
