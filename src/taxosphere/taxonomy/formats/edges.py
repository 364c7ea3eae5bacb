"""Edge lists of names, tab- or comma-separated: one parent and one child per row.

The plain form has two columns. A row with an empty parent is a concept without one. What two columns of names cannot
say (ids, definitions, synonyms …) the writer puts into further columns that belong to the child, on the row where it
first appears.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import cells
from taxosphere.taxonomy.formats.draft import Draft
from taxosphere.taxonomy.formats.streams import open_to_write
from taxosphere.taxonomy.formats.tables import Row, format_row, read_rows, refuse_twice, separator
from taxosphere.taxonomy.graph import Taxonomy

ORDERS = (("parent", "child"), ("child", "parent"))


def read(path: Path, columns: tuple[str, str] | None = None) -> Draft:
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError("holds no edges", path=path)
    draft = Draft(path=path, format="csv" if separator(path) == "," else "tsv")
    header = _header(path, first, columns)
    collector = _Collector(draft, header or _without_header(draft, first, columns))
    if header is None:
        collector.row(first)
    for row in rows:
        collector.row(row)
    return draft


def _header(path: Path, first: Row, stated: tuple[str, str] | None) -> list[str] | None:
    """Column names, the parent's and child's as `parent` and `child`; None where the first row is an edge."""
    number, names = first
    names = [cells.column_name(name) for name in names]
    parent = next((names.index(name) for name in cells.PARENT if name in names), None)
    child = next((names.index(name) for name in cells.CHILD if name in names), None)
    if parent is None or child is None:
        return None
    refuse_twice(path, names, number)
    if stated and (parent < child) != (tuple(stated) == ORDERS[0]):
        message = f"the header and --columns {','.join(stated)} contradict each other; leave --columns out"
        raise InputError(message, path=path, line=number)
    names[parent], names[child] = "parent", "child"
    return names


def _without_header(draft: Draft, first: Row, stated: tuple[str, str] | None) -> list[str]:
    number, row = first
    if len(row) < 2:
        raise InputError("one column; an edge list needs a parent and a child", path=draft.path, line=number)
    if {"id", "name"} <= {cells.column_name(cell) for cell in row}:
        raise InputError("is a table of concepts; give the folder it lies in", path=draft.path, line=number)
    if len(row) > 2 and stated is None:
        message = f"{len(row)} columns and no header with 'parent' and 'child'; write one, or state --columns"
        raise InputError(message, path=draft.path, line=number)
    if len(row) > 2:
        draft.left_out(f"only the first two of {len(row)} columns are read")
    return [*(stated or ORDERS[0]), *("" for _ in row[2:])]


class _Collector:
    """Concepts in the order of their first mention; later rows may add what earlier ones left open."""

    def __init__(self, draft: Draft, header: list[str]) -> None:
        self.draft = draft
        self.width = len(header)
        self.at = {name: column for column, name in enumerate(header) if name}
        self.exact = "child_id" in self.at  # written by us: spaces around a name belong to it
        self.details = [name for name in self.at if name not in ("parent", "child", "parent_id", "child_id")]
        self.seen: dict[str, int] = {}

    def row(self, row: Row) -> None:
        number, texts = row
        if not (2 <= len(texts) <= self.width):
            message = f"{len(texts)} column{'s' * (len(texts) != 1)} where {self.width} were expected"
            raise InputError(message, path=self.draft.path, line=number)
        texts = texts + [""] * (self.width - len(texts))
        parent, parent_id = self._end(texts, "parent")
        child, child_id = self._end(texts, "child")
        if not child_id:
            raise InputError("the child is empty", path=self.draft.path, line=number)
        if parent_id:
            self._place(parent_id, parent, number)
            self.draft.edge(parent_id, child_id, number)
        position = self._place(child_id, child, number)
        if self.details:
            self._add_details(position, texts)

    def _end(self, texts: list[str], end: str) -> tuple[str, str]:
        name = texts[self.at[end]]
        if not self.exact:
            name = name.strip()
        column = self.at.get(f"{end}_id")
        return name, (texts[column] if column is not None else name)

    def _place(self, id: str, name: str, line: int) -> int:
        position = self.seen.setdefault(id, len(self.draft.ids))
        if position == len(self.draft.ids):
            self.draft.concept(id, name, line=line)
        elif name and name != self.draft.names[position]:
            first = self.draft.names[position]
            text = f"the id '{id[:60]}' is '{name[:60]}' here and '{first[:60]}' in line {self.draft.lines[position]}"
            self.draft.faults.append(("contradictory columns", line, text))
        return position

    def _add_details(self, position: int, texts: list[str]) -> None:
        draft, extras = self.draft, []
        for column in self.details:
            text = texts[self.at[column]]
            if not text:
                continue
            name, values = cells.read_column(column, text)
            if name == "description":
                draft.descriptions[position] = values[0]
            elif name == "synonyms":
                draft.synonyms[position] = tuple(values)
            elif name == "image":
                draft.images[position] = tuple(values)
            else:
                extras += [(cells.extra_key(name), value) for value in values]
        if extras:
            draft.extras[position] = tuple(extras)


def write(taxonomy: Taxonomy, path: Path) -> None:
    plain = taxonomy.ids == taxonomy.names and all(id == id.strip() for id in taxonomy.ids)
    details = cells.detail_columns(taxonomy)
    ids = [] if plain else ["parent_id", "child_id"]
    with open_to_write(path) as handle:
        rows = chain([["parent", "child", *ids, *details]], _rows(taxonomy, plain, details))
        handle.writelines(format_row(row, separator(path)) for row in rows)


def _rows(taxonomy: Taxonomy, plain: bool, details: list[str]) -> Iterator[Iterable[str]]:
    """Roots that need a row of their own, then the edges in their order."""
    ids, names = taxonomy.ids, taxonomy.names
    described: set[int] = set()

    def row(parent: int | None, child: int) -> list[str]:
        ends = ["" if parent is None else names[parent], names[child]]
        if not plain:
            ends += ["" if parent is None else ids[parent], ids[child]]
        if not details:
            return ends
        told = child in described
        described.add(child)
        return ends + ([""] * len(details) if told else cells.write_columns(taxonomy.concept(child), details))

    children = taxonomy.child_csr.counts
    for root in taxonomy.roots.tolist():
        if details or children[root] == 0:
            yield row(None, root)
    for parent, child in taxonomy.edge_array.tolist():
        yield row(parent, child)
