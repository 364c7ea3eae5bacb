"""Reading a list of new concepts: a table, JSON lines, or one name a line."""

from __future__ import annotations

import glob
import json
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.placing.duplicates import new_id
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats import obo
from taxosphere.taxonomy.formats.draft import LONGEST_TEXT
from taxosphere.taxonomy.formats.streams import bare_suffix, numbered_lines
from taxosphere.taxonomy.formats.tables import read_rows, refuse_twice

COLUMNS = ("id", "name", "description", "synonyms", "image")
_LISTS = ("synonyms", "image")
_Cell = str | list[str]
_Rows = Iterator[tuple[int, dict[str, _Cell]]]


def read_concepts(path: str | PathLike[str], taxonomy: Taxonomy) -> list[Concept]:
    """New concepts from a file; one without an id gets one in the style of the taxonomy's."""
    source = Path(path)
    suffix = bare_suffix(source)
    if suffix in (".jsonl", ".ndjson"):
        rows = _json_rows(source)
    elif suffix == ".txt":
        rows = ((number, dict[str, _Cell](name=line)) for number, line in numbered_lines(source) if line.strip())
    elif suffix in (".tsv", ".csv"):
        rows = _table_rows(source)
    else:
        raise InputError("a list of concepts is a .tsv, .csv, .jsonl or .txt file", source)
    found = with_ids(_concepts(source, rows), taxonomy, source)
    if not found:
        raise InputError("holds no concepts", source)
    return found


def with_ids(
    numbered: Iterable[tuple[int, Concept]],
    taxonomy: Taxonomy,
    source: Path | None = None,
) -> list[Concept]:
    """Give ids to concepts that have none, and refuse ids that are taken."""
    concepts = list(numbered)
    stated, kept = {concept.id for _, concept in concepts}, obo.kept_ids(taxonomy)
    new: set[str] = set()

    def there(id: str) -> bool:
        return id in taxonomy or id in new or id in kept

    def taken(id: str) -> bool:
        return there(id) or id in stated

    found = []
    for number, concept in concepts:
        _refuse_what_no_file_holds(concept, source, number or None)
        id = concept.id or new_id(taxonomy.ids, taken, concept.name or "picture")
        if there(id):
            raise InputError(f"the id '{id}' is taken; choose another or leave it empty", source, number or None)
        new.add(id)
        found.append(Concept(id, concept.name, concept.description, concept.synonyms, concept.images))
    return found


def _refuse_what_no_file_holds(concept: Concept, source: Path | None, number: int | None) -> None:
    for text in (concept.id, concept.name, concept.description, *concept.synonyms):
        if len(text) > LONGEST_TEXT:
            raise InputError(f"a text of {len(text):,} characters; at most {LONGEST_TEXT:,} are read", source, number)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"half a character in {text!a}, which is no UTF-8 text", source, number) from None


def _concepts(source: Path, rows: _Rows) -> Iterator[tuple[int, Concept]]:
    for number, row in rows:
        own = {key: cell.strip() for key, cell in row.items() if isinstance(cell, str)}
        name, images = own.get("name", ""), _several(row.get("image", ""))
        if not name and not images:
            raise InputError("a concept without a name; give it one, or a picture", source, number)
        yield (
            number,
            Concept(
                own.get("id", ""),
                name,
                own.get("description", ""),
                _several(row.get("synonyms", "")),
                tuple(_place(entry, source) for entry in images),
            ),
        )


def _several(cell: _Cell) -> tuple[str, ...]:
    parts = cell.split("|") if isinstance(cell, str) else cell
    return tuple(part.strip() for part in parts if part.strip())


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
    if "name" in header or ("image" in header and set(header) <= set(COLUMNS)):
        refuse_twice(source, header, first[0])
        unknown = [cell for cell in header if cell not in COLUMNS]
        if unknown:
            raise InputError(f"unknown column '{unknown[0]}'; known are {', '.join(COLUMNS)}", source, first[0])
    else:
        header = ["name", "description"]
        yield first[0], _row(source, header, *first)
    for number, cells in rows:
        yield number, _row(source, header, number, cells)


def _row(source: Path, header: list[str], number: int, cells: list[str]) -> dict[str, _Cell]:
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
        yield number, {key: _json_cell(key, value, source, number) for key, value in row.items()}


def _json_cell(key: str, value: object, source: Path, number: int) -> _Cell:
    if value is None:
        return ""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    if key in _LISTS and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    wanted = "a text or a list of texts" if key in _LISTS else "a text"
    raise InputError(f"'{key}' must be {wanted}", source, number)
