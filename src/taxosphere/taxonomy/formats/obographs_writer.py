"""Writing OBO Graphs JSON in the layout of ROBOT; what was read from it changes only where concepts have changed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import obo_pairs
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.source_text import MARK
from taxosphere.taxonomy.formats.io.streams import open_to_write
from taxosphere.taxonomy.graph import Taxonomy

META = "obographs"
# Keys of a node's meta that the columns of a concept say; all others stay.
_STATED = ("definition", "comments", "subsets", "xrefs", "synonyms", "basicPropertyValues", "deprecated")


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a taxonomy as OBO Graphs JSON.

    Parameters
    ----------
    taxonomy : Taxonomy
        What to write.
    path : Path
        The file.
    options : WriteOptions
        Not used: nodes have no order that matters.
    """
    kept = taxonomy.meta.get(META, {})
    text = _Rewriter(taxonomy, kept).text() if kept.get("text") else dumped(_document(taxonomy))
    with open_to_write(path) as handle:
        handle.write(text)


def dumped(value: Any, depth: int = 0) -> str:
    """A JSON value in the layout of ROBOT.

    Parameters
    ----------
    value : object
        What to write.
    depth : int
        Number of objects around it.
    """
    indent = "  " * depth
    if isinstance(value, dict) and value:
        entries = (f"{indent}  {_plain(key)} : {dumped(entry, depth + 1)}" for key, entry in value.items())
        return "{\n" + ",\n".join(entries) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[ " + ", ".join(dumped(entry, depth) for entry in value) + " ]"
    return {"{}": "{ }", "[]": "[ ]"}.get(_plain(value), _plain(value))


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _document(taxonomy: Taxonomy) -> dict[str, Any]:
    nodes, edges = [], []
    for position, concept in enumerate(taxonomy.concepts()):
        nodes.append(node(concept, {}, {}))
        parents = [taxonomy.ids[parent] for parent in taxonomy.parent_csr.row(position).tolist()]
        edges += edges_of(concept, parents)
    properties = dict.fromkeys(edge["pred"] for edge in edges if edge["pred"] != "is_a")
    nodes += [{"id": iri, "type": "PROPERTY", "lbl": rt.local_name(iri)} for iri in properties]
    return {"graphs": [{"nodes": nodes, "edges": edges}]}


def edges_of(concept: Concept, parents: Iterable[str]) -> list[dict[str, str]]:
    """The edges that start at a concept: to its parents, and by its relationships."""
    subject = rt.iri_of(concept.id)
    edges = [{"sub": subject, "pred": "is_a", "obj": rt.iri_of(parent)} for parent in parents]
    for key, value in concept.extras:
        if key == "relationship" and (ends := _relationship(value)):
            edges.append({"sub": subject, "pred": ends[0], "obj": ends[1]})
    return edges


def _relationship(value: str) -> tuple[str, str] | None:
    """Addresses of predicate and object, where the reader would say the same of them."""
    words = value.split(" ")
    if len(words) != 2:
        return None
    predicate, target = rt.mentioned_iri(words[0]), rt.iri_of(words[1])
    back = [rt.mentioned_id(predicate, None), rt.plain_id(target)]
    return (predicate, target) if back == words else None


def node(concept: Concept, before: Mapping[str, Any], addresses: Mapping[str, str]) -> dict[str, Any]:
    """The node of a concept.

    Parameters
    ----------
    concept : Concept
        What it describes.
    before : mapping
        The node that it replaces: what the columns of a concept do not say stays.
    addresses : mapping of str to str
        Addresses of what the document calls otherwise than by a word of its own, by that word.
    """
    old = dict(before.get("meta") or {})
    meta = {**_meta(concept, addresses), **{key: value for key, value in old.items() if key not in _STATED}}
    meta = {key: meta[key] for key in (*old, *meta) if key in meta}
    fresh = {"id": rt.iri_of(concept.id), "meta": meta, "type": "CLASS", "lbl": concept.name}
    if not meta:
        del fresh["meta"]
    return {key: fresh.get(key, before.get(key)) for key in (*before, *fresh) if key in fresh or key not in ("meta",)}


def _meta(concept: Concept, addresses: Mapping[str, str]) -> dict[str, Any]:
    texts: dict[str, list[Any]] = {"comments": [], "subsets": [], "xrefs": [], "synonyms": []}
    properties: list[dict[str, str]] = []
    stated: set[str] = set()
    sources: list[str] = []
    deprecated = False
    for key, value in concept.extras:
        synonym = obo_pairs.parse_synonym(value) if key == "synonym" else None
        xrefs = obo_pairs.parse_definition(value) if key == "def" and concept.description and not sources else None
        if synonym and synonym.text in concept.synonyms and _is_scoped(synonym):
            texts["synonyms"].append(_synonym(synonym, addresses))
            stated.add(synonym.text)
        elif xrefs:
            sources = list(xrefs)
        elif key == "comment":
            texts["comments"].append(value)
        elif key == "xref":
            texts["xrefs"].append({"val": value})
        elif key == "subset" and rt.mentioned_id(iri := addresses.get(value, rt.mentioned_iri(value)), None) == value:
            texts["subsets"].append(iri)
        elif (key, value) == ("is_obsolete", "true") and not deprecated:
            deprecated = True
        elif key != "relationship" or not _relationship(value):
            properties.append(_property(key, value))
    plain = [text for text in concept.synonyms if text not in stated]
    texts["synonyms"] += [{"pred": "hasRelatedSynonym", "val": text, "xrefs": []} for text in plain]
    properties += [{"pred": rt.DEPICTION, "val": image} for image in concept.images]
    meta: dict[str, Any] = {}
    if concept.description:
        meta["definition"] = {"val": concept.description, "xrefs": sources}
    meta |= {key: values for key, values in texts.items() if values}
    meta |= {"basicPropertyValues": properties} if properties else {}
    return meta | ({"deprecated": True} if deprecated else {})


def _is_scoped(synonym: obo_pairs.Synonym) -> bool:
    return synonym.scope != "RELATED" or bool(synonym.kind or synonym.xrefs)


def _synonym(synonym: obo_pairs.Synonym, addresses: Mapping[str, str]) -> dict[str, Any]:
    pred = obo_pairs.SCOPES[synonym.scope].removeprefix(rt.OBO_IN_OWL)
    kind = {"synonymType": addresses.get(synonym.kind, rt.mentioned_iri(synonym.kind))} if synonym.kind else {}
    return {**kind, "pred": pred, "val": synonym.text, "xrefs": list(synonym.xrefs)}


def _property(key: str, value: str) -> dict[str, str]:
    tags = {tag: iri for tag, iri in rt.TAGS.items() if tag not in ("comment", "xref")}
    if key in tags:
        return {"pred": tags[key], "val": value}
    if rt.is_web_address(key) and key not in (rt.EXTRA, rt.DEPICTION, *rt.TAG_OF):
        return {"pred": key, "val": value}
    return {"pred": rt.EXTRA, "val": json.dumps([key, value], ensure_ascii=False)}


class _Rewriter:
    """Finds what changed since a document was read."""

    def __init__(self, taxonomy: Taxonomy, kept: Mapping[str, Any]) -> None:
        from taxosphere.taxonomy.formats import obographs  # the reader, which tells what the source said

        self.taxonomy = taxonomy
        self.source_text: str = kept["text"]
        self.document = json.loads(self.source_text.removeprefix(MARK))
        self.draft = Draft(path=Path(), format=META)
        options = kept.get("options", {})
        read = ReadOptions(
            relations=tuple(options.get("relations", ())), equivalents=bool(options.get("equivalents", False))
        )
        obographs.read_document(self.draft, copy.deepcopy(self.document), read)
        self.rows = {id: row for row, id in reversed(list(enumerate(self.draft.ids)))}
        self.parents: dict[str, set[str]] = {}
        for parent, child in zip(self.draft.parents, self.draft.children, strict=True):
            self.parents.setdefault(child, set()).add(parent)

    def text(self) -> str:
        """The document with what changed; the very text where nothing did."""
        before = dumped(self.document)
        changed = self._change()
        if not changed:
            return self.source_text
        text = dumped(self.document)
        if self.source_text.removeprefix(MARK).rstrip() != before:  # another layout than ROBOT's
            text = json.dumps(self.document, ensure_ascii=False, indent=2)
        start = MARK if self.source_text.startswith(MARK) else ""
        return start + text + self.source_text[len(self.source_text.rstrip()) :]

    def _change(self) -> bool:
        now, changed = self.taxonomy, False
        gone = {rt.iri_of(id) for id in self.rows if id not in now}
        for graph in self.document["graphs"]:
            changed |= self._change_nodes(graph, gone) | self._change_edges(graph, gone)
        mentioned = set(self.draft.parents)
        first = self.document["graphs"][0]
        for position, id in enumerate(now.ids):
            if id not in self.rows and not (id in mentioned and now.names[position] == id):
                concept = now.concept(position)
                first.setdefault("nodes", []).append(node(concept, {}, self._addresses()))
                first.setdefault("edges", []).extend(edges_of(concept, self._parents_now(position)))
                changed = True
        return changed

    def _parents_now(self, position: int) -> list[str]:
        return [self.taxonomy.ids[parent] for parent in self.taxonomy.parent_csr.row(position).tolist()]

    def _addresses(self) -> dict[str, str]:
        """Addresses of subsets and kinds of synonyms, by the words that stand for them."""
        metas = [n.get("meta") or {} for graph in self.document["graphs"] for n in graph.get("nodes") or ()]
        iris = [iri for meta in metas for iri in meta.get("subsets") or ()]
        iris += [s["synonymType"] for meta in metas for s in meta.get("synonyms") or () if s.get("synonymType")]
        return {rt.mentioned_id(iri, None): iri for iri in iris}

    def _change_nodes(self, graph: dict[str, Any], gone: set[str]) -> bool:
        nodes, changed = [], False
        for entry in graph.get("nodes") or ():
            id = rt.plain_id(entry["id"])
            row = self.rows.get(id)
            if entry["id"] in gone or row is None or entry.get("type", "CLASS") != "CLASS":
                nodes += [] if entry["id"] in gone else [entry]
                changed |= entry["id"] in gone
                continue
            concept, before = self.taxonomy.concept(self.taxonomy.position(id)), self._before(row)
            same = (concept.name, concept.description) == (before.name, before.description)
            same &= (concept.synonyms, concept.images) == (before.synonyms, before.images)
            if same and sorted(concept.extras) == sorted(before.extras):
                nodes.append(entry)
            else:
                nodes.append(node(concept, entry, self._addresses()) | {"id": entry["id"]})
                changed = True
        if changed:
            graph["nodes"] = nodes
        return changed

    def _before(self, row: int) -> Concept:
        d = self.draft
        return Concept(d.ids[row], d.names[row], d.descriptions[row], d.synonyms[row], d.images[row], d.extras[row])

    def _change_edges(self, graph: dict[str, Any], gone: set[str]) -> bool:
        """Edges that no longer hold go, new ones of old concepts come last."""
        parents = {
            id: set(self._parents_now(position)) for position, id in enumerate(self.taxonomy.ids) if id in self.rows
        }
        removed = {(p, c) for c, old in self.parents.items() for p in old - parents.get(c, set()) if p in self.rows}
        kept = []
        for edge in graph.get("edges") or ():
            ends = (rt.plain_id(edge["obj"]), rt.plain_id(edge["sub"]))
            if ends not in removed and edge["sub"] not in gone and edge["obj"] not in gone:
                kept.append(edge)
        new = []
        if graph is self.document["graphs"][0]:
            added = [(p, c) for c, now in parents.items() for p in sorted(now - self.parents.get(c, set()))]
            new = [{"sub": rt.iri_of(child), "pred": "is_a", "obj": rt.iri_of(parent)} for parent, child in added]
        changed = len(kept) != len(graph.get("edges") or ()) or bool(new)
        if changed:
            graph["edges"] = kept + new
        return changed
