"""What the cells of a column are, by their content: codes, numbers, measures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxosphere.taxonomy.formats.io.paths import is_number

NEARLY_ALL = 0.9
_MEASURE = re.compile(
    r"[-+]?\d*[.,]\d+(?:[eE][-+]?\d+)?%?"  # 0.25, 3,5 %
    r"|\d{4}([-/])\d\d\1\d\d(?:[ T][\d:.]+Z?)?|\d{1,2}([./])\d{1,2}\2\d{2,4}"  # 2024-05-31, 31.5.2024
)


def are_row_numbers(codes: Sequence[str]) -> bool:
    """Whether numbers only count the rows, half of them left out at most: 10 to 19 are not below 1 then."""
    numbers = {int(code) for code in codes if code.isdecimal() and len(code) < 10 and code[0] != "0"}
    return len(numbers) == len(codes) and max(numbers) - min(numbers) < 2 * len(numbers)


def are_measures(cells: Sequence[str]) -> bool:
    """Whether nearly all cells are decimal numbers or dates, which name nothing."""
    return sum(_MEASURE.fullmatch(cell) is not None for cell in cells) >= NEARLY_ALL * len(cells)


def are_numbers(columns: Sequence[Sequence[str]]) -> bool:
    """Whether nearly all cells are numbers, which name nothing."""
    filled = [cell for cells in columns for cell in cells if cell]
    return sum(is_number(cell) for cell in filled) >= NEARLY_ALL * len(filled)


def is_code_column(cells: Sequence[str]) -> bool:
    """All different, short and without blanks inside, most with a digit."""
    filled = [cell for cell in cells if cell]
    if len(filled) < 0.9 * len(cells) or len(set(filled)) < len(filled):
        return False
    plain = sum(" " not in cell and len(cell) <= 64 for cell in filled)
    return plain >= 0.98 * len(filled) and sum(any(map(str.isdecimal, cell)) for cell in filled) >= 0.5 * len(filled)


def packed(cells: Sequence[str]) -> str:
    """The first cell of a column in which half of the cells are fields with their titles between double colons, as
    `::NATURE:ChildOf:ID:12::`; empty where they are not."""
    filled = [cell for cell in cells if cell]
    several = [cell for cell in filled if cell.startswith("::") and cell.endswith("::") and cell.count(":") > 5]
    return several[0] if several and 2 * len(several) >= len(filled) else ""
