"""How a table is understood, and its columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from taxosphere.taxonomy.formats.io.grid import Grid
from taxosphere.taxonomy.formats.io.level_columns import Levels
from taxosphere.taxonomy.formats.io.paths import PathStyle


@dataclass(slots=True)
class Reading:
    """How a table is understood.

    Parameters
    ----------
    layout : str
        Name of a row of the registry.
    header : int
        Index of the row of titles; -1 where there is none.
    titles : list of str
        Of all columns, empty where a column has none.
    roles : dict of str to int
        Columns that make the hierarchy: id, name, parent, child, path …
    levels : Levels, optional
        Columns of a level table.
    style : PathStyle, optional
        How paths are written.
    notes : list of str
        What to say about it.
    """

    layout: str
    header: int = -1
    titles: list[str] = field(default_factory=list)
    roles: dict[str, int] = field(default_factory=dict)
    levels: Levels | None = None
    style: PathStyle | None = None
    notes: list[str] = field(default_factory=list)

    def title(self, column: int) -> str:
        return f"'{self.titles[column]}'" if self.titles[column : column + 1] not in ([], [""]) else f"{column + 1}"


def column(grid: Grid, reading: Reading, index: int) -> list[str]:
    """The cells of a column below the titles, without blanks around them."""
    return [row[index].strip() if index < len(row) else "" for row in grid.rows[reading.header + 1 :]]


def width_of(grid: Grid) -> int:
    """The number of cells in the longest row."""
    return max(map(len, grid.rows))
