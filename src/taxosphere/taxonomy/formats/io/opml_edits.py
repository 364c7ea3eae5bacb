"""New concepts in the text of an OPML file: the text between them stays as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_TAG = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>"
    r"|<(?P<end>/?)(?:[\w.-]+:)?(?P<name>outline|body)\b(?P<attributes>(?:[^>\"']|\"[^\"]*\"|'[^']*')*?)(?P<empty>/?)>",
    re.DOTALL,
)


@dataclass
class Place:
    """Where an outline begins and ends in the text; `end` is where its end tag begins, or its `/>`."""

    start: int
    attributes: str
    end: int = 0
    empty: bool = False
    first_child: int = -1


def places(text: str) -> list[Place]:
    """Return the body, and the outlines in the order in which they begin.

    Parameters
    ----------
    text : str
        Well-formed OPML.
    """
    outlines: list[Place] = []
    open_: list[Place] = []
    for tag in _TAG.finditer(text):
        if not tag["name"]:
            continue
        if tag["end"]:
            open_.pop().end = tag.start()
            continue
        place = Place(tag.start(), tag["attributes"], tag.end() - 2, bool(tag["empty"]))
        if open_ and open_[-1].first_child < 0:
            open_[-1].first_child = tag.start()
        outlines.append(place)
        if not place.empty:
            open_.append(place)
    return outlines


def insert(text: str, below: dict[int, list[int]], all_places: list[Place], outline: Callable[[int, str], str]) -> str:
    """Return the text with new outlines at the end of others.

    Parameters
    ----------
    text : str
        The OPML text.
    below : dict of int to list of int
        New concepts by the number of the place (of `all_places`) that they go into.
    all_places : list of Place
        See `places`.
    outline : callable
        ``outline(concept, indentation)`` returns the lines of a new outline and all in it, without the last line end.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    edits: list[tuple[int, int, str]] = []
    for number, concepts in below.items():
        place = all_places[number]
        outer = _indentation(text, place.start)
        inner = _indentation(text, place.first_child) if place.first_child >= 0 else outer + "  "
        lines = line_end.join(outline(concept, inner) for concept in concepts).replace("\n", line_end)
        lines = lines.replace("\r\r", "\r")
        if place.empty:
            name = re.match(r"<([\w.:-]+)", text[place.start :])
            assert name is not None  # a place begins with a tag
            edits.append((place.end, place.end + 2, f">{line_end}{lines}{line_end}{outer}</{name[1]}>"))
        else:
            before = len(text[: place.end].rstrip(" \t"))
            on_own_line = text[:before].endswith("\n")
            start = before if on_own_line else place.end
            edits.append((start, start, f"{lines}{line_end}" if on_own_line else f"{line_end}{lines}{line_end}{outer}"))
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _indentation(text: str, place: int) -> str:
    line = text[text.rfind("\n", 0, place) + 1 : place]
    return line if not line.strip() else line[: len(line) - len(line.lstrip())]
