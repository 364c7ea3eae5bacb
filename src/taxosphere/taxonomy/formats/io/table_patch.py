"""A text table with changes: untouched lines stay byte for byte, so that `diff` shows the changes and nothing else.

The source is read again. A line stays where the rows that it stands for would be written the same from the taxonomy as
it was and as it is now; otherwise it is written anew or dropped. What no line says any more gets new rows. The result
is read once more: where it says anything else than the taxonomy, the table is written anew as a whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import build
from taxosphere.taxonomy.formats.io.encodings import SourceText
from taxosphere.taxonomy.formats.io.grid import Grid, parse_grid
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.tables import format_row
from taxosphere.taxonomy.graph import Taxonomy

if TYPE_CHECKING:
    from taxosphere.taxonomy.formats.io.table_writer import Edge, Layout

QUOTED_ROWS = 50  # that show whether every cell is quoted


@dataclass(slots=True)
class _Line:
    """A row of the source: its text, what follows up to the next row, the edges it was read as, what it says now."""

    text: str
    behind: str
    before: list[Edge]
    edge: Edge | None = None  # in the taxonomy as it is now


def patched(
    source: SourceText, path: Path, options: WriteOptions, layout: Layout, read_options: ReadOptions
) -> str | None:
    """The text of the source with the changes that the taxonomy of `layout` has, None where that is not possible.

    Parameters
    ----------
    source : SourceText
        The text that the taxonomy was read from.
    path : Path
        A name with the suffix of the source.
    options : WriteOptions
        Where new rows go.
    layout : Layout
        The rows of the taxonomy as it is now.
    read_options : ReadOptions
        How the source was read.
    """
    try:
        grid = parse_grid(source, path)
        original = build(type(layout).reread(grid, read_options), read_options)
    except InputError:
        return None
    before = type(layout)(original)  # type: ignore[call-arg]
    if before.titles != layout.titles[: len(before.titles)]:
        return None
    style = _Style(source.text, grid, layout.titles)
    patch = _Patch(before, layout, grid, style)
    text = patch.text(options.placement)
    return text if _says_the_same(text, source, path, layout, read_options) else None


class _Style:
    """How the source writes a row."""

    def __init__(self, text: str, grid: Grid, titles: Sequence[str]) -> None:
        self.end = "\r\n" if "\r\n" in text[: text.find("\n") + 1] else "\n"
        self.between = grid.delimiter
        self.width = max(map(len, grid.rows), default=0)
        raw = text[:100_000].splitlines()[:QUOTED_ROWS]
        self.quoted = bool(raw) and bool(self.between) and all(_is_quoted(line, self.between) for line in raw if line)
        self.titles = len(titles)

    def format(self, cells: Sequence[str]) -> str:
        if not self.between:
            return cells[0] + self.end
        filled = max((i + 1 for i, cell in enumerate(cells) if cell), default=0)
        shown = list(cells[: max(filled, min(self.width, len(cells)))])
        return format_row(shown, self.between, quote_all=self.quoted).removesuffix("\n") + self.end


def _is_quoted(line: str, between: str) -> bool:
    cells = line.split(between)
    return cells[0].startswith('"') and cells[-1].endswith('"')


class _Patch:
    def __init__(self, before: Layout, after: Layout, grid: Grid, style: _Style) -> None:
        self.before, self.after, self.style = before, after, style
        assert grid.source is not None
        places = {id: position for position, id in enumerate(after.taxonomy.ids)}
        self.now = [places.get(id, -1) for id in before.taxonomy.ids]
        self.links = set(map(tuple, after.taxonomy.edge_array.tolist()))
        self.roots = set(after.taxonomy.roots.tolist())
        self.top, self.lines = _cut(grid, self._edges_by_line())

    def _edges_by_line(self) -> Mapping[int, list[Edge]]:
        """What each line of the source was read as, the innermost edge last."""
        taxonomy = self.before.taxonomy
        assert taxonomy.source is not None
        lines: defaultdict[int, list[Edge]] = defaultdict(list)
        if not self.before.by_edge:
            for position, line in enumerate(taxonomy.source.lines.tolist()):
                lines[line].append((-1, position))
            return lines
        for (parent, child), line in zip(
            taxonomy.edge_array.tolist(), taxonomy.source.edge_lines.tolist(), strict=True
        ):
            lines[line].append((parent, child))
        for position, line in enumerate(taxonomy.source.lines.tolist()):
            if line not in lines:
                lines[line].append((-1, position))
        return lines

    def text(self, placement: str) -> str:
        kept: list[_Line] = []
        said: set[Edge] = set()
        for line in self.lines:
            if self._keep(line):
                kept.append(line)
                said |= set(self.after.covered(line.edge)) if line.edge else set()
        new = [edge for edge in self.after.edges() if edge not in said]
        if placement == "siblings":
            self._insert_beside_siblings(kept, new)
        else:
            last = max((i + 1 for i, line in enumerate(kept) if line.edge), default=len(kept))
            self._insert(kept, last, new)
        return self._top() + "".join(line.text + line.behind for line in kept)

    def _top(self) -> str:
        """The lines above the rows, with more titles where there are new columns."""
        titles = self.after.titles
        if not titles or titles == self.before.titles or not self.top:
            return "".join(self.top)
        return "".join(self.top[:-1]) + self.style.format(titles)

    def _keep(self, line: _Line) -> bool:
        """Whether the row of the source is still there; its text is written anew where its cells have changed."""
        if not line.before:
            return True
        edge = line.before[-1]
        parent, child = (self.now[end] if end >= 0 else -1 for end in edge)
        gone = child < 0 or (edge[0] >= 0 and parent < 0)
        if self.after.by_edge and not gone:
            gone = (parent, child) not in self.links if edge[0] >= 0 else child not in self.roots
        if gone:
            return False
        line.edge = (parent, child)
        row, original = self.after.row(line.edge), self.before.row(edge)
        if row != original + [""] * (len(row) - len(original)):
            line.text = self.style.format(row)
        return True

    def _insert(self, kept: list[_Line], place: int, new: Sequence[Edge]) -> None:
        if not new:
            return
        rows = [_Line(self.style.format(self.after.row(edge)), "", [], edge) for edge in new]
        if place and kept and not kept[place - 1].text.endswith("\n"):
            kept[place - 1].text += self.style.end
            rows[-1].text = rows[-1].text.removesuffix(self.style.end)
        if place and kept:
            rows[-1].behind, kept[place - 1].behind = kept[place - 1].behind, ""
        kept[place:place] = rows

    def _insert_beside_siblings(self, kept: list[_Line], new: Sequence[Edge]) -> None:
        """Each new row goes behind the last of its siblings and what stands below that, else behind its parent."""
        taxonomy = self.after.taxonomy
        for edge in new:
            parents = [edge[0]] if edge[0] >= 0 else taxonomy.parent_csr.row(edge[1]).tolist()
            siblings = {child for parent in parents for child in taxonomy.child_csr.row(parent).tolist()} - {edge[1]}
            place = _last(kept, siblings) or _last(kept, set(parents)) or len(kept)
            below = {kept[place - 1].edge[1]} if place and kept[place - 1].edge else set()  # type: ignore[index]
            while place < len(kept) and (line := kept[place].edge) and below.intersection(self._parents(line)):
                below.add(line[1])
                place += 1
            self._insert(kept, place, [edge])

    def _parents(self, edge: Edge) -> list[int]:
        return [edge[0]] if edge[0] >= 0 else self.after.taxonomy.parent_csr.row(edge[1]).tolist()


def _last(kept: Sequence[_Line], children: set[int]) -> int:
    """The place behind the last row of one of these concepts; 0 where there is none."""
    return max((i + 1 for i, line in enumerate(kept) if line.edge and line.edge[1] in children), default=0)


def _cut(grid: Grid, edges: Mapping[int, list[Edge]]) -> tuple[list[str], list[_Line]]:
    """The lines above the first row that was read as something, and the rows from there on."""
    assert grid.source is not None
    text = grid.source.text
    starts = [0]
    while (end := text.find("\n", starts[-1])) >= 0:
        starts.append(end + 1)
    numbers = [number for number in grid.lines if number - 1 < len(starts)]
    first = next((i for i, number in enumerate(numbers) if number in edges), len(numbers))
    bounds = [starts[number - 1] for number in numbers] + [len(text)]
    top_end = bounds[first]
    top = [text[: bounds[0]], *(text[a:b] for a, b in pairwise(bounds[: first + 1]))]
    lines = []
    for i in range(first, len(numbers)):
        raw = text[bounds[i] : bounds[i + 1]]
        row = raw.rstrip(" \t\r\n")
        ends = raw[len(row) :].find("\n")
        cut = len(row) + ends + 1 if ends >= 0 else len(raw)
        lines.append(_Line(raw[:cut], raw[cut:], edges.get(numbers[i], [])))
    assert sum(map(len, top)) == top_end
    return [part for part in top if part], lines


def _says_the_same(text: str, source: SourceText, path: Path, layout: Layout, options: ReadOptions) -> bool:
    try:
        again = build(
            type(layout).reread(parse_grid(SourceText(text, source.encoding, source.bom), path), options), options
        )
    except InputError:
        return False
    return _content(again) == _content(layout.taxonomy)


def _content(taxonomy: Taxonomy) -> Counter[tuple[object, ...]]:
    """Concepts with their parents by name: ids of concepts may be made up of their paths."""
    names = taxonomy.names
    return Counter(
        (
            names[i],
            tuple(sorted(names[p] for p in taxonomy.parent_csr.row(i).tolist())),
            taxonomy.descriptions[i],
            frozenset(taxonomy.synonyms[i]),
            frozenset(taxonomy.images[i]),
            tuple(sorted(taxonomy.extras[i])),
        )
        for i in range(len(taxonomy))
    )
