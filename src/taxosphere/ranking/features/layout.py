"""FeatureColumns of (queries, candidates) in the form that costs least.

A similarity is a full matrix. What children say of their parent is there for candidates with children alone, and a vote
or a shared word reaches a handful: full matrices of those would be zeros that every query pays for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Matrix: TypeAlias = Any  # scipy's sparse arrays have no types

_HEAPS = 8  # for each of the largest: more of them leave fewer values to look at, and are more work themselves


@dataclass(frozen=True)
class NonLeafColumn:
    """A sign (q, owners) of candidates that have children; every other one has what stands ``elsewhere`` (q, 1)."""

    values: Floats
    elsewhere: Floats


@dataclass(frozen=True)
class SparseColumn:
    """A sign that is zero but at ``keys``, each of them once: query · candidates + candidate."""

    keys: Longs
    values: Floats


Form: TypeAlias = Floats | NonLeafColumn | SparseColumn


@dataclass(frozen=True)
class FeatureColumns:
    """Features by name; ``shape`` is (queries, candidates) and ``non_leaves`` are the candidates that have children.
    ``loose`` (q, s) speaks of the query and of no candidate: `features.orphan_features`."""

    shape: tuple[int, int]
    non_leaves: Longs
    forms: dict[str, Form]
    loose: Floats

    def weighted(self, terms: Iterable[tuple[Form, float]]) -> Floats:
        """The sum (q, n) of signs times weights: like forms are added up among themselves first."""
        total, part = np.zeros(self.shape, np.float32), np.empty(self.shape, np.float32)
        below, elsewhere = (
            np.zeros((len(total), len(self.non_leaves)), np.float32),
            np.zeros((len(total), 1), np.float32),
        )
        keys, values = [np.zeros(0, np.int64)], [np.zeros(0, np.float32)]
        for form, factor in terms:
            weight = np.float32(factor)
            if isinstance(form, SparseColumn):
                keys.append(form.keys)
                values.append(weight * form.values)
            elif isinstance(form, NonLeafColumn):
                below += weight * form.values
                elsewhere += weight * form.elsewhere
            else:
                total += np.multiply(form, weight, out=part)
        total += elsewhere
        total[:, self.non_leaves] += below - elsewhere
        total += np.bincount(np.concatenate(keys), np.concatenate(values), total.size).reshape(self.shape)
        return total

    def at(self, positions: Longs) -> dict[str, Floats]:
        """Each sign of the candidates at ``positions`` (q, k), which may name one twice."""
        count, size = self.shape
        flat = positions + size * np.arange(count)[:, None]
        column = np.full(size, -1)
        column[self.non_leaves] = np.arange(len(self.non_leaves))
        column = column[positions]
        inside = column + len(self.non_leaves) * np.arange(count)[:, None]
        scratch = np.zeros(count * size, np.float32)
        found: dict[str, Floats] = {}
        for name, form in self.forms.items():
            if isinstance(form, SparseColumn):
                scratch[form.keys] = form.values
                found[name] = scratch[flat]
                scratch[form.keys] = 0
            elif isinstance(form, NonLeafColumn):
                listed = form.values.take(inside, mode="clip") if form.values.size else form.elsewhere
                found[name] = np.where(column >= 0, listed, form.elsewhere)
            else:
                found[name] = form.take(flat)
        return found


def largest(values: Floats, count: int) -> Longs:
    """Where the ``count`` largest of each row stand, in the order of their places; of equal ones the first.

    Many rows are thinned out first. Dealt into heaps, at least ``count`` values reach the largest value of the heap
    that comes ``count``-th by it, and few others do: to find those takes two passes over the rows instead of a search.
    """
    rows, size = values.shape
    count = min(count, size)
    heaps = _HEAPS * count
    if rows == 1 or size < 2 * heaps:
        return _largest(values, count)
    tops = values[:, : size // heaps * heaps].reshape(rows, -1, heaps).max(1)
    places = np.flatnonzero(values >= np.partition(tops, heaps - count, axis=1)[:, heaps - count, None])
    if len(places) > rows * heaps:  # where most are equal, nothing was thinned out
        return _largest(values, count)
    row, place = np.divmod(places, size)
    ends = np.searchsorted(row, np.arange(rows + 1))
    few = np.full((rows, np.diff(ends).max()), -np.inf, np.float32)
    few[row, np.arange(len(places)) - ends[row]] = values.take(places)
    found: Longs = place[ends[:-1, None] + _largest(few, count)]
    return found


def _largest(values: Floats, count: int) -> Longs:
    """To find the smallest of them and compare everything with it takes less time than moving places about; to find it
    from above takes a tenth of the time where most values are zero."""
    rows, size = values.shape
    least = -np.partition(-values, count - 1, axis=1)[:, count - 1, None]
    found = values >= least
    if np.count_nonzero(found) > rows * count:
        for row in np.flatnonzero(found.sum(1) > count):
            equal = np.flatnonzero(values[row] == least[row])
            found[row, equal[count - found[row].sum() :]] = False
    places: Longs = np.flatnonzero(found) % size
    return places.reshape(rows, count)


def positive(form: Form) -> Form:
    """1 where the sign is above zero."""
    if isinstance(form, SparseColumn):
        return SparseColumn(form.keys, (form.values > 0).astype(np.float32))
    if isinstance(form, NonLeafColumn):
        return NonLeafColumn((form.values > 0).astype(np.float32), (form.elsewhere > 0).astype(np.float32))
    return (form > 0).astype(np.float32)


def split_stacked(matrix: Matrix, names: Sequence[str]) -> dict[str, SparseColumn]:
    """Several sparse signs from one matrix that has the rows of each sign (q, n) below those of the one before."""
    rows, size = matrix.shape
    count = rows // len(names)
    query = np.repeat(np.arange(rows) % count, np.diff(matrix.indptr))
    keys = query * size + matrix.indices
    cuts = matrix.indptr[::count]
    return {
        name: SparseColumn(keys[start:stop], matrix.data[start:stop])
        for name, start, stop in zip(names, cuts[:-1], cuts[1:], strict=True)
    }
