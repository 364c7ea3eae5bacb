"""Rows that are paths, as level tables and path lists have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from taxosphere.taxonomy.formats.io import table_source, table_writer
from taxosphere.taxonomy.formats.io.path_collector import JOINED
from taxosphere.taxonomy.graph import Taxonomy

__all__ = ["JOINED", "PathLayout"]


class PathLayout(table_writer.Layout):
    """A row per edge and per root, in the order of a walk from the roots down; a concept with several parents has as
    many rows.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written; a hierarchy that runs in a circle raises `CycleError`, for its paths have no end.
    """

    by_edge = True

    def __init__(self, taxonomy: Taxonomy) -> None:
        taxonomy.refuse_cycles()
        self.taxonomy = taxonomy

    @property
    def depth(self) -> int:
        """Number of steps of the longest path."""
        return 1 + int(self.taxonomy.longest.max(initial=0))

    def needs_ids(self) -> bool:
        """Whether ids are something else than the paths, and the source of the table has not gone without them."""
        if bool((self.taxonomy.parent_csr.counts > 1).any()) and not self._is_merged():
            return True
        if self.meta in self.taxonomy.meta and table_source.is_kept(self.taxonomy.meta):  # and without ids there
            return False
        return not all(self.is_path_id(self.way((-1, i))) for i in range(len(self.taxonomy)))

    def _is_merged(self) -> bool:
        return bool(table_source.kept_options(self.taxonomy.meta).merge)

    def is_path_id(self, way: Sequence[int]) -> bool:
        """Whether the id of a concept is made up of its path."""
        id = self.taxonomy.ids[way[-1]].rstrip(" ")
        return id == JOINED.join(self.taxonomy.names[i] for i in way)

    def edges(self) -> Iterator[table_writer.Edge]:
        below = self.taxonomy.child_csr
        waiting = [(-1, root) for root in reversed(self.taxonomy.roots.tolist())]
        walked: set[int] = set()
        while waiting:
            edge = waiting.pop()
            yield edge
            if edge[1] not in walked:
                walked.add(edge[1])
                waiting += ((edge[1], child) for child in reversed(below.row(edge[1]).tolist()))

    @cached_property
    def _first_parent(self) -> list[int]:
        above = self.taxonomy.parent_csr
        return [int(row[0]) if len(row := above.row(i)) else -1 for i in range(len(self.taxonomy))]

    def way(self, edge: table_writer.Edge) -> list[int]:
        """Positions from a root down to the child of an edge; above its parent, by the first parent of each."""
        parent, child = edge
        way = [child]
        position = parent if parent >= 0 else self._first_parent[child]
        while position >= 0:
            way.append(position)
            position = self._first_parent[position]
        way.reverse()
        return way

    def covered(self, edge: table_writer.Edge) -> Iterator[table_writer.Edge]:
        way = self.way(edge)
        return zip([-1, *way], way)
