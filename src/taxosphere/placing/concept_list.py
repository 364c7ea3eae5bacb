"""Lists of new concepts: from a table, JSON lines, a text with one name a line, or Python values."""

from __future__ import annotations

import glob
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from os import PathLike
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats import obo
from taxosphere.taxonomy.formats.io import cells, json_values
from taxosphere.taxonomy.formats.io.draft import LONGEST_TEXT
from taxosphere.taxonomy.formats.io.streams import bare_suffix, expand_home, numbered_lines
from taxosphere.taxonomy.formats.io.tables import check_distinct, read_rows
from taxosphere.taxonomy.ids import IdMinter, style_of

COLUMNS = ("id", "name", "description", "synonyms", "image")
_LISTS = ("synonyms", "image")
_ROLES = {"id": (*cells.ROLES["id"], "class_id"), "name": (*cells.ROLES["name"], "preferred_label", "term")}
_TITLES = cells.TITLES.union(*_ROLES.values())
New = str | tuple[str, str | None] | Concept
_Cell = str | list[str]
_Rows = Iterator[tuple[int, dict[str, _Cell]]]


def read_concepts(
    path: str | PathLike[str], taxonomy: Taxonomy, warn: Callable[[str], object] = lambda _line: None
) -> list[Concept]:
    """Read new concepts from a file.

    Parameters
    ----------
    path
        A .tsv or .csv table, a .jsonl file with an object a line, or a .txt file with a name a line; packed or not.
    taxonomy
        Concepts without an id get one in the pattern of its ids.
    warn
        Called with a line of text about what may have been meant otherwise.

    Raises
    ------
    InputError
        The file is none of these, holds no concepts or a bad one, or an id is taken.
    """
    source = Path(path)
    suffix = bare_suffix(source)
    if suffix in (".jsonl", ".ndjson"):
        rows = _json_rows(source)
    elif suffix == ".txt":
        rows = ((number, dict[str, _Cell](name=line)) for number, line in numbered_lines(source) if line.strip())
    elif suffix in (".tsv", ".csv"):
        rows = _table_rows(source, warn)
    else:
        raise InputError("a list of concepts is a .tsv, .csv, .jsonl or .txt file", source)
    concepts = with_ids(_concepts(source, rows), taxonomy, source)
    if not concepts:
        raise InputError("holds no concepts", source)
    return concepts


def with_ids(
    numbered: Iterable[tuple[int, Concept]],
    taxonomy: Taxonomy,
    source: Path | None = None,
) -> list[Concept]:
    """Concepts with ids: those without one get one in the pattern of the taxonomy's.

    Parameters
    ----------
    numbered
        Concepts with their line in the file, 0 where there is none.
    taxonomy
        The taxonomy they are new to.
    source
        The file, for messages.

    Raises
    ------
    InputError
        An id is taken, or a text cannot be written to any format.
    """
    concepts = list(numbered)
    stated, kept = {concept.id for _, concept in concepts}, obo.kept_ids(taxonomy)
    new = set[str]()

    def there(id: str) -> bool:
        return id in taxonomy or id in new or id in kept

    def taken(id: str) -> bool:
        return there(id) or id in stated

    minter = IdMinter(style_of(taxonomy), taken)
    complete = []
    for number, concept in concepts:
        _check_texts(concept, source, number or None)
        id = concept.id or minter.mint(concept.name or "image")
        if there(id):
            raise InputError(f"the id '{id}' is taken; choose another or leave it empty", source, number or None)
        new.add(id)
        complete.append(replace(concept, id=id))
    return complete


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
            ),
        )


def _several(cell: _Cell) -> tuple[str, ...]:
    parts = cell.split("|") if isinstance(cell, str) else cell
    return tuple(part.strip() for part in parts if part.strip())


def _image_path(entry: str, source: Path) -> str:
    """The entry as a path from the folder of the list; as it is where it is a key into vectors, which need no file."""
    path = source.absolute().parent / expand_home(entry)
    return str(path) if path.exists() or glob.has_magic(entry) else entry


def _table_rows(source: Path, warn: Callable[[str], object]) -> _Rows:
    rows = read_rows(source)
    first = next(rows, None)
    if first is None:
        raise InputError("holds no concepts", source)
    header = _columns(first[1])
    plain = set(map(cells.plain, first[1]))
    if "name" in plain or (plain <= _TITLES and not {"name", "image"}.isdisjoint(map(cells.plain, header))):
        check_distinct(source, header, first[0])
        lists = [name + cells.ESCAPED for name in _LISTS]
        unknown = [column for column in header if column not in (*COLUMNS, *lists)]
        if unknown:
            raise InputError(f"unknown column '{unknown[0]}'; known are {', '.join(COLUMNS)}", source, first[0])
        if len(header) == 1 and plain != {"name"}:  # a single word other than "name" may well be a concept
            title = f"'{first[1][0].strip()}' is read as the title of the column"
            warn(f"{source}:{first[0]}: {title}; if it is a concept, write a line 'name' above it")
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
    if len(texts) > len(header):
        names = ", ".join(header)
        raise InputError(f"{len(texts)} columns where {len(header)} are known ({names})", source, number)
    values = dict(cells.read_column(column, text) for column, text in zip(header, texts) if text)
    return {name: several if name in _LISTS else several[0] for name, several in values.items()}


def _json_rows(source: Path) -> _Rows:
    for number, line in numbered_lines(source):
        if not line.strip():
            continue
        row = json_values.parse(line, source, number)
        if not isinstance(row, dict):
            raise InputError('one JSON object a line is expected, like {"name": "…"}', source, number)
        unknown = [key for key in row if key not in COLUMNS]
        if unknown:
            raise InputError(f"unknown key '{unknown[0]}'; known are {', '.join(COLUMNS)}", source, number)
        yield number, {key: _json_cell(key, value, source, number) for key, value in row.items()}


def _json_cell(key: str, value: object, source: Path, number: int) -> _Cell:
    if value is None:
        return ""
    number_or_text = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    if number_or_text and not isinstance(value, bool):
        return str(value)
    if key in _LISTS and isinstance(value, list) and all(isinstance(part, str) for part in value):
        return value
    expected = "a text or a list of texts" if key in _LISTS else "a text"
    raise InputError(f"'{key}' must be {expected}", source, number)
