"""Hierarchies with names as keys: `{"animal": {"bird": ["duck", "goose"]}}`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io import record_keys as rk
from taxosphere.taxonomy.formats.io.draft import counted


def is_named(entry: jv.Entry, naming: tuple[str, ...]) -> bool:
    """Whether an object has a name or an id, under a usual key or one that is stated."""
    return any(rk.is_name(entry.get(key)) for key in naming) or bool(
        [key for key in rk.KeyCounts([entry]).usual((*rk.NAMES, *rk.IDS)) if rk.is_name(entry[key])]
    )


def is_branch(value: Any) -> bool:
    """Whether something may stand below a key, rather than a text or number of it."""
    return value is None or isinstance(value, list | dict)


def is_like_its_children(top: jv.Entry) -> bool:
    """Whether an object has a text under a key under which each of its children has another: all are named so."""
    children = top.get("children")
    if not isinstance(children, list) or not children or not all(isinstance(child, jv.Entry) for child in children):
        return False
    rows = [top, *children]
    shared = [key for key in top if all(isinstance(row.get(key), str) for row in rows)]
    return any(len({row[key] for row in rows}) == len(rows) for key in shared)


def said_of_keys(entries: list[Any]) -> str:
    """How names as keys were understood; texts below them are none.

    Parameters
    ----------
    entries : list of objects
        What `KeyedTree` made of them.
    """
    texts, waiting = 0, [*entries]
    while waiting:
        item = waiting.pop()
        if isinstance(item, jv.Entry):
            texts += "value" in item and "children" not in item
            waiting += item.get("children") or ()
    said = "keys read as names, what stands below a key as below that concept"
    return f"{said}; {counted(texts, 'text')} below a key kept as 'value'" if texts else said


class KeyedTree:
    """Turns names as keys into objects with `name` and `children`.

    A text or number below a key is that of a leaf of this name, or an attribute of what is above it: an attribute has
    a usual key for one, or one that many objects have.
    """

    def __init__(self, value: Any, path: Path) -> None:
        self.path = path
        if isinstance(value, dict):
            self._check_references(value)
        counts: Counter[str] = Counter()
        self.holders = 0
        waiting = [value]
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                single = [key for key, below in item.items() if not is_branch(below)]
                counts.update(single)
                self.holders += bool(single)
            waiting += item.values() if isinstance(item, dict) else item if isinstance(item, list) else ()
        usual = {*rk.NAMES, *rk.IDS, *rk.DESCRIPTIONS, *rk.SYNONYMS, "level", "rank", "type", "color", "colour", "icon"}
        self.attributes = {key for key, n in counts.items() if rk.plain(key) in usual or n > max(1, 0.3 * self.holders)}

    def _check_references(self, value: dict[str, Any]) -> None:
        """Refuse keys at the top that stand below others: each key then only says what is directly below it."""
        below = {key: top for top, inner in value.items() if isinstance(inner, dict) for key in inner}
        again = [key for key in value if key in below and below[key] != key and isinstance(value[key], dict)]
        if 2 * len(again) > len(value) > 1:
            message = f"'{again[0]}' stands at the top and below '{below[again[0]]}', so keys are no tree"
            raise InputError(f"{message}; save it as a table of ids, names and parents (.csv)", self.path)

    def entries(self, value: Any, line: int) -> Iterator[Any]:
        """Objects for what stands in or below a key."""
        if isinstance(value, list):
            if any(isinstance(item, list) for item in value):  # rows
                message = "holds a list of lists, which is a table and no tree; save it as a table (.csv, .xlsx)"
                raise InputError(message, self.path, line or None)
            for item in value:
                yield from self.entries(item, line)
        elif isinstance(value, jv.Entry):
            if is_named(value, ()) and not any(isinstance(item, jv.Entry) for item in value.values()):
                yield value  # an object with a name of its own
                return
            self._check_levels(value)
            for key, below in value.items():
                yield self._entry(key, below, value.line)
        elif value is not None and value != "":
            if not isinstance(value, str):  # a number in a list names nothing
                raise InputError(
                    f"expected a name or an object, not {jv.spelling(value)[:40]}; save it as a table (.csv) or a tree",
                    self.path,
                    line or None,
                )
            yield jv.Entry([("name", value)], line)

    def _check_levels(self, value: jv.Entry) -> None:
        """Refuse lists of objects below the numbers of their levels: that does not say what is below what."""
        lists = [below for below in value.values() if isinstance(below, list) and below]
        numbered = len(value) > 1 and all(key.isdecimal() and len(key) < 3 for key in value)
        if numbered and len(lists) == len(value) and all(isinstance(each[0], jv.Entry) for each in lists):
            message = f"the numbers '{next(iter(value))}' … '{list(value)[-1]}' sort objects and say not what is above"
            raise InputError(
                f"{message} them; save the objects as a table: --nested reads codes", self.path, value.line
            )

    def _entry(self, name: str, below: Any, line: int) -> jv.Entry:
        if not is_branch(below):
            return jv.Entry([("name", name), ("value", below)], line)
        attributes: list[tuple[str, Any]] = []
        if isinstance(below, jv.Entry):
            attributes = [pair for pair in below.items() if pair[0] in self.attributes and not is_branch(pair[1])]
            below = jv.Entry([pair for pair in below.items() if pair not in attributes], below.line)
        pairs = [(f"{key}[]", [value]) if key in ("name", "children") else (key, value) for key, value in attributes]
        return jv.Entry([("name", name), *pairs, ("children", list(self.entries(below, line)))], line)
