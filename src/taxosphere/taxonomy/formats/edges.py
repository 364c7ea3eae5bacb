"""Edge lists of names, tab- or comma-separated: one parent and one child per row.

The plain form has two columns. A row with an empty parent is a concept without one. What two columns of names cannot
say (ids, definitions, synonyms …) stands in further columns that belong to the child; the writer fills them on the row
where it first appears. A list is written back in the form it had: delimiter, titles or none, order of the columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import chain, islice
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import cells, delimiter
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ORDERS, ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import open_to_write
from taxosphere.taxonomy.formats.io.tables import (
    Row,
    check_distinct,
    delimiter_to_write,
    format_row,
    kept_delimiter,
    read_rows,
    separator,
)
from taxosphere.taxonomy.graph import Taxonomy

ENDS = {"parent": cells.PARENT, "child": cells.CHILD}
MEANT = frozenset((*cells.PARENT, *cells.CHILD))
META = "edges"  # where a taxonomy keeps the columns it came with


def read(path: Path, options: ReadOptions) -> Draft:
    rows = read_rows(path)
    first = next(rows, None)
    if first is None:
        raise InputError("holds no edges", path=path)
    draft = Draft(path=path, format="csv" if separator(path) == "," else "tsv")
    header = _header(draft, first, options.columns)
    titles = header or _without_header(draft, first, options.columns)
    draft.meta[META] = {"columns": [title for title in titles if title], "header": header is not None}
    draft.meta[META] |= kept_delimiter(path)
    collector = _Collector(draft, titles)
    for row in rows if header else chain([first], rows):
        collector.row(row)
    return draft


def _roles(titles: Sequence[str]) -> dict[str, int]:
    """Where the ends of an edge stand, and their ids where those have columns of their own."""
    plain = [cells.plain(title) for title in titles]
    found = {}
    for end, names in ENDS.items():
        columns = [plain.index(name) for name in names if name in plain]
        if columns:
            found[end] = columns[0]
        if len(columns) > 1 and plain[columns[-1]] == f"{end}_id":
            found[f"{end}_id"] = columns[-1]
    return found


def _header(draft: Draft, first: Row, stated: tuple[str, str] | None) -> list[str] | None:
    """The titles of the columns; None where the first row is an edge."""
    number, row = first
    titles = [title.strip() for title in row]
    roles = _roles(titles)
    known = [end for end in ENDS if end in roles]
    if len(known) == 1 and stated is None:
        other = "child" if known == ["parent"] else "parent"
        message = f"'{titles[roles[known[0]]]}' looks like a title, but no column is called '{other}'"
        hint = "title the columns 'parent' and 'child', or state --columns if the list has no header"
        raise InputError(f"{message}; {hint}", path=draft.path, line=number)
    if len(known) < 2:
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

    def __init__(self, draft: Draft, titles: list[str]) -> None:
        self.draft = draft
        self.width = len(titles)
        self.at = _roles(titles)
        self.exact = "child_id" in self.at  # written by us: spaces around a name belong to it
        self.details = {
            i: cells.column_name(title) for i, title in enumerate(titles) if title and i not in self.at.values()
        }
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
    titles, rows = _table(taxonomy, path)
    between = delimiter_to_write(path, taxonomy.meta.get(META, {}))
    with open_to_write(path) as handle:
        handle.writelines(format_row(row, between) for row in chain([titles] if titles else [], rows))


def unstated_order(taxonomy: Taxonomy, path: Path) -> bool:
    """Whether the file will have the child before the parent and no header that says so."""
    return not _table(taxonomy, path)[0] and tuple(taxonomy.meta[META]["columns"]) == ORDERS[1]


def _table(taxonomy: Taxonomy, path: Path) -> tuple[list[str], Iterator[list[str]]]:
    """The titles, none where the list had none and is clear without them, and the rows."""
    kept = taxonomy.meta.get(META, {})
    titles = [str(title) for title in kept.get("columns", ORDERS[0])]
    if taxonomy.ids != taxonomy.names or any(id != id.strip() for id in taxonomy.ids):
        _add_ids(titles)
    roles = _roles(titles)
    details = cells.detail_columns(taxonomy)
    places = cells.place_details(titles, roles.values(), details, MEANT)
    rows = _rows(taxonomy, len(titles), roles, dict(zip(details, places, strict=True)))
    between = delimiter_to_write(path, kept)
    head = list(islice(rows, delimiter.HEAD))
    bare = not kept.get("header", True) and len(titles) == len(ENDS) and _clear_without_titles(path, head, between)
    return [] if bare else titles, chain(head, rows)


def _add_ids(titles: list[str]) -> None:
    """Columns for names and ids apart."""
    roles = _roles(titles)
    for end in ENDS:
        id = f"{end}_id"
        if id not in roles:
            titles.append(end if cells.plain(titles[roles[end]]) == id else id)


def _clear_without_titles(path: Path, head: Sequence[Sequence[str]], between: str) -> bool:
    """Whether a list that begins with these rows is understood without a header."""
    if not head or any(cells.plain(cell) in cells.TITLES for cell in head[0]):
        return False
    lines = StringIO("".join(format_row(row, between) for row in head))
    return separator(path) == "\t" or delimiter.of(list(islice(lines, delimiter.HEAD))) == between


def _rows(taxonomy: Taxonomy, width: int, roles: Mapping[str, int], details: Mapping[str, int]) -> Iterator[list[str]]:
    """Roots that need a row of their own, then the edges in their order."""
    ends = [(roles[end], roles.get(f"{end}_id")) for end in ENDS]
    described: set[int] = set()

    def row(*edge: int | None) -> list[str]:
        texts = [""] * width
        for concept, (name, id) in zip(edge, ends, strict=True):
            if concept is not None:
                texts[name] = taxonomy.names[concept]
                if id is not None:
                    texts[id] = taxonomy.ids[concept]
        return texts

    def describe(child: int, texts: list[str]) -> bool:
        """Whether there was anything to say."""
        described.add(child)
        values = cells.write_columns(taxonomy.concept(child), details)
        for column, value in zip(details.values(), values, strict=True):
            texts[column] = value
        return any(values)

    children = taxonomy.child_csr.counts
    for root in taxonomy.roots.tolist():
        texts = row(None, root)
        if (details and describe(root, texts)) or children[root] == 0:
            yield texts
    for parent, child in taxonomy.edge_array.tolist():
        texts = row(parent, child)
        if details and child not in described:
            describe(child, texts)
        yield texts
