"""Lists of new concepts in files: tables, workbooks, Parquet, JSON lines, one name a line; read row by row."""

from __future__ import annotations

import glob
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any

from taxosphere.errors import InputError, require
from taxosphere.placing.concept_list import check_texts, with_ids
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.io import cells, json_values, suffixes, titles, workbook
from taxosphere.taxonomy.formats.io.encodings import recognise
from taxosphere.taxonomy.formats.io.streams import STREAM, bare_suffix, expand_home, numbered_lines, peek, reading
from taxosphere.taxonomy.formats.io.table_roles import stated_roles
from taxosphere.taxonomy.formats.io.tables import check_distinct, read_rows

COLUMNS = ("id", "name", "description", "synonyms", "image")
KINDS = {
    "jsonl": (".jsonl", ".ndjson"),
    "txt": (".txt",),
    "tsv": (".tsv",),
    "csv": (".csv",),
    "parquet": suffixes.PARQUET,
    "workbook": suffixes.WORKBOOKS,
}
NO_MAPPING: Mapping[str, str] = MappingProxyType({})
_LISTS = ("synonyms", "image")
_ROLES = {"id": (*cells.ROLES["id"], "class_id"), "name": (*cells.ROLES["name"], "preferred_label", "term")}
_TITLES = cells.TITLES.union(*_ROLES.values())
# Titles of names that are also everyday words: alone they may be the first concept of a list.
_EVERYDAY = frozenset(
    "concept heading caption category node topic subject item entity class product article begriff kategorie produkt "
    "artikel nom terme produit producto artículo prodotto articolo produto ad".split()
)
_LONGEST_TITLE = 3  # words; a definition beside a concept that is called "label" has more
_PARQUET_ROWS = 1024  # read at a time
_SHOWN, _LONGEST_SHOWN = 5, 30  # cells of a row in a message, and characters of each
_Cell = str | list[str]
Warn = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class ListedConcept:
    """A row of a list.

    Attributes
    ----------
    line
        Where it stands: line of a text file, row of a table.
    concept
        The new concept; without an id where the row has none.
    columns
        The whole row as it stands there, by title or key.
    """

    line: int
    concept: Concept
    columns: Mapping[str, Any]


_Rows = Iterator[tuple[int, dict[str, _Cell], Mapping[str, Any]]]


def _ignore(_line: str) -> None:
    """Hears warnings nobody asked for."""


def read_concepts(path: str | PathLike[str], taxonomy: Taxonomy, warn: Warn = _ignore) -> list[Concept]:
    """New concepts from a file; one without an id gets one in the style of the taxonomy's. ``warn`` is told what may
    have been meant otherwise."""
    return with_ids(read_list(path, warn), taxonomy, Path(path))


def read_list(
    path: str | PathLike[str], warn: Warn = _ignore, *, kind: str = "", mapping: Mapping[str, str] = NO_MAPPING
) -> list[tuple[int, Concept]]:
    """New concepts from a file as they stand there, each with its line; parameters as for `stream_list`."""
    return [(row.line, row.concept) for row in stream_list(path, warn, kind=kind, mapping=mapping)]


def stream_list(
    path: str | PathLike[str], warn: Warn = _ignore, *, kind: str = "", mapping: Mapping[str, str] = NO_MAPPING
) -> Iterator[ListedConcept]:
    """New concepts from a file, read as they are asked for; a workbook alone is read as a whole.

    Parameters
    ----------
    path
        A table (``.tsv``, ``.csv``, ``.xlsx``, ``.xls``, ``.ods``, ``.parquet``), JSON lines, or one name a line
        (``.txt``); ``-`` is standard input. Columns and keys that are none of `COLUMNS` are kept in the extras of the
        concepts.
    warn
        Called with one line about what may have been meant otherwise.
    kind
        One of `KINDS` where the suffix does not say it; standard input is otherwise recognised by its first line.
    mapping
        Which column or key plays which role of `COLUMNS`, as role → title, or number of a column.

    Yields
    ------
    ListedConcept
        One for each row.

    Raises
    ------
    InputError
        With the line, where it is no list of concepts.
    """
    source = Path(path)
    kind = kind or kind_of(source)
    _check_mapping(source, kind, mapping)
    rows: _Rows
    encoding = None
    if kind in ("txt", "tsv", "csv"):
        encoding, note = recognise(source)
        if note:
            warn(f"{source}: {note}")
    if kind == "jsonl":
        rows = _json_rows(source, {title: role for role, title in mapping.items()})
    elif kind == "txt":
        lines = ((number, line) for number, line in numbered_lines(source, encoding) if line.strip())
        rows = ((number, dict[str, _Cell](name=line), {"name": line}) for number, line in lines)
    elif kind in ("tsv", "csv"):
        rows = _table_rows(source, read_rows(source, "\t" if kind == "tsv" else ",", encoding), warn, mapping)
    elif kind == "parquet":
        rows = _parquet_rows(source, mapping)
    else:
        rows = _table_rows(source, _sheet_rows(source), warn, mapping)
    empty = True
    for row in _concepts(source, rows):
        check_texts(row.concept, source, row.line)
        yield row
        empty = False
    if empty:
        raise InputError("holds no concepts", source)


def _check_mapping(source: Path, kind: str, mapping: Mapping[str, str]) -> None:
    if mapping and kind == "txt":
        raise InputError("--map names columns, and a list of one name a line has none", source)
    for role in mapping:
        if role not in COLUMNS:
            raise InputError(f"--map of a list states {', '.join(COLUMNS[:-1])} or {COLUMNS[-1]}, not '{role}'", source)


def kind_of(source: Path) -> str:
    """Which of `KINDS` a file is, by its suffix; standard input (``-``) by its first line.

    Raises
    ------
    InputError
        There is no such kind, or Parquet comes through a pipe, where its end cannot be looked at first.
    """
    if source != STREAM:
        suffix = bare_suffix(source)
        kind = next((kind for kind, suffixes in KINDS.items() if suffix in suffixes), None)
        if kind is None:
            raise InputError("a list of concepts is a .tsv, .csv, .xlsx, .parquet, .jsonl or .txt file", source)
        return kind
    head = peek(source)
    if head.startswith((b"PAR1", b"PK")):
        raise InputError("Parquet files and workbooks cannot be read from a pipe; name the file", source)
    first = head.split(b"\n")[0]
    if first.lstrip().startswith(b"{"):
        return "jsonl"
    return "tsv" if b"\t" in first else "csv" if b"," in first or b";" in first else "txt"


def _sheet_rows(source: Path) -> Iterator[tuple[int, list[str]]]:
    sheets = workbook.sheets(source)
    grid = next(iter(sheets.values()))() if sheets else []
    return ((number, row) for number, row in enumerate(grid, 1) if any(cell.strip() for cell in row))


def _parquet_rows(source: Path, mapping: Mapping[str, str]) -> _Rows:
    parquet = require("pyarrow.parquet", "parquet")
    arrow = require("pyarrow", "parquet")
    with reading(source):
        try:
            file = parquet.ParquetFile(source)
        except arrow.ArrowInvalid as error:
            raise InputError(f"is no Parquet file that can be read ({error})", source) from None
    with file:
        titles = file.schema_arrow.names
        header = _mapped(source, titles, mapping)
        if "name" not in header and "image" not in header:
            raise InputError(f"has no column 'name'; it has {', '.join(titles)}", source)
        batches = file.iter_batches(_PARQUET_ROWS)
        number = 0
        while True:
            try:
                rows = next(batches).to_pylist()
            except StopIteration:
                return
            except (arrow.ArrowException, OSError, ValueError) as error:
                raise InputError(f"is damaged after row {number} ({error})", source) from None
            for row in rows:
                number += 1
                texts = {key: _json_cell(key, value, source, number) for key, value in zip(header, row.values())}
                yield number, {key: text for key, text in texts.items() if text}, row


def _concepts(source: Path, rows: _Rows) -> Iterator[ListedConcept]:
    for number, row, columns in rows:
        texts = {key: cell.strip() for key, cell in row.items() if isinstance(cell, str)}
        name, images = texts.get("name", ""), _several(row.get("image", ""))
        if not name and not images:
            keys = "" if any(cells.plain(title) == "name" for title in columns) else f" (it has {', '.join(columns)})"
            raise InputError(f"a concept without a name{keys}; give it one, or an image", source, number)
        concept = Concept(
            texts.get("id", ""),
            name,
            texts.get("description", ""),
            _several(row.get("synonyms", "")),
            tuple(_image_path(entry, source) for entry in images),
            tuple((key, text) for key, text in texts.items() if key not in COLUMNS and text),
        )
        yield ListedConcept(number, concept, columns)


def _several(cell: _Cell) -> tuple[str, ...]:
    parts = cell.split("|") if isinstance(cell, str) else cell
    return tuple(part.strip() for part in parts if part.strip())


def _image_path(entry: str, source: Path) -> str:
    """The entry as a path from the folder of the list; as it is where it is a key into vectors, which need no file."""
    path = source.absolute().parent / expand_home(entry)
    try:
        there = path.exists()
    except OSError:  # longer than a name may be
        return entry
    return str(path) if there or glob.has_magic(entry) else entry


def _mapped(source: Path, header: list[str], mapping: Mapping[str, str]) -> list[str]:
    """Our names of the columns: those that `mapping` states, and those of the others that are not taken by it."""
    columns = [title if name in mapping else name for title, name in zip(header, _columns(header), strict=True)]
    for role, place in stated_roles(mapping, header, len(header), source).items():
        columns[place] = role
    return columns


def _table_rows(
    source: Path, rows: Iterator[tuple[int, list[str]]], warn: Warn, mapping: Mapping[str, str] = NO_MAPPING
) -> _Rows:
    first = next(rows, None)
    if first is None:
        raise InputError("holds no concepts", source)
    header, stated = _mapped(source, first[1], mapping), first[1]
    plain = set(map(cells.plain, first[1]))
    untitled = [title for title in mapping.values() if title.isdecimal() and title not in first[1]]
    if mapping and (len(untitled) < len(mapping) or _is_header(first[1], _columns(first[1]))):
        check_distinct(source, [title for title in header if title], first[0])
    elif mapping:  # columns by number, and no titles
        header = stated = [name if name in mapping else "" for name in header]
        yield first[0], _row(source, header, *first), _by_title(stated, first[1])
    elif _is_header(first[1], header):
        check_distinct(source, [title for title in header if title], first[0])
        if len(header) == 1 and plain != {"name"}:  # a lone word that is no name of ours may well be a concept
            message = f"'{first[1][0].strip()}' is read as the title of the column"
            warn(f"{source}:{first[0]}: {message}; if it is a concept, write a line 'name' above it")
    elif len(plain) > 1 and not plain.isdisjoint(_TITLES) and all(cell.strip().isidentifier() for cell in first[1]):
        message = f"looks like a header, but no title in it is one of names ({_listed(first[1])})"
        raise InputError(f"{message}; call that column 'name'", source, first[0])
    else:
        header = stated = ["name", "description"][: max(1, len(first[1]))]
        if any(cell.strip() for cell in first[1][len(header) :]):
            message = f"{len(first[1])} columns, and no title that is known ({_listed(first[1])})"
            raise InputError(f"{message}; write a row of titles above, with 'name' for the names", source, first[0])
        if any(cell.strip() for cell in first[1][1:]):
            message = f"no title is known here ({_listed(first[1])}), so the first row is read as a concept"
            warn(f"{source}:{first[0]}: {message}, its columns as name and description; 'name' as a title changes that")
        yield first[0], _row(source, header, *first), _by_title(stated, first[1])
    for number, texts in rows:
        yield number, _row(source, header, number, texts), _by_title(stated, texts)


def _listed(row: list[str]) -> str:
    """The cells of a row as a message shows them."""
    shown = [repr(cell.strip()[:_LONGEST_SHOWN]) for cell in row[:_SHOWN]]
    return ", ".join([*shown, "…"] if len(row) > _SHOWN else shown)


def _is_header(first: list[str], header: list[str]) -> bool:
    """Whether the first row of a table holds titles, and not its first concept."""
    plain = set(map(cells.plain, first))
    named = [titles.words(cell) for cell, column in zip(first, header, strict=True) if column == "name"]
    if "name" in plain:
        return True
    if plain <= _TITLES and not {"name", "image"}.isdisjoint(map(cells.plain, header)):
        return True
    if not named or any(len(cell.split()) > _LONGEST_TITLE for cell in first):
        return False
    usual = _EVERYDAY.isdisjoint(named) and not set(titles.NAME).isdisjoint(named)
    return usual or any(column in COLUMNS and column != "name" for column in header)


def _by_title(header: list[str], texts: list[str]) -> dict[str, str]:
    """The cells by title; columns without a title are left out."""
    return {title: text for title, text in zip(header, [*texts, *[""] * len(header)]) if title}


def _columns(header: list[str]) -> list[str]:
    """Our names of the columns with these titles; titles we do not know as they are.

    Titles of ours come first, then the usual ones of several languages, the most usual of them for each column.
    """
    plain = [cells.plain(title) for title in header]
    columns = [cells.column_name(title) for title in header]
    for role, spellings in _ROLES.items():
        best = next((title for title in spellings if title in plain), None)
        columns = [role if title == best else column for title, column in zip(plain, columns, strict=True)]
    ours = {column.removesuffix(cells.ESCAPED) for column in columns}
    ranked: dict[str, tuple[int, int]] = {}
    for i, title in enumerate(header):
        item = titles.meaning_in_list(title) if columns[i].removesuffix(cells.ESCAPED) not in COLUMNS else None
        if item is not None and item.role in COLUMNS and item.role not in ours:
            ranked[item.role] = min(ranked.get(item.role, (item.rank, i)), (item.rank, i))
    for role, (_, i) in ranked.items():
        columns[i] = role + cells.ESCAPED * header[i].strip().endswith(cells.ESCAPED)
    return columns


def _row(source: Path, header: list[str], number: int, texts: list[str]) -> dict[str, _Cell]:
    if any(text.strip() for text in texts[len(header) :]):
        titles = ", ".join(header)
        raise InputError(f"{len(texts)} columns where {len(header)} are known ({titles})", source, number)
    row: dict[str, _Cell] = {}
    for column, text in zip(header, texts):
        if text and column.removesuffix(cells.ESCAPED) in COLUMNS:
            name, several = cells.read_column(column, text)
            row[name] = several if name in _LISTS else several[0]
        elif text and column:
            row[column] = text
    return row


def _json_rows(source: Path, roles: Mapping[str, str] = NO_MAPPING) -> _Rows:
    for number, line in numbered_lines(source):
        if not line.strip():
            continue
        row = json_values.parse(line, source, number)
        if not isinstance(row, dict):
            raise InputError('one JSON object a line is expected, like {"name": "…"}', source, number)
        taken = {role for key, role in roles.items() if key in row}
        kept = [(roles.get(key, key), value) for key, value in row.items() if key in roles or key not in taken]
        yield number, {key: _json_cell(key, value, source, number) for key, value in kept}, row


def _json_cell(key: str, value: object, source: Path, number: int) -> _Cell:
    if value is None:
        return ""
    number_or_text = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    if number_or_text and not isinstance(value, bool):
        return str(value)
    if key in _LISTS and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    if key not in COLUMNS:
        return json.dumps(value, ensure_ascii=False, default=str)
    wanted = "a text or a list of texts" if key in _LISTS else "a text"
    raise InputError(f"'{key}' must be {wanted}", source, number)
