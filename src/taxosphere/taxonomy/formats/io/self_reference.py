"""A column of parents that its cells show, under whatever title: they all stand in the column of ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from taxosphere.taxonomy.formats.io.cell_kinds import are_row_numbers

NEARLY_ALL = 0.95  # share of the parents that stand among the ids: the table may be seen in part
_JOINT = re.compile(r"[|;,\n]")
FEWEST = 2  # different parents that are no chance


def find(columns: Sequence[Sequence[str]]) -> tuple[int, int] | None:
    """The columns of ids and of parents; None where there are none, or several.

    Ids are all different. Parents stand among them, none in its own row and none above itself. Where ids only count
    the rows, other numbers would stand among them by chance, so that these are left to titles.

    Parameters
    ----------
    columns : sequence of sequences of str
        The cells of every column below its title, without blanks around them.
    """
    pairs = []
    for id, ids in enumerate(columns):
        positions = {cell: row for row, cell in enumerate(ids)}
        if "" in positions or len(positions) < len(ids) or not ids or are_row_numbers(ids):
            continue
        for parent, cells in enumerate(columns):
            filled = [cell for cell in cells if cell]
            targets = [cell for cell in filled if cell in positions]
            believable = len(set(targets)) >= FEWEST and len(targets) >= NEARLY_ALL * len(filled)
            if parent != id and believable and len(set(filled)) < len(ids) and not _has_cycle(cells, positions):
                pairs.append((id, parent))
    return pairs[0] if len(pairs) == 1 else None


def ids_of(columns: Sequence[Sequence[str]], parent: int) -> int | None:
    """The column of ids that a column of parents names; None where none or several could be meant.

    Parameters
    ----------
    columns : sequence of sequences of str
        See `find`.
    parent : int
        The column of parents.
    """
    filled = [cell for cell in columns[parent] if cell]
    fitting = []
    for i, cells in enumerate(columns):
        ids = set(cells)
        if i != parent and "" not in ids and len(ids) == len(cells):
            targets = sum(cell in ids for cell in filled)
            fitting += [i] if targets and targets >= NEARLY_ALL * len(filled) else []
    return fitting[0] if len(fitting) == 1 else None


def are_references(cells: Sequence[str], targets: Collection[str]) -> bool:
    """Whether nearly all cells name one or several of the targets.

    Parameters
    ----------
    cells : sequence of str
        A column.
    targets : collection of str
        Ids and names.
    """
    parts = [[cell, *_JOINT.split(cell)] for cell in cells if cell]
    named = sum(any(part.strip() in targets for part in several) for several in parts)
    return named > 0 and named >= NEARLY_ALL * len(parts)


def _has_cycle(parents: Sequence[str], positions: dict[str, int]) -> bool:
    done: set[int] = set()
    for start in range(len(parents)):
        row: int | None = start
        way: set[int] = set()
        while row is not None and row not in done:
            if row in way:
                return True
            way.add(row)
            row = positions.get(parents[row])
        done |= way
    return False
