"""What a hierarchy is: an immutable, columnar graph of concepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.taxonomy import cycles, structure
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.structure import Csr, Ints, Longs

if TYPE_CHECKING:
    import networkx
    import pandas

    from taxosphere.taxonomy.checks import Problem

__all__ = ["Concept", "CycleError", "Source", "Taxonomy", "distinct_edges"]


class CycleError(InputError):
    """The hierarchy runs in a circle, so depth below it and numbers of descendants have no meaning."""


Id = str | int
Strings = tuple[str, ...]
Lists = tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, eq=False)
class Source:
    """Where concepts and edges stood in the file they were read from; line 0 where a format has no lines."""

    path: str
    lines: Ints  # one per concept
    edge_path: str
    edge_lines: Ints  # one per row of the edge array


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Concepts in columns, edges as an (m, 2) array of (parent, child) positions.

    Positions are the working currency; ids appear at the border. A taxonomy never changes: `add`, `keep` and
    `with_edges` return new ones that share the old strings and arrays.
    """

    ids: Strings
    names: Strings
    descriptions: Strings
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
            if not getattr(self, name):  # an absent column costs one shared empty tuple per concept
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
        return Taxonomy, tuple((values | {"meta": dict(self.meta)}).values())

    # -- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_concepts(
        cls, concepts: Iterable[Concept], edges: Iterable[tuple[str, str]], meta: Mapping[str, Any] | None = None
    ) -> Taxonomy:
        """Build from ``concepts`` and ``edges``, (parent id, child id) pairs; ``meta`` is what a file said beside them.

        Raises `InputError` for an edge of unknown ids, a repeated id or a concept that is its own parent.
        """
        rows = list(concepts)
        empty = cls((), (), (), np.zeros((0, 2), np.int32), meta=meta or {})
        return empty.add(rows, edges)

    @classmethod
    def from_edges(
        cls,
        pairs: Iterable[tuple[Id, Id]],
        names: Mapping[Any, str | None] | None = None,
        descriptions: Mapping[Any, str | None] | None = None,
    ) -> Taxonomy:
        """Build from edges, for example ``[("animal", "bird"), ("animal", "dog")]``.

        Parameters
        ----------
        pairs : iterable of (parent, child)
            Ids as texts or whole numbers.
        names, descriptions : mapping of id to text, optional
            Texts of concepts, also of some without an edge; a concept without a name is called by its id.
        """
        edges = [(_id(parent), _id(child)) for parent, child in pairs]
        called = {_id(id): str(id) if name is None else name for id, name in (names or {}).items()}
        described = {_id(id): text for id, text in (descriptions or {}).items()}
        ids = dict.fromkeys((*chain.from_iterable(edges), *called, *described))
        return cls.from_concepts((Concept(i, called.get(i, i), described.get(i) or "") for i in ids), edges)

    @classmethod
    def read(
        cls, path: str | PathLike[str], *, columns: tuple[str, str] | None = None, strict: bool = True, **options: Any
    ) -> Taxonomy:
        """Read any supported file or folder.

        Parameters
        ----------
        path : path-like
            The file or folder; suffix and content say which format it has.
        columns : (str, str), optional
            Order of an edge list without a header, ``("parent", "child")`` where it is not stated.
        strict : bool
            Raise at the first fault; otherwise collect faults in `reading`.
        **options
            The other fields of `taxosphere.taxonomy.formats.io.options.ReadOptions`: ``mapping``, ``nested``,
            ``sheet``, ``encoding``, ``merge``, ``language``, ``relations``, ``equivalents``, ``dangling``.

        Raises
        ------
        InputError
            Where the format is not recognised, an option is stated that it does not use, or the content is at fault.
        """
        from taxosphere.taxonomy.formats import registry

        return registry.read(path, registry.ReadOptions(columns=columns, strict=strict, **options))

    def write(self, path: str | PathLike[str], **options: Any) -> None:
        """Write in the format that the suffix of ``path`` names (no suffix: the native folder).

        Parameters
        ----------
        path : path-like
            The file or folder; it appears whole or not at all.
        **options
            Fields of `taxosphere.taxonomy.formats.io.options.WriteOptions`, such as ``placement="siblings"``.
        """
        from taxosphere.taxonomy.formats import registry

        registry.write(self, path, registry.WriteOptions(**options))

    @classmethod
    def from_networkx(cls, graph: networkx.DiGraph[Any]) -> Taxonomy:
        """Build from a ``graph`` with edges from parent to child; node attributes become names and descriptions."""
        from taxosphere.taxonomy.formats import frames

        return frames.from_networkx(graph)

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """A networkx graph with edges from parent to child and the concepts' texts as node attributes."""
        from taxosphere.taxonomy.formats import frames

        return frames.to_networkx(self)

    @classmethod
    def from_pandas(cls, nodes: pandas.DataFrame | None, edges: pandas.DataFrame) -> Taxonomy:
        """Build from a table ``edges`` (parent, child) and a table ``nodes`` (id, name, description, …), or None."""
        from taxosphere.taxonomy.formats import frames

        return frames.from_pandas(nodes, edges)

    def to_pandas(self) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Two tables: concepts (id, name, description, …) and edges (parent, child)."""
        from taxosphere.taxonomy.formats import frames

        return frames.to_pandas(self)

    # -- concepts -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.ids)

    def __contains__(self, id: object) -> bool:
        return id in self._positions

    def __repr__(self) -> str:
        return f"Taxonomy({len(self):,} concepts, {len(self.edge_array):,} edges)"

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {id: position for position, id in enumerate(self.ids)}

    def position(self, id: str) -> int:
        """Where the concept with this ``id`` stands in the columns; `InputError` where there is none."""
        try:
            return self._positions[id]
        except KeyError:
            raise InputError(f"no concept has the id '{id}'") from None

    def concept(self, position: int) -> Concept:
        """The concept at a ``position`` of the columns."""
        return Concept(
            self.ids[position],
            self.names[position],
            self.descriptions[position],
            self.synonyms[position],
            self.images[position],
            self.extras[position],
        )

    def concepts(self) -> Iterator[Concept]:
        """All concepts, in the order of the columns."""
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
        """Ids of the parents of the concept with this ``id``."""
        return tuple(self.ids[i] for i in self.parent_csr.row(self.position(id)))

    def children(self, id: str) -> Strings:
        """Ids of the children of the concept with this ``id``."""
        return tuple(self.ids[i] for i in self.child_csr.row(self.position(id)))

    def edges(self) -> Iterator[tuple[str, str]]:
        """All edges as (parent id, child id) pairs."""
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
        """Fewest edges from a root to the concept with this ``id``; a root has 0."""
        return self._depth(self.position(id))

    def path(self, id: str) -> Strings:
        """Ids along one shortest way from a root down to the concept with this ``id``."""
        return tuple(self.ids[i] for i in self.path_positions(self.position(id)))

    def path_positions(self, position: int) -> tuple[int, ...]:
        """Positions along one shortest way from a root down to the concept at ``position``."""
        way = [position]
        for depth in reversed(range(self._depth(position))):
            above = self.parent_csr.row(way[-1])
            way.append(int(above[self.levels[above] == depth][0]))
        return tuple(reversed(way))

    def _depth(self, position: int) -> int:
        depth = int(self.levels[position])
        if depth < 0:
            raise CycleError(f"'{self.ids[position]}' hangs from a cycle that no root leads to, so it has no depth")
        return depth

    def problems(self) -> list[Problem]:
        """Everything a curator should look at, what the reader met first."""
        from taxosphere.taxonomy import checks

        return [*self.reading, *checks.problems(self)]

    def where(self, position: int) -> str:
        """``FILE:LINE`` of the concept at ``position`` as far as it is known, else its id."""
        if self.source is None:
            return self.ids[position]
        return _place(self.source.path, self.source.lines[position])

    def edge_where(self, row: int) -> str:
        """``FILE:LINE`` of a row of the edge array as far as it is known, else the ids of its two ends."""
        if self.source is None:
            return " → ".join(self.ids[i] for i in self.edge_array[row])
        return _place(self.source.edge_path, self.source.edge_lines[row])

    # -- changed copies -----------------------------------------------------------------------------------------------

    def add(self, concepts: Iterable[Concept], edges: Iterable[tuple[str, str]]) -> Taxonomy:
        """A taxonomy with more concepts and (parent id, child id) edges; an edge that exists already is not doubled."""
        new = list(concepts)
        position = dict(self._positions)
        for concept in new:
            if concept.id in position:
                raise InputError(f"two concepts share the id '{concept.id}'")
            position[concept.id] = len(position)
        try:
            pairs = [(position[parent], position[child]) for parent, child in edges]
        except KeyError as error:
            raise InputError(f"an edge names the concept {error}, which does not exist") from None
        loop = next((parent for parent, child in pairs if parent == child), None)
        ids = self.ids + tuple(c.id for c in new)
        if loop is not None:
            raise InputError(f"the concept '{ids[loop]}' cannot be its own parent")
        edge_array = np.concatenate([self.edge_array, np.array(pairs, np.int32).reshape(-1, 2)])
        return Taxonomy(
            ids,
            self.names + tuple(c.name for c in new),
            self.descriptions + tuple(c.description for c in new),
            distinct_edges(edge_array, len(ids)),
            self.synonyms + tuple(c.synonyms for c in new),
            self.images + tuple(c.images for c in new),
            self.extras + tuple(c.extras for c in new),
            self.meta,
        )

    def keep(self, concepts: NDArray[np.integer] | NDArray[np.bool_]) -> Taxonomy:
        """Only these concepts (a mask or positions, original order kept) and the edges among them."""
        mask = np.zeros(len(self), bool)
        mask[concepts] = True
        kept = np.flatnonzero(mask).tolist()
        place = np.cumsum(mask) - 1
        inside = mask[self.edge_array].all(1)

        def column(values: Sequence[Any]) -> tuple[Any, ...]:
            return tuple(values[i] for i in kept)

        return Taxonomy(
            column(self.ids),
            column(self.names),
            column(self.descriptions),
            place[self.edge_array[inside]].astype(np.int32),
            column(self.synonyms),
            column(self.images),
            column(self.extras),
            self.meta,
        )

    def with_edges(self, edge_array: NDArray[np.integer]) -> Taxonomy:
        """The same concepts under other edges: ``edge_array`` (m, 2) of (parent, child) positions."""
        edges = distinct_edges(np.asarray(edge_array, np.int32).reshape(-1, 2), len(self))
        nowhere = np.zeros(len(edges), np.int32)
        source = None if self.source is None else replace(self.source, edge_lines=nowhere)
        return replace(self, edge_array=edges, reading=(), source=source)


def _id(value: Id) -> str:
    if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
        raise InputError(f"an id is a text or a whole number, not {value!r}")
    return str(value)


def _place(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path


def distinct_edges(edge_array: Ints, size: int) -> Ints:
    """Drop repeated edges, keeping the first of each and their order."""
    keys = edge_array[:, 0].astype(np.int64) * size + edge_array[:, 1]
    order = np.argsort(keys, kind="stable")
    repeated = np.zeros(len(keys), bool)
    repeated[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return edge_array[~repeated]
