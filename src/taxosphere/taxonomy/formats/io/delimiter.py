"""What stands between the columns of a file that calls itself comma-separated.

Spreadsheets of many countries put semicolons or tabs there, and names may hold commas (`Food, dairy;Milk`). Excel's own
hint, a first line `sep=;`, is believed; otherwise the beginning of the file is tried with each.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from taxosphere.taxonomy.formats.io import titles

USUAL = ",;\t|"  # where several are equally good, the first
IN_CELLS = "|"  # joins the items of a list too, so it takes a known header to believe that it parts columns
HEAD = 100  # lines that are tried
_STATED = re.compile(r'"?sep=([,;|\t])"?\s*', re.IGNORECASE)


def stated(first: str) -> str | None:
    """The delimiter in a first line such as `sep=;`, which is no row of the table."""
    match = _STATED.fullmatch(first)
    return match[1] if match else None


def of(head: Sequence[str]) -> str:
    """The delimiter of a table that begins with these lines."""
    return (stated(head[0]) if head else None) or max(USUAL, key=lambda char: _fitness(head, char))


def _fitness(head: Sequence[str], delimiter: str) -> tuple[bool, int, bool]:
    """Titles, then the number of rows as wide as the first, then that few blanks follow as they do in prose."""
    rows = [row for row in _rows(head, delimiter) if any(row)]
    titled = bool(rows) and _titled(rows[0])
    if not rows or len(rows[0]) == 1 or (delimiter == IN_CELLS and not titled):
        return False, 0, False
    alike = sum(len(row) == len(rows[0]) for row in rows)
    text = "".join(head)
    return titled, alike, 2 * text.count(delimiter + " ") < text.count(delimiter)


def has_titles(head: Sequence[str], delimiter: str) -> bool:
    """Whether the first row holds at least two titles that tables usually have."""
    return _titled(next((row for row in _rows(head, delimiter) if any(row)), []))


def _titled(row: Sequence[str]) -> bool:
    return sum(titles.meaning(cell) is not None for cell in row) > 1


def _rows(head: Sequence[str], delimiter: str) -> Iterator[list[str]]:
    """Up to the first fault, which may be no more than a cell that goes on after the head."""
    try:
        yield from csv.reader(head, delimiter=delimiter, strict=True, skipinitialspace=True)
    except csv.Error:
        return
