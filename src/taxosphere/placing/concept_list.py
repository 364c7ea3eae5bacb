"""Reading a list of new concepts: a table, JSON lines, or one name a line."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.placing.duplicates import new_id
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.streams import bare_suffix, numbered_lines
from taxosphere.taxonomy.formats.tables import read_rows

COLUMNS = ("id", "name", "description", "synonyms", "image")
_Rows = Iterator[tuple[int, dict[str, str]]]


def read_concepts(path: str | PathLike[str], taxonomy: Taxonomy) -> list[Concept]:
    """New concepts from a file; one without an id gets one in the style of the taxonomy's."""
    source = Path(path)
    suffix = bare_suffix(source)
    if suffix in (".jsonl", ".ndjson"):
        rows = _json_rows(source)
    elif suffix == ".txt":
        rows = ((number, {"name": line}) for number, line in numbered_lines(source) if line.strip())
    elif suffix in (".tsv", ".csv"):
        rows = _table_rows(source)
    else:
        raise InputError("a list of concepts is a .tsv, .csv, .jsonl or .txt file", source)
    found = with_ids(_concepts(source, rows), taxonomy, source)
    if not found:
        raise InputError("holds no concepts", source)
    return found


def with_ids(
    numbered: Iterator[tuple[int, Concept]] | Sequence[tuple[int, Concept]],
    taxonomy: Taxonomy,
    source: Path | None = None,
) -> list[Concept]:
    """Give ids to concepts that have none, and refuse ids that are taken."""
    new: set[str] = set()

    def taken(id: str) -> bool:
        return id in taxonomy or id in new

    found = []
    for number, concept in numbered:
        id = concept.id or new_id(taxonomy.ids, taken, concept.name or "picture")
        if taken(id):
            raise InputError(f"the id '{id}' is taken; choose another or leave it empty", source, number or None)
        new.add(id)
        found.append(Concept(id, concept.name, concept.description, concept.synonyms, concept.images))
    return found


def _concepts(source: Path, rows: _Rows) -> Iterator[tuple[int, Concept]]:
    for number, row in rows:
        name, images = row.get("name", "").strip(), _several(row.get("image", ""))
        if not name and not images:
            raise InputError("a concept without a name; give it one, or a picture", source, number)
        yield (
            number,
            Concept(
                row.get("id", "").strip(),
                name,
                row.get("description", "").strip(),
                _several(row.get("synonyms", "")),
                tuple(_place(entry, source) for entry in images),
            ),
        )


def _several(cell: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in cell.split("|") if part.strip())


def _place(entry: str, source: Path) -> str:
    """A relative path starts where the list lies, unless it is a key into vectors, which need no file."""
    there = source.absolute().parent / Path(entry).expanduser()
    return str(there) if there.exists() or glob.has_magic(entry) else entry


def _table_rows(source: Path) -> _Rows:
    rows = read_rows(source)
    first = next(rows, None)
    if first is None:
        raise InputError("holds no concepts", source)
    header = [cell.strip().lower() for cell in first[1]]
    if "name" in header or header == ["image"]:
        unknown = [cell for cell in header if cell not in COLUMNS]
        if unknown:
            raise InputError(f"unknown column '{unknown[0]}'; known are {', '.join(COLUMNS)}", source, first[0])
    else:
        header = ["name", "description"]
        yield first[0], _row(source, header, *first)
    for number, cells in rows:
        yield number, _row(source, header, number, cells)


def _row(source: Path, header: list[str], number: int, cells: list[str]) -> dict[str, str]:
    if len(cells) > len(header):
        known = ", ".join(header)
        raise InputError(f"{len(cells)} columns where {len(header)} are known ({known})", source, number)
    return dict(zip(header, cells))


def _json_rows(source: Path) -> _Rows:
    for number, line in numbered_lines(source):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not JSON: {error}", source, number) from None
        if not isinstance(row, dict):
            raise InputError('one JSON object a line is expected, like {"name": "…"}', source, number)
        unknown = [key for key in row if key not in COLUMNS]
        if unknown:
            raise InputError(f"unknown key '{unknown[0]}'; known are {', '.join(COLUMNS)}", source, number)
        yield number, {k: "|".join(map(str, v)) if isinstance(v, list) else str(v or "") for k, v in row.items()}
