"""JSON trees: `{"name": …, "children": […]}`, one root or a list of them.

A concept with several parents is written in full once; elsewhere it is `{"id": …}`, a reference. Very deep branches
continue in an entry of their own at the top, because parsers give up on deep nesting.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import json_values as jv
from taxosphere.taxonomy.formats.draft import Draft, counted
from taxosphere.taxonomy.formats.streams import open_to_write, read_text
from taxosphere.taxonomy.graph import CycleError, Taxonomy

DEEPEST = 200
NAMING = ("name", "label", "id")
KNOWN = (*jv.OURS, "children", "label", "definition", "image")


def read(path: Path) -> Draft:
    top = jv.parse_entries(read_text(path), path)
    draft = Draft(path=path, format="json")
    if isinstance(top, dict) and not jv.text_of(top, *NAMING) and isinstance(top.get("children"), list):
        draft.meta["json"] = {"top": {key: value for key, value in top.items() if key != "children"}}
        top = top["children"]
    roots = top if isinstance(top, list) else [top]
    _TreeReader(draft).read(roots)
    return draft


def _name(node: dict[str, Any]) -> str:
    return jv.text_of(node, "name", "label")


class _TreeReader:
    """Walks the tree without recursion, so that depth is no danger here."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.seen: dict[str, str] = {}  # id → name
        self.references: list[tuple[str, str, int]] = []
        self.nameless: dict[str, jv.Entry] = {}  # roots that have an id alone
        self.renamed = 0

    def read(self, roots: list[Any]) -> None:
        stack: list[tuple[Any, str | None, str, int]] = [(node, None, "", 0) for node in reversed(roots)]
        while stack:
            node, parent, way, line = stack.pop()
            if not isinstance(node, jv.Entry):
                node = self._leaf(node, line)
            children: list[Any] = [] if node.get("children") is None else node["children"]
            if not isinstance(children, list):
                raise InputError(f"'children' of '{_name(node)[:60]}' must be a list", self.draft.path, node.line)
            id = self._place(node, parent, way)
            here = f"{way} / {_name(node) or id}" if way else _name(node) or id
            stack += [(child, id, here, node.line) for child in reversed(children)]
        self._resolve()

    def _leaf(self, name: Any, line: int) -> jv.Entry:
        """A name alone, below the entry of that line."""
        if not isinstance(name, str):
            message = f"expected an object with 'name' and 'children', found {_shown(name)}"
            raise InputError(message, self.draft.path, line or None)
        return jv.Entry([("name", name)], line)

    def _place(self, node: jv.Entry, parent: str | None, way: str) -> str:
        name, id = _name(node), jv.text_of(node, "id")
        if not name and not id:
            raise InputError("an entry has neither 'name' nor 'id'", self.draft.path, node.line or None)
        if not name:
            if parent is None:
                self.nameless.setdefault(id, node)
            else:
                self.references.append((id, parent, node.line))
            return id
        again = bool(id) and self.seen.get(id) == name
        if not id:
            id = name
            if id in self.seen:  # the same name elsewhere in a tree without ids is another concept
                id = f"{way} / {name}"
                self.renamed += 1
        if not again:
            self._add(node, id, name)
        if parent is not None:
            self.draft.edge(parent, id, node.line)
        return id

    def _add(self, node: jv.Entry, id: str, name: str) -> None:
        self.seen.setdefault(id, name)
        self.draft.concept(
            id,
            name,
            jv.text_of(node, "description", "definition"),
            jv.texts_of(node, "synonyms"),
            jv.texts_of(node, "images", "image"),
            jv.extras_of(node, KNOWN),
            node.line,
        )

    def _resolve(self) -> None:
        for id, parent, line in self.references:
            self.draft.edge(parent, id, line)
        nameless = {id: node for id, node in self.nameless.items() if id not in self.seen}
        for id, node in nameless.items():
            self._add(node, id, id)
        if nameless:
            self.draft.left_out(f"{counted(len(nameless), 'root')} without a name, called by id")
        if self.renamed:
            told = counted(self.renamed, "repeated name")
            self.draft.left_out(f"{told} without an id: each a concept of its own, with its path as id")


def _shown(value: Any) -> str:
    text = jv.spelling(value)
    return text if len(text) <= 40 else text[:37] + "…"


def write(taxonomy: Taxonomy, path: Path) -> None:
    top = taxonomy.meta.get("json", {}).get("top")
    with open_to_write(path) as handle:
        if top is not None:
            before, after = jv.spelling({**top, "children": []})[: -len("]}")], "]}"
        else:
            before, after = ("", "") if _is_one_tree(taxonomy) else ("[", "]")
        handle.write(before)
        _TreeWriter(taxonomy, handle).write()
        handle.write(f"{after}\n")


def _is_one_tree(taxonomy: Taxonomy) -> bool:
    try:
        return len(taxonomy.roots) == 1 and int(taxonomy.longest.max()) < DEEPEST
    except CycleError:
        return False


class _TreeWriter:
    """Entries in depth-first order, each concept in full exactly once."""

    def __init__(self, taxonomy: Taxonomy, handle: TextIO) -> None:
        self.taxonomy = taxonomy
        self.handle = handle
        self.told = [False] * len(taxonomy)

    def write(self) -> None:
        separator = ""
        # Roots first; what they do not reach lies on a cycle or too deep.
        for start in chain(self.taxonomy.roots.tolist(), range(len(self.taxonomy))):
            if not self.told[start]:
                self.handle.write(separator)
                self._branch(start)
                separator = ",\n"

    def _branch(self, start: int) -> None:
        waiting = [self._open(start)]
        separator = ""
        while waiting:
            child = next(waiting[-1], None)
            if child is None:
                self.handle.write("]}")
                waiting.pop()
                separator = ","
                continue
            self.handle.write(f"{separator}\n{' ' * len(waiting)}")
            separator = ","
            if self.told[child] or len(waiting) >= DEEPEST:
                self.handle.write(jv.spelling({"id": self.taxonomy.ids[child]}))
            else:
                waiting.append(self._open(child))
                separator = ""

    def _open(self, position: int) -> Iterator[int]:
        """Writes an entry up to its children and returns them."""
        self.told[position] = True
        concept = self.taxonomy.concept(position)
        entry: dict[str, Any] = {} if concept.id == concept.name else {"id": concept.id}
        entry["name"] = concept.name
        text = jv.spelling(jv.with_details(entry, concept, KNOWN))
        self.handle.write(text[:-1] + ', "children": [')
        return iter(self.taxonomy.child_csr.row(position).tolist())
