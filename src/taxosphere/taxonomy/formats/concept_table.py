"""Concept tables, comma or tab: a row per concept that names its parent, as spreadsheets hold catalogues.

`name` and `parent` are needed, `id`, `description`, `synonyms` and `image` are understood, all other columns are kept.
Parents are given by id or, where no id says the same, by name; several are joined with `|`. Spaces around an id or name
need not be repeated there. The columns are written back in their order, under their titles and with the delimiter they
had.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from taxosphere.taxonomy.formats.io import cells, escapes
from taxosphere.taxonomy.formats.io.draft import Draft, meanings
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import open_to_write
from taxosphere.taxonomy.formats.io.tables import (
    check_distinct,
    delimiter_to_write,
    format_row,
    kept_delimiter,
    read_rows,
    records,
)
from taxosphere.taxonomy.graph import Taxonomy

MEANT = frozenset((*chain.from_iterable(cells.ROLES.values()), *cells.CHILD))
META = "table"  # where a taxonomy keeps the columns it came with


def recognise(path: Path, head: bytes) -> bool:
    """Whether the first row has a title for names, one for parents and none for children."""
    row = next(read_rows(path), (1, list[str]()))[1]
    roles = _roles(row)
    return "name" in roles and "parent" in roles and not set(map(cells.plain, row)) & set(cells.CHILD)


def _roles(header: Sequence[str]) -> dict[str, int]:
    """Where the columns stand that make the hierarchy."""
    plain = [cells.plain(title) for title in header]
    found = {role: [plain.index(name) for name in names if name in plain] for role, names in cells.ROLES.items()}
    return {role: columns[0] for role, columns in found.items() if columns}


def read(path: Path, options: ReadOptions) -> Draft:
    draft = Draft(path=path, format="concept table")
    (first, header), rows = records(path)
    roles = _roles(header)
    name, parent = roles["name"], roles["parent"]
    id = roles.get("id", name)
    details = {i: cells.column_name(title) for i, title in enumerate(header) if title and i not in roles.values()}
    check_distinct(path, list(details.values()), first)
    above: list[tuple[str, str, int]] = []
    for number, row in rows:
        child = row[id] or row[name]
        draft.concept(child, row[name], *cells.read_details(details, row), number)
        if row[parent]:
            above.append((row[parent], child, number))
    whole = set() if header[parent].endswith(cells.ESCAPED) else _wholes(draft.ids, draft.names)
    links = [(end, child, line) for cell, child, line in above for end in _parents(cell, whole)]
    draft.link(links)
    by_name = bool(links) and id != name and not {end for end, _, _ in links} & set(draft.ids)
    draft.meta[META] = {"columns": [title for title in header if title], "parents": "name" if by_name else "id"}
    draft.meta[META] |= kept_delimiter(path)
    if "" in header:
        draft.left_out("columns without a title are not read", first)
    return draft


def _wholes(ids: Sequence[str], names: Sequence[str]) -> set[str]:
    """Every text that stands for one concept."""
    return {*ids, *names, *map(str.strip, ids), *map(str.strip, names)}


def _parents(cell: str, whole: set[str]) -> list[str]:
    """What a cell names. One that is known as a ``whole`` is not taken apart; nothing is known where it has escapes."""
    if not whole:
        return list(escapes.split_list(cell, escaped=True))
    known = next((text for text in (cell, cell.strip()) if text in whole), None)
    return [known] if known else [text.strip() for text in escapes.split_list(cell, escaped=False)]


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    kept = taxonomy.meta.get(META, {})
    titles = [str(title) for title in kept.get("columns", ("id", "name", "parent"))]
    if "id" not in _roles(titles) and taxonomy.ids != taxonomy.names:
        titles.insert(0, "id")
    roles = _roles(titles)
    parents, escaped = _parent_cells(taxonomy, kept.get("parents") == "name")
    titles[roles["parent"]] = titles[roles["parent"]].removesuffix(cells.ESCAPED) + cells.ESCAPED * escaped
    columns: dict[int, Sequence[str]] = {roles["name"]: taxonomy.names, roles["parent"]: parents}
    columns |= {roles["id"]: taxonomy.ids} if "id" in roles else {}
    details = cells.detail_columns(taxonomy)
    texts = zip(*(cells.write_columns(concept, details) for concept in taxonomy.concepts()), strict=True)
    columns |= zip(cells.place_details(titles, columns, details, MEANT), texts, strict=True)
    empty = [""] * len(taxonomy)
    rows = zip(*(columns.get(i, empty) for i in range(len(titles))), strict=True)
    between = delimiter_to_write(path, kept)
    with open_to_write(path) as handle:
        handle.writelines(format_row(row, between) for row in chain([titles], rows))


def _parent_cells(taxonomy: Taxonomy, by_name: bool) -> tuple[list[str], bool]:
    """The parents of each concept in one cell, by name if that is wanted and clear, and whether with escapes."""
    ids, names = taxonomy.ids, taxonomy.names
    clear = len(set(names)) == len(names) and not set(names) & set(ids)
    meant = meanings(ids, names)
    stated = zip(ids, names if by_name and clear else ids, strict=True)
    keys = [key.strip() if meant.get(key.strip()) == id else key for id, key in stated]
    above = [[keys[p] for p in taxonomy.parent_csr.row(i).tolist()] for i in range(len(taxonomy))]
    whole = _wholes(ids, names)
    escaped = any("|" in key or key != key.strip() for key in set(chain.from_iterable(above)))
    escaped |= any(len(several) > 1 and "|".join(several) in whole for several in above)
    return [escapes.join_list(several, escaped) for several in above], escaped
