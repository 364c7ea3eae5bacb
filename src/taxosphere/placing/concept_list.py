"""Lists of new concepts: from a table, JSON lines, a text with one name a line, or Python values."""

from __future__ import annotations

import glob
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats import obo
from taxosphere.taxonomy.formats.io import cells, json_values, workbook
from taxosphere.taxonomy.formats.io.draft import LONGEST_TEXT
from taxosphere.taxonomy.formats.io.streams import bare_suffix, expand_home, numbered_lines
from taxosphere.taxonomy.formats.io.tables import check_distinct, read_rows
from taxosphere.taxonomy.ids import IdMinter, parse_pattern, style_of

COLUMNS = ("id", "name", "description", "synonyms", "image")
_LISTS = ("synonyms", "image")
_ROLES = {"id": (*cells.ROLES["id"], "class_id"), "name": (*cells.ROLES["name"], "preferred_label", "term")}
_TITLES = cells.TITLES.union(*_ROLES.values())
_LONGEST_TITLE = 3  # words; a definition beside a concept that is called "label" has more
New = str | tuple[str, str | None] | Concept
_Cell = str | list[str]
_Rows = Iterator[tuple[int, dict[str, _Cell]]]


def read_concepts(
    path: str | PathLike[str], taxonomy: Taxonomy, warn: Callable[[str], object] = lambda _line: None
) -> list[Concept]:
    """New concepts from a file; one without an id gets one in the style of the taxonomy's. ``warn`` is told what may
    have been meant otherwise."""
    return with_ids(read_list(path, warn), taxonomy, Path(path))


def read_list(
    path: str | PathLike[str], warn: Callable[[str], object] = lambda _line: None
) -> list[tuple[int, Concept]]:
    """New concepts from a file as they stand there, each with its line.

    Parameters
    ----------
    path
        A table (``.tsv``, ``.csv``, ``.xlsx``, ``.xls``, ``.ods``), JSON lines, or one name a line (``.txt``). Columns
        and keys that are none of `COLUMNS` are kept in the extras of the concepts.
    warn
        Called with one line about what may have been meant otherwise.

    Raises
    ------
    InputError
        With the line, where it is no list of concepts.
    """
    source = Path(path)
    suffix = bare_suffix(source)
    if suffix in (".jsonl", ".ndjson"):
        rows = _json_rows(source)
    elif suffix == ".txt":
        rows = ((number, dict[str, _Cell](name=line)) for number, line in numbered_lines(source) if line.strip())
    elif suffix in (".tsv", ".csv"):
        rows = _table_rows(source, read_rows(source), warn)
    elif suffix in workbook.SUFFIXES:
        rows = _table_rows(source, _sheet_rows(source), warn)
    else:
        raise InputError("a list of concepts is a .tsv, .csv, .xlsx, .jsonl or .txt file", source)
    concepts = list(_concepts(source, rows))
    if not concepts:
        raise InputError("holds no concepts", source)
    return concepts


def _sheet_rows(source: Path) -> Iterator[tuple[int, list[str]]]:
    sheets = workbook.sheets(source)
    grid = next(iter(sheets.values()))() if sheets else []
    return ((number, row) for number, row in enumerate(grid, 1) if any(cell.strip() for cell in row))


def with_ids(
    numbered: Iterable[tuple[int, Concept]],
    taxonomy: Taxonomy,
    source: Path | None = None,
    *,
    pattern: str = "",
    reserved: Collection[str] = (),
) -> list[Concept]:
    """Give ids to concepts that have none, and refuse ids that are taken.

    Parameters
    ----------
    numbered
        Concepts with their lines.
    taxonomy
        Where they are going to; its ids are taken.
    source
        The file they come from, for messages.
    pattern
        Of new ids, see `parse_pattern`; without, the style of the taxonomy goes on.
    reserved
        Ids that no new concept may get besides.

    Raises
    ------
    InputError
        With the line, where an id is taken.
    """
    concepts = list(numbered)
    stated, kept = {concept.id for _, concept in concepts}, obo.kept_ids(taxonomy)
    new = set[str]()

    def there(id: str) -> bool:
        return id in taxonomy or id in new or id in kept

    def taken(id: str) -> bool:
        return there(id) or id in stated or id in reserved

    used = (*taxonomy.ids, *kept, *reserved) if pattern else ()
    minter = IdMinter(parse_pattern(pattern) if pattern else style_of(taxonomy), taken, used)
    numbered_ids = []
    for number, concept in concepts:
        _check_texts(concept, source, number or None)
        id = concept.id or minter.mint(concept.name or "image")
        if there(id):
            raise InputError(f"the id '{id}' is taken; choose another or leave it empty", source, number or None)
        new.add(id)
        numbered_ids.append(replace(concept, id=id))
    return numbered_ids


def as_concepts(concepts: Iterable[New], taxonomy: Taxonomy) -> list[Concept]:
    """Python values as concepts, each with an id of its own.

    Parameters
    ----------
    concepts
        Names, (name, description) pairs or `Concept` objects.
    taxonomy
        The taxonomy they are new to.

    Raises
    ------
    TypeError
        A value is none of these.
    InputError
        As for `with_ids`.
    """
    if isinstance(concepts, str | Concept):
        raise TypeError("a list of new concepts is expected, not one alone")
    return with_ids([(0, _as_concept(value)) for value in concepts], taxonomy)


def one_concept(concept: New, description: str = "", images: Sequence[str | PathLike[str]] = ()) -> New:
    """One new concept from a name with its description and images, or what has these already.

    Parameters
    ----------
    concept
        A name, a (name, description) pair or a `Concept`.
    description, images
        Of a name alone.

    Raises
    ------
    TypeError
        A pair or a `Concept` has a description or images beside it.
    InputError
        There is neither a name nor an image.
    """
    if description or images:
        if not isinstance(concept, str):
            raise TypeError("a pair or a Concept brings its own description and images")
        files = [images] if isinstance(images, str | PathLike) else images
        concept = Concept("", concept.strip(), description, images=tuple(map(str, files)))
    if isinstance(concept, str) and not concept.strip():
        raise InputError("a new concept needs a name (or images, where the model was fitted with some)")
    return concept


def _as_concept(value: New) -> Concept:
    if isinstance(value, Concept):
        return value
    name, description = value if isinstance(value, tuple) and len(value) == 2 else (value, None)
    if not isinstance(name, str) or not isinstance(description, str | None):
        raise TypeError(f"a new concept is a name, a (name, description) pair or a Concept, not {value!r}")
    return Concept("", name.strip(), description or "")


def _check_texts(concept: Concept, source: Path | None, number: int | None) -> None:
    extras = chain.from_iterable(concept.extras)
    for text in (concept.id, concept.name, concept.description, *concept.synonyms, *concept.images, *extras):
        if "\0" in text:
            raise InputError(f"a NUL character in {text!a}, which no format can hold", source, number)
        if len(text) > LONGEST_TEXT:
            raise InputError(f"a text of {len(text):,} characters; at most {LONGEST_TEXT:,} are read", source, number)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"half a character in {text!a}, which is no UTF-8 text", source, number) from None


def _concepts(source: Path, rows: _Rows) -> Iterator[tuple[int, Concept]]:
    for number, row in rows:
        texts = {key: cell.strip() for key, cell in row.items() if isinstance(cell, str)}
        name, images = texts.get("name", ""), _several(row.get("image", ""))
        if not name and not images:
            raise InputError("a concept without a name; give it one, or an image", source, number)
        yield (
            number,
            Concept(
                texts.get("id", ""),
                name,
                texts.get("description", ""),
                _several(row.get("synonyms", "")),
                tuple(_image_path(entry, source) for entry in images),
                tuple((key, text) for key, text in texts.items() if key not in COLUMNS and text),
            ),
        )


def _several(cell: _Cell) -> tuple[str, ...]:
    parts = cell.split("|") if isinstance(cell, str) else cell
    return tuple(part.strip() for part in parts if part.strip())


def _image_path(entry: str, source: Path) -> str:
    """The entry as a path from the folder of the list; as it is where it is a key into vectors, which need no file."""
    path = source.absolute().parent / expand_home(entry)
    return str(path) if path.exists() or glob.has_magic(entry) else entry


def _table_rows(source: Path, rows: Iterator[tuple[int, list[str]]], warn: Callable[[str], object]) -> _Rows:
    first = next(rows, None)
    if first is None:
        raise InputError("holds no concepts", source)
    header = _columns(first[1])
    plain = set(map(cells.plain, first[1]))
    short = len(first[1]) > 1 and all(len(cell.split()) <= _LONGEST_TITLE for cell in first[1])
    named = "name" in plain or (short and not plain.isdisjoint(_ROLES["name"]))
    if named or (plain <= _TITLES and not {"name", "image"}.isdisjoint(map(cells.plain, header))):
        check_distinct(source, [title for title in header if title], first[0])
        if len(header) == 1 and plain != {"name"}:  # a lone word that is no name of ours may well be a concept
            message = f"'{first[1][0].strip()}' is read as the title of the column"
            warn(f"{source}:{first[0]}: {message}; if it is a concept, write a line 'name' above it")
    elif len(plain) > 1 and not plain.isdisjoint(_TITLES) and all(cell.strip().isidentifier() for cell in first[1]):
        hint = f"title its columns {', '.join(COLUMNS)}, or give the list a header"
        raise InputError(f"looks like a header, but its titles are not known; {hint}", source, first[0])
    else:
        header = ["name", "description"]
        yield first[0], _row(source, header, *first)
    for number, texts in rows:
        yield number, _row(source, header, number, texts)


def _columns(titles: list[str]) -> list[str]:
    """Our names of the columns with these titles; titles we do not know as they are."""
    plain = [cells.plain(title) for title in titles]
    columns = [cells.column_name(title) for title in titles]
    for role, spellings in _ROLES.items():
        best = next((title for title in spellings if title in plain), None)
        columns = [role if title == best else column for title, column in zip(plain, columns, strict=True)]
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


def _json_rows(source: Path) -> _Rows:
    for number, line in numbered_lines(source):
        if not line.strip():
            continue
        row = json_values.parse(line, source, number)
        if not isinstance(row, dict):
            raise InputError('one JSON object a line is expected, like {"name": "…"}', source, number)
        yield number, {key: _json_cell(key, value, source, number) for key, value in row.items()}


def _json_cell(key: str, value: object, source: Path, number: int) -> _Cell:
    if value is None:
        return ""
    number_or_text = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    if number_or_text and not isinstance(value, bool):
        return str(value)
    if key in _LISTS and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    if key not in COLUMNS:
        return json.dumps(value, ensure_ascii=False)
    wanted = "a text or a list of texts" if key in _LISTS else "a text"
    raise InputError(f"'{key}' must be {wanted}", source, number)
