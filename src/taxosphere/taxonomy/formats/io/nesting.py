"""Nested objects of a JSON or YAML file: which key holds what is below, and which the name, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io import record_keys as rk

TOP = ""  # the key through which the roots are reached


@dataclass(eq=False)
class Node:
    """An object in its place.

    Parameters
    ----------
    entry : Entry
        The object.
    holder : list
        The list it stands in, and its place there.
    place : int
        See `holder`.
    via : str
        The key that holds the list; `TOP` for roots.
    below : list, optional
        What is below it, a list of our own.
    """

    entry: jv.Entry
    holder: list[Any]
    place: int
    via: str
    key: str = ""
    below: list[Any] | None = None


def walk(entries: list[Any], child_key: str, path: Path) -> list[Node]:
    """Return all objects of a nested list, level by level.

    Below an object is what stands under a usual key for children. Where a level has none of those, it is the only
    list of named objects that its objects have, under whatever key.

    Parameters
    ----------
    entries : list
        The roots; they are replaced in place by whoever renames their keys.
    child_key : str
        The key that holds the children, if it is stated.
    path : Path
        The file, for the messages.

    Raises
    ------
    InputError
        Where objects have several lists of objects and nothing says which one holds the children.
    """
    nodes: list[Node] = []
    level = [(entries, TOP, False)]
    while level:
        here = [
            (Node(item, holder, place, via), usual)
            for holder, via, usual in level
            for place, item in enumerate(holder)
            if isinstance(item, jv.Entry)
        ]
        nodes += [node for node, _ in here]
        level = []
        for group in _groups(here):
            usual_only = group[0][1]
            keys = _child_keys([node.entry for node, _ in group], child_key, usual_only, path)
            for node, _ in group:
                node.key = next((key for key in keys if key in node.entry), "")
                if node.key:
                    node.below = _listed(node.entry[node.key])
                if node.below:
                    usual = bool(child_key) or rk.plain(node.key) in rk.CHILDREN
                    level.append((node.below, node.key, usual))
    return nodes


def _groups(here: list[tuple[Node, bool]]) -> list[list[tuple[Node, bool]]]:
    groups: dict[tuple[str, bool], list[tuple[Node, bool]]] = {}
    for node, usual in here:
        groups.setdefault((node.via, usual), []).append((node, usual))
    return list(groups.values())


def _listed(value: Any) -> list[Any] | None:
    """A list of what is below; objects below their names or ids become objects that say them."""
    if isinstance(value, list):
        return list(value)
    if not isinstance(value, jv.Entry):
        return None
    if any(rk.plain(key) in rk.NAMES and isinstance(name, str) for key, name in value.items()):
        return [value]  # the only child, as converters from XML write it
    items: list[Any] = []
    for key, item in value.items():
        if isinstance(item, jv.Entry):
            named = rk.KeyCounts([item]).usual(rk.NAMES)
            role = "id" if named and "id" not in item else "name"
            items.append(item if named and "id" in item else jv.Entry([(role, key), *item.items()], item.line))
        else:
            items.append(jv.Entry([("name", key), ("children", item)] if isinstance(item, list) else [("name", key)]))
    return items


def _child_keys(entries: Sequence[jv.Entry], stated: str, usual_only: bool, path: Path) -> list[str]:
    """The keys that hold children on this level, in order of preference."""
    if stated:
        return [stated]
    usual = rk.KeyCounts(entries).usual(rk.CHILDREN)
    ours = [key for key in ("children",) if any(key in entry for entry in entries)]
    if ours or usual or usual_only:
        return list(dict.fromkeys([*ours, *usual]))
    lists = dict.fromkeys(key for entry in entries for key, value in entry.items() if _holds_concepts(key, value))
    usual_names = [key for key in lists if all(_is_named(item) for entry in entries for item in entry.get(key) or ())]
    sounding = [key for key in lists if rk.sounds_like_relation(key)]
    for keys in (list(lists), usual_names, sounding):
        if len(keys) <= 1 and (keys or not lists):
            return keys
    shown = ", ".join(f"'{key[:40]}'" for key in lists)
    message = f"objects have several lists of objects ({shown}); --map child=KEY states which are the children"
    raise InputError(message, path, entries[0].line or None)


def _is_named(item: Any) -> bool:
    return isinstance(item, str) or bool(rk.KeyCounts([item]).usual(rk.NAMES))


def _holds_concepts(key: str, value: Any) -> bool:
    if not isinstance(value, list) or not value or rk.plain(key) in rk.NOT_CHILDREN:
        return False
    if all(isinstance(item, str) for item in value):
        return rk.plain(key).startswith("sub")
    return all(isinstance(item, jv.Entry) and item for item in value)


def name_keys(nodes: list[Node], stated: str, path: Path) -> dict[str, str]:
    """Return the key of the name for the objects reached through each key.

    Parameters
    ----------
    nodes : list of Node
        All objects.
    stated : str
        The key that holds the names, if it is stated.
    path : Path
        The file, for the messages.

    Raises
    ------
    InputError
        Where neither a name nor an id is recognised; it names the keys that were seen.
    """
    groups: dict[str, list[jv.Entry]] = {}
    for node in nodes:
        groups.setdefault(node.via, []).append(_single(node))
    names = {}
    flat = not any(node.below for node in nodes)
    for via, entries in groups.items():
        counts = rk.KeyCounts(entries)
        names[via] = stated if stated in counts.values else rk.name_key(counts)
        if flat and names[via] != stated and rk.plain(names[via]) not in rk.NAMES:
            names[via] = ""  # without nesting nothing says that these are concepts
        seen = dict.fromkeys(key for entry in entries for key in entry)
        if not names[via] and "id" not in counts.values and counts.values:
            shown = ", ".join(f"'{key[:40]}'" for key in list(seen)[:10])
            message = f"an object has neither 'name' nor 'id', but {shown}; --map name=KEY states which is the name"
            raise InputError(message, path, entries[0].line or None)
    return names


def _single(node: Node) -> jv.Entry:
    """The object without what is below it."""
    return jv.Entry([pair for pair in node.entry.items() if pair[0] != node.key], node.entry.line)


def repeated_ids(nodes: list[Node]) -> bool:
    """Return whether objects on different levels share an id without being the same: each level counts anew."""
    first: dict[str, tuple[str, str]] = {}
    for node in nodes:
        id, name = jv.text_of(node.entry, "id"), jv.text_of(node.entry, *jv.NAME)
        if id and name:
            via, other = first.setdefault(id, (node.via, name))
            if other != name and via != node.via:
                return True
    return False
