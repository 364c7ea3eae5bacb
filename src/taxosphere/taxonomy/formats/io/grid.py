"""A table as rows of texts, whether it came from a text file or from a sheet of a workbook."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import delimiter, markdown, suffixes, workbook
from taxosphere.taxonomy.formats.io.encodings import SourceText, read_source
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import OLD_LINE_ENDS, bare_suffix, check_line_ends
from taxosphere.taxonomy.formats.io.tables import strict_rows, tab_rows

HEAD_LINES = 5000  # that decide what a table is
COMMENT = "#"


@dataclass(slots=True)
class Grid:
    """Rows that are not empty, each with its line in the file or its row in the sheet.

    Parameters
    ----------
    path : Path
        The file.
    rows : list of list of str
        Cells as they stand there, blanks included.
    lines : list of int
        One per row, from 1.
    delimiter : str
        What parts the cells in a text file; empty where every line is one cell, and for workbooks.
    source : SourceText, optional
        The text of a text file.
    sheet : str
        Title of the sheet of a workbook.
    notes : list of str
        What is to be said about encoding, comments and sheets.
    """

    path: Path
    rows: list[list[str]]
    lines: list[int]
    delimiter: str = ""
    source: SourceText | None = None
    sheet: str = ""
    notes: list[str] = field(default_factory=list)

    def head(self) -> Grid:
        """The beginning of the table, which decides how it is understood."""
        return replace(self, rows=self.rows[:HEAD_LINES], lines=self.lines[:HEAD_LINES])


def is_workbook(path: Path) -> bool:
    return bare_suffix(path) in suffixes.WORKBOOKS


def is_markdown(path: Path) -> bool:
    return bare_suffix(path) in suffixes.MARKDOWN


def read_grid(path: Path, options: ReadOptions, most: int | None = None) -> Grid:
    """Read a text table, or raise what is wrong with it.

    Parameters
    ----------
    path : Path
        A `.csv`, `.tsv` or `.txt` file, compressed or not.
    options : ReadOptions
        `encoding` is used.
    most : int, optional
        Read no more lines than this.
    """
    if options.sheet is not None:
        raise InputError("--sheet is for workbooks; this is a text file", path=path)
    source = read_source(path, options.encoding)
    grid = _markdown_grid(source, path, options) if is_markdown(path) else parse_grid(source, path, most)
    grid.notes += [source.note] if source.note else []
    return grid


def parse_grid(source: SourceText, path: Path, most: int | None = None) -> Grid:
    """The rows of a text; the suffix of `path` says what may part their cells."""
    first = source.text.find("\r")
    if 0 <= first < source.text.find("\n") and source.text[first + 1] != "\n":
        raise InputError(OLD_LINE_ENDS, path=path, line=1)
    lines = _lines(source.text)
    if most is not None:
        lines = islice(lines, most)
    head = list(islice(lines, delimiter.HEAD))
    if len(head) == 1:
        check_line_ends(path, head[0])
    between = _delimiter(path, head)
    _blank_comments(head, between)
    rows, numbers = list[list[str]](), list[int]()
    for number, cells in _rows(path, chain(head, lines), between, cut=most is not None):
        rows.append(cells)
        numbers.append(number)
    return Grid(path, rows, numbers, between, source)


def _markdown_grid(source: SourceText, path: Path, options: ReadOptions) -> Grid:
    """The largest table with pipes; one cell a line where there is none, or lists hold more and no column is named."""
    tables = markdown.tables(source.text)
    if not tables or (markdown.list_items(source.text) >= len(tables[0]) and not options.mapping):
        lines = [(number, [line]) for number, line in enumerate(source.text.split("\n"), 1) if line.strip()]
        return Grid(path, [row for _, row in lines], [number for number, _ in lines], source=source)
    grid = Grid(path, [row for _, row in tables[0]], [number for number, _ in tables[0]], "|")
    others = f", not {len(tables) - 1:,} others" if len(tables) > 1 else ""
    grid.notes.append(f"the table in line {grid.lines[0]} read{others}; text around it is left out")
    return grid


def _rows(path: Path, lines: Iterator[str], between: str, cut: bool) -> Iterator[tuple[int, list[str]]]:
    if not between:
        return ((number, [line.rstrip("\r\n")]) for number, line in enumerate(lines, 1) if line.strip())
    if between == "\t":
        return tab_rows(lines)
    return _until_cut(strict_rows(path, lines, between)) if cut else strict_rows(path, lines, between)


def _until_cut(rows: Iterator[tuple[int, list[str]]]) -> Iterator[tuple[int, list[str]]]:
    """A quoted cell may go on after the last line that was read; if it is at fault, reading all of it will say so."""
    try:
        yield from rows
    except InputError:
        return


def _lines(text: str) -> Iterator[str]:
    """Lines with their ends; only `\\n` ends one."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start : end + 1]
        start = end + 1
    if start < len(text):
        yield text[start:]


def _delimiter(path: Path, head: Sequence[str]) -> str:
    suffix = bare_suffix(path)
    lines = [line for line in head if line.strip() and not line.startswith(COMMENT)] or list(head)
    tabbed = sum("\t" in line.strip("\r\n") for line in lines)
    if suffix == ".csv":
        return "" if _is_path_list(lines) else delimiter.of(head if delimiter.stated(head[0]) else lines)
    if suffix in (".tsv", ".tab") and tabbed:
        return "\t"
    indented = sum(line[0] in "\t " for line in lines)
    if 2 * tabbed > len(lines) and not indented:
        return "\t"
    best = delimiter.of(lines)
    return best if best != "\t" and delimiter.has_titles(lines, best) else ""


def _is_path_list(lines: Sequence[str]) -> bool:
    """A list of paths whose names hold commas, which part nothing: most lines have ` > `, no line has quotes."""
    if 2 * sum(" > " in line for line in lines) < len(lines) or any('"' in line or "\t" in line for line in lines):
        return False
    return all(len({line.count(char) for line in lines}) > 1 for char in ",;")


def _blank_comments(head: list[str], between: str) -> None:
    """Empty lines in the place of comments at the top keep the count. `#id,name` is no comment but a header."""
    if head and delimiter.stated(head[0]):
        head[0] = "\n"
    for i, line in enumerate(head):
        if not line.strip():
            continue
        if not line.startswith(COMMENT):
            return
        after = next((other for other in head[i + 1 :] if other.strip()), "")
        if between and after and 0 < line.count(between) == after.count(between) and not after.startswith(COMMENT):
            return
        head[i] = "\n"


def kept_delimiter(grid: Grid) -> dict[str, str]:
    """What a taxonomy remembers of the source, to be written back the same: delimiter, or title of the sheet."""
    if grid.source is None:
        return {"sheet": grid.sheet}
    return {"comma": grid.delimiter} if bare_suffix(grid.path) == ".csv" and grid.delimiter else {}


def sheet_grids(path: Path, options: ReadOptions) -> Iterator[Grid]:
    """The sheets of a workbook that hold cells, or the stated one.

    Parameters
    ----------
    path : Path
        The workbook.
    options : ReadOptions
        `sheet` is used.

    Raises
    ------
    InputError
        Where the workbook cannot be read, or has no such sheet.
    """
    if options.encoding is not None:
        raise InputError("--encoding is for text files; this is a workbook", path=path)
    sheets = workbook.sheets(path)
    if options.sheet is not None and options.sheet not in sheets:
        names = ", ".join(f"'{name}'" for name in sheets)
        raise InputError(f"there is no sheet '{options.sheet}'; the workbook has {names}", path=path)
    for name, read in sheets.items():
        if options.sheet in (None, name):
            numbered = [(number, row) for number, row in enumerate(read(), 1) if any(cell.strip() for cell in row)]
            if numbered:
                yield Grid(path, [row for _, row in numbered], [number for number, _ in numbered], sheet=name)
