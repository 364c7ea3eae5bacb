from __future__ import annotations

import numpy as np
import pytest

from taxosphere.ranking.features.pool import Pool, SparseColumn, largest_columns


def test_a_sparse_column_is_zero_where_it_has_no_entry() -> None:
    pool = Pool(np.array([1, 3, 4, 9]), n_queries=2, size=5)
    column = SparseColumn(np.array([9, 0, 3]), np.array([0.5, 7.0, 2.0], np.float32))
    assert column.at(pool).tolist() == [0, 2.0, 0, 0.5]
    assert column.at(Pool(np.zeros(0, np.int64), 2, 5)).tolist() == []


@pytest.mark.parametrize("kinds", [1000, 4, 1])
@pytest.mark.parametrize("count", [1, 5, 12, 40])
@pytest.mark.parametrize("size", [12, 700])
def test_the_largest_of_each_row_and_of_equal_ones_the_first(kinds: int, count: int, size: int) -> None:
    values = np.random.default_rng(kinds).integers(0, kinds, (6, size)).astype(np.float32)
    values[0, 3] = values[1, 5:] = -np.inf
    expected = [sorted(np.argsort(-row, kind="stable")[:count].tolist()) for row in values]
    assert largest_columns(values, count).tolist() == expected
