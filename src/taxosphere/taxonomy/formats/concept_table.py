"""Concept tables in text files and workbooks: a row per concept that names its parent, as catalogues have it.

A column of parents, or of children, is needed, and one of names or ids; descriptions, synonyms and images are
understood, all other columns are kept. Parents are named by id or, where no id says the same, by name; several are
joined with `|`, `;` or `,`. Spaces around an id or name need not be repeated there. Columns are written back in their
order, under their titles.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import table_layouts
from taxosphere.taxonomy.formats.io import cells, escapes, level_columns, table_source, table_writer
from taxosphere.taxonomy.formats.io.draft import Draft, counted, meanings
from taxosphere.taxonomy.formats.io.footers import without_footer
from taxosphere.taxonomy.formats.io.grid import Grid, kept_delimiter
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.table_reading import Reading
from taxosphere.taxonomy.formats.io.table_roles import title_roles
from taxosphere.taxonomy.formats.table_layouts import open_table
from taxosphere.taxonomy.graph import Taxonomy

MEANT = frozenset(("id", "name", "parent", "child"))
META = "table"  # where a taxonomy keeps the columns it came with
_WHOLE_NUMBER = re.compile(r"\d+\.0")  # as some programs write an id in a column with empty cells
JOINTS = "|;,\n"  # between the parents in one cell
# What some put into the cell of a concept that has no parent.
NO_PARENT = frozenset(("0", "-1", "-", "–", "—", "none", "null", "nil", "root", "top", "n/a", "na", "\\n", "#n/a"))


def read(path: Path, options: ReadOptions) -> Draft:
    return read_table(*open_table(path, options), options)


def read_table(grid: Grid, reading: Reading, options: ReadOptions) -> Draft:
    """Read a table that is understood as one of concepts."""
    draft = Draft(path=grid.path, format="concept table")
    roles = _hierarchy_columns(draft, reading)
    header = reading.titles if reading.header >= 0 else [""] * max(map(len, grid.rows))
    details = cells.detail_names(header, set(roles.values()))
    rows, lines = without_footer(draft, grid.rows[reading.header + 1 :], grid.lines[reading.header + 1 :])
    columns = _columns(grid.path, rows, lines, len(header))
    if reading.header >= 0 and "" in header and any(any(columns[i]) for i, title in enumerate(header) if not title):
        draft.left_out("columns without a title are not read", grid.lines[reading.header])
    texts = {role: columns[i] for role, i in roles.items()}
    if "name" not in roles and reading.levels is not None:
        texts["name"] = _last_cells([columns[i] for i in reading.levels.names])
    texts["id"] = _ids(texts)
    _read_concepts(draft, texts, cells.detail_lists(details, columns), lines, named="name" in reading.roles)
    draft.notes += [*reading.notes, *cells.kept_note(details)]
    if "parent" not in roles:
        _read_children(draft, texts, lines)
        draft.meta[META] = {}  # written with a column of parents
        return draft
    ends = _read_parents(draft, texts, lines, escaped=header[roles["parent"]].endswith(cells.ESCAPED))
    by_name = bool(ends) and roles["id"] != roles.get("name") and not ends & set(draft.ids)
    draft.meta[META] = {"columns": header, "roles": roles, "parents": "name" if by_name else "id"}
    draft.meta[META] |= {"header": reading.header >= 0, **kept_delimiter(grid)}
    table_source.keep(draft, grid, options)
    return draft


def _hierarchy_columns(draft: Draft, reading: Reading) -> dict[str, int]:
    """Columns of ids, names and parents; what is missing of the first two is taken from the other."""
    relation = "parent" if "parent" in reading.roles else "child"
    roles = {role: i for role, i in reading.roles.items() if role in ("id", "name", relation)}
    if "name" not in roles and reading.levels is None:
        roles["name"] = reading.roles["description"] if "description" in reading.roles else roles["id"]
    shown = [f"{'parents' if relation == 'parent' else 'children'} in column {reading.title(roles[relation])}"]
    if "name" in roles:
        shown.append(f"names in {reading.title(roles['name'])}")
    elif reading.levels is not None:
        shown.append(f"names in the last cell of {level_columns.shown(reading.titles, reading.levels)}")
    if "id" in roles:
        shown.append(f"ids in {reading.title(roles['id'])}")
    roles.setdefault("id", roles.get("name", -1))
    draft.notes.append("a row per concept: " + ", ".join(shown))
    return roles


def _columns(path: Path, rows: Sequence[list[str]], lines: Sequence[int], width: int) -> list[tuple[str, ...]]:
    """The cells by column; rows that are too short are filled up."""
    if set(map(len, rows)) - {width}:
        for row, line in zip(rows, lines, strict=True):
            if len(row) > width and any(row[width:]):
                raise InputError(f"{len(row)} columns where the header names {width}", path=path, line=line)
        rows = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _last_cells(levels: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The innermost cell of each row that is not empty."""
    return tuple(
        next((cell.strip() for cell in reversed(row) if cell.strip()), "") for row in zip(*levels, strict=True)
    )


def _ids(texts: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    ids, names = texts["id"], texts["name"]
    return ids if "" not in ids else tuple(id or name for id, name in zip(ids, names, strict=True))


def _read_concepts(
    draft: Draft, texts: dict[str, tuple[str, ...]], details: cells.DetailLists, lines: Sequence[int], named: bool
) -> None:
    """A concept per row; rows that repeat one with another parent are joined with its first row."""
    ids, names = texts["id"], texts["name"]
    uses = Counter(ids) if len(set(ids)) < len(ids) else {}
    joined: dict[str, int] = {}
    for row, id in enumerate(ids if uses else ()):
        if uses[id] > 1 and id:
            first = joined.setdefault(id, row)
            if first != row and names[first] != names[row]:
                uses[id] = 0  # another concept, so that the id is at fault
    repeats = {row for row, id in enumerate(ids if uses else ()) if uses[id] > 1 and joined.get(id, row) != row}
    kept = [row for row in range(len(ids)) if row not in repeats]
    whole = len(kept) == len(ids)
    draft.ids, draft.names = (list(c) if whole else [c[row] for row in kept] for c in (ids, names))
    draft.lines = list(lines) if whole else [lines[row] for row in kept]
    columns = [column if whole or not column else [column[row] for row in kept] for column in details]
    draft.descriptions, draft.synonyms, draft.images, draft.extras = columns  # type: ignore[assignment]
    draft.descriptions = draft.descriptions or [""] * len(draft.ids)
    if not repeats:
        return
    for name in ("synonyms", "images", "extras"):
        setattr(draft, name, getattr(draft, name) or [()] * len(draft.ids))
    place = {id: position for position, id in enumerate(draft.ids)}
    descriptions, synonyms, images, extras = details
    for row in sorted(repeats):
        draft.add(
            place[ids[row]],
            descriptions[row] if descriptions else "",
            synonyms[row] if synonyms else (),
            images[row] if images else (),
            extras[row] if extras else (),
        )
    what = "name" if ids is names or ids == names else "id"
    example = f": '{names[min(repeats)][:60]}' has several parents" if named else ""
    draft.notes.append(f"{counted(len(repeats), 'row')} with the {what} of an earlier one, joined with it{example}")


def _read_parents(draft: Draft, texts: dict[str, tuple[str, ...]], lines: Sequence[int], escaped: bool) -> set[str]:
    """Edges from the cells of the parents; returns what these cells name."""
    triples = [row for row in zip(texts["parent"], texts["id"], lines, strict=True) if row[0].strip()]
    ids = set(draft.ids)
    if all(parent in ids for parent, _, _ in triples):
        triples = _without_roots_of_themselves(draft, triples, len(lines))
        draft.parents, draft.children = [t[0] for t in triples], [t[1] for t in triples]
        draft.edge_lines = [t[2] for t in triples]
        return {parent for parent, _, _ in triples}
    whole = set() if escaped else _wholes(draft.ids, draft.names)
    triples = _without_marks(draft, triples, whole) if whole else triples
    splits = {cell: _concepts_in(cell, whole) for cell in {cell for cell, _, _ in triples}}
    links = [(end, child, line) for cell, child, line in triples for end in splits[cell]]
    links = _without_roots_of_themselves(draft, links, len(lines))
    if texts["id"] == texts["name"]:
        links = list(dict.fromkeys(links))
    draft.link(links)
    return {end for end, _, _ in links}


def _read_children(draft: Draft, texts: dict[str, tuple[str, ...]], lines: Sequence[int]) -> None:
    """Edges from the cells of the children."""
    whole = _wholes(draft.ids, draft.names)
    cells = zip(texts["id"], texts["child"], lines, strict=True)
    draft.link([(id, end, line) for id, cell, line in cells if cell.strip() for end in _concepts_in(cell, whole)])


Triple = tuple[str, str, int]


def _without_marks(draft: Draft, triples: list[Triple], whole: set[str]) -> list[Triple]:
    """Without cells that say that there is no parent."""
    marks = Counter(t[0] for t in triples if t[0].strip().lower() in NO_PARENT and t[0].strip() not in whole)
    for mark, count in marks.items():
        draft.notes.append(f"the parent '{mark.strip()}' of {counted(count, 'row')} read as none")
    return [triple for triple in triples if triple[0] not in marks] if marks else triples


def _without_roots_of_themselves(draft: Draft, triples: list[Triple], rows: int) -> list[Triple]:
    """Few concepts that name themselves as parent are roots; many are a fault."""
    loops = [triple for triple in triples if triple[0] == triple[1]]
    if not loops or 4 * len(loops) > rows:
        return triples
    draft.notes.append(f"{counted(len(loops), 'concept')} that name themselves as parent read as roots")
    return [triple for triple in triples if triple[0] != triple[1]]


def _wholes(ids: Sequence[str], names: Sequence[str]) -> set[str]:
    """Every text that stands for one concept."""
    return {*ids, *names, *map(str.strip, ids), *map(str.strip, names)}


def _concepts_in(cell: str, whole: set[str]) -> list[str]:
    """What a cell names. One that is known as a ``whole`` is not taken apart; nothing is known where it has escapes."""
    if not whole:
        return list(escapes.split_list(cell, escaped=True))
    single = next((text for text in (cell, cell.strip()) if text in whole), None)
    if single:
        return [single]
    if _WHOLE_NUMBER.fullmatch(cell.strip()) and (number := cell.strip().partition(".")[0]) in whole:
        return [number]
    for joint in JOINTS:
        parts = [part.strip() for part in cell.split(joint) if part.strip()]
        if len(parts) > 1 and whole.issuperset(parts):
            return parts
    return [text.strip() for text in escapes.split_list(cell, escaped=False)]


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    table_writer.write(taxonomy, path, options, Layout(taxonomy))


class Layout(table_writer.Layout):
    """The rows of a concept table, a concept each.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written, in the columns that it came with.
    """

    meta = META
    by_edge = False

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        kept: Any = taxonomy.meta.get(META, {})
        self.titles = [str(title) for title in kept.get("columns", ("id", "name", "parent"))]
        roles = {role: int(i) for role, i in kept.get("roles", {}).items()} or title_roles(self.titles)
        if "name" not in roles:
            roles["name"] = len(self.titles)
            self.titles.append("name")
        roles.setdefault("id", roles["name"])
        if "roles" in kept and roles["id"] == roles["name"] and table_writer.goes_by_names(taxonomy):
            self.taxonomy = taxonomy = replace(taxonomy, ids=taxonomy.names)
        if roles["id"] == roles["name"] and taxonomy.ids != taxonomy.names:
            self.titles.insert(0, "id")
            roles = {role: i + 1 for role, i in roles.items()} | {"id": 0}
        self.roles = roles
        self.parents, escaped = _parent_cells(taxonomy, kept.get("parents") == "name")
        title = self.titles[roles["parent"]].removesuffix(cells.ESCAPED)
        self.titles[roles["parent"]] = title + cells.ESCAPED * escaped
        self.details = cells.detail_columns(taxonomy)
        self.places = cells.place_details(self.titles, set(roles.values()), self.details, MEANT)
        self.width = len(self.titles)
        if not kept.get("header", True) and not any(self.titles):
            self.titles = []

    @classmethod
    def reread(cls, grid: Grid, options: ReadOptions) -> Draft:
        return read_table(grid, table_layouts.understand(grid, options), options)

    def row(self, edge: tuple[int, int]) -> list[str]:
        position = edge[1]
        texts = [""] * self.width
        texts[self.roles["name"]] = self.taxonomy.names[position]
        texts[self.roles["id"]] = self.taxonomy.ids[position]
        texts[self.roles["parent"]] = self.parents[position]
        values = cells.write_columns(self.taxonomy.concept(position), self.details)
        for place, value in zip(self.places, values, strict=True):
            texts[place] = value
        return texts

    def edges(self) -> Iterable[tuple[int, int]]:
        return ((-1, position) for position in range(len(self.taxonomy)))


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
    escaped |= any(key.lower() in NO_PARENT and meant.get(key) is None for key in set(chain.from_iterable(above)))
    return [escapes.join_list(several, escaped) for several in above], escaped
