"""Rows below a table that are none of it: totals, sources, notes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxosphere.taxonomy.formats.io.draft import Draft, counted

LAST_ROWS = 6  # among which they stand
_FOOTER = re.compile(
    r"(?:(?:grand |sub)?total|summe|gesamt|insgesamt|gesamtsumme|total général|totale|celkem|итого"
    r"|sources?|quellen?|fuente|fonte|notes?|anmerkung(?:en)?|hinweis|©|copyright|\(c\)|last updated|stand|generated)"
    r"(?:\s*[:=.].*|\s+\d.*|\s*\(.*|)",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER = re.compile(r"[\d\s.,%€$-]*")


def without_footer(
    draft: Draft, rows: Sequence[list[str]], lines: Sequence[int]
) -> tuple[Sequence[list[str]], Sequence[int]]:
    """Rows without those at the end that hold a word such as *Total* or *Source* and otherwise numbers at most.

    Parameters
    ----------
    draft : Draft
        Where it is said that they are left out.
    rows, lines : sequences
        Of the table, without its titles.
    """
    end = len(rows)
    while end > max(1, len(rows) - LAST_ROWS) and _is_footer(rows[end - 1]):
        end -= 1
    if end < len(rows):
        first = next(cell.strip() for cell in rows[end] if cell.strip())
        draft.left_out(f"{counted(len(rows) - end, 'row')} below the table ('{first[:40]}')", lines[end])
    return rows[:end], lines[:end]


def _is_footer(row: Sequence[str]) -> bool:
    texts = [cell.strip() for cell in row if cell.strip()]
    return (
        bool(texts)
        and len(row) > 1
        and _FOOTER.fullmatch(texts[0]) is not None
        and all(map(_NUMBER.fullmatch, texts[1:]))
    )
