"""Rows of quoted text tables (CSV and TSV), each with the line it began on."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import delimiter
from taxosphere.taxonomy.formats.io.streams import OLD_LINE_ENDS, bare_suffix, check_line_ends, open_text

# A quoted cell that runs over more lines than this is a stray quotation mark.
MOST_LINES = 200

Row = tuple[int, list[str]]


def separator(path: Path) -> str:
    return "," if bare_suffix(path) == ".csv" else "\t"


def read_rows(path: Path, between: str = "", encoding: str | None = None) -> Iterator[Row]:
    """Rows that are not empty. In a comma table quotes must match; in a tab table a stray quote stands for itself.

    ``between`` says which of the two it is, "," or a tab, where the suffix does not; without ``encoding`` it is UTF-8.
    """
    with open_text(path, encoding) as handle:
        lines = _without_nul(path, handle)
        if (between or separator(path)) == "\t":
            first = next(lines, "")
            if not first.endswith("\n"):
                check_line_ends(path, first)
            yield from tab_rows(chain([first], lines))
            return
        head = list(islice(lines, delimiter.HEAD))
        between = delimiter.of(head)
        if head and delimiter.stated(head[0]):
            head[0] = "\n"  # an empty line in its place keeps the count
        rows = chain(head, lines)
        yield from tab_rows(rows) if between == "\t" else strict_rows(path, rows, between)


def delimiter_to_write(path: Path, kept: Mapping[str, Any]) -> str:
    return str(kept.get("comma", ",")) if separator(path) == "," else "\t"


def records(path: Path) -> tuple[Row, Iterator[Row]]:
    """The titles of the columns with their line, and rows as wide as they are."""
    rows = read_rows(path)
    first, header = next(rows, (1, list[str]()))
    header = [title.strip() for title in header]
    check_distinct(path, [title for title in header if title], first)
    return (first, header), (_fitted(path, row, len(header)) for row in rows)


def check_distinct(path: Path, names: Sequence[str], line: int = 1) -> None:
    """Two spellings of one column, with and without brackets, are one."""
    bare = [name.removesuffix("[]") for name in names]
    twice = next((name for name in bare if bare.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the header names the column '{twice}' twice", path=path, line=line)


def _fitted(path: Path, row: Row, width: int) -> Row:
    number, cells = row
    if len(cells) > width:
        raise InputError(f"{len(cells)} columns where the header names {width}", path=path, line=number)
    return number, cells + [""] * (width - len(cells))


def _without_nul(path: Path, lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise InputError("holds a NUL byte; this is not a text file", path=path, line=number)
        yield line


def strict_rows(path: Path, lines: Iterator[str], between: str) -> Iterator[Row]:
    reader = csv.reader(lines, delimiter=between, strict=True, skipinitialspace=True)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            text = OLD_LINE_ENDS if "new-line" in str(error) else f"{error}; are the quotation marks complete?"
            raise InputError(text, path=path, line=start) from None
        if any(cells):
            yield start, cells


def tab_rows(lines: Iterator[str]) -> Iterator[Row]:
    waiting: deque[str] = deque()
    number = 1
    while True:
        line = waiting.popleft() if waiting else next(lines, None)
        if line is None:
            return
        used = 1
        if '"' not in line:
            cells = line.rstrip("\r\n").split("\t")
        else:
            cells, used = _quoted_row(line, waiting, lines)
        if any(cells):
            yield number, cells
        number += used


def _quoted_row(line: str, waiting: deque[str], lines: Iterator[str]) -> tuple[list[str], int]:
    """Cells and the number of lines they took; looks ahead for the closing quote and gives unused lines back."""
    taken = [line]
    while True:
        try:
            cells = next(csv.reader(taken, delimiter="\t", strict=True))
        except csv.Error as error:
            open_quote = "unexpected end" in str(error)
            more = _next_line(len(taken) - 1, waiting, lines) if open_quote and len(taken) < MOST_LINES else None
            if more is None:
                return line.rstrip("\r\n").split("\t"), 1
            taken.append(more)
        else:
            for _ in taken[1:]:
                waiting.popleft()
            return cells, len(taken)


def _next_line(ahead: int, waiting: deque[str], lines: Iterator[str]) -> str | None:
    while len(waiting) <= ahead:
        line = next(lines, None)
        if line is None:
            return None
        waiting.append(line)
    return waiting[ahead]


def format_row(cells: Iterable[str], between: str, quote_all: bool = False) -> str:
    """One line with its end. Unlike the csv module this also quotes cells with leading spaces, which readers skip."""
    return between.join(_quote(cell, between, quote_all) for cell in cells) + "\n"


def _quote(cell: str, between: str, always: bool) -> str:
    special = always or between in cell or '"' in cell or "\n" in cell or "\r" in cell or cell != cell.lstrip()
    return '"' + cell.replace('"', '""') + '"' if special else cell
