"""Edge lists of names, tab- or comma-separated: one parent and one child per row.

The plain form has two columns. A row with an empty parent is a concept without one. What two columns of names cannot
say (ids, definitions, synonyms …) stands in further columns that belong to the child; the writer fills them on the row
where it first appears. A list is written back in the form it had: delimiter, titles or none, order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import table_layouts
from taxosphere.taxonomy.formats.io import cells, delimiter, table_source, table_writer
from taxosphere.taxonomy.formats.io import titles as column_titles
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.encodings import SourceText
from taxosphere.taxonomy.formats.io.grid import Grid, is_workbook, kept_delimiter, parse_grid
from taxosphere.taxonomy.formats.io.options import ORDERS, ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.table_reading import Reading
from taxosphere.taxonomy.formats.io.tables import Row, check_distinct, delimiter_to_write, format_row, separator
from taxosphere.taxonomy.formats.table_layouts import open_table
from taxosphere.taxonomy.graph import Taxonomy

ENDS = ("parent", "child")
MEANT = frozenset(ENDS)
META = "edges"  # where a taxonomy keeps the columns it came with


def read(path: Path, options: ReadOptions) -> Draft:
    return read_table(*open_table(path, options), options)


def read_table(grid: Grid, reading: Reading, options: ReadOptions) -> Draft:
    """Read a table that is understood as a list of edges."""
    path = grid.path
    draft = Draft(path=path, format="workbook" if is_workbook(path) else "csv" if separator(path) == "," else "tsv")
    top = max(reading.header, 0)
    first = grid.lines[top], grid.rows[top]
    stated = {role: i for role, i in reading.roles.items() if role in ENDS} if options.mapping else {}
    header = [title.strip() for title in first[1]] if stated and reading.header >= 0 else _header(draft, first, options)
    titles = header or _without_header(draft, first, options.columns)
    roles = _roles(titles) | stated
    draft.meta[META] = {"columns": _trimmed(titles, roles), "header": header is not None, "roles": roles}
    draft.meta[META] |= kept_delimiter(grid)
    collector = _Collector(draft, titles, roles)
    start = top + (header is not None)
    for line, cells_ in zip(grid.lines[start:], grid.rows[start:], strict=True):
        collector.row((line, cells_))
    draft.notes.append(_understood(titles, roles, header is not None))
    draft.notes += reading.notes
    table_source.keep(draft, grid, options)
    return draft


def _understood(titles: Sequence[str], roles: dict[str, int], titled: bool) -> str:
    parent, child = (f"'{titles[roles[end]]}'" if titled else f"{roles[end] + 1}" for end in ENDS)
    return f"an edge list: parents in column {parent}, children in column {child}"


def _trimmed(titles: Sequence[str], roles: dict[str, int]) -> list[str]:
    """Without columns at the end that have neither title nor role."""
    end = max((i + 1 for i, title in enumerate(titles) if title or i in roles.values()), default=0)
    return list(titles[:end])


def _roles(titles: Sequence[str]) -> dict[str, int]:
    """Where the ends of an edge stand, and their ids where those have columns of their own."""
    roles = {}
    for end in ENDS:
        meant = [(i, item) for i, title in enumerate(titles) if (item := column_titles.meaning(title)) is not None]
        meant = sorted(((i, item) for i, item in meant if item.role == end), key=lambda entry: entry[1].rank)
        names, ids = ([i for i, item in meant if item.by_id == by_id] for by_id in (False, True))
        if names or ids:
            roles[end] = (names or ids)[0]
        if names and ids:
            roles[f"{end}_id"] = ids[0]
    return roles


def _header(draft: Draft, first: Row, options: ReadOptions) -> list[str] | None:
    """The titles of the columns; None where the first row is an edge."""
    number, row = first
    stated = options.columns
    titles = [title.strip() for title in row]
    roles = _roles(titles)
    titled = [end for end in ENDS if end in roles]
    if len(titled) == 1 and stated is None:
        other = "child" if titled == ["parent"] else "parent"
        message = f"'{titles[roles[titled[0]]]}' looks like a title, but no column is called '{other}'"
        hint = "title the columns 'parent' and 'child', name them with --map, or state --columns if there is no header"
        raise InputError(f"{message}; {hint}", path=draft.path, line=number)
    if len(titled) < 2:
        return None
    check_distinct(draft.path, [cells.column_name(title) for title in titles if title], number)
    if stated and (roles["parent"] < roles["child"]) != (tuple(stated) == ORDERS[0]):
        message = f"the header and --columns {','.join(stated)} contradict each other; leave --columns out"
        raise InputError(message, path=draft.path, line=number)
    if "" in titles:
        draft.left_out("columns without a title are not read", number)
    return titles


def _without_header(draft: Draft, first: Row, stated: tuple[str, str] | None) -> list[str]:
    number, row = first
    if len(row) < 2:
        message = "one column without indentation or paths; an edge list needs a parent and a child"
        raise InputError(f"{message}; --nested reads codes that nest", path=draft.path, line=number)
    if {"id", "name"} <= {cells.column_name(cell) for cell in row}:
        message = "is a table of concepts without a column of parents; give the folder it lies in"
        hint = "or name the column with --map parent=TITLE, or read codes that nest with --nested"
        raise InputError(f"{message}, {hint}", path=draft.path, line=number)
    if {"sourceId", "destinationId"} <= set(row):
        message = "is a file of SNOMED CT, whose concepts and names are in others"
        raise InputError(f"{message}; give the folder of the release", path=draft.path, line=number)
    if len(row) > 2 and stated is None:
        shown = ", ".join(f"'{cell.strip()[:30]}'" for cell in row[:8])
        message = f"{len(row)} columns ({shown}) and no header with 'parent' and 'child'"
        ways = "write one, state --columns, name columns with --map parent=TITLE or depth=TITLE, or read codes with"
        ways += " --nested"
        raise InputError(f"{message}; {ways}", path=draft.path, line=number)
    if len(row) > 2:
        draft.left_out(f"only the first two of {len(row)} columns are read")
    return [*(stated or ORDERS[0]), *("" for _ in row[2:])]


class _Collector:
    """Concepts in the order of their first mention; later rows may add what earlier ones left open."""

    def __init__(self, draft: Draft, titles: list[str], roles: dict[str, int]) -> None:
        self.draft = draft
        self.width = len(titles)
        self.at = roles
        self.exact = "child_id" in self.at  # written by us: spaces around a name belong to it
        self.details = cells.detail_names(titles, set(roles.values()))
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
            self.draft.add(position, *cells.read_details(self.details, texts))

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


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    table_writer.write(taxonomy, path, options, Layout(taxonomy, path))


def unstated_order(taxonomy: Taxonomy, path: Path) -> bool:
    """Whether the file will have the child before the parent and no header that says so."""
    return not Layout(taxonomy, path).titles and tuple(taxonomy.meta[META]["columns"]) == ORDERS[1]


class Layout(table_writer.Layout):
    """The rows of an edge list: roots that need a row of their own, then the edges in their order.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written, in the columns that it came with.
    path : Path, optional
        Where it is to go; a list that had no titles needs some where it would be mistaken without.
    """

    meta = META
    by_edge = True

    def __init__(self, taxonomy: Taxonomy, path: Path | None = None) -> None:
        self.taxonomy = taxonomy
        kept: Any = taxonomy.meta.get(META, {})
        self.titles = [str(title) for title in kept.get("columns", ORDERS[0])]
        self.roles = {role: int(i) for role, i in kept.get("roles", {}).items()} or _roles(self.titles)
        if "child_id" not in self.roles and not self._is_by_id("child") and table_writer.goes_by_names(taxonomy):
            self.taxonomy = taxonomy = replace(taxonomy, ids=taxonomy.names)
        if taxonomy.ids != taxonomy.names or any(id != id.strip() for id in taxonomy.ids):
            self._add_ids()
        self.details = cells.detail_columns(taxonomy)
        self.places = cells.place_details(self.titles, set(self.roles.values()), self.details, MEANT)
        self.width = len(self.titles)
        bare = not kept.get("header", True) and len(self.titles) == len(ENDS)
        if bare and (path is None or self._is_clear_without_titles(path, delimiter_to_write(path, kept))):
            self.titles = []

    def _is_by_id(self, end: str) -> bool:
        meaning = column_titles.meaning(self.titles[self.roles[end]])
        return meaning is not None and meaning.by_id

    def _add_ids(self) -> None:
        """Columns for names and ids apart."""
        for end in ENDS:
            id = f"{end}_id"
            if id not in self.roles:
                if self._is_by_id(end):
                    self.roles[id], self.roles[end] = self.roles[end], len(self.titles)
                    self.titles.append(end)
                else:
                    self.roles[id] = len(self.titles)
                    self.titles.append(id)

    def _is_clear_without_titles(self, path: Path, between: str) -> bool:
        """Whether a list that begins with these rows is understood without a header."""
        head = [self.row(edge) for edge in islice(self.edges(), delimiter.HEAD)]
        if not head or any(column_titles.meaning(cell) is not None for cell in head[0]):
            return False
        text = "".join(format_row(row, between) for row in head)
        if not is_workbook(path):
            try:
                grid = parse_grid(SourceText(text), path)
                if table_layouts.understand(grid, ReadOptions()).layout != table_layouts.EDGES:
                    return False
            except InputError:
                return False
        return separator(path) == "\t" or delimiter.of(list(islice(StringIO(text), delimiter.HEAD))) == between

    @classmethod
    def reread(cls, grid: Grid, options: ReadOptions) -> Draft:
        return read_table(grid, table_layouts.understand(grid, options), options)

    @cached_property
    def _describing(self) -> set[tuple[int, int]]:
        """The first row of each concept, which says what there is to say about it."""
        taxonomy = self.taxonomy
        roots = ((-1, root) for root in taxonomy.roots.tolist())
        first: dict[int, tuple[int, int]] = {}
        for parent, child in (*roots, *taxonomy.edge_array.tolist()):
            first.setdefault(child, (parent, child))
        return set(first.values())

    def edges(self) -> Iterator[tuple[int, int]]:
        children = self.taxonomy.child_csr.counts
        for root in self.taxonomy.roots.tolist():
            described = bool(self.details) and any(cells.write_columns(self.taxonomy.concept(root), self.details))
            if described or children[root] == 0:
                yield -1, root
        yield from ((parent, child) for parent, child in self.taxonomy.edge_array.tolist())

    def covered(self, edge: tuple[int, int]) -> Iterator[tuple[int, int]]:
        yield edge
        if edge[0] >= 0 and not self.details:
            yield -1, edge[0]

    def row(self, edge: tuple[int, int]) -> list[str]:
        texts = [""] * self.width
        for concept, end in zip(edge, ENDS, strict=True):
            if concept >= 0:
                texts[self.roles[end]] = self.taxonomy.names[concept]
                if f"{end}_id" in self.roles:
                    texts[self.roles[f"{end}_id"]] = self.taxonomy.ids[concept]
        if self.details and edge in self._describing:
            values = cells.write_columns(self.taxonomy.concept(edge[1]), self.details)
            for place, value in zip(self.places, values, strict=True):
                texts[place] = value
        return texts
