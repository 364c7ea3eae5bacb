"""Answers in files: JSON lines, one JSON list, CSV, TSV or Parquet, each made of parts that are joined at the end."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from taxosphere.errors import InputError, require
from taxosphere.placing.list_reader import COLUMNS, ListedConcept
from taxosphere.scale.placer import answer_schema, arrow_row
from taxosphere.taxonomy.formats.io.tables import format_row

Answered = tuple[ListedConcept, Mapping[str, Any]]
SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet"}
_ALREADY, _NONE = "already_there_as", "none_probability"


class AnswerFormat(Protocol):
    """How answers become bytes."""

    def encode(self, rows: Sequence[Answered]) -> bytes:
        """One part."""

    def join(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The whole file from its parts, piece by piece."""


def format_of(path: Path) -> str:
    """The name of the format that the suffix of a file to write stands for; `InputError` where it is none."""
    try:
        return SUFFIXES[path.suffix.lower()]
    except KeyError:
        raise InputError(f"suggestions are written to {', '.join(SUFFIXES)} files", path) from None


def make_format(name: str, columns: Sequence[str], source: Path, k: int) -> AnswerFormat:
    """A format by name.

    Parameters
    ----------
    name : str
        A value of `SUFFIXES`.
    columns : sequence of str
        Titles of the list's own columns, in their order.
    source : Path
        The list, for messages and for the types of its columns where it is a Parquet file.
    k : int
        How many parents are written in a row of a table.
    """
    if name in ("csv", "tsv"):
        return Table(columns, source, k, "," if name == "csv" else "\t")
    if name == "parquet":
        return Parquet(columns, source)
    return JsonList() if name == "json" else JsonLines()


def answer_document(row: ListedConcept, answer: Mapping[str, Any]) -> dict[str, Any]:
    """One document with the query, the answer and, where the list has columns of its own, the whole row."""
    concept = row.concept
    query: dict[str, Any] = {"id": concept.id, "name": concept.name, "description": concept.description}
    query |= {"images": list(concept.images)} if concept.images else {}
    foreign = {} if set(row.columns) <= set(COLUMNS) else {"columns": dict(row.columns)}
    return {"query": query, **foreign, **answer}


class JsonLines:
    """A document a line."""

    def encode(self, rows: Sequence[Answered]) -> bytes:
        """The lines of some rows."""
        documents = (answer_document(*row) for row in rows)
        lines = [json.dumps(one, ensure_ascii=False, allow_nan=False, default=str) + "\n" for one in documents]
        return "".join(lines).encode()

    def join(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """All lines."""
        return iter(parts)


class JsonList(JsonLines):
    """One JSON list, a document a line."""

    def join(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """The list; its brackets stand on lines of their own."""
        yield b"[\n"
        before = b""
        for part in parts:
            yield before + part.removesuffix(b"\n").replace(b"\n", b",\n")
            before = b",\n"
        yield b"\n]\n"


class Table:
    """The list's own columns, then the parents.

    Parameters
    ----------
    columns : sequence of str
        Titles of the list's own columns.
    source : Path
        The list, for messages.
    k : int
        How many parents a row has.
    between : str
        What separates cells.
    """

    def __init__(self, columns: Sequence[str], source: Path, k: int, between: str) -> None:
        self.columns = list(columns)
        self.source = source
        self.k = k
        self.between = between
        ours = [title for rank in range(1, k + 1) for title in _titles(rank)]
        self.header = [*self.columns, *ours, _NONE, _ALREADY]
        _check_titles(self.columns, self.header[len(self.columns) :], source)

    def encode(self, rows: Sequence[Answered]) -> bytes:
        """The lines of some rows."""
        return "".join(format_row(self._cells(*row), self.between) for row in rows).encode()

    def join(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """A header and all lines."""
        yield format_row(self.header, self.between).encode()
        yield from parts

    def _cells(self, row: ListedConcept, answer: Mapping[str, Any]) -> list[str]:
        check_columns(row, self.columns, self.source)
        cells = [_text(row.columns.get(title)) for title in self.columns]
        for rank in range(self.k):
            if rank < len(answer["suggestions"]):
                one = answer["suggestions"][rank]
                cells += [one["id"], one["name"], " > ".join(one["path"]), f"{one['probability']:.6f}"]
            else:
                cells += [""] * len(_titles(rank))
        already = "|".join(match["name"] for match in answer["already"])
        return [*cells, f"{answer['none_probability']:.6f}", already]


class Parquet:
    """The list's own columns, then those of `Placer`; a part is a row group.

    Parameters
    ----------
    columns : sequence of str
        Titles of the list's own columns.
    source : Path
        The list. The columns of a Parquet file keep their types, those of other lists are texts.
    """

    def __init__(self, columns: Sequence[str], source: Path) -> None:
        self._arrow = require("pyarrow", "parquet")
        self._parquet = require("pyarrow.parquet", "parquet")
        self.columns = list(columns)
        self.source = source
        self.typed = source.suffix.lower() in (".parquet", ".pq")
        fields = [(title, self._arrow.string()) for title in columns]
        if self.typed:
            fields = list(self._parquet.read_schema(source))
        answer = answer_schema()
        _check_titles(self.columns, answer.names, source)
        self.schema = self._arrow.schema([*fields, *answer])

    def encode(self, rows: Sequence[Answered]) -> bytes:
        """A Parquet file of some rows."""
        table = self._arrow.Table.from_pylist([self._row(*row) for row in rows], schema=self.schema)
        target = io.BytesIO()
        self._parquet.write_table(table, target)
        return target.getvalue()

    def _row(self, row: ListedConcept, answer: Mapping[str, Any]) -> dict[str, Any]:
        check_columns(row, self.columns, self.source)
        values = row.columns if self.typed else {title: _text(row.columns.get(title)) for title in self.columns}
        return {**values, **arrow_row(dict(answer))}

    def join(self, parts: Iterable[bytes]) -> Iterator[bytes]:
        """One Parquet file of all parts."""
        pieces = _Pieces()
        with self._parquet.ParquetWriter(pieces, self.schema) as writer:
            for part in parts:
                writer.write_table(self._parquet.read_table(io.BytesIO(part)))
                yield pieces.take()
        yield pieces.take()


class _Pieces(io.RawIOBase):
    """A file that hands on what is written to it."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._position = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._pieces.append(piece)
        self._position += len(piece)
        return len(piece)

    def take(self) -> bytes:
        """Everything written since the last call."""
        whole = b"".join(self._pieces)
        self._pieces.clear()
        return whole


def check_columns(row: ListedConcept, columns: Sequence[str], source: Path) -> None:
    """Raise `InputError` where a row has a key that none of the first rows had: a table has no place for it."""
    key = next((key for key in row.columns if key not in columns), None)
    if key is not None:
        message = f"the key '{key}' was in none of the first rows, so the table has no column for it; write .jsonl"
        raise InputError(message, source, row.line)


def _check_titles(columns: Sequence[str], ours: Sequence[str], source: Path) -> None:
    taken = next((title for title in columns if title in ours), None)
    if taken is not None:
        raise InputError(f"has a column '{taken}', which the suggestions need; rename it", source)


def _titles(rank: int) -> tuple[str, ...]:
    return f"parent_{rank}", f"parent_{rank}_name", f"parent_{rank}_path", f"parent_{rank}_probability"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
