"""Features of (query, candidate) pairs, each stored in the layout that needs least memory and time.

Similarities are dense. What is computed from children exists for candidates with children only, and votes or shared
words reach a handful of candidates, so that dense matrices of those would be almost all zeros.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from taxosphere.typing import Floats, Longs, Matrix

_GROUPS = 8  # times k, for `largest_columns`: more groups leave fewer values to search, and cost more themselves


@dataclass(frozen=True)
class NonLeafColumn:
    """A feature of candidates that have children: ``values`` (q, non-leaves); ``elsewhere`` (q, 1) for all others."""

    values: Floats
    elsewhere: Floats


@dataclass(frozen=True)
class SparseColumn:
    """A feature that is zero except at ``keys`` (e,), which are distinct: row · candidates + candidate."""

    keys: Longs
    values: Floats


Column: TypeAlias = Floats | NonLeafColumn | SparseColumn
"""A feature of all candidates: a dense (q, n) array, or one of the two layouts above."""


@dataclass(frozen=True)
class FeatureColumns:
    """All features of a block of queries that depend on the query.

    Attributes
    ----------
    shape
        (queries, candidates).
    families
        The families that were switched on.
    non_leaves
        Positions of the candidates that have children: the columns of `NonLeafColumn`.
    columns
        By name of the feature.
    orphan_features
        (q, s): how many concepts around the query have no parent, see `compute.orphan_features`.
    """

    shape: tuple[int, int]
    families: tuple[str, ...]
    non_leaves: Longs
    columns: dict[str, Column]
    orphan_features: Floats

    def weighted_sum(self, terms: Iterable[tuple[Column, float]]) -> Floats:
        """Sum of columns times weights, (q, n). Columns of one layout are added up first, then the layouts."""
        total, product = np.zeros(self.shape, np.float32), np.empty(self.shape, np.float32)  # (q, n)
        non_leaf = np.zeros((self.shape[0], len(self.non_leaves)), np.float32)
        elsewhere = np.zeros((self.shape[0], 1), np.float32)
        keys, values = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        for column, factor in terms:
            weight = np.float32(factor)
            if isinstance(column, SparseColumn):
                keys.append(column.keys)
                values.append(weight * column.values)
            elif isinstance(column, NonLeafColumn):
                non_leaf += weight * column.values
                elsewhere += weight * column.elsewhere
            else:
                total += np.multiply(column, weight, out=product)
        total += elsewhere
        total[:, self.non_leaves] += non_leaf - elsewhere
        total += np.bincount(np.concatenate(keys), np.concatenate(values), total.size).reshape(self.shape)
        return total

    def at(self, positions: Longs) -> dict[str, Floats]:
        """Values (q, k) of every feature for the candidates at ``positions`` (q, k), which may repeat."""
        count, size = self.shape
        flat = positions + size * np.arange(count)[:, None]  # (q, k)
        place = np.full(size, -1)
        place[self.non_leaves] = np.arange(len(self.non_leaves))
        place = place[positions]  # (q, k): column among the non-leaves, -1 for a leaf
        flat_non_leaf = place + len(self.non_leaves) * np.arange(count)[:, None]
        scratch = np.zeros(count * size, np.float32)
        values: dict[str, Floats] = {}
        for name, column in self.columns.items():
            if isinstance(column, SparseColumn):
                scratch[column.keys] = column.values
                values[name] = scratch[flat]
                scratch[column.keys] = 0
            elif isinstance(column, NonLeafColumn):
                inside = column.values.take(flat_non_leaf, mode="clip") if column.values.size else column.elsewhere
                values[name] = np.where(place >= 0, inside, column.elsewhere)
            else:
                values[name] = column.take(flat)
        return values


def largest_columns(values: Floats, k: int) -> Longs:
    """Column indices of the k largest values of each row, in ascending order; of equal values the first ones.

    For wide rows: the columns are divided into groups, and the k-th largest group maximum is a lower bound of the k-th
    largest value, so only values that reach it are searched.

    Parameters
    ----------
    values
        (q, n).
    k
        At most n columns are returned.

    Returns
    -------
    (q, min(k, n)) column indices.
    """
    rows, size = values.shape
    k = min(k, size)
    groups = _GROUPS * k
    if rows == 1 or size < 2 * groups:
        return _largest_by_threshold(values, k)
    maxima = values[:, : size // groups * groups].reshape(rows, -1, groups).max(1)  # (q, groups)
    bound = np.partition(maxima, groups - k, axis=1)[:, groups - k, None]  # (q, 1)
    places = np.flatnonzero(values >= bound)
    if len(places) > rows * groups:  # most values are equal, so the bound excludes too few
        return _largest_by_threshold(values, k)
    row, column = np.divmod(places, size)
    ends = np.searchsorted(row, np.arange(rows + 1))
    packed = np.full((rows, np.diff(ends).max()), -np.inf, np.float32)
    packed[row, np.arange(len(places)) - ends[row]] = values.take(places)
    columns: Longs = column[ends[:-1, None] + _largest_by_threshold(packed, k)]
    return columns


def _largest_by_threshold(values: Floats, k: int) -> Longs:
    """The same by comparing everything with the k-th largest value of its row.

    Comparing takes less time than `argpartition`, which moves indices about; partitioning the negated values takes a
    tenth of the time where most values are zero.
    """
    rows, size = values.shape
    least = -np.partition(-values, k - 1, axis=1)[:, k - 1, None]  # (q, 1)
    chosen = values >= least
    if np.count_nonzero(chosen) > rows * k:
        for row in np.flatnonzero(chosen.sum(1) > k):
            equal = np.flatnonzero(values[row] == least[row])
            chosen[row, equal[k - chosen[row].sum() :]] = False
    columns: Longs = np.flatnonzero(chosen) % size
    return columns.reshape(rows, k)


def is_positive(column: Column) -> Column:
    """1 where the feature is above zero, 0 elsewhere, in the same layout."""
    if isinstance(column, SparseColumn):
        return SparseColumn(column.keys, (column.values > 0).astype(np.float32))
    if isinstance(column, NonLeafColumn):
        return NonLeafColumn((column.values > 0).astype(np.float32), (column.elsewhere > 0).astype(np.float32))
    return (column > 0).astype(np.float32)


def split_stacked(matrix: Matrix, names: Sequence[str]) -> dict[str, SparseColumn]:
    """Sparse columns by name, from a matrix (names · q, n) with the rows of each below those of the one before."""
    rows, size = matrix.shape
    count = rows // len(names)
    query = np.repeat(np.arange(rows) % count, np.diff(matrix.indptr))
    keys = query * size + matrix.indices
    bounds = matrix.indptr[::count]
    return {
        name: SparseColumn(keys[start:stop], matrix.data[start:stop])
        for name, start, stop in zip(names, bounds[:-1], bounds[1:], strict=True)
    }
