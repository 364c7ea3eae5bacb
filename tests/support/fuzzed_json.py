"""JSON documents made from a schema, and damage to documents."""

from __future__ import annotations

import copy
import random
from typing import Any

STRANGE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**400, 0.5, 1e308, float("nan"), float("inf")),
    *("", " ", "a", "\0", "\ud800", "\u202e", "ü" * 300, "x" * 5000, "x" * 200_000, "1", "null", "../..", "%00", "'"),
    *(
        "=1+1",
        "<script>",
        "{{id}}",
        "2026-01-01T00:00:00Z",
        [],
        {},
        [[]],
        [None],
        {"": ""},
        [{}] * 300,
        {"a": {"b": []}},
    ),
)
Known = dict[str, list[Any]]
_DEEP: Any = []
for _ in range(200):
    _DEEP = [_DEEP]


def sampled(
    schema: dict[str, Any], document: dict[str, Any], chance: random.Random, known: dict[str, list[Any]]
) -> Any:
    """A value as a schema of an OpenAPI document describes it.

    Parameters
    ----------
    schema : dict
        What is wanted.
    document : dict
        The whole, for references.
    chance : random.Random
    known : dict of str to list
        Values that exist, by the name of a property: ids of items and of concepts.
    """
    if "$ref" in schema:
        place: Any = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            place = place[part]
        return sampled(place, document, chance, known)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return sampled(chance.choice(schema[key]), document, chance, known)
    if "enum" in schema or "const" in schema:
        return chance.choice(schema.get("enum") or [schema["const"]])
    kind = schema.get("type")
    if kind == "object":
        return _object(schema, document, chance, known)
    if kind == "array":
        count = chance.randint(schema.get("minItems", 0), max(schema.get("minItems", 0), 3))
        return [sampled(schema.get("items", {}), document, chance, known) for _ in range(count)]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", -5), schema.get("maximum", 50)
        return chance.randint(int(low), int(max(low, high)))
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "null":
        return None
    return chance.choice(("bird", "red bird", "new3", "x", "a b", "new concept", "1"))


def _object(
    schema: dict[str, Any], document: dict[str, Any], chance: random.Random, known: dict[str, list[Any]]
) -> Any:
    made = {}
    for name, of in schema.get("properties", {}).items():
        if name in schema.get("required", ()) or chance.random() < 0.6:
            existing = known.get(name)
            usual = existing and chance.random() < 0.8
            made[name] = chance.choice(existing) if usual and existing else sampled(of, document, chance, known)
    return made


def damaged_json(value: Any, chance: random.Random) -> Any:
    """The same document with one to three of its values replaced, removed, doubled or moved elsewhere."""
    value = copy.deepcopy(value)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        places = list(_places(value))
        if not places:
            return chance.choice(STRANGE)
        holder, key = chance.choice(places)
        action = chance.randrange(6)
        if action < 3:
            holder[key] = copy.deepcopy(chance.choice((*STRANGE, _DEEP)))
        elif action == 3:
            del holder[key]
        elif action == 4:
            other, place = chance.choice(places)
            if place in (other if isinstance(other, dict) else range(len(other))):
                holder[key] = copy.deepcopy(other[place])
        elif isinstance(holder, dict):
            holder[chance.choice(("", "extra", "id", "\ud800", str(key) + "s"))] = holder[key]
        else:
            holder.extend(copy.deepcopy(holder[key]) for _ in range(chance.choice((1, 300))))
    return value


def _places(value: Any) -> Any:
    """Every holder in a document with each of its keys."""
    waiting = [value]
    while waiting:
        holder = waiting.pop()
        if isinstance(holder, dict | list):
            for key in holder if isinstance(holder, dict) else range(len(holder)):
                yield holder, key
                waiting.append(holder[key])
