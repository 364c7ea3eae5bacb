"""New concepts in the text of a JSON file: the text between them stays as it was."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io.record_writer import Objects, is_flat
from taxosphere.taxonomy.graph import Taxonomy

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')

Span = tuple[int, int]


@dataclass
class _Object:
    """Where an object stands in the text, and the values of its keys."""

    start: int
    end: int = 0
    values: dict[str, Span] = field(default_factory=dict)


def scan(text: str) -> list[_Object]:
    """Return the objects of a JSON text, in the order in which they begin.

    Parameters
    ----------
    text : str
        Valid JSON.
    """
    objects: list[_Object] = []
    open_: list[tuple[_Object | None, int]] = []  # None for a list; where it began
    key, begin = "", -1
    pending: list[tuple[str, int]] = []  # key and start of the values that are being read
    for token in _TOKEN.finditer(text):
        mark = token[0]
        inside = open_[-1][0] if open_ else None
        if mark == ":":
            begin = -2  # the next token begins a value
        elif mark in "{[":
            pending.append((key, token.start()) if begin == -2 else ("", -1))
            begin = -1
            opened = _Object(token.start()) if mark == "{" else None
            objects += [opened] if opened is not None else []
            open_.append((opened, token.start()))
        elif mark in "}]":
            closed, _ = open_.pop()
            if closed is not None:
                closed.end = token.end()
            owner, start = pending.pop()
            above = open_[-1][0] if open_ else None
            if start >= 0 and above is not None:
                above.values[owner] = (start, token.end())
        elif mark != ",":
            if begin == -2 and inside is not None:
                inside.values[key] = token.span()
                begin = -1
            elif inside is not None:
                key = json.loads(mark)
    return objects


def extend(text: str, taxonomy: Taxonomy, size: int, edges: int) -> str | None:
    """Return a JSON text with new concepts in it, or None where its shape does not allow it.

    Parameters
    ----------
    text : str
        What the file held.
    taxonomy : Taxonomy
        The same and more.
    size, edges : int
        How many concepts and edges the text holds.
    """
    if (taxonomy.edge_array[edges:, 1] < size).any():  # an old concept has a new parent
        return None
    editor = _Editor(text, taxonomy, size)
    return editor.flat() if is_flat(taxonomy) else editor.nested()


class _Editor:
    """Collects what is to be inserted where."""

    def __init__(self, text: str, taxonomy: Taxonomy, size: int) -> None:
        self.text = text
        self.taxonomy = taxonomy
        self.new = range(size, len(taxonomy))
        self.makes = Objects(taxonomy, nested=not is_flat(taxonomy))
        self.id_key = self.makes.names.get("id", "id")
        self.name_key = self.makes.names.get("name", "name")
        self.places: dict[int, _Object] = {}
        self.outer: list[_Object] = []
        self.edits: dict[int, list[str]] = {}
        self.removed: dict[int, int] = {}  # start and end of what an edit replaces
        position = {id: place for place, id in enumerate(taxonomy.ids[:size])}
        for item in scan(text):
            id = self._value(item, self.id_key) or self._value(item, self.name_key)
            place = position.get(id)
            if place is None:
                continue
            named = self.name_key in item.values
            if place not in self.places or (named and self.name_key not in self.places[place].values):
                self.places[place] = item
            if not self.outer or item.start >= self.outer[-1].end:
                self.outer.append(item)

    def _value(self, item: _Object, key: str) -> str:
        span = item.values.get(key)
        return jv.text_of({key: json.loads(self.text[slice(*span)])}, key) if span else ""

    # -- objects that name each other ---------------------------------------------------------------------------

    def flat(self) -> str | None:
        """The text with an object per new concept after all others, and their ids in the lists of their parents."""
        if not self.outer:
            return None
        last = self.outer[-1]
        between = self.text[self.outer[-2].end : last.start] if len(self.outer) > 1 else ", "
        for position in self.new:
            self._insert(last.end, between + self._spelled(self._like_others(self.makes.entry(position)), last))
        if "children" in self.makes.directions:
            below: dict[int, list[str]] = {}
            for child in self.new:
                for parent in self.taxonomy.parent_csr.row(child).tolist():
                    below.setdefault(parent, []).append(self.taxonomy.ids[child])
            for parent, ids in below.items():
                item = self.places.get(parent)
                references = self._references(self.makes.children, ids)
                values = references if isinstance(references, list) else [references]
                if parent < self.new.start and (item is None or not self._append(item, values)):
                    return None
        return self._edited()

    def _like_others(self, entry: dict[str, Any]) -> dict[str, Any]:
        """The object with its keys in the order of the others, and its references as they have them."""
        sample = json.loads(self.text[self.outer[-1].start : self.outer[-1].end])
        for key in {self.makes.parents, self.makes.children} & entry.keys():
            entry[key] = self._references(key, entry[key])
        if isinstance(sample.get(self.id_key), int) and str(entry.get(self.id_key)).isdecimal():
            entry[self.id_key] = int(entry[self.id_key])
        return {key: entry[key] for key in (*(key for key in sample if key in entry), *entry)}

    def _references(self, key: str, ids: list[str]) -> Any:
        values = [json.loads(self.text[slice(*item.values[key])]) for item in self.outer[:200] if key in item.values]
        full: Any = next((value for value in values if value not in (None, [], "")), [])
        if not ids:
            return next((value for value in values if value in (None, [], "")), [])
        position = {id: place for place, id in enumerate(self.taxonomy.ids)}
        texts = [self._reference(position[id], full[0] if isinstance(full, list) and full else full) for id in ids]
        return texts if isinstance(full, list) or len(texts) > 1 else texts[0]

    def _reference(self, position: int, sample: Any = "") -> Any:
        id = self.taxonomy.ids[position]
        if isinstance(sample, dict):
            parts = {self.id_key: id, self.name_key: self.taxonomy.names[position]}
            return {key: parts[key] for key in sample if key in parts} or id
        return int(id) if isinstance(sample, int) and id.isdecimal() else id

    # -- nested objects ---------------------------------------------------------------------------

    def nested(self) -> str | None:
        """The text with each new concept in the list of its first parent, and a reference in those of the others."""
        below: dict[int, list[tuple[int, bool]]] = {}
        for child in self.new:
            above = self.taxonomy.parent_csr.row(child).tolist()
            if not above and not self.text.lstrip("\ufeff \t\r\n").startswith("["):
                return None
            for number, parent in enumerate(above):
                below.setdefault(parent, []).append((child, number == 0))
        for position in self.new:
            if not len(self.taxonomy.parent_csr.row(position)):
                self._insert(self.outer[-1].end, ", " + jv.spelling(self._subtree(position, below)))
        for parent, children in below.items():
            if parent >= self.new.start:
                continue
            item = self.places.get(parent)
            entries = [self._subtree(child, below) if full else self.makes.reference(child) for child, full in children]
            if item is None or not self._append(item, entries):
                return None
        return self._edited()

    def _subtree(self, position: int, below: dict[int, list[tuple[int, bool]]]) -> dict[str, Any]:
        entry = self.makes.entry(position)
        children = below.get(position, [])
        if children:
            entry[self.makes.children] = [
                self._subtree(child, below) if full else self.makes.reference(child) for child, full in children
            ]
        return entry

    # -- text ---------------------------------------------------------------------------

    def _append(self, item: _Object, values: list[Any]) -> bool:
        """Add values to the list of children of an object, or give it such a list."""
        span = item.values.get(self.makes.children)
        spelled = [jv.spelling(value) for value in values]
        if span is None:
            self._insert(item.end - 1, f', "{self.makes.children}": [{", ".join(spelled)}]')
            return True
        if self.text[slice(*span)] == "null":
            self.removed[span[0]] = span[1]
            self._insert(span[0], f"[{', '.join(spelled)}]")
            return True
        if self.text[span[0]] != "[":
            return False
        inner = self.text[span[0] + 1 : span[1] - 1]
        break_ = re.match(r"\s*\n\s*", inner)
        separator = "," + (break_[0].lstrip(" ") if break_ else " ")
        place = span[0] + 1 + len(inner.rstrip())
        before = self.edits.get(place) or inner.strip()
        self._insert(place, (separator if before else "") + separator.join(spelled))
        return True

    def _spelled(self, entry: dict[str, Any], like: _Object) -> str:
        """An object in the lines and indentation of another one."""
        text = self.text[like.start : like.end]
        inner = re.match(r"\{(\s*\n\s*)", text)
        if not inner:
            return jv.spelling(entry)
        lines = [f"{jv.spelling(key)}: {jv.spelling(value)}" for key, value in entry.items()]
        end = re.search(r"\s*\n\s*\}$", text)
        return "{" + inner[1] + f",{inner[1]}".join(lines) + (end[0] if end else "}")

    def _insert(self, place: int, text: str) -> None:
        self.edits.setdefault(place, []).append(text)

    def _edited(self) -> str:
        parts, start = [], 0
        for place in sorted(self.edits):
            parts += [self.text[start:place], *self.edits[place]]
            start = self.removed.get(place, place)
        return "".join(parts) + self.text[start:]
