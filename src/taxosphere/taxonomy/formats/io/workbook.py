"""Workbooks: `.xlsx`, `.xls` and `.ods` in, `.xlsx` out."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from xml.parsers import expat

from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats.io import compression
from taxosphere.taxonomy.formats.io.streams import open_binary_to_write, open_raw_bytes, reading

MOST_CELLS = 20_000_000  # a single cell far away makes a sheet of billions
MOST_BYTES = 1 << 30
LONGEST = 32_767  # characters that a cell can hold
WIDEST = 60  # characters, of a column that is written
_CELL = re.compile(rb'<c\b[^>]*?\sr="([A-Z]{1,3})(\d+)"')
_ESCAPED = re.compile(r"[\x00-\x08\x0b-\x1f]|_(?=x[0-9A-Fa-f]{4}_)")
_UNWRITABLE = re.compile(r"[\ud800-\udfff\ufffe\uffff]")  # XML cannot hold these, readers do not undo their escapes

Rows = list[list[str]]


def sheets(path: Path) -> dict[str, Callable[[], Rows]]:
    """Every sheet of a workbook that holds cells, as title → function that reads it.

    Parameters
    ----------
    path : Path
        The workbook. Its rows come with every cell as text: whole numbers without a decimal point, dates as in ISO
        8601, errors as nothing.

    Raises
    ------
    InputError
        Where it is no workbook, is damaged, or is locked by a password.
    """
    calamine = require("python_calamine", "sheets")
    content = _content(path)
    compression.check_zip(content, path)
    _check_extent(content, path)
    content.seek(0)
    try:
        book = calamine.CalamineWorkbook.from_filelike(content)
        names = [item.name for item in book.sheets_metadata if str(item.typ) == "SheetTypeEnum.WorkSheet"]
    except Exception as error:  # whatever a damaged file makes of the library
        raise _unreadable(path, error) from None

    def reader(name: str) -> Callable[[], Rows]:
        def read() -> Rows:
            try:
                sheet = book.get_sheet_by_name(name)
                return [[_text(cell) for cell in row] for row in sheet.to_python(skip_empty_area=False)]
            except Exception as error:
                raise _unreadable(path, error) from None

        return read

    return {name: reader(name) for name in names}


def _content(path: Path) -> BytesIO:
    """The bytes of the workbook, which may be compressed once more as a whole."""
    if compression.compression_suffix(path):
        with open_raw_bytes(path) as handle:
            return BytesIO(handle.read())
    with reading(path):
        data = path.read_bytes()
    if not data:
        raise InputError("the file is empty", path=path)
    return BytesIO(data)


def _unreadable(path: Path, error: Exception) -> InputError:
    text = " ".join(str(error).split())[:100]
    if "assword" in text:
        return InputError("is locked by a password; save it without", path=path)
    return InputError(f"is no workbook that can be read ({text}); save it anew, or as CSV", path=path)


def _check_extent(content: IO[bytes], path: Path) -> None:
    """Refuse a workbook that is too large, or has a cell so far away that its sheet would not fit into memory."""
    try:
        with zipfile.ZipFile(content) as archive:
            if sum(item.file_size for item in archive.infolist()) > MOST_BYTES:
                raise InputError("is too large for a workbook when decompressed; save it as CSV", path=path)
            for item in archive.infolist():
                if re.fullmatch(r"xl/worksheets/[^/]+\.xml", item.filename):
                    _check_sheet(path, archive, item)
                elif item.filename == "content.xml":
                    _check_repetitions(path, archive, item)
    except (*compression.DAMAGED, expat.ExpatError, NotImplementedError, RuntimeError, ValueError, OSError):
        return  # not a zip archive, or a broken one: the reader of workbooks says so better


def _check_sheet(path: Path, archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> None:
    height = width = 0
    rest = b""
    with compression.zip_member(archive, item.filename, path) as handle:
        while block := handle.read(1 << 20):
            block = rest + block
            for column, row in _CELL.findall(block):
                height = max(height, int(row))
                width = max(width, _column_number(column))
            rest = block[-64:]
    if height * width > MOST_CELLS:
        message = f"a sheet reaches to row {height:,} and column {width:,}, too far for a table; clear the cells there"
        raise InputError(message, path=path)


def _check_repetitions(path: Path, archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> None:
    """For `.ods`, where one cell may stand for many: refuse more of them than fit into memory."""
    rows = cells = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal rows, cells
        if name == "table:table-row":
            rows = int(attributes.get("table:number-rows-repeated", 1))
        elif name == "table:table-cell" and "office:value-type" in attributes:
            cells += rows * int(attributes.get("table:number-columns-repeated", 1))
            if cells > MOST_CELLS:
                raise InputError(f"repeats cells more than {MOST_CELLS:,} times; clear those that are not used", path)

    parser = expat.ParserCreate()
    parser.StartElementHandler = start
    with compression.zip_member(archive, item.filename, path) as handle:
        while block := handle.read(1 << 20):
            parser.Parse(block)


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _text(cell: Any) -> str:
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else repr(cell)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, (date, time)):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        return str(cell)
    return str(cell)


def write_xlsx(path: Path, titles: Sequence[str], rows: Iterable[Sequence[str]], sheet: str = "Taxonomy") -> None:
    """Write one sheet with a bold header that stays in view, columns as wide as their texts, every cell as text.

    Parameters
    ----------
    path : Path
        Where the workbook goes; it appears whole or not at all.
    titles : sequence of str
        The header; no header is written where it is empty.
    rows : iterable of sequences of str
        As wide as the header.
    sheet : str
        Title of the sheet.
    """
    openpyxl = require("openpyxl", "sheets")
    cells = [[cell_text(text, path) for text in row] for row in (*([titles] if titles else []), *rows)]
    book = openpyxl.Workbook(write_only=True)
    page = book.create_sheet(re.sub(r"[\[\]:*?/\\]", " ", sheet)[:31] or "Taxonomy")
    for index, texts in enumerate(zip(*cells, strict=True), 1):
        width = max(len(line) for text in texts[:5000] for line in text.split("\n"))
        page.column_dimensions[openpyxl.utils.get_column_letter(index)].width = min(max(width + 2, 6), WIDEST)
    if titles:
        page.freeze_panes = "A2"
    bold = openpyxl.styles.Font(bold=True)
    for number, row in enumerate(cells):
        page.append([_write_cell(openpyxl, page, text, bold if titles and not number else None) for text in row])
    with open_binary_to_write(path) as handle:
        handle.write(saved_without_times(book))


def saved_without_times(book: Any, source: bytes | None = None) -> bytes:
    """The bytes of a workbook without the time of saving, so that equal content gives equal files.

    Parameters
    ----------
    book : openpyxl.Workbook
        A new one, or one that was loaded and changed.
    source : bytes, optional
        The file it was loaded from; the properties that stand there (author, times) are kept as they are.

    Returns
    -------
    bytes
        The `.xlsx` file.
    """
    properties, core = b"", "docProps/core.xml"
    if source is not None:
        with zipfile.ZipFile(BytesIO(source)) as archive:
            properties = archive.read(core) if core in archive.namelist() else b""
    content, packed = BytesIO(), BytesIO()
    book.save(content)
    with zipfile.ZipFile(content) as saved, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for item in saved.infolist():
            data = saved.read(item)
            if item.filename == core:
                data = properties or re.sub(rb"(<dcterms:[^>]*>)[^<]+", rb"\g<1>2000-01-01T00:00:00Z", data)
            target.writestr(zipfile.ZipInfo(item.filename), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def escape(text: str) -> str:
    """Return a text as `.xlsx` spells it: a control character as `_x000D_`, text like that as `_x005F_x000D_`."""
    return _ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def cell_text(text: str, path: Path | None = None) -> str:
    """Return what a cell of an `.xlsx` file holds for a text.

    Parameters
    ----------
    text : str
        The text.
    path : Path, optional
        The file, for the message.

    Returns
    -------
    str
        The text with its escapes.

    Raises
    ------
    InputError
        Where it is too long for a cell, or holds a character that no cell can.
    """
    written = escape(text)
    if len(written) > LONGEST:
        message = f"'{text[:40]}…' is longer than a cell can be ({LONGEST:,} characters); write .csv"
        raise InputError(message, path=path)
    match = _UNWRITABLE.search(text)
    if match:
        shown = _UNWRITABLE.sub("\ufffd", text[:40])
        message = f"'{shown}' holds the character U+{ord(match[0]):04X}, which no cell can; write .csv"
        raise InputError(message, path=path)
    return written


def _write_cell(openpyxl: Any, page: Any, text: str, font: Any) -> Any:
    """Text stays text: `=SUM(A1)` is no formula here, `007` no number."""
    cell = openpyxl.cell.WriteOnlyCell(page, text or None)
    if text:
        cell.data_type = "s"
    if font is not None:
        cell.font = font
    return cell
