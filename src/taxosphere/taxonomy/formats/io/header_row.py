"""Which row of a table holds its titles."""

from __future__ import annotations

from collections.abc import Sequence

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import depth_column, level_columns, titles
from taxosphere.taxonomy.formats.io.grid import Grid
from taxosphere.taxonomy.formats.io.options import ReadOptions

HEADER_ROWS = 20  # among which the titles stand
LONGEST_TITLE = 80


def find(grid: Grid, options: ReadOptions) -> int:
    """Index of the row of titles: that with most usual ones, below rows that fill fewer cells; -1 where there is none.

    Parameters
    ----------
    grid : Grid
        The table.
    options : ReadOptions
        The titles that `mapping` names are in that row.

    Raises
    ------
    InputError
        Where no row has the titles that are named.
    """
    rows = grid.rows[:HEADER_ROWS]
    stated = [title for role, title in options.mapping.items() if role != "separator" and not title.isdecimal()]
    if stated:
        wanted = {titles.words(title) for title in stated}
        for i, row in enumerate(rows):
            if wanted <= {titles.words(cell) for cell in row}:
                return i
        shown = ", ".join(f"'{cell.strip()}'" for cell in max(rows, key=_filled) if cell.strip())
        missing = next(title for title in stated if all(titles.words(title) not in map(titles.words, r) for r in rows))
        raise InputError(f"--map names the column '{missing}', and the columns are {shown}"[:400], grid.path)
    scores = [_title_score(row) for row in rows]
    best = max(range(len(rows)), key=lambda i: (scores[i], -i))
    if scores[best] >= 2 and all(_filled(row) < _filled(rows[best]) for row in rows[:best]):
        return best
    first = [titles.meaning(cell) for cell in rows[0]]
    return 0 if any(item is not None and item.role in ("path", "parent") for item in first) else -1


def _filled(row: Sequence[str]) -> int:
    return sum(bool(cell.strip()) for cell in row)


def _title_score(row: Sequence[str]) -> int:
    short = [cell for cell in row if cell.strip() and len(cell) <= LONGEST_TITLE]
    single = sum(titles.meaning(cell) is not None for cell in short) + (depth_column.column(short) is not None)
    return max(single, single + len(level_columns.find(row).names))
