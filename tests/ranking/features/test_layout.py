"""Every layout of a feature against the dense matrix it represents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxosphere.ranking.features.layout import (
    FeatureColumns,
    NonLeafColumn,
    SparseColumn,
    is_positive,
    largest_columns,
    split_stacked,
)

COUNT, SIZE = 3, 7
NON_LEAVES = np.array([1, 4, 6])
NO_ORPHANS = np.zeros((0, 0), np.float32)


def _columns() -> tuple[FeatureColumns, dict[str, np.ndarray]]:
    """Two features of each layout, and the same as dense matrices."""
    rng = np.random.default_rng(0)
    columns: dict[str, object] = {}
    whole = {}
    for number in range(2):
        full = rng.normal(size=(COUNT, SIZE)).astype(np.float32)
        inside, elsewhere = (rng.normal(size=(COUNT, width)).astype(np.float32) for width in (len(NON_LEAVES), 1))
        keys = rng.permutation(COUNT * SIZE)[:5]
        values = rng.normal(size=5).astype(np.float32)
        columns |= {
            f"full {number}": full,
            f"below {number}": NonLeafColumn(inside, elsewhere),
            f"few {number}": SparseColumn(keys, values),
        }
        below, few = np.repeat(elsewhere, SIZE, axis=1), np.zeros(COUNT * SIZE, np.float32)
        below[:, NON_LEAVES] = inside
        few[keys] = values
        whole |= {f"full {number}": full, f"below {number}": below, f"few {number}": few.reshape(COUNT, SIZE)}
    return FeatureColumns((COUNT, SIZE), (), NON_LEAVES, columns, NO_ORPHANS), whole  # type: ignore[arg-type]


def test_features_at_some_candidates_named_once_or_twice() -> None:
    features, whole = _columns()
    positions = np.random.default_rng(1).integers(0, SIZE, (COUNT, 2 * SIZE))
    found = features.at(positions)
    assert list(found) == list(features.columns)
    for name, values in whole.items():
        np.testing.assert_array_equal(found[name], np.take_along_axis(values, positions, 1), err_msg=name)


@pytest.mark.parametrize("at_all", [False, True])
def test_the_weighted_sum(at_all: bool) -> None:
    features, whole = _columns()
    weights = dict(zip(features.columns, (0.5, -2.0, 3.0, 1.5, 0.25, -1.0), strict=True))
    found = features.weighted_sum(
        (is_positive(f) if at_all else f, weights[name]) for name, f in features.columns.items()
    )
    expected = sum(weights[name] * ((values > 0) if at_all else values) for name, values in whole.items())
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_taxonomy_without_edges_has_no_non_leaves() -> None:
    none = NonLeafColumn(np.zeros((2, 0), np.float32), np.array([[1.0], [2.0]], np.float32))
    features = FeatureColumns((2, 3), (), np.zeros(0, np.int64), {"below": none}, NO_ORPHANS)
    expected = [[1, 1, 1], [2, 2, 2]]
    assert features.at(np.tile(np.arange(3), (2, 1)))["below"].tolist() == expected
    assert features.weighted_sum([(none, 1.0)]).tolist() == expected


def test_stacked_rows_are_split_by_feature() -> None:
    rows = np.random.default_rng(2).integers(0, 3, (2 * COUNT, SIZE)).astype(np.float32)
    features = FeatureColumns(
        (COUNT, SIZE), (), NON_LEAVES, dict(split_stacked(sparse.csr_array(rows), ["one", "two"])), NO_ORPHANS
    )
    found = features.at(np.tile(np.arange(SIZE), (COUNT, 1)))
    np.testing.assert_array_equal(np.concatenate([found["one"], found["two"]]), rows)


@pytest.mark.parametrize("kinds", [1000, 4, 1])
@pytest.mark.parametrize("count", [1, 5, 12, 40])
@pytest.mark.parametrize("size", [12, 700])
def test_the_largest_of_each_row_and_of_equal_ones_the_first(kinds: int, count: int, size: int) -> None:
    values = np.random.default_rng(kinds).integers(0, kinds, (6, size)).astype(np.float32)
    values[0, 3] = values[1, 5:] = -np.inf
    expected = [sorted(np.argsort(-row, kind="stable")[:count].tolist()) for row in values]
    assert largest_columns(values, count).tolist() == expected
