"""Lists of new concepts that people upload: kept under names of ours, read within limits, mapped to our columns.

Nothing a client says is ever used as a path: an upload is known by a random number, and the name of its file only tells
which of a few kinds it is.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath

from taxosphere.errors import InputError, require
from taxosphere.placing.concept_list import with_ids
from taxosphere.service import limits
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.io import compression, json_values
from taxosphere.taxonomy.formats.io.encodings import recognise
from taxosphere.taxonomy.formats.io.streams import numbered_lines
from taxosphere.taxonomy.formats.io.tables import read_rows
from taxosphere.taxonomy.formats.io.titles import UNUSUAL, meaning_in_list

KINDS = (".csv", ".tsv", ".txt", ".jsonl", ".xlsx")
PREVIEW = 20
_NUMBER = re.compile(r"[0-9a-f]{32}")
ROLES = ("name", "description", "synonyms", "id")
_SEPARATED = re.compile(r"\s*[|;]\s*")


@dataclass(frozen=True, slots=True)
class Table:
    """A list as it was read: titles of its columns, and rows of texts as wide as they are."""

    titles: list[str]
    rows: list[list[str]]


def put(folder: Path, name: str, content_base64: str) -> str:
    """Keep an uploaded file and return its number.

    Raises
    ------
    InputError
        Where it is of no kind we read, no base64, or too large.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in KINDS:
        raise InputError(f"a list is one of {', '.join(KINDS)}")
    try:
        content = base64.b64decode(content_base64, validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the content is not base64") from None
    if len(content) > limits.FILE_BYTES:
        raise InputError(f"a file may have {limits.FILE_BYTES:,} bytes")
    number = secrets.token_hex(16)
    target = folder / f"{number}{suffix}"
    target.touch(0o600)
    target.write_bytes(content)
    return number


def find(folder: Path, number: str) -> Path | None:
    """The file of an upload, None where there is none."""
    if not _NUMBER.fullmatch(number):
        return None
    return next((path for path in (folder / f"{number}{suffix}" for suffix in KINDS) if path.is_file()), None)


def read(path: Path) -> Table:
    """A list from a file of one of the `KINDS`.

    Raises
    ------
    InputError
        Where it cannot be read, or holds more than `limits.LIST_ROWS` rows.
    """
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return _bounded(*_json_lines(path))
    rows = _sheet(path) if suffix == ".xlsx" else (cells for _, cells in _text_rows(path, suffix))
    first = next(rows, None)
    if first is None:
        raise InputError("holds no concepts")
    titles = [title.strip() for title in first]
    if not any(rank < UNUSUAL for rank, _, _ in _meanings(titles)):
        titles, beginning = _untitled(first), [first]
    else:
        beginning = []
    return _bounded(_distinct(titles), _all(beginning, rows))


def _text_rows(path: Path, suffix: str) -> Iterator[tuple[int, list[str]]]:
    encoding, _ = recognise(path)
    if suffix == ".txt":
        return ((number, [line.strip()]) for number, line in numbered_lines(path, encoding) if line.strip())
    return read_rows(path, encoding=encoding)


def _all(beginning: list[list[str]], rows: Iterator[list[str]]) -> Iterator[list[str]]:
    yield from beginning
    yield from rows


def _untitled(first: list[str]) -> list[str]:
    return ["name", "description", *(f"column {number}" for number in range(3, len(first) + 1))][: len(first)]


def _distinct(titles: list[str]) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for number, title in enumerate(titles, 1):
        title = title or f"column {number}"
        seen[title] = seen.get(title, 0) + 1
        names.append(title if seen[title] == 1 else f"{title} ({seen[title]})")
    return names


def _bounded(titles: list[str], rows: Iterator[list[str]]) -> Table:
    kept: list[list[str]] = []
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(kept) >= limits.LIST_ROWS:
            raise InputError(f"a list may have {limits.LIST_ROWS:,} rows")
        kept.append([*row[: len(titles)], *[""] * (len(titles) - len(row))])
    if not kept:
        raise InputError("holds no concepts")
    return Table(titles, kept)


def _json_lines(path: Path) -> tuple[list[str], Iterator[list[str]]]:
    records = []
    try:
        lines = path.read_bytes().decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError("is no UTF-8 text") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            record = json_values.parse(line, Path("list.jsonl"), number)
            if not isinstance(record, dict):
                raise InputError(f"line {number}: one JSON object a line is expected")
            records.append(record)
    titles = list(dict.fromkeys(key for record in records for key in record))
    return titles, ([_cell(record.get(title)) for title in titles] for record in records)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "|".join(value)
    return json.dumps(value, ensure_ascii=False)


def _sheet(path: Path) -> Iterator[list[str]]:
    """Rows of the first sheet; what would unpack to too much is not unpacked."""
    calamine = require("python_calamine", "sheets")
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except (*compression.BAD_DIRECTORY, OSError):
        raise InputError("is no spreadsheet") from None
    if size > limits.UNPACKED_BYTES or size > limits.UNPACKED_RATIO * max(1, path.stat().st_size):
        raise InputError("unpacks to far more than a list of concepts holds")
    try:
        sheet = calamine.CalamineWorkbook.from_path(str(path)).get_sheet_by_index(0)
        rows = sheet.to_python(skip_empty_area=True)
    except Exception:
        raise InputError("is no spreadsheet that can be read") from None
    return ([_number(cell) for cell in row] for row in rows)


def _number(cell: object) -> str:
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


# -- columns ----------------------------------------------------------------------------------------------------------


def _meanings(titles: list[str]) -> list[tuple[int, str, str]]:
    """How usual a title is for its role (less is more), the role and the title, where it has one of ours."""
    meant = [(title, meaning_in_list(title)) for title in titles]
    return [(item.rank, item.role, title) for title, item in meant if item is not None and item.role in ROLES]


def mapping(titles: list[str]) -> dict[str, str]:
    """The title of the column for each role that can be told by it; ``name`` is the first column where none can."""
    roles: dict[str, str] = {}
    for _, role, title in sorted(_meanings(titles), key=lambda item: item[0]):
        roles.setdefault(role, title)
    free = [title for title in titles if title not in roles.values()]
    if "name" not in roles and free:
        roles["name"] = free[0]
    return roles


def concepts(table: Table, roles: Mapping[str, str], taxonomy: Taxonomy) -> list[Concept]:
    """New concepts from the rows of a table, each with an id.

    Parameters
    ----------
    table
        What was uploaded.
    roles
        Title of the column for ``name`` and, where there are such, ``description``, ``synonyms`` and ``id``. Other
        columns are kept as extras.
    taxonomy
        The base: concepts without an id get one in its style.

    Raises
    ------
    InputError
        Where a column does not exist, a row has no name, or an id is taken.
    """
    column = {}
    for role, title in roles.items():
        if title not in table.titles:
            raise InputError(f"there is no column for '{role}' under this title")
        column[role] = table.titles.index(title)
    if "name" not in column:
        raise InputError("say which column holds the names")
    others = [i for i in range(len(table.titles)) if i not in column.values()]
    numbered = []
    for number, row in enumerate(table.rows, 1):
        text = {role: row[i].strip() for role, i in column.items()}
        if not text["name"]:
            raise InputError(f"row {number} has no name")
        if len(text["name"]) > limits.NAME or len(text.get("description", "")) > limits.TEXT:
            raise InputError(f"row {number} has a text that is too long")
        synonyms = tuple(filter(None, _SEPARATED.split(text.get("synonyms", "").strip())))
        extras = tuple((table.titles[i], row[i]) for i in others if row[i].strip())
        definition = text.get("description", "")
        numbered.append((number, Concept(text.get("id", ""), text["name"], definition, synonyms, (), extras)))
    return with_ids(numbered, taxonomy)
