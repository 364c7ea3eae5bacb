"""Tables for people: CSV as Excel writes it, XLSX, and plain TSV; written whole, read with the row of each line.

A spreadsheet takes a cell that begins with ``= + - @`` for a formula. In CSV such a cell gets an apostrophe in front,
which the reader takes off again; in XLSX it is marked as text; TSV is not meant for a spreadsheet and stays plain.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from taxosphere import atomic
from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats.io import compression, delimiter, tables, workbook
from taxosphere.taxonomy.formats.io.encodings import recognise
from taxosphere.taxonomy.formats.io.streams import open_text, reading

SUFFIXES = (".csv", ".tsv", ".xlsx")
LONGEST_CELL = 32_767  # characters, in Excel
_RISKY = re.compile(r"'*[=+\-@\t\r]")
_GUARDED = re.compile(r"'+[=+\-@\t\r]")
_NOT_IN_XML = re.compile("[\ufffe\uffff]")
_FORMULA = re.compile(rb'<c\b[^>]*?\sr="([A-Z]{1,3})([0-9]{1,7})"[^>]*>\s*<f[\s>/]')
_WIDE, _NARROW = 40, 14  # columns in characters
_ABOVE = 20  # rows in which titles are looked for: people write a line above them

Row = tuple[int, list[str]]
Table = tuple[Row, list[Row]]  # titles, and rows, each with its number


def suffix_of(path: str | PathLike[str]) -> str:
    """The suffix of a table, refused with `InputError` where it is none of `SUFFIXES`."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a table of decisions is a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file", path)
    if suffix == ".xlsx":
        require("openpyxl", "sheets")
    return suffix


def delimiter_of(path: Path) -> str:
    """What stands between the cells of a CSV file that a user has, which is what the user's Excel expects."""
    if path.suffix.lower() != ".csv":
        return ","
    with open_text(path, recognise(path)[0]) as handle:
        between = delimiter.of(list(islice(handle, delimiter.HEAD)))
    return between if between in ",;" else ","


def guard(cell: str) -> str:
    """The cell with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{cell}" if _RISKY.match(cell) else cell


def unguard(cell: str) -> str:
    """The inverse of `guard`."""
    return cell[1:] if _GUARDED.match(cell) else cell


# -- writing ----------------------------------------------------------------------------------------------------------


def write(
    path: str | PathLike[str],
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    between: str = ",",
    choices: Sequence[str] = (),
    numbers: Sequence[str] = (),
) -> None:
    """Write a table in the format that its suffix names.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.xlsx`` file.
    header, rows
        Titles, and cells as wide as them.
    between
        What stands between the cells of a CSV file; semicolons where Excel's language wants them.
    choices
        Words to choose from in the first column of a workbook.
    numbers
        Titles of columns whose cells are numbers in a workbook, to be sorted and filtered as such.
    """
    suffix = suffix_of(path)
    with atomic.file(path) as temporary:
        if suffix == ".xlsx":
            _write_workbook(temporary, header, rows, choices, numbers)
            return
        excel = suffix == ".csv"
        with temporary.open("w", encoding="utf-8-sig" if excel else "utf-8", newline="") as handle:
            writer = csv.writer(handle, delimiter=between if excel else "\t", lineterminator="\r\n" if excel else "\n")
            for row in chain([header], rows):
                writer.writerow([guard(cell) for cell in row] if excel else row)


def _write_workbook(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[str]], choices: Sequence[str], numbers: Sequence[str]
) -> None:
    openpyxl: Any = require("openpyxl", "sheets")
    written: Any = require("openpyxl.cell", "sheets")
    validation: Any = require("openpyxl.worksheet.datavalidation", "sheets")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("decisions")
    sheet.freeze_panes = "A2"
    for number, title in enumerate(header):
        sheet.column_dimensions[_letters(number)].width = _NARROW if len(title) < 10 else _WIDE
    if choices:
        listed = validation.DataValidation(type="list", formula1=f'"{",".join(choices)}"', allow_blank=True)
        listed.add("A2:A1048576")
        sheet.data_validations.append(listed)

    def cell(text: str) -> Any:
        content = workbook.escape(_NOT_IN_XML.sub("\ufffd", text))[:LONGEST_CELL]
        if not _RISKY.match(text):
            return content or None
        made = written.WriteOnlyCell(sheet, value="")
        made.value, made.data_type = content, "s"  # openpyxl makes a formula of what begins with '='
        made.quotePrefix = True
        return made

    def numeric_cell(text: str) -> Any:
        if not text:
            return None
        made = written.WriteOnlyCell(sheet, value=float(text))
        made.number_format = f"0.{'0' * len(text.partition('.')[2])}"
        return made

    sheet.append(list(map(cell, header)))
    kinds = [numeric_cell if title in numbers else cell for title in header]
    for row in rows:
        sheet.append([kind(text) for kind, text in zip(kinds, row, strict=True)])
    path.write_bytes(workbook.saved_without_times(book))


# -- reading ----------------------------------------------------------------------------------------------------------


def read(
    path: str | PathLike[str],
    is_header: Callable[[Sequence[str]], bool] = lambda _titles: True,
    formulas: Sequence[str] = (),
    warn: Callable[[str], object] = lambda _line: None,
) -> Table:
    """The titles of a table, and its rows that are not empty, each with its number.

    Parameters
    ----------
    path
        A ``.csv``, ``.tsv`` or ``.xlsx`` file; of a workbook the first sheet is read that has the titles.
    is_header
        Tells the titles. Rows above them are left out; where no row has them the first one counts as titles.
    formulas
        Titles of columns in which a formula is refused, because its result may be out of date.
    warn
        Called with one line where a text is not in UTF-8.

    Returns
    -------
    header, rows
        Cells without surrounding blanks in the header, as they are in the rows, and as many as there are titles.

    Raises
    ------
    InputError
        With the row where something is wrong.
    """
    source = Path(path)
    suffix = suffix_of(source)
    with reading(source):
        if suffix == ".xlsx":
            sheet, rows = _likely_sheet(source, is_header)
        else:
            undo = unguard if suffix == ".csv" else str
            encoding, note = recognise(source)
            if note:
                warn(f"{source}: {note}")
            lines = tables.read_rows(source, encoding=encoding)
            rows = [(number, [undo(cell) for cell in cells]) for number, cells in lines]
    if not rows:
        raise InputError("holds no table", source)
    start = _header_place(rows, is_header) or 0
    (first, titles), rest = rows[start], rows[start + 1 :]
    header = [title.strip() for title in titles]
    while header and not header[-1]:
        header.pop()
    tables.check_distinct(source, [title.lower() for title in header if title], first)
    for number, cells in rest:
        wide = len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :])
        if wide:
            raise InputError(f"{len(cells)} cells where the header has {len(header)} titles", source, number)
    if suffix == ".xlsx":
        _check_formulas(source, sheet, header, formulas)
    width = len(header)
    return (first, header), [(number, [*cells[:width], *[""] * (width - len(cells))]) for number, cells in rest]


def _header_place(rows: Sequence[Row], is_header: Callable[[Sequence[str]], bool]) -> int | None:
    """Which of the first rows holds the titles."""
    return next((place for place, (_, cells) in enumerate(rows[:_ABOVE]) if is_header(cells)), None)


def _likely_sheet(path: Path, is_header: Callable[[Sequence[str]], bool]) -> tuple[str, list[Row]]:
    """Title and rows of the first sheet that has the titles, or of the first sheet."""
    first: tuple[str, list[Row]] = ("", [])
    for title, load in workbook.sheets(path).items():
        rows = [(number, row) for number, row in enumerate(load(), 1) if any(cell.strip() for cell in row)]
        if _header_place(rows, is_header) is not None:
            return title, rows
        first = first if first[0] else (title, rows)
    return first


def _check_formulas(path: Path, sheet: str, header: Sequence[str], titles: Sequence[str]) -> None:
    lowered = [title.lower() for title in header]
    columns = {_letters(lowered.index(title)): title for title in titles if title in lowered}
    for match in _FORMULA.finditer(_sheet_xml(path, sheet)):
        title = columns.get(match[1].decode())
        if title is not None:
            raise InputError(f"a formula in the column '{title}'; write its result as text", path, int(match[2]))


def _sheet_xml(path: Path, title: str) -> bytes:
    """The XML of the sheet with this title."""
    try:
        with zipfile.ZipFile(path) as archive:
            book, links = (_parsed(archive, part) for part in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels"))
            sheet = next(part for part in book.iter() if part.tag.endswith("}sheet") and part.get("name") == title)
            id = next(value for key, value in sheet.attrib.items() if key.endswith("}id"))
            target = next(link.attrib["Target"] for link in links if link.attrib.get("Id") == id)
            return archive.read(target.lstrip("/") if target.startswith("/") else f"xl/{target}")
    except (KeyError, StopIteration, ElementTree.ParseError, *compression.BAD_DIRECTORY):
        raise InputError("is a damaged workbook; save it anew", path) from None


def _parsed(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    """A part of a workbook as XML; one with a document type could grow without bounds, and no program writes one."""
    text = archive.read(part)
    if b"<!DOCTYPE" in text.replace(b"\0", b""):  # in UTF-16 too
        raise ElementTree.ParseError(f"{part} declares a document type")
    return ElementTree.fromstring(text)


def _letters(column: int) -> str:
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
