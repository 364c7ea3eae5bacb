"""Markdown: tables with pipes, and texts without the signs of links and emphasis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

ITEM = re.compile(r"(\s*)(?:[-*+•◦▪‣·]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)")  # of a list
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|\*|_|`)(.+?)\1")
_BREAK = re.compile(r"<br\s*/?>|&nbsp;", re.IGNORECASE)
_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")  # the line below the titles
_PIPE = re.compile(r"(?<!\\)\|")
_FENCE = ("```", "~~~")

Line = tuple[int, str]
Table = list[tuple[int, list[str]]]  # rows with their lines, the titles first


def plain(text: str) -> str:
    """A text without the signs of links and emphasis."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(r"\1", text)).strip()


def outside_fences(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines that are no code."""
    fenced = False
    for number, line in lines:
        if line.lstrip().startswith(_FENCE):
            fenced = not fenced
        elif not fenced:
            yield number, line


def list_items(text: str) -> int:
    """How many items the lists of a document have."""
    lines = list(enumerate(text.split("\n"), 1))
    return sum(ITEM.fullmatch(line) is not None for _, line in outside_fences(lines))


def tables(text: str) -> list[Table]:
    """The tables of a document, those with equal titles joined, the one with most rows first.

    Parameters
    ----------
    text : str
        The document.
    """
    lines = list(outside_fences(list(enumerate(text.split("\n"), 1))))
    joined: dict[tuple[str, ...], Table] = {}
    place = 0
    while place + 1 < len(lines):
        titles, rule = (line.rstrip() for _, line in lines[place : place + 2])
        adjacent = lines[place][0] + 1 == lines[place + 1][0]
        if not (adjacent and "|" in titles and "|" in rule and _RULE.fullmatch(rule)):
            place += 1
            continue
        header = _cells(titles)
        table = joined.setdefault(tuple(header), [(lines[place][0], header)])
        place += 2
        while place < len(lines) and "|" in lines[place][1] and lines[place][0] == lines[place - 1][0] + 1:
            table.append((lines[place][0], _cells(lines[place][1])))
            place += 1
    return sorted(joined.values(), key=len, reverse=True)


def _cells(line: str) -> list[str]:
    bare = line.strip().removeprefix("|")
    bare = bare[:-1] if bare.endswith("|") and not bare.endswith("\\|") else bare
    return [plain(_BREAK.sub(" ", cell).replace("\\|", "|")) for cell in _PIPE.split(bare)]
