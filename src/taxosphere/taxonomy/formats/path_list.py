"""Path lists (`A > B > C`, one a line), with or without ids; a concept is its path.

The separator is whatever parts the paths so that they begin with each other. Ids stand before the path, behind it, or
in a column of their own; other columns belong to the last concept of a path.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import table_layouts
from taxosphere.taxonomy.formats.io import cells, path_rows, table_source, table_writer
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.footers import without_footer
from taxosphere.taxonomy.formats.io.grid import Grid, kept_delimiter
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.path_collector import PathCollector
from taxosphere.taxonomy.formats.io.paths import PathStyle, steps
from taxosphere.taxonomy.formats.io.table_reading import Reading
from taxosphere.taxonomy.formats.table_layouts import open_table
from taxosphere.taxonomy.graph import Taxonomy

META = "paths"


def read(path: Path, options: ReadOptions) -> Draft:
    return read_table(*open_table(path, options), options)


def read_table(grid: Grid, reading: Reading, options: ReadOptions) -> Draft:
    """Read a table that is understood as one of paths."""
    assert reading.style is not None
    style, at, ids = reading.style, reading.roles["path"], reading.roles.get("id")
    draft = Draft(path=grid.path, format="path list")
    collector = PathCollector(draft, options.merge == "names", ids is not None or style.pattern >= 0)
    width = max(map(len, grid.rows))
    titles = [*reading.titles, *[""] * (width - len(reading.titles))]
    details = cells.detail_names(titles, {at} if ids is None else {at, ids})
    rows, lines = without_footer(draft, grid.rows[reading.header + 1 :], grid.lines[reading.header + 1 :])
    empty = 0
    for row, line in zip(rows, lines, strict=True):
        id, path = style.split(row[at] if at < len(row) else "")
        if ids is not None:
            id = row[ids].strip() if ids < len(row) else ""
        if not path:
            empty += 1
            continue
        collector.add(path, [id] if id else [], line, cells.read_details(details, row) if details else None)
    draft.notes.append(_understood(reading, width))
    draft.notes += reading.notes
    collector.finish()
    if empty:
        draft.left_out(f"{counted(empty, 'row')} without a path")
    if unread := [i for i in range(width) if not titles[i] and i not in (at, ids)]:
        draft.left_out(f"{counted(len(unread), 'column')} without a title not read")
    last = rows[-1][at] if rows and at < len(rows[-1]) else ""
    draft.meta[META] = {
        "columns": titles if reading.header >= 0 else [],
        "path": at,
        "id": ids,
        "separator": style.separator,
        "pattern": style.pattern,
        "behind": style.behind,
        "spaced": f" {style.separator} " in last,
        "joint": _joint(style, last) if rows else "",
        **kept_delimiter(grid),
    }
    draft.notes += cells.kept_note(details)
    table_source.keep(draft, grid, options)
    return draft


def _joint(style: PathStyle, text: str) -> str:
    """What stands between id and path, with `{}` for each: `{} - {}`."""
    if style.pattern < 0 or not (match := style.regex.fullmatch(text)):
        return ""
    (a, b), (c, d) = match.span(1), match.span(2)
    return text[:a] + "{}" + text[b:c] + "{}" + text[d:]


def _understood(reading: Reading, width: int) -> str:
    assert reading.style is not None
    what = f"column {reading.title(reading.roles['path'])}" if width > 1 else "lines"
    with_ids = reading.style.pattern >= 0 or "id" in reading.roles
    place = "behind" if reading.style.behind else "before"
    ids = f", ids {place} them" if reading.style.pattern >= 0 else ""
    if "id" in reading.roles:
        ids = f", ids in column {reading.title(reading.roles['id'])}"
    return f"{what} read as paths with '{reading.style.separator}' between the steps" + (ids if with_ids else "")


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    table_writer.write(taxonomy, path, options, Layout(taxonomy))


def unsupported(taxonomy: Taxonomy) -> list[str]:
    """What lines of paths cannot hold: descriptions, synonyms, images and everything else beside names and ids."""
    if taxonomy.meta.get(META, {}).get("columns"):
        return []
    kinds = {
        "descriptions": taxonomy.descriptions,
        "synonyms": taxonomy.synonyms,
        "images": taxonomy.images,
        "other details": taxonomy.extras,
    }
    counts = {kind: sum(map(bool, column)) for kind, column in kinds.items()}
    return [f"{kind} of {counted(count, 'concept')} left out" for kind, count in counts.items() if count]


class Layout(path_rows.PathLayout):
    """The lines of a path list, written as those of the source are, or `A > B > C` with ids before them if need be.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written; its hierarchy must not run in a circle, and no name may hold a line break.
    """

    meta = META

    def __init__(self, taxonomy: Taxonomy) -> None:
        super().__init__(taxonomy)
        kept: Any = taxonomy.meta.get(META, {})
        self.titles = [str(title) for title in kept.get("columns", ())]
        self.at, self.id = int(kept.get("path", 0)), kept.get("id")
        separator = str(kept.get("separator", ">"))
        if any(steps(name, separator) != (name.strip(),) for name in taxonomy.names):
            separator = self._unused(kept)
        self.between = f" {separator} " if kept.get("spaced", True) else separator
        self.joint = str(kept.get("joint", ""))
        if not self.joint and self.id is None and self.needs_ids():
            self.joint = "{} - {}"
        self.style = PathStyle(separator, max(int(kept.get("pattern", 0)), 0), bool(kept.get("behind")))
        self.details = cells.detail_columns(taxonomy) if self.titles else []
        taken = {self.at, *([self.id] if self.id is not None else [])}
        self.places = cells.place_details(
            self.titles, taken, self.details, frozenset(("id", "parent", "child", "path"))
        )
        self.width = max(len(self.titles), 1 + max(taken))

    def _unused(self, kept: Any) -> str:
        """A separator that no name holds."""
        text = "\n".join(self.taxonomy.names)
        if kept or (char := next((char for char in (">", "|", "::", "»", "→", "/") if char not in text), None)) is None:
            name = next(n for n in self.taxonomy.names if steps(n, str(kept.get("separator", ">"))) != (n.strip(),))
            raise InputError(f"the name '{name[:60]}' would be read as a path; write another format")
        return char

    @classmethod
    def reread(cls, grid: Grid, options: ReadOptions) -> Draft:
        return read_table(grid, table_layouts.understand(grid, options), options)

    def row(self, edge: tuple[int, int]) -> list[str]:
        taxonomy = self.taxonomy
        texts = [""] * self.width
        way = self.way(edge)
        id, path = taxonomy.ids[way[-1]], self.between.join(taxonomy.names[i].strip() for i in way)
        if "\n" in path or "\r" in path:
            raise InputError(f"the path '{path[:60]!a}' holds a line break; write another format")
        texts[self.at] = self._with_id(id, path) if self.joint else path
        if self.id is not None and not self.is_path_id(way):
            texts[self.id] = id
        values = cells.write_columns(taxonomy.concept(way[-1]), self.details)
        for place, value in zip(self.places, values, strict=True):
            texts[place] = value
        return texts

    def _with_id(self, id: str, path: str) -> str:
        """A line with the id beside the path; without it, where it would not be read as one."""
        line = self.joint.format(path, id) if self.style.behind else self.joint.format(id, path)
        return line if self.style.split(line) == (id, self.style.split_path(path)) else path
