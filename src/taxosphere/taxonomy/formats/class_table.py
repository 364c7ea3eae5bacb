"""Class tables as ontology portals export them (`Class ID`, `Preferred Label`, `Parents` …), comma or tab; read only.

Several values share a cell, joined with `|`. The first definition describes the class, further ones are comments.
The classes of OWL itself are left out.
"""

from __future__ import annotations

from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.tables import check_distinct
from taxosphere.taxonomy.formats.table_layouts import open_table

ID, NAME, SYNONYMS, DEFINITIONS, OBSOLETE, PARENTS = (
    "Class ID",
    "Preferred Label",
    "Synonyms",
    "Definitions",
    "Obsolete",
    "Parents",
)
UNDERSTOOD = (ID, NAME, SYNONYMS, DEFINITIONS, OBSOLETE, PARENTS)
# Columns that repeat, by the kind of statement, what the columns above say.
REPEATED = frozenset((*rt.NAMES, *rt.DEFINITIONS, *rt.SYNONYMS))


def read(path: Path, options: ReadOptions) -> Draft:
    grid, reading = open_table(path, options)
    draft = Draft(path=path, format="class table", notes=[*grid.notes])
    header = reading.titles
    check_distinct(path, [title for title in header if title], grid.lines[reading.header])
    for number, cells in zip(grid.lines[reading.header + 1 :], grid.rows[reading.header + 1 :], strict=True):
        if len(cells) > len(header):
            raise InputError(f"{len(cells)} columns where the header names {len(header)}", path=path, line=number)
        row = dict(zip(header, [*cells, *[""] * (len(header) - len(cells))], strict=True))
        id = row[ID]
        if rt.is_vocabulary(id):
            continue
        _read_class(draft, row, number)
        for parent in _values(row.get(PARENTS, "")):
            if not rt.is_vocabulary(parent):
                draft.edge(parent, id, number)
    return draft


def _read_class(draft: Draft, row: dict[str, str], number: int) -> None:
    definitions = _values(row.get(DEFINITIONS, ""))
    extras = [("comment", text) for text in definitions[1:]]
    extras += [("is_obsolete", "true")] if row.get(OBSOLETE, "").strip().lower() == "true" else []
    for column, cell in row.items():
        if not cell or column in UNDERSTOOD or column in REPEATED:
            continue
        if rt.is_web_address(column):
            extras += [(rt.TAG_OF.get(column, column), value) for value in _values(cell)]
        else:
            extras.append((column, cell))
    synonyms = _values(row.get(SYNONYMS, ""))
    draft.concept(row[ID], row[NAME], definitions[0] if definitions else "", synonyms, (), extras, number)


def _values(cell: str) -> list[str]:
    return list(dict.fromkeys(value.strip() for value in cell.split("|") if value.strip()))
