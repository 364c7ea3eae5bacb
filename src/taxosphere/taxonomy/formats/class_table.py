"""Class tables as ontology portals export them (`Class ID`, `Preferred Label`, `Parents` …), comma or tab; read only.

Several values share a cell, joined with `|`. The first definition describes the class, further ones are comments.
The classes of OWL itself are left out.
"""

from __future__ import annotations

from pathlib import Path

from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.tables import read_rows, records

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


def recognise(path: Path, head: bytes) -> bool:
    """Whether the first row holds the titles of a portal's export."""
    return {ID, NAME, PARENTS} <= set(next(read_rows(path), (1, []))[1])


def read(path: Path, options: ReadOptions) -> Draft:
    draft = Draft(path=path, format="class table")
    (_, header), lines = records(path)
    for number, cells in lines:
        row = dict(zip(header, cells, strict=True))
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
