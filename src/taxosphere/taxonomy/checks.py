"""What a curator should look at in a hierarchy, and how a cycle is broken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from taxosphere.taxonomy import cycles

if TYPE_CHECKING:
    from taxosphere.taxonomy.graph import Taxonomy
    from taxosphere.taxonomy.hierarchy import Hierarchy

# What UTF-8 looks like after it was read as Latin-1 or Windows-1252, and the sign for a character that was lost.
_GARBLED = re.compile("[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac|\ufffd")
_LONGEST_PATH = 12  # concepts of a cycle shown in one line
# How OBO and OWL say that a concept is no longer to be used.
_REPLACED = {
    "replaced_by": "replaced_by",
    "consider": "consider",
    "http://purl.obolibrary.org/obo/IAO_0100001": "replaced_by",
    "http://purl.org/dc/terms/isReplacedBy": "replaced_by",
    "http://www.geneontology.org/formats/oboInOwl#consider": "consider",
}
_OBSOLETE = {"is_obsolete": ("true",), "http://www.w3.org/2002/07/owl#deprecated": ("true", '"true"', '"1"')}


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding: its kind, where it is (``FILE:LINE`` or ids), what to do; fatal when nothing works with it."""

    kind: str
    where: str
    text: str
    fatal: bool


def problems(t: Taxonomy) -> list[Problem]:
    """Everything found in the taxonomy itself: cycles first, then names, then concepts that hang from nothing."""
    return [*_cycles(t), *_names(t), *_encodings(t), *_orphans(t), *_obsolete(t)]


def obsolete(t: Taxonomy) -> list[int]:
    """Concepts that their source says are no longer to be used."""
    return [i for i, extras in enumerate(t.extras) if extras and is_obsolete(extras)]


def is_obsolete(extras: Iterable[tuple[str, str]]) -> bool:
    return any(key in _OBSOLETE and value.lower().startswith(_OBSOLETE[key]) for key, value in extras)


def replacements(extras: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What an obsolete concept is replaced by: (id, "replaced_by" or "consider"), as its source says."""
    kinds = ((value, _REPLACED[key]) for key, value in extras if key in _REPLACED)
    return [(value.split(" ! ")[0].split(" {")[0].strip("<> "), kind) for value, kind in kinds]


def repair(t: Taxonomy) -> tuple[Taxonomy, list[Problem]]:
    """Without the edges that close cycles (see `cycles` for which ones), and a word about each."""
    circles = t.cycles
    if not circles:
        return t, []
    dropped = [Problem("dropped edge", t.edge_where(cycle.edge), _why_dropped(t, cycle), False) for cycle in circles]
    return t.with_edges(np.delete(t.edge_array, [cycle.edge for cycle in circles], axis=0)), dropped


def _cycles(t: Taxonomy) -> Iterator[Problem]:
    for cycle in t.cycles:
        if cycle.path:
            text = f"the hierarchy runs in a circle: {show_path(t, cycle.path)}; remove one of these edges, or --repair"
        else:
            text = f"{_edge(t, cycle)} lies in a knot of circles too large to be searched; mend the knot, or --repair"
        yield Problem("cycle", t.edge_where(cycle.edge), text, True)


def _why_dropped(t: Taxonomy, cycle: cycles.Cycle) -> str:
    levels = f"{cycle.climb} level{'s' * (cycle.climb != 1)}"
    reason = (
        f"leads {levels} back towards the roots" if cycle.climb else "stays on one level and comes last in the source"
    )
    closed = (
        f"closes {show_path(t, cycle.path)}" if cycle.path else "lies in a knot of circles too large to be searched"
    )
    return f"{_edge(t, cycle)} {reason} and {closed}"


def _edge(t: Taxonomy, cycle: cycles.Cycle) -> str:
    return show_path(t, t.edge_array[cycle.edge].tolist())


def show_path(t: Hierarchy, path: Sequence[int]) -> str:
    shown = [label(t, i) for i in path]
    if len(shown) > _LONGEST_PATH:
        half = _LONGEST_PATH // 2
        shown[half:-half] = [f"… {len(shown) - 2 * half:,} more …"]
    return " → ".join(shown)


def label(t: Hierarchy, position: int) -> str:
    id, name = t.ids[position], t.names[position]
    return f"'{id}'" if name in (id, "") else f"'{name}' ({id})"


def _names(t: Taxonomy) -> Iterator[Problem]:
    """Empty names, and every concept whose name an earlier one has already, exactly or but for case and spaces."""
    same: dict[str, int] = {}
    alike: dict[str, int] = {}
    for i, name in enumerate(t.names):
        key = " ".join(name.casefold().split())
        if not key:
            yield Problem("empty name", t.where(i), f"the concept '{t.ids[i]}' has no name; give it one", True)
            continue
        first = same.setdefault(name, i)
        near = alike.setdefault(key, i)
        if first != i:
            text = f"the name '{name}' of '{t.ids[i]}' is also that of '{t.ids[first]}'; do they mean different things?"
            yield Problem("shared name", t.where(i), text, False)
        elif near != i:
            text = f"the name '{name}' of '{t.ids[i]}' differs only in case or spaces from {label(t, near)}"
            yield Problem("case variant", t.where(i), text, False)


def _encodings(t: Taxonomy) -> Iterator[Problem]:
    for what, column in (("name", t.names), ("description", t.descriptions)):
        for i, text in enumerate(column):
            if not text.isascii() and (match := _GARBLED.search(text)):
                message = (
                    f"the {what} of '{t.ids[i]}' holds '{match[0]}', text that was decoded wrongly; mend the source"
                )
                yield Problem("bad encoding", t.where(i), message, False)


def _orphans(t: Taxonomy) -> Iterator[Problem]:
    if len(t.edge_array):
        for i in t.isolated.tolist():
            text = f"{label(t, i)} has neither parent nor child; attach it or remove it"
            yield Problem("orphan", t.where(i), text, False)


def _obsolete(t: Taxonomy) -> Iterator[Problem]:
    for i in obsolete(t):
        text = f"{label(t, i)} is obsolete and still has a place here; nothing new is suggested below it"
        yield Problem("obsolete", t.where(i), text, False)
