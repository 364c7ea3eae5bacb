"""A taxonomy: how one is made, read, written and changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.hierarchy import CycleError, Hierarchy, Source
from taxosphere.taxonomy.structure import Ints

if TYPE_CHECKING:
    import networkx
    import pandas

    from taxosphere.taxonomy.checks import Problem

__all__ = ["Concept", "CycleError", "Source", "Taxonomy", "distinct_edges"]

Id = str | int


class Taxonomy(Hierarchy):
    """Concepts and the edges between parents and children.

    A taxonomy never changes: `add`, `keep` and `with_edges` return new ones that share the old strings and arrays.
    Concepts are found by id at the border and by position inside (`Hierarchy`).

    Attributes
    ----------
    ids, names, descriptions : sequence of str
        One entry per concept.
    edge_array : array of shape (m, 2)
        (parent, child) positions.
    synonyms, images, extras : sequence of tuples
        One tuple per concept: other names; image files; what else the file said, as (key, value) pairs.
    meta : mapping
        What the file said beside its concepts.
    reading : tuple of Problem
        Faults that a reader collected.
    source : Source or None
        File and lines the concepts were read from.
    reading_notes : tuple of str
        How the reader understood the file; no part of any file or hash.
    """

    # -- making one ---------------------------------------------------------------------------------------------------

    @classmethod
    def from_concepts(
        cls, concepts: Iterable[Concept], edges: Iterable[tuple[str, str]], meta: Mapping[str, Any] | None = None
    ) -> Taxonomy:
        """Build from ``concepts`` and ``edges``, (parent id, child id) pairs; ``meta`` is what a file said beside them.

        Raises `InputError` for an edge of unknown ids, a repeated id or a concept that is its own parent.

        Parameters
        ----------
        concepts : iterable of Concept
        edges : iterable of (str, str)
            (parent id, child id) pairs.
        meta : mapping, optional
            What a file said beside its concepts.

        Returns
        -------
        Taxonomy
            With the concepts in their order.

        Raises
        ------
        InputError
            An edge names an unknown id, an id is repeated, or a concept is its own parent.
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
        names : mapping of id to str, optional
            Also of concepts without an edge; one without a name is called by its id.
        descriptions : mapping of id to str, optional
            Also of concepts without an edge.

        Returns
        -------
        Taxonomy
            Concepts in the order in which they are first named.
        """
        edges = [_edge(pair) for pair in pairs]
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
            The other fields of `taxosphere.taxonomy.formats.io.options.ReadOptions`: ``format``, ``mapping``,
            ``nested``, ``sheet``, ``encoding``, ``merge``, ``language``, ``relations``, ``equivalents``, ``dangling``.

        Returns
        -------
        Taxonomy
            What the file holds.

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
        """Build from a ``graph`` with edges from parent to child; node attributes become names and descriptions.

        Parameters
        ----------
        graph : networkx.DiGraph
            Ids are its nodes.

        Returns
        -------
        Taxonomy
            With its nodes in their order.
        """
        from taxosphere.taxonomy.formats import frames

        return frames.from_networkx(graph)

    def to_networkx(self) -> networkx.DiGraph[Any]:
        """A networkx graph with edges from parent to child and the concepts' texts as node attributes.

        Returns
        -------
        networkx.DiGraph
            A node per concept, called by its id.
        """
        from taxosphere.taxonomy.formats import frames

        return frames.to_networkx(self)

    @classmethod
    def from_pandas(cls, nodes: pandas.DataFrame | None, edges: pandas.DataFrame) -> Taxonomy:
        """Build from a table ``edges`` (parent, child) and a table ``nodes`` (id, name, description, …), or None.

        Parameters
        ----------
        nodes : pandas.DataFrame or None
            Columns id, name, description, …; None: concepts are called by their ids.
        edges : pandas.DataFrame
            Columns parent and child.

        Returns
        -------
        Taxonomy
            What the tables hold.
        """
        from taxosphere.taxonomy.formats import frames

        return frames.from_pandas(nodes, edges)

    def to_pandas(self) -> tuple[pandas.DataFrame, pandas.DataFrame]:
        """Two tables: concepts (id, name, description, …) and edges (parent, child).

        Returns
        -------
        nodes : pandas.DataFrame
            A row per concept.
        edges : pandas.DataFrame
            A row per edge.
        """
        from taxosphere.taxonomy.formats import frames

        return frames.to_pandas(self)

    def problems(self) -> list[Problem]:
        """Everything a curator should look at, what the reader met first.

        Returns
        -------
        list of Problem
            With file and line as far as they are known.
        """
        from taxosphere.taxonomy import checks

        return [*self.reading, *checks.problems(self)]

    # -- changed copies -----------------------------------------------------------------------------------------------

    def add(self, concepts: Iterable[Concept], edges: Iterable[tuple[str, str]]) -> Taxonomy:
        """A taxonomy with more concepts and (parent id, child id) edges; an edge that exists already is not doubled.

        Parameters
        ----------
        concepts : iterable of Concept
            New ones, appended to the columns.
        edges : iterable of (str, str)
            (parent id, child id) pairs among old and new concepts.

        Returns
        -------
        Taxonomy
            A new one.

        Raises
        ------
        InputError
            An edge names an unknown id, an id is repeated, or a concept is its own parent.
        """
        new = list(concepts)
        position = {id: place for place, id in enumerate(self.ids)}
        for concept in new:
            if concept.id in position:
                raise InputError(f"two concepts share the id '{concept.id}'")
            position[concept.id] = len(position)
        try:
            pairs = [(position[parent], position[child]) for parent, child in edges]
        except KeyError as error:
            raise InputError(f"an edge names the concept {error}, which does not exist") from None
        loop = next((parent for parent, child in pairs if parent == child), None)
        ids = (*self.ids, *(c.id for c in new))
        if loop is not None:
            raise InputError(f"the concept '{ids[loop]}' cannot be its own parent")
        edge_array = np.concatenate([self.edge_array, np.array(pairs, np.int32).reshape(-1, 2)])
        return Taxonomy(
            ids,
            (*self.names, *(c.name for c in new)),
            (*self.descriptions, *(c.description for c in new)),
            distinct_edges(edge_array, len(ids)),
            (*self.synonyms, *(c.synonyms for c in new)),
            (*self.images, *(c.images for c in new)),
            (*self.extras, *(c.extras for c in new)),
            self.meta,
        )

    def keep(self, concepts: NDArray[np.integer] | NDArray[np.bool_]) -> Taxonomy:
        """Only these concepts (a mask or positions, original order kept) and the edges among them.

        Parameters
        ----------
        concepts : bool or integer array
            A mask (n,) or positions.

        Returns
        -------
        Taxonomy
            A new one.
        """
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
        """The same concepts under other edges: ``edge_array`` (m, 2) of (parent, child) positions.

        Parameters
        ----------
        edge_array : integer array of shape (m, 2)
            (parent, child) positions; repeated ones count once.

        Returns
        -------
        Taxonomy
            A new one.
        """
        edges = distinct_edges(np.asarray(edge_array, np.int32).reshape(-1, 2), len(self))
        source = None if self.source is None else self.source.with_edges(len(edges))
        return replace(self, edge_array=edges, reading=(), source=source)


def _edge(pair: tuple[Id, Id]) -> tuple[str, str]:
    ends = () if isinstance(pair, str) else pair  # two letters are no pair
    try:
        parent, child = ends
    except (TypeError, ValueError):
        raise InputError(f"an edge is a pair of ids, (parent, child), not {pair!r}") from None
    return _id(parent), _id(child)


def _id(value: Id) -> str:
    if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
        raise InputError(f"an id is a text or a whole number, not {value!r}")
    return str(value)


def distinct_edges(edge_array: Ints, size: int) -> Ints:
    """Drop repeated edges, keeping the first of each and their order."""
    keys = edge_array[:, 0].astype(np.int64) * size + edge_array[:, 1]
    order = np.argsort(keys, kind="stable")
    repeated = np.zeros(len(keys), bool)
    repeated[order[1:]] = keys[order[1:]] == keys[order[:-1]]
    return edge_array[~repeated]
