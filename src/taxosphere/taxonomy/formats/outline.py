"""Outlines: indented text, Markdown headings and lists, trees as the command `tree` draws them (read only).

A concept is its path. The depth of a line is its indentation, the number of its heading signs or of its dashes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import markdown, suffixes
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.encodings import read_source
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.path_collector import PathCollector
from taxosphere.taxonomy.formats.io.streams import bare_suffix

_HEADING = re.compile(r"(#{1,6})\s+(.*?)\s*#*")
_DASHES = re.compile(r"\s*([-*+.>]{1,20})\s*(?![-*+.>])(.*)")
_DRAWN = re.compile(r"^[│|\s\u00a0]*[├└+`|]?[─-]{1,3}\s")
MANY, FEWEST_BELOW = 100, 0.05  # a text of so many lines is believed to be an outline if this share is indented
LONGEST_NAME = 70  # characters, of half of the lines of an indented text
INDENTATION = "indentation"
TAB = 4  # columns, where tabs and blanks are mixed


def is_outline(lines: Sequence[str]) -> bool:
    """Whether lines of a text file are an outline: some are indented or drawn below others.

    Parameters
    ----------
    lines : sequence of str
        Not empty, with the blanks at their beginnings.
    """
    if not lines or lines[0][:1].isspace():
        return False
    deep = sum(line[:1].isspace() or line[:1] in "│├└" for line in lines)
    bullets = sum(markdown.ITEM.fullmatch(line) is not None for line in lines)
    dashes = {len(match[1]) for line in lines if (match := _DASHES.fullmatch(line))}
    headings = sum(_HEADING.fullmatch(line) is not None for line in lines)
    if deep:
        return deep < len(lines)
    dashed = sum(_DASHES.fullmatch(line) is not None for line in lines)
    return (len(dashes) > 1 and dashed >= 0.5 * len(lines)) or (headings > 1 and bullets > 1)


def read(path: Path, options: ReadOptions) -> Draft:
    source = read_source(path, options.encoding)
    lines = [(n, line.rstrip()) for n, line in enumerate(source.text.split("\n"), 1) if line.strip()]
    if bare_suffix(path) not in suffixes.MARKDOWN:
        lines = [(n, line) for n, line in lines if not line.startswith("# ")] or lines
    draft = Draft(path=path, format="outline")
    draft.notes += [source.note] if source.note else []
    collector = PathCollector(draft, options.merge == "names")
    entries, kind = _entries(path, lines)
    if kind == INDENTATION and median(len(name) for _, _, name in entries) > LONGEST_NAME:
        message = f"half of its lines have more than {LONGEST_NAME} characters"
        raise InputError(f"{message}: that is running text, no outline; save it as a table or a list", path=path)
    if not entries:
        raise InputError("holds no headings and no list, so it is no outline", path=path)
    stack: list[tuple[int, str]] = []
    for number, depth, name in entries:
        while stack and stack[-1][0] >= depth:
            stack.pop()
        stack.append((depth, name))
        collector.add(tuple(step for _, step in stack), [], number)
    draft.notes.append(f"{kind} read as an outline")
    if len(entries) < len(lines):
        draft.left_out(f"{counted(len(lines) - len(entries), 'line')} that are no part of the outline")
    collector.finish()
    if len(draft.ids) >= MANY and len(draft.parents) < FEWEST_BELOW * len(draft.ids):
        message = f"{counted(len(draft.ids), 'line')}, of which {len(draft.parents):,} stand below another"
        raise InputError(f"{message}: that is no outline; indent what is below, or save it as a table", path=path)
    if not draft.parents:
        draft.notes.append("no line stands below another: there is not one edge")
    return draft


Line = tuple[int, str]
Entry = tuple[int, int, str]  # line, depth, name


def _entries(path: Path, lines: Sequence[Line]) -> tuple[list[Entry], str]:
    """The lines that are concepts, with their depths, and what they are."""
    if bare_suffix(path) in suffixes.MARKDOWN:
        return _markdown(lines), "headings and lists"
    if any(_DRAWN.match(line) and line[:1] in "│├└" for _, line in lines):
        return [_drawn(entry) for entry in lines], "a drawn tree"
    runs = [match for _, line in lines if (match := _DASHES.fullmatch(line)) and not line[:1].isspace()]
    if len({len(match[1]) for match in runs}) > 1:
        return _by_dashes(lines), "leading dashes"
    items = [(n, markdown.ITEM.fullmatch(line)) for n, line in lines]
    if sum(match is not None for _, match in items) >= 0.9 * len(lines):
        return [(n, _indent(m[1]), m[2].strip()) for n, m in items if m is not None and m[2].strip()], "a list"
    return [(n, _indent(line), line.strip()) for n, line in lines], INDENTATION


def _markdown(lines: Sequence[Line]) -> list[Entry]:
    """Headings, and the items of lists below them."""
    entries: list[Entry] = []
    for number, line in markdown.outside_fences(lines):
        if heading := _HEADING.fullmatch(line):
            entries.append((number, len(heading[1]), markdown.plain(heading[2])))
        elif (item := markdown.ITEM.fullmatch(line)) and markdown.plain(item[2]):
            entries.append((number, 10 + _indent(item[1]), markdown.plain(item[2])))
    return [entry for entry in entries if entry[2]]


def _by_dashes(lines: Sequence[Line]) -> list[Entry]:
    """`Animals`, `- Dogs`, `-- Poodles`: as deep as there are dashes."""
    entries = []
    for number, line in lines:
        match = _DASHES.fullmatch(line)
        depth, name = (len(match[1]), match[2].strip()) if match else (0, line.strip())
        if name:
            entries.append((number, depth, name))
    return entries


def _drawn(line: Line) -> Entry:
    match = _DRAWN.match(line[1])
    return (line[0], match.end(), line[1][match.end() :].strip()) if match else (line[0], 0, line[1].strip())


def _indent(text: str) -> int:
    return len(text.expandtabs(TAB)) - len(text.expandtabs(TAB).lstrip())
