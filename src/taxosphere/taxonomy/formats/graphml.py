"""GraphML, as networkx, Gephi, yEd and igraph write it: nodes are concepts, edges run from parent to child.

The name is the node's `name`, `label` or `title`, in yEd the text of its first label. Edges that are called is_a,
subClassOf or broader run from child to parent; where nothing is said, the direction is that with few roots.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import escapes
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.orientation import Pair, direction, oriented
from taxosphere.taxonomy.formats.io.record_keys import DESCRIPTIONS, NAMES, KeyCounts, plain
from taxosphere.taxonomy.formats.io.streams import bare_suffix, open_to_write
from taxosphere.taxonomy.formats.io.xml_extras import EXTRAS, check_characters, pairs_in
from taxosphere.taxonomy.formats.io.xml_tree import Element, escape, parse, root_tag
from taxosphere.taxonomy.graph import Taxonomy

LISTS = ("synonyms", "images")
# What yEd and Gephi say about how a node is drawn.
_STYLES = frozenset({"r", "g", "b", "x", "y", "z", "size", "nodegraphics", "edgegraphics", "portgraphics", "resources"})
_RESERVED = frozenset((*NAMES, *DESCRIPTIONS, *LISTS, EXTRAS, *_STYLES))
_RELATION = ("relation", "predicate", "type", "label", "name", "interaction", "edgetype", "relationship")


def recognise(path: Path, head: bytes) -> bool:
    """Return whether a file has our suffix or, as `.xml`, the root `<graphml>`."""
    return bare_suffix(path) == ".graphml" or root_tag(head).lower() == "graphml"


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the nodes and edges of a GraphML file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        `columns` states the direction of edges; `mapping` names the data keys for name and description.
    """
    draft = Draft(path=path, format="graphml")
    top = parse(path, "graphml", options.encoding)
    graphs = list(top.elements("graph"))
    if not graphs:
        raise InputError("has no <graph>", path, top.line)
    keys = _Keys(top)
    nodes = [element for graph in graphs for element in graph.walk() if element.tag == "node"]
    edges = [element for graph in graphs for element in graph.walk() if element.tag == "edge"]
    _read_nodes(draft, nodes, keys, options)
    pairs, upward = _pairs(edges, keys, path)
    nested = [
        (node.attributes.get("id", ""), inner.attributes.get("id", ""), inner.line)
        for node in nodes
        for graph in node.elements("graph")
        for inner in graph.elements("node")
    ]
    if pairs:
        directed, note = oriented(pairs, options.columns, upward)
        draft.notes += [note] if note else []
        if not note and graphs[0].attributes.get("edgedefault") == "undirected" and options.columns is None:
            draft.notes.append("the graph is undirected; its edges are read from parent to child")
        if nested:
            draft.left_out(f"{counted(len(nested), 'node')} inside of others: edges say what is below what")
    else:
        directed = nested
    for parent, child, line in directed:
        draft.edge(parent, child, line)
    if any(element.tag == "hyperedge" for graph in graphs for element in graph.walk()):
        draft.left_out("hyperedges left out")
    return draft


class _Keys:
    """What the `<key>` elements of a file declare."""

    def __init__(self, top: Element) -> None:
        self.names: dict[str, str] = {}
        self.defaults: dict[str, dict[str, str]] = {"node": {}, "edge": {}}
        for key in top.elements("key"):
            id = key.attributes.get("id", "")
            name = key.attributes.get("attr.name") or key.attributes.get("yfiles.type") or id
            self.names[id] = name
            default = key.first("default")
            for kind, values in self.defaults.items():
                if default is not None and key.attributes.get("for", "all") in (kind, "all"):
                    values[name] = _text(default)

    def data(self, element: Element) -> dict[str, str]:
        """Return the data of a node or edge by the names of their keys."""
        values = dict(self.defaults[element.tag])
        for item in element.elements("data"):
            key = item.attributes.get("key", "")
            labels = [each for each in item.walk() if each.tag in ("NodeLabel", "EdgeLabel")]
            texts = [text for text in (_text(label).strip() for label in labels) if text]
            if texts:
                values["label"] = texts[0]
            elif not list(item.elements()):
                values[self.names.get(key, key)] = _text(item)
        return values


def _text(element: Element) -> str:
    return "".join(item for item in element.content if isinstance(item, str))


def _read_nodes(draft: Draft, nodes: list[Element], keys: _Keys, options: ReadOptions) -> None:
    data = [keys.data(node) for node in nodes]
    counts = KeyCounts(data)
    name = options.mapping.get("name") or next(iter(counts.usual(NAMES)), "")
    description = options.mapping.get("description") or next(iter(counts.usual(DESCRIPTIONS)), "")
    for role, key in options.mapping.items():
        if key not in counts.values:
            shown = ", ".join(list(counts.values)[:12])
            raise InputError(f"--map {role}={key}: no node has that key; they have {shown}", draft.path)
    nameless = 0
    for node, values in zip(nodes, data, strict=True):
        id = node.attributes.get("id", "")
        called = values.get(name, "").strip() and values[name]
        nameless += bool(name) and not called
        extras = [
            pair
            for pair in values.items()
            if pair[0] not in (name, description, *LISTS, EXTRAS) and not _is_style(pair[0])
        ]
        synonyms, images = (escapes.split_list(values.get(key, ""), True) for key in LISTS)
        extras += pairs_in(values.get(EXTRAS, ""))
        draft.concept(id, called or id, values.get(description, ""), synonyms, images, extras, node.line)
    if nameless:
        draft.notes.append(f"{counted(nameless, 'node')} without '{name}', called by id")


def _is_style(key: str) -> bool:
    return plain(key) in _STYLES


def _pairs(edges: list[Element], keys: _Keys, path: Path) -> tuple[list[Pair], bool | None]:
    pairs: list[Pair] = []
    called: list[str | None] = []
    for edge in edges:
        source, target = edge.attributes.get("source"), edge.attributes.get("target")
        if not source or not target:
            raise InputError("an edge needs a source and a target", path, edge.line)
        pairs.append((source, target, edge.line))
        kinds = [value for key, value in keys.data(edge).items() if plain(key) in _RELATION and value]
        called.append(kinds[0] if kinds else None)
    return pairs, direction(called)


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a node per concept and an edge from each parent to each child."""
    check_characters(taxonomy, path)
    used = dict.fromkeys(key for concept in taxonomy.concepts() for key, _ in _data(concept))
    keys = {name: f"d{number}" for number, name in enumerate(used)}
    with open_to_write(path) as handle:
        handle.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        handle.write('<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for name, id in keys.items():
            handle.write(f'  <key id="{id}" for="node" attr.name="{escape(name)}" attr.type="string"/>\n')
        handle.write('  <key id="relation" for="edge" attr.name="relation" attr.type="string">\n')
        handle.write('    <default>parent of</default>\n  </key>\n  <graph edgedefault="directed">\n')
        for concept in taxonomy.concepts():
            handle.write(f'    <node id="{escape(concept.id)}">\n')
            handle.writelines(f'      <data key="{keys[key]}">{escape(text)}</data>\n' for key, text in _data(concept))
            handle.write("    </node>\n")
        for parent, child in taxonomy.edges():
            handle.write(f'    <edge source="{escape(parent)}" target="{escape(child)}"/>\n')
        handle.write("  </graph>\n</graphml>\n")


def _data(concept: Concept) -> Iterator[tuple[str, str]]:
    yield "name", concept.name
    if concept.description:
        yield "description", concept.description
    for key, texts in zip(LISTS, (concept.synonyms, concept.images), strict=True):
        if texts:
            yield key, escapes.join_list(texts, True)
    counts = Counter(key for key, _ in concept.extras)
    rest = [pair for pair in concept.extras if counts[pair[0]] > 1 or plain(pair[0]) in _RESERVED or not plain(pair[0])]
    yield from (pair for pair in concept.extras if pair not in rest)
    if rest:
        yield EXTRAS, json.dumps(rest, ensure_ascii=False)
