from __future__ import annotations

import numpy as np

from taxosphere.ranking.features.pool import Pool, SparseColumn


def test_a_sparse_column_is_zero_where_it_has_no_entry() -> None:
    pool = Pool(np.array([1, 3, 4, 9]), n_queries=2, size=5)
    column = SparseColumn(np.array([9, 0, 3]), np.array([0.5, 7.0, 2.0], np.float32))
    assert column.at(pool).tolist() == [0, 2.0, 0, 0.5]
    assert column.at(Pool(np.zeros(0, np.int64), 2, 5)).tolist() == []
