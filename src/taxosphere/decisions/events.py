"""One decision about one new concept, as it is stored and exchanged."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept, Taxonomy

Strings = tuple[str, ...]

AUTOMATIC = "taxosphere"
"""Who decided where nobody did: the model was sure enough."""

_TEXTS = ("id", "kind", "item", "by", "at", "base", "model", "note", "undoes")
_SHARED = ("kind", "item", "by", "at", "base", "model")
_LISTS = ("parents", "children", "suggested")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Where a new concept stood before or after an event: its state and its parents."""

    state: str = "open"
    parents: Strings = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One decision. Events are only ever added; the taxonomy is the fold of them over a base.

    Parameters
    ----------
    id
        Unique name of the event.
    kind
        One of `taxosphere.decisions.kinds.KINDS`.
    item
        Id of the new concept that the decision is about.
    by, at
        Who decided, and when (ISO 8601, UTC).
    base
        `digest` of the taxonomy that the person saw.
    concept
        The new concept. An ``edit`` carries the changed text; elsewhere it may be left out where an earlier event
        of the same item has it.
    parents
        Ids of the parents; of ``same`` the one concept that the new concept is a synonym of.
    children
        Ids of the concepts that an ``insert`` moves below the new concept.
    undoes
        Id of the event that an ``undo`` takes back.
    names
        (id, name) of the parents and children when the decision was made, so that a later rename is noticed.
    probability, model, suggested
        What the model had said: probability of the first parent, version of the model, ids it suggested, best first.
    note
        What the person wrote.
    before, after
        State of the item around the event, for readers of the history; the fold computes them anew.
    """

    id: str
    kind: str
    item: str
    by: str = ""
    at: str = ""
    base: str = ""
    concept: Concept | None = None
    parents: Strings = ()
    children: Strings = ()
    undoes: str = ""
    names: tuple[tuple[str, str], ...] = ()
    probability: float | None = None
    model: str = ""
    suggested: Strings = ()
    note: str = ""
    before: Snapshot | None = None
    after: Snapshot | None = None

    def __post_init__(self) -> None:
        names = sorted((sys.intern(id), sys.intern(name)) for id, name in self.names)
        object.__setattr__(self, "names", tuple(names))  # sorted as a record has them
        for name in _SHARED:  # many events name the same few concepts and people: one copy of each text is enough
            object.__setattr__(self, name, sys.intern(getattr(self, name)))
        for name in _LISTS:
            object.__setattr__(self, name, tuple(map(sys.intern, getattr(self, name))))

    def content_id(self) -> str:
        """A name made of the content alone (not of who, when, before, after): the same decision has the same one."""
        bare = replace(self, id="", by="", at="", before=None, after=None)
        return hashlib.sha256(canonical(to_record(bare)).encode()).hexdigest()[:32]


def now() -> str:
    """The present moment as events state it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def canonical(record: Mapping[str, Any]) -> str:
    """A JSON text that is the same for equal records, whatever the order of their keys."""
    return json.dumps(record, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(taxonomy: Taxonomy) -> str:
    """SHA-256 over ids, names, definitions, synonyms and edges, whatever their order and format."""
    total = hashlib.sha256()
    for row in sorted(zip(taxonomy.ids, taxonomy.names, taxonomy.descriptions, taxonomy.synonyms, strict=True)):
        total.update(canonical({"concept": row}).encode("utf-8", "surrogatepass"))
    for pair in sorted(taxonomy.edges()):
        total.update(canonical({"edge": pair}).encode("utf-8", "surrogatepass"))
    return total.hexdigest()


# -- records ----------------------------------------------------------------------------------------------------------


def to_record(event: Event) -> dict[str, Any]:
    """The event as a JSON object without its empty fields."""
    record: dict[str, Any] = {name: getattr(event, name) for name in _TEXTS}
    record |= {name: list(getattr(event, name)) for name in _LISTS}
    record["names"] = dict(event.names)
    record["concept"] = None if event.concept is None else concept_record(event.concept)
    for name in ("before", "after"):
        snapshot: Snapshot | None = getattr(event, name)
        record[name] = None if snapshot is None else {"state": snapshot.state, "parents": list(snapshot.parents)}
    filled = {key: value for key, value in record.items() if value not in ("", [], {}, None)}
    return filled if event.probability is None else {**filled, "probability": event.probability}


def from_record(record: object) -> Event:
    """The event that a JSON object describes.

    Parameters
    ----------
    record
        What a JSON reader made of one line of exported decisions.

    Raises
    ------
    InputError
        Where a field is missing, of another type or not among those of an event.
    """
    if not isinstance(record, dict):
        raise InputError("a decision is a JSON object")
    allowed = {*_TEXTS, *_LISTS, "names", "concept", "probability", "before", "after"}
    unknown = next((key for key in record if key not in allowed), None)
    if unknown is not None:
        raise InputError(f"a decision has no field '{unknown}'")
    fields: dict[str, Any] = {name: _text(record.get(name, ""), name) for name in _TEXTS}
    for name in ("id", "kind", "item"):
        if not fields[name]:
            raise InputError(f"a decision needs the field '{name}'")
    fields |= {name: _texts(record.get(name, []), name) for name in _LISTS}
    names = record.get("names", {})
    if not isinstance(names, dict):
        raise InputError("'names' must be an object of ids and names")
    fields["names"] = tuple((_text(id, "names"), _text(name, "names")) for id, name in names.items())
    fields["concept"] = None if record.get("concept") is None else concept_from(record["concept"])
    fields["probability"] = _probability(record.get("probability"))
    fields |= {name: _snapshot(record.get(name), name) for name in ("before", "after")}
    return Event(**fields)


def concept_record(concept: Concept) -> dict[str, Any]:
    """A concept as a JSON object without its empty fields."""
    record: dict[str, Any] = {"id": concept.id, "name": concept.name, "description": concept.description}
    record |= {"synonyms": list(concept.synonyms), "images": list(concept.images)}
    record["extras"] = [list(pair) for pair in concept.extras]
    return {key: value for key, value in record.items() if value not in ("", [])}


def concept_from(record: object) -> Concept:
    """The concept that a JSON object describes; `InputError` where it is none."""
    if not isinstance(record, dict) or not record.keys() <= {
        "id",
        "name",
        "description",
        "synonyms",
        "images",
        "extras",
    }:
        raise InputError("'concept' must be an object with id, name, description, synonyms, images, extras")
    extras = record.get("extras", [])
    if not isinstance(extras, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in extras):
        raise InputError("'extras' of a concept must be a list of pairs")
    return Concept(
        _text(record.get("id", ""), "id"),
        _text(record.get("name", ""), "name"),
        _text(record.get("description", ""), "description"),
        _texts(record.get("synonyms", []), "synonyms"),
        _texts(record.get("images", []), "images"),
        tuple((_text(key, "extras"), _text(value, "extras")) for key, value in extras),
    )


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"'{name}' must be a text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(f"'{name}' holds half a character, which is no UTF-8 text") from None
    if "\0" in value:
        raise InputError(f"'{name}' holds a NUL character")
    return value


def _texts(value: object, name: str) -> Strings:
    if not isinstance(value, list):
        raise InputError(f"'{name}' must be a list of texts")
    return tuple(_text(part, name) for part in value)


def _probability(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InputError("'probability' must be a number from 0 to 1")
    return float(value)


def _snapshot(value: object, name: str) -> Snapshot | None:
    if value is None:
        return None
    if not isinstance(value, dict) or not value.keys() <= {"state", "parents"}:
        raise InputError(f"'{name}' must be an object with state and parents")
    return Snapshot(_text(value.get("state", "open"), name), _texts(value.get("parents", []), name))
