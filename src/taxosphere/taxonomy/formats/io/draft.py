"""What a reader collects, and the one place where it becomes a taxonomy or an error.

Readers only gather columns with the line each entry came from. Whether ids repeat, edges lead nowhere or names are
missing is decided here, the same way for every format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from taxosphere.errors import InputError
from taxosphere.taxonomy.checks import Problem
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io.options import Dangling, ReadOptions
from taxosphere.taxonomy.graph import Source, Taxonomy
from taxosphere.taxonomy.structure import Ints

# No name or definition is this long; a longer one means a missing quote or line break.
LONGEST_TEXT = 100_000
WAYS_OUT = "--dangling keep makes it one, --dangling drop leaves the edge out"


@dataclass(slots=True)
class Draft:
    """Columns as read. `synonyms`, `images` and `extras` may stay empty when no concept has any."""

    path: Path
    format: str
    is_file: bool = True
    ids: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    synonyms: list[tuple[str, ...]] = field(default_factory=list)
    images: list[tuple[str, ...]] = field(default_factory=list)
    extras: list[tuple[tuple[str, str], ...]] = field(default_factory=list)
    lines: Sequence[int] = field(default_factory=list)
    parents: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    edge_lines: Sequence[int] = field(default_factory=list)
    edge_path: Path | None = None
    # Where it is stated, `lines` and `edge_lines` count from 0 what was read, and this returns the lines of all of it.
    find_lines: Callable[[], tuple[Ints, Ints]] | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)  # what the taxonomy does not carry
    notes: list[str] = field(default_factory=list)  # how the file was understood
    faults: list[tuple[str, int, str]] = field(default_factory=list)  # kind, line, text of fatal ones

    def concept(
        self,
        id: str,
        name: str,
        description: str = "",
        synonyms: Iterable[str] = (),
        images: Iterable[str] = (),
        extras: Iterable[tuple[str, str]] = (),
        line: int = 0,
    ) -> None:
        self.ids.append(id)
        self.names.append(name)
        self.descriptions.append(description)
        self.synonyms.append(tuple(synonyms))
        self.images.append(tuple(images))
        self.extras.append(tuple(extras))
        self.lines.append(line)  # type: ignore[attr-defined]

    def add(
        self,
        row: int,
        description: str = "",
        synonyms: Iterable[str] = (),
        images: Iterable[str] = (),
        extras: Iterable[tuple[str, str]] = (),
    ) -> None:
        """What a further mention of a concept says: lists grow, and another description is kept as an extra."""
        present = self.descriptions[row]
        self.descriptions[row] = present or description
        if present and description not in ("", present):
            extras = [*extras, ("description", description)]
        self.synonyms[row] = _united(self.synonyms[row], synonyms)
        self.images[row] = _united(self.images[row], images)
        self.extras[row] = _united(self.extras[row], extras)

    def take_out(self, rows: Iterable[int]) -> list[Concept]:
        """Removes concepts and returns them."""
        gone = dict.fromkeys(rows)
        lists = [column or [()] * len(self.ids) for column in (self.synonyms, self.images, self.extras)]
        columns = (self.ids, self.names, self.descriptions, *lists)
        concepts = [Concept(*(column[row] for column in columns)) for row in gone]  # type: ignore[arg-type]
        for name in ("ids", "names", "descriptions", "synonyms", "images", "extras", "lines"):
            setattr(self, name, [value for row, value in enumerate(getattr(self, name)) if row not in gone])
        return concepts

    def edge(self, parent: str, child: str, line: int = 0) -> None:
        self.parents.append(parent)
        self.children.append(child)
        self.edge_lines.append(line)  # type: ignore[attr-defined]

    def link(self, edges: Iterable[tuple[str, str, int]]) -> None:
        """Edges (parent, child, line) whose ends are ids; a name will do where no id says the same and only one concept
        bears it. Two ways to say the same in one line are one edge."""
        meant = meanings(self.ids, self.names)
        line, said = 0, set[tuple[str, str]]()
        for edge in edges:
            parent, child = (meant.get(end, end) for end in edge[:2])
            if parent is None or child is None:
                end = edge[0] if parent is None else edge[1]
                text = f"several concepts are called '{_short(end)}'; give the id of the one that is meant"
                self.faults.append(("ambiguous name", edge[2], text))
            else:
                if edge[2] != line:
                    line, said = edge[2], set()
                if (parent, child) not in said:
                    said.add((parent, child))
                    self.edge(parent, child, edge[2])

    def left_out(self, text: str, line: int | None = None) -> None:
        """One line about something in the file that the taxonomy does not carry."""
        self.problems.append(Problem("left out", self.where(line), text, False))

    def line_of(self, row: int) -> int | None:
        """The line of a concept, None where it is unknown."""
        return self._line(self.lines, row, 0)

    def line_of_edge(self, row: int) -> int | None:
        """The same for an edge."""
        return self._line(self.edge_lines, row, 1)

    def _line(self, lines: Sequence[int], row: int, kind: int) -> int | None:
        if row >= len(lines):
            return None
        return int(self.find_lines()[kind][lines[row]] if self.find_lines else lines[row]) or None

    def where(self, line: int | None = None, path: Path | None = None) -> str:
        return f"{path or self.path}:{line}" if line else str(path or self.path)


def _united(items: tuple[Any, ...], more: Iterable[Any]) -> tuple[Any, ...]:
    present = set(items)
    return (*items, *(item for item in more if item not in present)) if more else items


def meanings(ids: Sequence[str], names: Sequence[str]) -> dict[str, str | None]:
    """The id that a text stands for, None where there are several: as an id, else as a name, else as one of the two
    without the spaces around it."""
    texts = [*zip(names, ids, strict=True), *zip(ids, ids, strict=True)]
    bare = ((text.strip(), id) for text, id in texts if text != text.strip())
    return _single(bare) | _single(texts[: len(names)]) | dict(zip(ids, ids, strict=True))


def _single(pairs: Iterable[tuple[str, str]]) -> dict[str, str | None]:
    meant: dict[str, str | None] = {}
    for text, id in pairs:
        if text:
            meant[text] = id if meant.get(text, id) == id else None
    return meant


class _Finder:
    """Raises at the first fatal problem when strict, else collects."""

    def __init__(self, draft: Draft, strict: bool) -> None:
        self.draft = draft
        self.strict = strict
        self.problems: list[Problem] = []

    def concept(self, kind: str, row: int, text: str, fatal: bool = True) -> None:
        self.report(kind, self.draft.path, self.draft.line_of(row), text, fatal)

    def edge(self, kind: str, row: int, text: str, fatal: bool = True) -> None:
        path = self.draft.edge_path or self.draft.path
        self.report(kind, path, self.draft.line_of_edge(row), text, fatal)

    def report(self, kind: str, path: Path, line: int | None, text: str, fatal: bool = True) -> None:
        if fatal and self.strict:
            raise InputError(text, path=path, line=line)
        self.problems.append(Problem(kind, self.draft.where(line, path), text, fatal))


def build(draft: Draft, options: ReadOptions | None = None) -> Taxonomy:
    """The taxonomy of a draft.

    Parameters
    ----------
    draft : Draft
        What a reader collected.
    options : ReadOptions, optional
        `strict` and `dangling` are used. Strict: the first fatal fault raises. Otherwise faults are mended the least
        harmful way and kept in `Taxonomy.reading`.
    """
    options = options or ReadOptions()
    if not draft.ids:
        raise InputError("holds no concepts", path=draft.path)
    finder = _Finder(draft, options.strict)
    for kind, line, text in draft.faults:
        finder.report(kind, draft.path, line or None, text)
    _check_texts(draft, finder)
    positions = _drop_repeated_ids(draft, finder)
    if options.dangling == "refuse":
        _leave_out_root(draft, positions)
    else:
        positions = _settle_dangling(draft, positions, options.dangling)
    edges, edge_lines = _edges(draft, positions, finder)
    source = Source(
        path=str(draft.path),
        numbers=np.array(draft.lines, np.int32),
        edge_path=str(draft.edge_path or draft.path),
        edge_numbers=edge_lines,
        find=draft.find_lines,
    )
    return Taxonomy(
        ids=tuple(draft.ids),
        names=tuple(draft.names),
        descriptions=tuple(draft.descriptions),
        edge_array=edges,
        synonyms=_column(draft.synonyms),
        images=_column(draft.images),
        extras=_column(draft.extras),
        meta={"format": draft.format, **draft.meta},
        reading=(*draft.problems, *finder.problems),
        source=source if draft.is_file else None,
        reading_notes=tuple(draft.notes),
    )


def _column(values: list[tuple[Any, ...]]) -> tuple[tuple[Any, ...], ...]:
    return tuple(values) if any(values) else ()


def _check_texts(draft: Draft, finder: _Finder) -> None:
    if "" in draft.ids:  # no way to keep it, so refused even when lenient
        line = draft.line_of(draft.ids.index(""))
        raise InputError("a concept without an id; give it one", path=draft.path, line=line)
    for row, name in enumerate(draft.names) if not all(draft.names) or any(map(str.isspace, draft.names)) else ():
        if not name or name.isspace():
            finder.concept("empty name", row, f"the concept '{_short(draft.ids[row])}' has no name; give it one")
            draft.names[row] = draft.ids[row]
    for what, column in (("id", draft.ids), ("name", draft.names), ("description", draft.descriptions)):
        for row, text in enumerate(column) if "\0" in "".join(column) else ():
            if "\0" in text:
                finder.concept("control character", row, f"the {what} '{_short(text)}' holds a NUL character")
                column[row] = text.replace("\0", "\ufffd")
        if max(map(len, column)) <= LONGEST_TEXT:
            continue
        for row, text in enumerate(column):
            if len(text) > LONGEST_TEXT:
                message = f"the {what} '{_short(text)}' has {len(text):,} characters (more than {LONGEST_TEXT:,});"
                finder.concept("long text", row, f"{message} is a quote or line break missing?")


def _drop_repeated_ids(draft: Draft, finder: _Finder) -> dict[str, int]:
    positions = dict(zip(reversed(draft.ids), range(len(draft.ids) - 1, -1, -1), strict=True))
    if len(positions) == len(draft.ids):
        return positions
    repeated = []
    for row, id in enumerate(draft.ids):
        first = positions[id]
        if first != row:
            line = draft.line_of(first)
            before = f" (first in line {line})" if line else ""
            finder.concept("duplicate id", row, f"the id '{_short(id)}' is used twice{before}; ids must differ")
            repeated.append(row)
    draft.take_out(repeated)
    return {id: row for row, id in enumerate(draft.ids)}


def _leave_out_root(draft: Draft, positions: dict[str, int]) -> None:
    """Leave out the edges to an id that is no concept, where it is the only one, above several concepts, and none is
    without a parent: it then stands for all, as `TOTAL` in tables of HS."""
    if not draft.parents or all(map(positions.__contains__, draft.parents)):
        return
    missing = set(draft.parents) - positions.keys()
    if len(missing) > 1 or set(draft.children) != positions.keys():
        return
    edges = len(draft.parents)
    root = missing.pop()
    lines = draft.edge_lines or [0] * edges
    kept = [row for row, parent in enumerate(draft.parents) if parent != root]
    if not kept or edges - len(kept) < 2:
        return
    draft.parents, draft.children = ([column[row] for row in kept] for column in (draft.parents, draft.children))
    draft.edge_lines = [lines[row] for row in kept]
    said = f"'{_short(root)}' is no concept and above all others: {counted(edges - len(kept), 'concept')} below it"
    draft.notes.append(f"{said} read as the uppermost")


def _settle_dangling(draft: Draft, positions: dict[str, int], dangling: Dangling) -> dict[str, int]:
    """Make the missing ends of edges concepts that are called by their ids, or leave their edges out."""
    edges = list(zip(draft.parents, draft.children, strict=True))
    missing = list(dict.fromkeys(end for edge in edges for end in edge if end not in positions))
    if not missing:
        return positions
    if dangling == "keep":
        for id in missing:
            draft.concept(id, id)
        draft.notes.append(f"{counted(len(missing), 'concept')} that only edges name, called by their ids")
        return {id: row for row, id in enumerate(draft.ids)}
    lines = draft.edge_lines or [0] * len(edges)
    kept = [row for row, edge in enumerate(edges) if all(end in positions for end in edge)]
    draft.parents, draft.children = ([edges[row][end] for row in kept] for end in (0, 1))
    draft.edge_lines = [lines[row] for row in kept]
    draft.left_out(
        f"{counted(len(edges) - len(kept), 'edge')} to {counted(len(missing), 'concept')} that the file does not hold"
    )
    return positions


def _edges(draft: Draft, positions: dict[str, int], finder: _Finder) -> tuple[Ints, Ints]:
    """The good edges as positions, and the line of each."""
    count = len(draft.parents)
    parents = np.fromiter(map(positions.get, draft.parents, repeat(-1)), np.int64, count)
    children = np.fromiter(map(positions.get, draft.children, repeat(-1)), np.int64, count)
    dangling = (parents < 0) | (children < 0)
    whole = np.flatnonzero(~dangling)
    _, first = np.unique(parents[whole] * len(positions) + children[whole], return_index=True)
    repeated = ~dangling
    repeated[whole[first]] = False
    loops = (parents == children) & ~dangling
    for row in np.flatnonzero(dangling | loops | repeated).tolist():
        parent, child = draft.parents[row], draft.children[row]
        if dangling[row]:
            missing = parent if parents[row] < 0 else child
            finder.edge(
                "dangling edge",
                row,
                f"the edge names '{_short(missing)}', which is no concept of this file; {WAYS_OUT}",
            )
        elif loops[row]:
            finder.edge("self loop", row, f"'{_short(parent)}' is its own parent; remove this edge")
        else:
            finder.edge("duplicate edge", row, f"the edge '{_short(parent)}' → '{_short(child)}' is repeated", False)
    good = ~(dangling | loops | repeated)
    lines = np.array(draft.edge_lines, np.int32) if draft.edge_lines else np.zeros(count, np.int32)
    return np.stack([parents[good], children[good]], axis=1).astype(np.int32), lines[good]


def counted(count: int, noun: str) -> str:
    """`1 class`, `2,000 classes`."""
    return f"{count:,} {noun}" + ("" if count == 1 else "es" if noun.endswith("s") else "s")


def _short(text: str) -> str:
    """A text that fits into one line of an error message."""
    flat = " ".join(text.split())
    return flat if len(flat) <= 60 else flat[:57] + "…"
