"""The pool: for each query of a block the concepts that retrieval found, query after query in flat arrays.

Also features of the pairs of a pool, and sparse rows, one per query.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.taxonomy.structure import Csr, distinct
from taxosphere.typing import Booleans, Floats, Longs, Matrix

_TABLE = 1 << 21  # pairs of a query and a concept up to which places are looked up in a table; searching takes longer


@dataclass(frozen=True)
class Pool:
    """Pairs of a query and a concept; features are arrays (p,) with one value for each pair.

    Attributes
    ----------
    keys
        (p,) query · n + position of the concept, ascending and distinct.
    n_queries, size
        Numbers of queries and of concepts n.
    """

    keys: Longs
    n_queries: int
    size: int

    @classmethod
    def join(cls, sources: Sequence[Longs], n_queries: int, size: int) -> Pool:
        """All pairs whose key is in at least one of the ``sources``."""
        return cls(distinct_keys(sources, n_queries * size), n_queries, size)

    @classmethod
    def whole(cls, n_queries: int, size: int) -> Pool:
        """Every concept for every query."""
        return cls(np.arange(n_queries * size), n_queries, size)

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def is_whole(self) -> bool:
        """Whether it holds every concept for every query."""
        return len(self.keys) == self.n_queries * self.size

    @cached_property
    def row(self) -> Longs:
        """(p,) number of the query."""
        return np.repeat(np.arange(self.n_queries), np.diff(self.ends))

    @cached_property
    def positions(self) -> Longs:
        """(p,) position of the concept."""
        return self.keys - self.size * self.row

    @cached_property
    def ends(self) -> Longs:
        """(q + 1,) the pairs of query i are those from ``ends[i]`` to ``ends[i + 1]``."""
        return np.searchsorted(self.keys, self.size * np.arange(self.n_queries + 1))

    def slices(self) -> list[slice]:
        """The pairs of each query."""
        return [slice(start, stop) for start, stop in pairwise(self.ends.tolist())]

    def find(self, keys: NDArray[np.integer]) -> tuple[NDArray[np.integer], Booleans]:
        """Place (k,) of the pairs with these keys, and whether they are in the pool."""
        if self.n_queries * self.size <= _TABLE:
            place = self.places.take(keys)
            return place, place >= 0
        place = np.minimum(np.searchsorted(self.keys, keys), max(0, len(self.keys) - 1))
        return place, self.keys[place] == keys

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """(q · n,) the place of each key, -1 for those that are not in the pool."""
        places = np.full(self.n_queries * self.size, -1, np.int32)
        places[self.keys] = np.arange(len(self.keys), dtype=np.int32)
        return places

    def lookups(self) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Which queries, and their part of `places`; all at once, or as many as a table of bounded size holds."""
        step = max(1, _TABLE // max(1, self.size))
        if step >= self.n_queries:
            yield slice(0, self.n_queries), self.places
            return
        table = np.full(step * self.size, -1, np.int32)
        for start in range(0, self.n_queries, step):
            stop = min(start + step, self.n_queries)
            first, last = self.ends[start], self.ends[stop]
            keys = self.keys[first:last] - start * self.size
            table[keys] = np.arange(first, last, dtype=np.int32)
            yield slice(start, stop), table
            table[keys] = -1

    def links(self, neighbours: Csr, places: Longs) -> tuple[Longs, NDArray[np.integer]]:
        """Pairs (e,), (e,) of a place among ``places`` (k,) and the place of a neighbour in the same query's pool."""
        owner, neighbour = neighbours.expand(self.positions[places])
        place, present = self.find(self.row[places][owner] * self.size + neighbour)
        return places[owner[present]], place[present]

    def padded(self, values: Floats, fill: float) -> Floats:
        """Values (…, p) as tables (…, q, longest), filled up behind the last pair of each query."""
        outer = values.shape[:-1]
        if self.is_whole:
            return values.reshape(*outer, self.n_queries, self.size)
        table = np.full((*outer, self.n_queries, int(np.diff(self.ends).max(initial=0))), fill, np.float32)
        for row, part in enumerate(self.slices()):
            table[..., row, : part.stop - part.start] = values[..., part]
        return table


def distinct_keys(sources: Sequence[Longs], limit: int) -> Longs:
    """All keys of the sources, which are below ``limit``, each once, ascending."""
    if limit > _TABLE:
        return distinct(np.concatenate([np.zeros(0, np.int64), *(keys.ravel() for keys in sources)]))
    present = np.zeros(limit, bool)  # marking takes less time than sorting
    for keys in sources:
        present[keys] = True
    return np.flatnonzero(present)


@dataclass(frozen=True)
class SparseColumn:
    """A feature that is zero except at ``keys`` (e,), which are distinct: query · candidates + candidate."""

    keys: Longs
    values: Floats

    def at(self, pool: Pool) -> Floats:
        """Values (p,) of the pairs of a pool."""
        values = np.zeros(len(pool), np.float32)
        if len(pool):
            place, present = pool.find(self.keys)
            values[place[present]] = self.values[present]
        return values


@dataclass(frozen=True)
class FeatureColumns:
    """All features of a block of queries that depend on the query.

    Attributes
    ----------
    pool
        The pairs of a query and a candidate.
    families
        The families that were switched on.
    columns
        (p,) by name of the feature.
    orphan_features
        (q, s): how many concepts around the query have no parent, see `compute.orphan_features`.
    nearness
        (q, v): how near the concepts nearest to the query are, see `novelty.pool_nearness`; None where not needed.
    """

    pool: Pool
    families: tuple[str, ...]
    columns: dict[str, Floats]
    orphan_features: Floats
    nearness: Floats | None = None

    @cached_property
    def table(self) -> Floats:
        """(f, p) all columns in their order."""
        return np.stack([np.zeros(len(self.pool), np.float32), *self.columns.values()])[1:]


class SparseRows(NamedTuple):
    """Rows in CSR layout: row i has ``data[ends[i]:ends[i + 1]]`` in ``columns[ends[i]:ends[i + 1]]``.

    scipy validates every matrix it makes, and for a single query this takes longer than the work itself. So rows stay
    arrays until all of them are multiplied at once.
    """

    data: Floats
    columns: NDArray[np.int32]
    ends: NDArray[np.int32]

    @classmethod
    def of_ones(cls, columns: Iterable[Sequence[int]]) -> SparseRows:
        """Rows that are 1 in the columns listed for each."""
        entries, ends = array("i"), array("i", [0])
        for row in columns:
            entries.extend(row)
            ends.append(len(entries))
        return cls(np.ones(len(entries), np.float32), np.array(entries, np.int32), np.array(ends, np.int32))

    def take(self, kept: NDArray[np.integer]) -> SparseRows:
        """Only these rows, in this order."""
        counts = self.counts[kept]
        ends = np.zeros(len(kept) + 1, np.int32)
        np.cumsum(counts, out=ends[1:])
        entries = np.arange(ends[-1]) + np.repeat(self.ends[kept] - ends[:-1], counts)
        return SparseRows(self.data[entries], self.columns[entries], ends)

    def where(self, kept: Booleans) -> SparseRows:
        """The same rows with only these of their entries (e,)."""
        before = np.concatenate([np.zeros(1, np.int32), np.cumsum(kept, dtype=np.int32)])
        return SparseRows(self.data[kept], self.columns[kept], before[self.ends])

    @property
    def counts(self) -> NDArray[np.int32]:
        """(q,) entries of each row."""
        return self.ends[1:] - self.ends[:-1]

    def sums(self, values: Floats) -> NDArray[np.float64]:
        """(q,) sums over each row of ``values`` (e,), one per entry."""
        row = np.repeat(np.arange(len(self.ends) - 1), self.counts)
        return np.asarray(np.bincount(row, values, len(self.ends) - 1), np.float64)

    def repeat(self, values: NDArray[np.floating]) -> Floats:
        """(e,) the value (q,) of its row for every entry."""
        return np.repeat(values.astype(np.float32), self.counts)

    def matrix(self, width: int) -> Matrix:
        """The rows as a scipy CSR array (q, width)."""
        return sparse.csr_array((self.data, self.columns, self.ends), shape=(len(self.ends) - 1, width))


def stack_rows(parts: Sequence[SparseRows], shifts: Sequence[int] | None = None) -> SparseRows:
    """Rows of each part below those of the one before; ``shifts`` are added to the column indices of each part."""
    right = shifts or [0] * len(parts)
    counts = np.concatenate([part.counts for part in parts])
    columns = np.concatenate([part.columns + np.int32(shift) for part, shift in zip(parts, right, strict=True)])
    ends = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=ends[1:])
    return SparseRows(np.concatenate([part.data for part in parts]), columns, ends)
