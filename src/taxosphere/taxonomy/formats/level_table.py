"""Tables with a column per level (`Tier 1`, `Tier 2` …): every row is a path, and a concept is its path.

Upper levels may be left empty where they are those of the row above. Codes may have columns of their own beside each
level. Other columns belong to the last concept of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.formats import table_layouts
from taxosphere.taxonomy.formats.io import cells, level_columns, path_rows, table_source, table_writer
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.footers import without_footer
from taxosphere.taxonomy.formats.io.grid import Grid, kept_delimiter
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.path_collector import PathCollector
from taxosphere.taxonomy.formats.io.table_reading import Reading, column
from taxosphere.taxonomy.formats.table_layouts import open_table
from taxosphere.taxonomy.graph import Taxonomy

META = "levels"
MOSTLY = 0.9
SELDOM = 0.1


def read(path: Path, options: ReadOptions) -> Draft:
    return read_table(*open_table(path, options), options)


def read_table(grid: Grid, reading: Reading, options: ReadOptions) -> Draft:
    """Read a table that is understood as one of levels."""
    draft = Draft(path=grid.path, format="level table")
    reader = _LevelReader(draft, grid, reading, options)
    draft.notes.append(f"{level_columns.shown(reading.titles, reader.levels)} read as levels")
    draft.notes += [*reading.notes, *cells.kept_note(reader.details)]
    reader.read()
    table_source.keep(draft, grid, options)
    return draft


class _Clean(dict[str, str]):
    """Cells without blanks around them, empty where they only say that they are."""

    def __missing__(self, cell: str) -> str:
        text = cell.strip()
        self[cell] = text = "" if text.lower() in level_columns.EMPTY else text
        return text


class _LevelReader:
    def __init__(self, draft: Draft, grid: Grid, reading: Reading, options: ReadOptions) -> None:
        assert reading.levels is not None
        self.draft, self.grid, self.reading = draft, grid, reading
        self.levels = reading.levels
        self.id = reading.roles.get("id")
        if self.id is not None and self.id in (*self.levels.names, *self.levels.codes):
            self.id = None
        with_ids = self.id is not None or bool(self.levels.codes)
        self.collector = PathCollector(draft, options.merge == "names", with_ids)
        self.leaf, self.titled = self._name_column()
        taken = {*self.levels.names, *self.levels.codes, self.id, self.leaf, self.titled}
        width = max(map(len, grid.rows))
        names = [*reading.titles, *[""] * (width - len(reading.titles))]
        self.details = cells.detail_names(names, {i for i in taken if i is not None and i >= 0})
        self.clean = _Clean()
        self.width = max(self.levels.names)
        self.plain = not self.levels.codes and self.id is None and self.leaf is None
        self.gaps = self.empty = 0
        self.current: list[str] = []
        self.codes: list[str] = []

    def _name_column(self) -> tuple[int | None, int | None]:
        """A column of names beside the levels: that of a concept below them, or the title of the last code."""
        name = self.reading.roles.get("name")
        if name is None or name in self.levels.names or name in self.levels.codes or self.reading.header < 0:
            return None, None
        names = column(self.grid, self.reading, name)
        levels = [column(self.grid, self.reading, i) for i in self.levels.names]
        last = [next((cell for cell in reversed(row) if cell), "") for row in zip(*levels, strict=True)]
        filled = [(a, b) for a, b in zip(names, last, strict=True) if a and b]
        if len(filled) < MOSTLY * len(names):
            return None, None
        same = sum(a == b for a, b in filled)
        coded = sum(any(map(str.isdecimal, b)) and " " not in b for _, b in filled)
        if coded >= MOSTLY * len(filled):
            return None, name
        if same < SELDOM * len(filled) and name > max(self.levels.names):
            self.draft.notes.append(f"'{self.reading.titles[name]}' read as the concept below the levels")
            return name, None
        return None, None

    def read(self) -> None:
        start = self.reading.header + 1
        rows, lines = without_footer(self.draft, self.grid.rows[start:], self.grid.lines[start:])
        names: dict[tuple[str, ...], str] = {}
        for row, line in zip(rows, lines, strict=True):
            path, ids = self._path(row)
            if not path:
                self.empty += 1
                continue
            if self.titled is not None and self.titled < len(row):
                names[path] = row[self.titled].strip()
            details = cells.read_details(self.details, row) if self.details else None
            self.collector.add(path, ids, line, details)
        self.collector.finish()
        if self.titled is not None:
            self._name_codes(names)
        if self.gaps:
            self.draft.notes.append(f"{counted(self.gaps, 'row')} with an empty level in between, which is passed over")
        if self.empty:
            self.draft.left_out(f"{counted(self.empty, 'row')} without a cell in any level")
        self.draft.meta[META] = {
            "columns": [*self.reading.titles, *[""] * (max(self.levels.names) + 1 - len(self.reading.titles))],
            "header": self.reading.header >= 0,
            "levels": [*self.levels.names, *([self.leaf] if self.leaf is not None else [])],
            "codes": self.levels.codes,
            "id": self.id,
            "title": self.titled,
            "rows": "leaves" if self.collector.only_leaves() else "all",
            **kept_delimiter(self.grid),
        }

    def _path(self, row: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
        """Names and ids of the steps of a row; what is empty at the left is that of the row above."""
        if len(row) > self.width:
            texts = [self.clean[row[i]] for i in self.levels.names]
            while texts and not texts[-1]:
                texts.pop()
            if self.plain and texts and "" not in texts:
                self.current, self.codes = texts, [""] * len(texts)
                return tuple(texts), []
        texts = [self._cell(row, i) for i in self.levels.names]
        first = next((i for i, text in enumerate(texts) if text), None)
        if first is None:
            return (), []
        codes = [self._cell(row, i) for i in self.levels.codes] or [""] * len(texts)
        if first <= len(self.current):
            texts[:first], codes[:first] = self.current[:first], self.codes[:first]
        last = max(i for i, text in enumerate(texts) if text)
        self.current, self.codes = texts[: last + 1], codes[: last + 1]
        steps = [(text, code) for text, code in zip(self.current, self.codes, strict=True) if text]
        self.gaps += len(steps) < last + 1
        if self.leaf is not None and (name := self._cell(row, self.leaf)):
            steps.append((name, ""))
        names, ids = tuple(text for text, _ in steps), [code for _, code in steps]
        if self.id is not None:
            ids[-1] = self._cell(row, self.id)
        return names, ids if any(ids) else []

    def _cell(self, row: Sequence[str], i: int) -> str:
        return self.clean[row[i]] if i < len(row) else ""

    def _name_codes(self, names: dict[tuple[str, ...], str]) -> None:
        """Where the levels hold codes, the name of a concept is the title of the row that ends with its code."""
        for path, name in names.items():
            if name:
                position = self.collector.positions[self.collector.ids[path]]
                self.draft.names[position] = name


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    table_writer.write(taxonomy, path, options, Layout(taxonomy))


class Layout(path_rows.PathLayout):
    """The rows of a level table: a path each, in the columns that the taxonomy came with or in new ones.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written; its hierarchy must not run in a circle.
    """

    meta = META

    def __init__(self, taxonomy: Taxonomy) -> None:
        super().__init__(taxonomy)
        kept: Any = taxonomy.meta.get(META, {})
        self.id: int | None = kept.get("id")
        self.codes = [int(i) for i in kept.get("codes", ())]
        self.title: int | None = kept.get("title")
        self.only_leaves = kept.get("rows") == "leaves"
        self.titles = [str(title) for title in kept.get("columns", ())]
        self.levels = [int(i) for i in kept.get("levels", ())]
        if self.id is None and not self.codes and self.title is None and self.needs_ids():
            self._insert_column("id")
            self.id = 0
        stem = self.titles[self.levels[-1]].rstrip("0123456789") if self.levels else "Level "
        while len(self.levels) < self.depth or len(self.levels) < 2:
            number = len(self.levels) + 1
            self.levels.append(len(self.titles))
            self.titles.append(f"{stem if stem.strip() else 'Level '}{number}")
        self.details = cells.detail_columns(taxonomy)
        taken = {i for i in (*self.levels, *self.codes, self.id, self.title) if i is not None}
        self.places = cells.place_details(
            self.titles, taken, self.details, frozenset(("id", "name", "parent", "child"))
        )
        self.width = len(self.titles)
        if not kept.get("header", True) and self.width == len(kept.get("columns", ())):
            self.titles = []

    def _insert_column(self, title: str) -> None:
        self.titles.insert(0, title)
        self.levels = [i + 1 for i in self.levels]
        self.codes = [i + 1 for i in self.codes]
        self.title = None if self.title is None else self.title + 1

    @classmethod
    def reread(cls, grid: Grid, options: ReadOptions) -> Draft:
        return read_table(grid, table_layouts.understand(grid, options), options)

    def edges(self) -> Iterator[tuple[int, int]]:
        children = self.taxonomy.child_csr.counts
        return (edge for edge in super().edges() if not self.only_leaves or self._has_row(edge[1], children))

    def _has_row(self, position: int, children: Any) -> bool:
        """A leaf, or a concept that has more to say than its path."""
        return children[position] == 0 or any(cells.write_columns(self.taxonomy.concept(position), self.details))

    def row(self, edge: tuple[int, int]) -> list[str]:
        taxonomy = self.taxonomy
        texts = [""] * self.width
        way = self.way(edge)
        for depth, position in enumerate(way):
            texts[self.levels[depth]] = taxonomy.names[position] if self.title is None else self._code(position)
            if self.codes:
                texts[self.codes[depth]] = taxonomy.ids[position]
        if self.title is not None:
            texts[self.title] = taxonomy.names[way[-1]]
        if self.id is not None and not self.is_path_id(way):
            texts[self.id] = taxonomy.ids[way[-1]]
        values = cells.write_columns(taxonomy.concept(way[-1]), self.details)
        for place, value in zip(self.places, values, strict=True):
            texts[place] = value
        return texts

    def _code(self, position: int) -> str:
        """The last step of a path that is an id."""
        return self.taxonomy.ids[position].rpartition(path_rows.JOINED)[2]
