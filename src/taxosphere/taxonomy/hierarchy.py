"""The columns of a hierarchy and what follows from them: positions, neighbours, depth, order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.taxonomy import cycles, structure
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.structure import Csr, Ints, Longs

if TYPE_CHECKING:
    from taxosphere.taxonomy.checks import Problem

Strings = tuple[str, ...]
Lists = Sequence[tuple[Any, ...]]


class CycleError(InputError):
    """The hierarchy runs in a circle, so depth below it and numbers of descendants have no meaning."""


@dataclass(frozen=True, eq=False)
class Source:
    """Where concepts and edges stood in the file they were read from; line 0 where a format has no lines.

    Readers that would be slower for it note no lines, but count concepts and edges as they come and give `find`, which
    returns the lines of all of them when the first is asked for.
    """

    path: str
    numbers: Ints  # one per concept: its line, or with `find` its place in what that returns, -1 for none
    edge_path: str
    edge_numbers: Ints  # one per row of the edge array
    find: Callable[[], tuple[Ints, Ints]] | None = None  # lines of all concepts and edges that were read

    @cached_property
    def _found(self) -> tuple[Ints, Ints]:
        if self.find is None:
            return self.numbers, self.edge_numbers
        pairs = zip(self.find(), (self.numbers, self.edge_numbers), strict=True)
        lines, edge_lines = (np.append(every, np.int32(0))[numbers] for every, numbers in pairs)  # the last for -1
        return lines, edge_lines

    def with_edges(self, count: int) -> Source:
        """The same for other edges, whose lines are not known."""
        return replace(self, edge_numbers=np.full(count, 0 if self.find is None else -1, np.int32))

    @property
    def lines(self) -> Ints:
        """The line of each concept."""
        return self._found[0]

    @property
    def edge_lines(self) -> Ints:
        """The line of each row of the edge array."""
        return self._found[1]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Concepts in columns, edges as an (m, 2) array of (parent, child) positions.

    Positions are the working currency; ids appear at the border.
    """

    ids: Sequence[str]
    names: Sequence[str]
    descriptions: Sequence[str]
    edge_array: Ints
    synonyms: Lists = ()
    images: Lists = ()
    extras: Lists = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    reading: tuple[Problem, ...] = ()
    source: Source | None = None
    reading_notes: tuple[str, ...] = ()  # how the reader understood the file; no part of any file or hash

    def __post_init__(self) -> None:
        for name in ("synonyms", "images", "extras"):
            if not len(getattr(self, name)):  # an absent column costs one shared empty tuple per concept
                object.__setattr__(self, name, ((),) * len(self.ids))
        lengths = {len(self.ids), len(self.names), len(self.descriptions)}
        if lengths | {len(self.synonyms), len(self.images), len(self.extras)} != {len(self.ids)}:
            raise ValueError("the columns of a taxonomy must have one entry per concept")
        edges = np.ascontiguousarray(self.edge_array, np.int32).reshape(-1, 2)
        edges.flags.writeable = False
        object.__setattr__(self, "edge_array", edges)
        object.__setattr__(self, "meta", MappingProxyType(dict(self.meta)))

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: the columns travel, what can be computed again does not."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return type(self), tuple((values | {"meta": dict(self.meta)}).values())

    # -- concepts -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, id: object) -> bool:
        return id in self._positions

    def __repr__(self) -> str:
        return f"Taxonomy({len(self):,} concepts, {len(self.edge_array):,} edges)"

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {id: position for position, id in enumerate(self.ids)}

    def position(self, id: str) -> int:
        """Where the concept with this ``id`` stands in the columns; `InputError` where there is none.

        Parameters
        ----------
        id : str

        Returns
        -------
        int
            From 0.

        Raises
        ------
        InputError
            No concept has this id.
        """
        try:
            return self._positions[id]
        except KeyError:
            raise InputError(f"no concept has the id '{id}'") from None

    def concept(self, position: int) -> Concept:
        """The concept at a ``position`` of the columns.

        Parameters
        ----------
        position : int

        Returns
        -------
        Concept
            With all its columns.
        """
        return Concept(
            self.ids[position],
            self.names[position],
            self.descriptions[position],
            self.synonyms[position],
            self.images[position],
            self.extras[position],
        )

    def concepts(self) -> Iterator[Concept]:
        """All concepts, in the order of the columns.

        Returns
        -------
        iterator of Concept
            One per row.
        """
        return map(self.concept, range(len(self)))

    # -- edges --------------------------------------------------------------------------------------------------------

    @cached_property
    def parent_csr(self) -> Csr:
        """Parents of every concept, by position."""
        return structure.compress(len(self), self.edge_array[:, 1], self.edge_array[:, 0])

    @cached_property
    def child_csr(self) -> Csr:
        """Children of every concept, by position."""
        return structure.compress(len(self), self.edge_array[:, 0], self.edge_array[:, 1])

    def parents(self, id: str) -> Strings:
        """Ids of the parents of the concept with this ``id``.

        Parameters
        ----------
        id : str

        Returns
        -------
        tuple of str
            Ids.
        """
        return tuple(self.ids[i] for i in self.parent_csr.row(self.position(id)))

    def children(self, id: str) -> Strings:
        """Ids of the children of the concept with this ``id``.

        Parameters
        ----------
        id : str

        Returns
        -------
        tuple of str
            Ids.
        """
        return tuple(self.ids[i] for i in self.child_csr.row(self.position(id)))

    def edges(self) -> Iterator[tuple[str, str]]:
        """All edges as (parent id, child id) pairs.

        Returns
        -------
        iterator of (str, str)
            In the order of `edge_array`.
        """
        return ((self.ids[parent], self.ids[child]) for parent, child in self.edge_array.tolist())

    @cached_property
    def roots(self) -> Longs:
        """Positions of concepts without a parent."""
        return np.flatnonzero(self.parent_csr.counts == 0)

    @cached_property
    def leaves(self) -> Longs:
        """Positions of concepts without children."""
        return np.flatnonzero(self.child_csr.counts == 0)

    @cached_property
    def hideable(self) -> NDArray[np.bool_]:
        """Which concepts are leaves with a parent: hidden, they can be asked for."""
        return np.asarray((self.child_csr.counts == 0) & (self.parent_csr.counts > 0))

    @cached_property
    def isolated(self) -> Longs:
        """Concepts that are root and leaf at once."""
        return np.flatnonzero((self.parent_csr.counts == 0) & (self.child_csr.counts == 0))

    @cached_property
    def cycles(self) -> list[cycles.Cycle]:
        return cycles.find(self.edge_array, self.parent_csr, self.child_csr)

    # -- structure ----------------------------------------------------------------------------------------------------

    @cached_property
    def levels(self) -> Ints:
        """Depth of every concept: fewest steps from a root, roots 0. With several roots the virtual root is -1."""
        return structure.depths(self.parent_csr, self.child_csr)

    @cached_property
    def order(self) -> list[Longs]:
        """Concepts by longest distance from a root, slice by slice: parents always come before children."""
        slices = structure.levels(self.parent_csr, self.child_csr)
        if sum(map(len, slices)) < len(self):
            self.refuse_cycles()
        return slices

    def refuse_cycles(self) -> None:
        """Raise when the hierarchy runs in a circle, saying where."""
        if not self.cycles:
            return
        from taxosphere.taxonomy import checks

        first, more = self.cycles[0], len(self.cycles) - 1
        path, line = (self.source.edge_path, int(self.source.edge_lines[first.edge])) if self.source else (None, 0)
        shown = checks.show_path(self, first.path) + (f" (and {more:,} more)" if more else "")
        raise CycleError(f"the hierarchy runs in a circle: {shown}; --repair breaks it", path, line or None)

    @cached_property
    def longest(self) -> Ints:
        """Depth along the longest way from a root."""
        return structure.longest_depths(len(self), self.order)

    @cached_property
    def _reach(self) -> tuple[Longs, Longs]:
        return structure.reach_counts(self.parent_csr, self.order)

    @property
    def descendants(self) -> Longs:
        """Number of distinct concepts below each concept, exact with several parents too."""
        return self._reach[0]

    @property
    def ancestors(self) -> Longs:
        """Number of distinct concepts above each concept."""
        return self._reach[1]

    @cached_property
    def ancestor_csr(self) -> Csr:
        """All ancestors of every concept, ascending."""
        return structure.ancestor_rows(self.parent_csr, level=self.longest)

    def depth(self, id: str) -> int:
        """Fewest edges from a root to the concept with this ``id``; a root has 0.

        Parameters
        ----------
        id : str

        Returns
        -------
        int
            Number of edges.

        Raises
        ------
        CycleError
            It hangs from a cycle that no root leads to.
        """
        return self._depth(self.position(id))

    def path(self, id: str) -> Strings:
        """Ids along one shortest way from a root down to the concept with this ``id``.

        Parameters
        ----------
        id : str

        Returns
        -------
        tuple of str
            From the root to the concept itself.
        """
        return tuple(self.ids[i] for i in self.path_positions(self.position(id)))

    def path_positions(self, position: int) -> tuple[int, ...]:
        """Positions along one shortest way from a root down to the concept at ``position``.

        Parameters
        ----------
        position : int

        Returns
        -------
        tuple of int
            From the root to the concept itself.
        """
        way = [position]
        for _ in range(self._depth(position)):
            way.append(int(self._nearest_root[way[-1]]))
        return tuple(reversed(way))

    @cached_property
    def _nearest_root(self) -> Longs:
        """(n,) the first of each concept's parents that is one step nearer to a root; -1 for a root."""
        child, parent = self.parent_csr.expand(np.arange(len(self)))
        nearer = np.flatnonzero(self.levels[parent] == self.levels[child] - 1)[::-1]  # of several the last one assigned
        first = np.full(len(self), -1)
        first[child[nearer]] = parent[nearer]
        return first

    def _depth(self, position: int) -> int:
        depth = int(self.levels[position])
        if depth < 0:
            raise CycleError(f"'{self.ids[position]}' hangs from a cycle that no root leads to, so it has no depth")
        return depth

    def where(self, position: int) -> str:
        """``FILE:LINE`` of the concept at ``position`` as far as it is known, else its id.

        Parameters
        ----------
        position : int

        Returns
        -------
        str
            For messages.
        """
        if self.source is None:
            return self.ids[position]
        return _place(self.source.path, self.source.lines[position])

    def edge_where(self, row: int) -> str:
        """``FILE:LINE`` of a row of the edge array as far as it is known, else the ids of its two ends.

        Parameters
        ----------
        row : int
            Of `edge_array`.

        Returns
        -------
        str
            For messages.
        """
        if self.source is None:
            return " → ".join(self.ids[i] for i in self.edge_array[row])
        return _place(self.source.edge_path, self.source.edge_lines[row])


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path
