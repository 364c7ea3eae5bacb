"""OBO Graphs JSON, as ROBOT writes it: nodes of classes with their texts, and edges by predicate."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values, obo_pairs
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.source_text import MARK, read_source
from taxosphere.taxonomy.formats.obographs_writer import META

__all__ = ["META", "read", "read_document", "recognise"]

IS_A = ("is_a", rt.SUBCLASS, rt.BROADER)
Pair = tuple[str, str]


def recognise(path: Path, head: bytes) -> bool:
    """By the keys of the document."""
    keys = set(json_values.outer_keys(head))
    return b'"graphs"' in keys and b'"nodes"' in head


def read(path: Path, options: ReadOptions) -> Draft:
    """Read an OBO Graphs document.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    options : ReadOptions
        `relations` names predicates (by address, end of the address or label of their node) that are edges too; with
        `equivalents` the genus classes of logical definitions are parents.

    Returns
    -------
    Draft
        The classes; deprecated ones are still among them.
    """
    text = read_source(path, options.encoding)
    document = json_values.parse_entries(text.removeprefix(MARK), path)
    draft = Draft(path=path, format="obographs")
    read_document(draft, document, options)
    draft.meta[META] = {"text": text}
    if options.relations or options.equivalents:
        draft.meta[META]["options"] = {"relations": list(options.relations), "equivalents": options.equivalents}
    return draft


def read_document(draft: Draft, document: Any, options: ReadOptions) -> None:
    """Read a parsed document into a draft.

    Parameters
    ----------
    draft : Draft
        Receives concepts, edges and problems.
    document : dict
        The JSON document.
    options : ReadOptions
        See `read`.
    """
    graphs = document.get("graphs") if isinstance(document, dict) else None
    if not isinstance(graphs, list) or not all(isinstance(graph, dict) for graph in graphs):
        raise InputError("expected an object with a list 'graphs' of objects", path=draft.path, line=1)
    reader = _GraphReader(draft, options)
    for graph in graphs:
        reader.read(graph)
    reader.report()


class _GraphReader:
    def __init__(self, draft: Draft, options: ReadOptions) -> None:
        self.draft = draft
        self.options = options
        self.labels: dict[str, str] = {}
        self.nameless = 0

    def read(self, graph: dict[str, Any]) -> None:
        """Add the classes of one graph."""
        nodes, edges = self._list(graph, "nodes"), self._list(graph, "edges")
        for node in nodes:
            if isinstance(node.get("id"), str) and isinstance(node.get("lbl"), str):
                self.labels[node["id"]] = node["lbl"]
        relations = self._relations(edges)
        relationships: dict[str, list[Pair]] = {}
        for edge in edges:
            self._edge(edge, relations, relationships)
        for axiom in self._list(graph, "logicalDefinitionAxioms") if self.options.equivalents else ():
            for genus in json_values.texts_of(axiom, "genusIds"):
                self._link(genus, self._text(axiom, "definedClassId"), axiom)
        for node in nodes:
            if node.get("type", "CLASS") == "CLASS" and self._is_class(node, edges):
                self._concept(node, relationships.get(self._text(node, "id"), []))

    def report(self) -> None:
        """Say what the concepts lack."""
        if self.nameless:
            self.draft.left_out(
                f"{counted(self.nameless, 'concept')} without a label, called by the end of the address"
            )

    def _is_class(self, node: dict[str, Any], edges: list[dict[str, Any]]) -> bool:
        """A node without a type is a class where an edge of the hierarchy says so."""
        if "type" in node:
            return True
        if not hasattr(self, "linked"):
            self.linked = {end for edge in edges if edge.get("pred") in IS_A for end in (edge["sub"], edge["obj"])}
        return self._text(node, "id") in self.linked

    def _edge(self, edge: dict[str, Any], relations: frozenset[str], relationships: dict[str, list[Pair]]) -> None:
        predicate = self._text(edge, "pred")
        subject, value = self._text(edge, "sub"), self._text(edge, "obj")
        if predicate in IS_A or predicate in relations:
            self._link(value, subject, edge)
        elif predicate not in ("subPropertyOf", "type", "inverseOf"):
            pair = ("relationship", f"{rt.mentioned_id(predicate, None)} {rt.plain_id(value)}")
            relationships.setdefault(subject, []).append(pair)

    def _link(self, parent: str, child: str, entry: dict[str, Any]) -> None:
        self.draft.edge(rt.plain_id(parent), rt.plain_id(child), getattr(entry, "line", 0))

    def _relations(self, edges: list[dict[str, Any]]) -> frozenset[str]:
        used = dict.fromkeys(self._text(edge, "pred") for edge in edges)
        chosen: set[str] = set()
        for name in self.options.relations:
            wanted = rt.spelled(name)
            names = {p: (p, rt.local_name(p), rt.mentioned_id(p, None), self.labels.get(p, "")) for p in used}
            matches = {p for p, spellings in names.items() if wanted in map(rt.spelled, spellings)}
            if not matches:
                listed = ", ".join(rt.local_name(p) for p in used if p not in IS_A) or "none"
                raise InputError(f"no relation is called '{name}'; the file has: {listed}", path=self.draft.path)
            chosen |= matches
        return frozenset(chosen)

    def _concept(self, node: dict[str, Any], extras: list[Pair]) -> None:
        iri, meta = self._text(node, "id"), node.get("meta")
        meta = meta if isinstance(meta, dict) else {}
        name = node.get("lbl")
        self.nameless += not name
        definition = meta.get("definition")
        definition = definition if isinstance(definition, dict) else {}
        pairs = list(self._pairs(meta, definition))
        images = [value for key, value in pairs if key == rt.DEPICTION]
        synonyms = dict.fromkeys(self._text(entry, "val") for entry in self._list(meta, "synonyms"))
        self.draft.concept(
            rt.plain_id(iri),
            name if isinstance(name, str) and name else rt.local_name(iri),
            self._text(definition, "val") if definition else "",
            synonyms,
            images,
            [*(pair for pair in pairs if pair[0] != rt.DEPICTION), *extras],
            getattr(node, "line", 0),
        )

    def _pairs(self, meta: dict[str, Any], definition: dict[str, Any]) -> Iterator[Pair]:
        """Everything but name, definition and plain synonyms, as OBO would say it."""
        xrefs = json_values.texts_of(definition, "xrefs") if definition else ()
        if xrefs:
            yield "def", f"[{obo_pairs.joined(xrefs)}]"
        for entry in self._list(meta, "synonyms"):
            scope = obo_pairs.SCOPE_OF.get(rt.OBO_IN_OWL + self._text(entry, "pred"), "RELATED")
            kind = entry.get("synonymType")
            kind = rt.mentioned_id(kind, None) if isinstance(kind, str) else ""
            sources = json_values.texts_of(entry, "xrefs")
            if scope != "RELATED" or kind or sources:
                synonym = obo_pairs.Synonym(self._text(entry, "val"), scope, kind, tuple(sources))
                yield "synonym", obo_pairs.spelled(synonym)
        for comment in json_values.texts_of(meta, "comments"):
            yield "comment", comment
        for subset in json_values.texts_of(meta, "subsets"):
            yield "subset", rt.mentioned_id(subset, None)
        for entry in self._list(meta, "xrefs"):
            yield "xref", self._text(entry, "val")
        for entry in self._list(meta, "basicPropertyValues"):
            predicate, value = self._text(entry, "pred"), self._text(entry, "val")
            pair = _extra(value) if predicate == rt.EXTRA else None
            yield pair or (rt.TAG_OF.get(predicate, predicate), value)
        if meta.get("deprecated") is True:
            yield "is_obsolete", "true"

    def _list(self, entry: dict[str, Any], key: str) -> list[dict[str, Any]]:
        values = entry.get(key) or []
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            line = getattr(entry, "line", 0) or None
            raise InputError(f"'{key}' must be a list of objects", path=self.draft.path, line=line)
        return values

    def _text(self, entry: dict[str, Any], key: str) -> str:
        value = entry.get(key)
        if not isinstance(value, str):
            line = getattr(entry, "line", 0) or None
            raise InputError(f"'{key}' must be a text", path=self.draft.path, line=line)
        return value


def _extra(value: str) -> Pair | None:
    try:
        pair = json.loads(value)
    except (ValueError, RecursionError):
        return None
    if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
        return pair[0], pair[1]
    return None
