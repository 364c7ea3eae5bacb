"""JSON trees: `{"name": …, "children": […]}`, one root or a list of them.

A concept with several parents is written in full once; elsewhere it is `{"id": …}`, a reference. Very deep branches
continue in an entry of their own at the top, because parsers give up on deep nesting. A list without any nesting, whose
entries name their parents instead, is read as JSON lines are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import jsonl
from taxosphere.taxonomy.formats.io import json_edits
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.kept_text import reads_as
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.record_writer import META, Objects, is_flat, is_one_tree, style_of, tree_steps
from taxosphere.taxonomy.formats.io.records import check_edges, understand
from taxosphere.taxonomy.formats.io.streams import open_to_write, read_text
from taxosphere.taxonomy.graph import Taxonomy

KNOWN = frozenset(("id", *jv.DETAILS, "children"))


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the concepts of a JSON file in any of the shapes that `record_shapes` lists."""
    draft = Draft(path=path, format="json")
    read_value(draft, jv.parse_entries(read_text(path, options.encoding), path), options)
    return draft


def read_value(draft: Draft, value: Any, options: ReadOptions) -> None:
    """Add the concepts and edges of a document to a draft.

    Parameters
    ----------
    draft : Draft
        Takes them.
    value : any JSON value
        The document, its objects with their lines.
    options : ReadOptions
        `mapping`, `columns` and `language` are used.
    """
    try:
        records = understand(value, draft.path, options)
        if records.nested:
            _TreeReader(draft).read(records.entries)
        else:
            jsonl.read_records(draft, ((entry.line, entry) for entry in records.entries))
    except RecursionError:
        raise InputError("is nested too deeply to be read", path=draft.path) from None
    draft.notes += records.notes
    roles = [f"{role} from '{key}'" for role, key in records.keys.renamed().items()]
    if roles:
        draft.notes.append(
            f"{', '.join(roles)}; {'nested' if records.nested else 'a list of objects that name each other'}"
        )
    style = records.style | {"flat": not records.nested and records.style.get("shape") == "list"}
    style = {key: value for key, value in style.items() if value and key != "shape"}
    if style:
        draft.meta[META] = style
    check_edges(draft, records)


def _name(node: dict[str, Any]) -> str:
    return jv.text_of(node, *jv.NAME)


class _TreeReader:
    """Walks the tree without recursion, so that depth is no danger here."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.seen: dict[str, int] = {}  # id → row of the draft
        self.stated: list[tuple[str, int]] = []  # parents that entries at the top name, and their lines
        self.bare: list[tuple[str, jv.Entry, bool]] = []  # entries with an id and no name, and whether they are roots
        self.numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(2))  # path → next number of a repeated one
        self.renamed = 0

    def read(self, roots: list[Any]) -> None:
        stack: list[tuple[Any, str | None, str, int]] = [(node, None, "", line) for node, line in _lined(roots, 1)]
        while stack:
            node, parent, way, line = stack.pop()
            if not isinstance(node, jv.Entry):
                node = self._leaf(node, line)
            children: list[Any] = [] if node.get("children") is None else node["children"]
            if not isinstance(children, list):
                raise InputError(f"'children' of '{_name(node)[:60]}' must be a list", self.draft.path, node.line)
            id = self._place(node, parent, way)
            if parent is None:
                self.stated += [(above, node.line) for above in jv.texts_of(node, *jv.PARENTS)]
            here = f"{way} / {_name(node) or id}" if way else _name(node) or id
            stack += [(child, id, here, line) for child, line in _lined(children, node.line)]
        self._resolve()

    def _leaf(self, name: Any, line: int) -> jv.Entry:
        """A name alone, in that line or below it."""
        if not isinstance(name, str):
            message = f"expected an object with 'name' and 'children', found {_shown(name)}"
            raise InputError(message, self.draft.path, line)
        return jv.Entry([("name", name)], line)

    def _place(self, node: jv.Entry, parent: str | None, way: str) -> str:
        name, id = _name(node), jv.text_of(node, "id")
        if not name and not id:
            raise InputError("an entry has neither 'name' nor 'id'", self.draft.path, node.line)
        if not name:
            self.bare.append((id, node, parent is None))
        elif not id:
            id = self._new_id(name, way)
            self._add(node, id, name)
        elif id in self.seen and self.draft.names[self.seen[id]] == name:
            self._add_to(node, id)
        else:
            self._add(node, id, name)
        if parent is not None:
            self.draft.edge(parent, id, node.line)
        return id

    def _new_id(self, name: str, way: str) -> str:
        """The same name elsewhere in a tree without ids is another concept."""
        if name not in self.seen:
            return name
        self.renamed += 1
        id = path = f"{way} / {name}" if way else name
        while id in self.seen:
            id = f"{path} ({next(self.numbers[path])})"
        return id

    def _add(self, node: jv.Entry, id: str, name: str) -> None:
        self.seen.setdefault(id, len(self.draft.ids))
        self.draft.concept(id, name, *jv.details_of(node, KNOWN), node.line)

    def _add_to(self, node: jv.Entry, id: str) -> None:
        self.draft.add(self.seen[id], *jv.details_of(node, KNOWN))

    def _resolve(self) -> None:
        nameless, named = 0, bool(self.draft.ids)
        for id, node, root in sorted(self.bare, key=lambda bare: not bare[2]):  # a root may be what others refer to
            if id in self.seen:
                self._add_to(node, id)
            elif root or not named or node.keys() - {"id"}:  # else it refers to what is missing
                self._add(node, id, id)
                nameless += 1
        names = {*self.draft.ids, *self.draft.names}
        unread = next((line for parent, line in self.stated if parent in names), None)
        if unread is not None:
            self.draft.left_out("entries that name a parent are roots: in a nested file only nesting is read", unread)
        if nameless:
            self.draft.left_out(f"{counted(nameless, 'concept')} without a name, called by id")
        if self.renamed:
            repeated = counted(self.renamed, "repeated name")
            self.draft.left_out(f"{repeated} without an id: each a concept of its own, with its path as id")


def _lined(nodes: list[Any], line: int) -> list[tuple[Any, int]]:
    """Nodes, last first, with their lines; what is no object has that of the nearest one before it."""
    lined = []
    for node in nodes:
        line = node.line if isinstance(node, jv.Entry) else line
        lined.append((node, line))
    return lined[::-1]


def _shown(value: Any) -> str:
    text = jv.spelling(value)
    return text if len(text) <= 40 else text[:37] + "…"


def extend(text: str, taxonomy: Taxonomy, size: int, edges: int) -> str | None:
    """Return the text of a JSON file with the new concepts of a taxonomy in it.

    Parameters
    ----------
    text : str
        What the file held.
    taxonomy : Taxonomy
        The same and more.
    size, edges : int
        How many concepts and edges the text holds.

    Returns
    -------
    str or None
        None where the text cannot be extended so that it reads as this taxonomy.
    """
    try:
        longer = json_edits.extend(text, taxonomy, size, edges)
        draft = Draft(path=Path("extended"), format="json")
        if longer is not None:
            read_value(draft, jv.parse_entries(longer.removeprefix("\ufeff"), draft.path), ReadOptions())
    except (InputError, ValueError, RecursionError):
        return None
    return longer if reads_as(draft, taxonomy) else None


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a tree, or the objects that name each other where the source had those."""
    style = style_of(taxonomy)
    top, wrapper = style.get("top"), style.get("wrapper", "children")
    if top is not None:
        before, after = jv.spelling({**top, wrapper: []})[: -len("]}")], "]}"
    else:
        before, after = ("", "") if is_one_tree(taxonomy) and not is_flat(taxonomy) else ("[", "]")
    with open_to_write(path) as handle:
        handle.write(before)
        if is_flat(taxonomy):
            _write_flat(taxonomy, handle)
        else:
            _write_tree(taxonomy, handle)
        handle.write(f"{after}\n")


def _write_flat(taxonomy: Taxonomy, handle: TextIO) -> None:
    objects = Objects(taxonomy, nested=False)
    separator = "\n"
    for position in range(len(taxonomy)):
        handle.write(separator + jv.spelling(objects.entry(position)))
        separator = ",\n"
    handle.write("\n")


def _write_tree(taxonomy: Taxonomy, handle: TextIO) -> None:
    """Entries in depth-first order, each in a line of its own."""
    objects = Objects(taxonomy, nested=True)
    opening = f', "{objects.children}": ['
    depth, separator = 0, ""
    for step, position in tree_steps(taxonomy):
        if step == "close":
            handle.write("]}")
            depth -= 1
        else:
            handle.write(f"{separator}\n{' ' * depth}" if depth else f"{separator}\n" if separator else "")
            if step == "open":
                handle.write(jv.spelling(objects.entry(position))[:-1] + opening)
                depth += 1
            else:
                handle.write(jv.spelling(objects.reference(position)))
        separator = "" if step == "open" else ","
