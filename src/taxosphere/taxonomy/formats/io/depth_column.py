"""A column that says how deep each row stands: 1 for the outermost, rows in the order of a printed list."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from taxosphere.taxonomy.formats.io import titles

TITLES = frozenset(
    "level|lvl|hierarchy level|level number|level no|hier level|depth|indent|indent level|tier|ebene|stufe|"
    "hierarchieebene|"
    "hierarchiestufe|gliederungsebene|tiefe|niveau|nivel|livello|nível|poziom|úroveň|nivå|taso|уровень|层级|階層".split(
        "|"
    )
)
DEEPEST = 30


def depths(cells: Sequence[str]) -> list[int] | None:
    """The depth of every row, None where the cells are no depths.

    Depths are whole numbers, with the same word before them or none (`Tier 1`), and no row is more than one step
    deeper than the row above it.

    Parameters
    ----------
    cells : sequence of str
        The column below its title.
    """
    parts = [cell.strip().rpartition(" ") for cell in cells]
    before = {word.casefold() for word, _, _ in parts}
    if len(parts) < 2 or len(before) > 1 or not before <= {"", *titles.LEVEL_WORDS}:
        return None
    bare = [number.removesuffix(".0") for _, _, number in parts]
    if not all(cell.isascii() and cell.isdigit() and int(cell) <= DEEPEST for cell in bare):
        return None
    numbers = [int(cell) for cell in bare]
    if numbers[0] != min(numbers) or len(set(numbers)) < 2:
        return None
    return numbers if all(after - before <= 1 for before, after in pairwise(numbers)) else None


def column(header: Sequence[str]) -> int | None:
    """The column that its title makes one of depths."""
    return next((i for i, title in enumerate(header) if titles.words(title) in TITLES), None)
