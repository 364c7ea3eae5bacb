"""A workbook with changes: other sheets, widths, formats and every cell that nobody touched stay as they are.

The sheet is read again. A row stays where the taxonomy still says the same; otherwise its cells are changed or the row
is taken out. What no row says gets a new one at the end. The result is read once more: where it says anything else
than the taxonomy, the sheet is written anew.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats.io import table_source
from taxosphere.taxonomy.formats.io.draft import build
from taxosphere.taxonomy.formats.io.grid import Grid, sheet_grids
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import bare_suffix
from taxosphere.taxonomy.formats.io.workbook import cell_text, saved_without_times
from taxosphere.taxonomy.graph import Taxonomy

if TYPE_CHECKING:
    from taxosphere.taxonomy.formats.io.table_writer import Edge, Layout

Key = tuple[str, str]  # ids of parent and child; the parent is empty where a row stands for a concept


def patched(path: Path, layout: Layout) -> bytes | None:
    """The workbook that a taxonomy came from with the changes that it has, None where that is not possible.

    Parameters
    ----------
    path : Path
        Where it goes; only a name with the suffix of the source gets the workbook of the source.
    layout : Layout
        The rows of the taxonomy as it is now.
    """
    kept = table_source.kept_book(layout.taxonomy.meta)
    if kept is None or kept[1] != bare_suffix(path):
        return None
    content, suffix, sheet = kept
    options = replace(table_source.kept_options(layout.taxonomy.meta), sheet=sheet)
    try:
        grid = _grid(content, suffix, options)
        original = build(type(layout).reread(grid, options), options)
        before = type(layout)(original)  # type: ignore[call-arg]
        if before.titles != layout.titles[: len(before.titles)]:
            return None
        changed = _changed(content, sheet, grid, before, layout)
        again = build(type(layout).reread(_grid(changed, suffix, options), options), options)
    except InputError:
        return None
    return changed if _hierarchy(again) == _hierarchy(layout.taxonomy) else None


def _grid(content: bytes, suffix: str, options: ReadOptions) -> Grid:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"source{suffix}"
        path.write_bytes(content)
        return next(sheet_grids(path, options))


def _changed(content: bytes, sheet: str, grid: Grid, before: Layout, after: Layout) -> bytes:
    openpyxl = require("openpyxl", "sheets")
    book = openpyxl.load_workbook(BytesIO(content), keep_vba=False, rich_text=True)
    page = book[sheet]
    old = {key: (line, row) for key, line, row in _rows(before)}
    new = {key: row for key, _, row in _rows(after)}
    for index, title in enumerate(after.titles[len(before.titles) :], len(before.titles) + 1):
        header = next(line for line, row in zip(grid.lines, grid.rows, strict=True) if _holds(row, before.titles))
        _set(page.cell(header, index), title)
    for key, (line, row) in old.items():
        for column, text in enumerate(new.get(key, ()), 1):
            if column > len(row) or text != row[column - 1]:
                _set(page.cell(line, column), text)
    last = max(grid.lines)
    for key, row in new.items():
        if key not in old:
            last += 1
            for column, text in enumerate(row, 1):
                _set(page.cell(last, column), text)
    edges = set(after.taxonomy.edges())  # a leaf that has children now has no row of its own among the new ones
    for line in sorted((line for key, (line, _) in old.items() if key not in new and key not in edges), reverse=True):
        page.delete_rows(line)
    return saved_without_times(book, content)


def _holds(row: list[str], titles: list[str]) -> bool:
    return [cell.strip() for cell in row[: len(titles)]] == titles


def _rows(layout: Layout) -> Iterator[tuple[Key, int, list[str]]]:
    """Every row with what it stands for and the line that says so in the source (0 where none does)."""
    taxonomy = layout.taxonomy
    source = taxonomy.source
    pairs = [] if source is None else zip(taxonomy.edge_array.tolist(), source.edge_lines.tolist(), strict=True)
    lines: dict[Edge, int] = {(parent, child): line for (parent, child), line in pairs}
    for edge in layout.edges():
        line = lines.get(edge, 0)
        if not line and source is not None and edge[1] < len(source.lines):
            line = int(source.lines[edge[1]])
        yield (taxonomy.ids[edge[0]] if edge[0] >= 0 else "", taxonomy.ids[edge[1]]), line, layout.row(edge)


def _set(cell: Any, text: str) -> None:
    """Text stays text: `=SUM(A1)` is no formula here, `007` no number."""
    cell.value = cell_text(text) or None
    if text:
        cell.data_type = "s"


def _hierarchy(taxonomy: Taxonomy) -> Counter[tuple[str, tuple[str, ...]]]:
    """Concepts with their parents by name: ids may be made up of paths, and results of formulas are not saved."""
    names, above = taxonomy.names, taxonomy.parent_csr
    return Counter((names[i], tuple(sorted(names[p] for p in above.row(i).tolist()))) for i in range(len(taxonomy)))
