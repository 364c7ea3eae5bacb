"""Every form of a sign against the full matrix it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxosphere.ranking.features.layout import (
    FeatureColumns,
    NonLeafColumn,
    SparseColumn,
    largest,
    positive,
    split_stacked,
)

COUNT, SIZE = 3, 7
OWNERS = np.array([1, 4, 6])
NOTHING_LOOSE = np.zeros((0, 0), np.float32)


def _forms() -> tuple[FeatureColumns, dict[str, np.ndarray]]:
    """Two signs of each form, and the same as full matrices."""
    rng = np.random.default_rng(0)
    forms: dict[str, object] = {}
    whole = {}
    for number in range(2):
        full = rng.normal(size=(COUNT, SIZE)).astype(np.float32)
        inside, elsewhere = (rng.normal(size=(COUNT, width)).astype(np.float32) for width in (len(OWNERS), 1))
        keys = rng.permutation(COUNT * SIZE)[:5]
        values = rng.normal(size=5).astype(np.float32)
        forms |= {
            f"full {number}": full,
            f"below {number}": NonLeafColumn(inside, elsewhere),
            f"few {number}": SparseColumn(keys, values),
        }
        below, few = np.repeat(elsewhere, SIZE, axis=1), np.zeros(COUNT * SIZE, np.float32)
        below[:, OWNERS] = inside
        few[keys] = values
        whole |= {f"full {number}": full, f"below {number}": below, f"few {number}": few.reshape(COUNT, SIZE)}
    return FeatureColumns((COUNT, SIZE), OWNERS, forms, NOTHING_LOOSE), whole  # type: ignore[arg-type]


def test_signs_at_some_candidates_named_once_or_twice() -> None:
    signs, whole = _forms()
    positions = np.random.default_rng(1).integers(0, SIZE, (COUNT, 2 * SIZE))
    found = signs.at(positions)
    assert list(found) == list(signs.forms)
    for name, values in whole.items():
        np.testing.assert_array_equal(found[name], np.take_along_axis(values, positions, 1), err_msg=name)


@pytest.mark.parametrize("at_all", [False, True])
def test_the_weighted_sum(at_all: bool) -> None:
    signs, whole = _forms()
    weights = dict(zip(signs.forms, (0.5, -2.0, 3.0, 1.5, 0.25, -1.0), strict=True))
    found = signs.weighted((positive(f) if at_all else f, weights[name]) for name, f in signs.forms.items())
    expected = sum(weights[name] * ((values > 0) if at_all else values) for name, values in whole.items())
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_taxonomy_without_edges_has_no_owners() -> None:
    none = NonLeafColumn(np.zeros((2, 0), np.float32), np.array([[1.0], [2.0]], np.float32))
    signs = FeatureColumns((2, 3), np.zeros(0, np.int64), {"below": none}, NOTHING_LOOSE)
    expected = [[1, 1, 1], [2, 2, 2]]
    assert signs.at(np.tile(np.arange(3), (2, 1)))["below"].tolist() == expected
    assert signs.weighted([(none, 1.0)]).tolist() == expected


def test_rows_of_several_signs_are_dealt_out() -> None:
    rows = np.random.default_rng(2).integers(0, 3, (2 * COUNT, SIZE)).astype(np.float32)
    signs = FeatureColumns(
        (COUNT, SIZE), OWNERS, dict(split_stacked(sparse.csr_array(rows), ["one", "two"])), NOTHING_LOOSE
    )
    found = signs.at(np.tile(np.arange(SIZE), (COUNT, 1)))
    np.testing.assert_array_equal(np.concatenate([found["one"], found["two"]]), rows)


@pytest.mark.parametrize("kinds", [1000, 4, 1])
@pytest.mark.parametrize("count", [1, 5, 12, 40])
@pytest.mark.parametrize("size", [12, 700])
def test_the_largest_of_each_row_and_of_equal_ones_the_first(kinds: int, count: int, size: int) -> None:
    values = np.random.default_rng(kinds).integers(0, kinds, (6, size)).astype(np.float32)
    values[0, 3] = values[1, 5:] = -np.inf
    expected = [sorted(np.argsort(-row, kind="stable")[:count].tolist()) for row in values]
    assert largest(values, count).tolist() == expected
