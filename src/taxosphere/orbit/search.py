"""Exact search for the largest dot products and the largest values of rows, in blocks of bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.typing import Floats, Longs

_BLOCK = 1 << 13  # rows multiplied at once: their products with a batch of queries stay in the processor's cache
_COPIED = 1 << 10  # the same, where they are copied on
_WAITING = 2  # times k products for each query that are collected before the largest are chosen again
_GROUPS = 8  # times k, for `largest_columns`: more groups leave fewer values to search, and cost more themselves
_GATHERED = 8  # times as long as in a product of matrices takes a pair whose rows are gathered
_GROUPED = 4  # rows whose largest product stands for them where a first bound is looked for
_WIDE = 1 << 11  # columns from which on groups pay for a single row


def top_k(queries: Floats, rows: Floats, k: int) -> Longs:
    """Positions of the k rows with the largest dot products with each query, exactly; of equal ones the first.

    Parameters
    ----------
    queries
        (q, m).
    rows
        (n, m).
    k
        At most n positions are returned.

    Returns
    -------
    (q, min(k, n)) positions, ascending.
    """
    if len(queries) == 0 or k == 0:
        return np.zeros((len(queries), min(k, len(rows))), np.int64)
    best = _Best(np.zeros((len(queries), 0), np.float32), np.zeros((len(queries), 0), np.int64))
    collected: list[tuple[Longs, Longs, Floats]] = []  # query, position and product of what may be among the k largest
    columns, n_collected = np.ascontiguousarray(queries.T), 0
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        # a few queries as the right factor take less time than as the left one
        products = block @ columns if len(queries) > 2 else dot_products(queries, block).T  # (b, q)
        if start == 0:
            bound = _below_largest(products, k)
        places = np.flatnonzero(products > bound)
        row, query = np.divmod(places, len(queries))
        collected.append((query, start + row, products.ravel()[places]))
        n_collected += len(row)
        if n_collected > _WAITING * k * len(queries) or start + _BLOCK >= len(rows):
            best = best.join(collected, k)
            collected, n_collected = [], 0
            if best.values.shape[1] == k:
                bound = best.values.min(1)
    return best.positions


def _below_largest(products: Floats, k: int) -> Floats:
    """For each query a number just below at least k of its products (b, q), most of which are not above it."""
    groups = len(products) // _GROUPED
    if groups < k:
        return np.full(products.shape[1], -np.inf, np.float32)
    maxima = products[: groups * _GROUPED].reshape(_GROUPED, groups, -1).max(0)  # of each group of rows, (groups, q)
    bound: Floats = np.nextafter(np.partition(maxima, groups - k, axis=0)[groups - k], np.float32(-np.inf))
    return bound


@dataclass(frozen=True)
class _Best:
    """The largest products (q, k) of each query so far, and their positions (q, k), which ascend."""

    values: Floats
    positions: Longs

    def join(self, collected: Sequence[tuple[Longs, Longs, Floats]], k: int) -> _Best:
        """The k largest of these and of further ones, whose positions ascend for each query and are larger.

        ``collected`` has query, position and product (e,) of some at a time.
        """
        query = np.concatenate([part[0] for part in collected])
        short = np.min_scalar_type(len(self.values))  # short numbers are sorted faster
        order = np.argsort(query.astype(short), kind="stable")
        query, position = query[order], np.concatenate([part[1] for part in collected])[order]
        product = np.concatenate([part[2] for part in collected])[order]
        counts = np.bincount(query, minlength=len(self.values))
        column = self.values.shape[1] + np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
        shape = len(self.values), self.values.shape[1] + int(counts.max(initial=0))
        values, positions = np.full(shape, -np.inf, np.float32), np.zeros(shape, np.int64)
        values[:, : self.values.shape[1]], positions[:, : self.values.shape[1]] = self.values, self.positions
        values[query, column], positions[query, column] = product, position
        chosen = largest_columns(values, k)
        return _Best(np.take_along_axis(values, chosen, 1), np.take_along_axis(positions, chosen, 1))


def dot_products(queries: Floats, candidates: Floats, out: Floats | None = None) -> Floats:
    """Dot products (q, n) of rows (q, m) and (n, m), written to ``out`` where it is given.

    One or two queries are multiplied by einsum, which reads memory twice as fast as a BLAS product with a vector. And
    after a BLAS product its threads spin for a while, so that the encoder of the next query would wait for their core.
    """
    products = np.empty((len(queries), len(candidates)), np.float32) if out is None else out
    if len(queries) > 2:
        for start in range(0, len(candidates), _COPIED):  # few queries as the right factor take less time
            block = slice(start, start + _COPIED)
            products[:, block] = (candidates[block] @ queries.T).T
        return products
    for query, row in zip(queries, products, strict=True):
        np.einsum("cd,d->c", candidates, query, out=row)
    return products


def products_of_pairs(queries: Floats, candidates: Floats, rows: Longs, positions: NDArray[np.integer]) -> Floats:
    """Dot products (p,) of pairs: query ``rows[i]`` of (q, m), ascending, and candidate ``positions[i]`` of (n, m)."""
    if is_large_part(len(rows), len(queries), len(candidates)):
        return np.asarray(dot_products(queries, candidates)[rows, positions], np.float32)
    products = np.empty(len(rows), np.float32)
    ends = np.searchsorted(rows, np.arange(len(queries) + 1)).tolist()
    for query, start, end in zip(queries, ends, ends[1:], strict=False):
        np.einsum("cd,d->c", np.take(candidates, positions[start:end], axis=0), query, out=products[start:end])
    return products


def is_large_part(n_pairs: int, n_queries: int, size: int) -> bool:
    """Whether products of all queries with all rows take less time than those of the pairs, whose rows are gathered."""
    return _GATHERED * n_pairs >= n_queries * size


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
    if k == 0:
        return np.zeros((rows, 0), np.int64)
    groups = _GROUPS * k
    if size < 2 * groups or (rows == 1 and size < _WIDE):
        return _largest_by_threshold(values, k)
    maxima = values[:, : size // groups * groups].reshape(rows, -1, groups).max(1)  # (q, groups)
    bound = np.partition(maxima, groups - k, axis=1)[:, groups - k, None]  # (q, 1)
    places = np.flatnonzero(values >= bound)
    if len(places) > rows * groups:  # most values are equal, so the bound excludes too few
        return _largest_by_threshold(values, k)
    if rows == 1:
        return places[_largest_by_threshold(values[:, places], k)]
    row, column = np.divmod(places, size)
    ends = np.searchsorted(row, np.arange(rows + 1))
    packed = np.full((rows, np.diff(ends).max()), -np.inf, np.float32)
    packed[row, np.arange(len(places)) - ends[row]] = values.take(places)
    columns: Longs = column[ends[:-1, None] + _largest_by_threshold(packed, k)]
    return columns


def largest_among(values: Floats, columns: Longs, k: int) -> Longs:
    """Those of ``columns`` (q, c), ascending in each row, with the k largest of the ``values`` (q, n)."""
    chosen = largest_columns(np.take_along_axis(values, columns, 1), k)
    return np.take_along_axis(columns, chosen, 1)


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
