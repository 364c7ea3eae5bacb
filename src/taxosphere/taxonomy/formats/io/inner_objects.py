"""JSON objects that keep their name or their parents in an object inside them, brought to the form of all others.

`{"data": {"text": "animal"}, "children": […]}`, as programs for mind maps write it, becomes `{"text": "animal",
"children": […]}`; `{"id": "1.1", "relations": {"is_a": ["1"]}}` becomes `{"id": "1.1", "is_a": ["1"]}`. Rows of a
database as Django stores them are brought to it too: `{"pk": 2, "fields": {"name": "bird", "parent": 1}}`.
"""

from __future__ import annotations

from typing import Any

from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io import record_keys as rk

NAMING = ("data", "attributes", "properties", "content", "node", "fields")  # keys of objects that hold the name
RELATING = ("relations", "relationships", "rels")  # keys of objects that hold parents or children


def brought_out(value: Any) -> tuple[Any, list[str]]:
    """A document in which objects have their names and parents themselves, and what to say about it.

    Parameters
    ----------
    value : any JSON value
        The document, its objects with their lines.
    """
    used: dict[str, None] = {}
    holder = [value]
    waiting: list[tuple[Any, Any]] = [(holder, 0)]
    while waiting:
        place, key = waiting.pop()
        item = place[key]
        if isinstance(item, jv.Entry):
            item = place[key] = _merged(item, used)
        inside = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, list) else ()
        waiting += [(item, inner) for inner, below in inside if isinstance(below, dict | list)]
    notes = [f"what objects hold under '{key}' read as their own" for key in used]
    return holder[0], notes


def _merged(entry: jv.Entry, used: dict[str, None]) -> jv.Entry:
    for key, inner in entry.items():
        if not isinstance(inner, jv.Entry) or not inner:
            continue
        if _names(entry, key, inner) or _relates(entry, key, inner):
            used[key] = None
            rest = [pair for pair in entry.items() if pair[0] != key]
            return jv.Entry([*(pair for pair in inner.items() if pair[0] not in entry), *rest], entry.line)
    return entry


def _names(entry: jv.Entry, key: str, inner: jv.Entry) -> bool:
    """Whether the inner object has the name that the outer one lacks, and one of them says what is above or below."""
    if rk.plain(key) not in NAMING or any(rk.plain(outer) in rk.NAMES for outer in entry):
        return False
    listed = [other for other, value in entry.items() if isinstance(value, list) and rk.plain(other) in rk.CHILDREN]
    related = listed or [word for word in inner if rk.plain(word) in rk.PARENTS]
    return bool(related) and any(rk.plain(name) in rk.NAMES and isinstance(text, str) for name, text in inner.items())


def _relates(entry: jv.Entry, key: str, inner: jv.Entry) -> bool:
    """Whether the inner object says what is above or below the outer one, which has a name or an id."""
    spellings = (*rk.PARENTS, *rk.CHILDREN)
    if rk.plain(key) not in RELATING or any(rk.plain(outer) in spellings for outer in entry):
        return False
    named = any(rk.plain(outer) in (*rk.NAMES, *rk.IDS) for outer in entry)
    return named and any(rk.plain(word) in spellings for word in inner)
