"""From and to networkx graphs and pandas tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats.io import cells
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io.draft import Draft, build
from taxosphere.taxonomy.graph import Taxonomy

KNOWN = jv.DETAILS


def from_networkx(graph: Any) -> Taxonomy:
    """Edges run from parent to child; node attributes `name`, `description`, `synonyms` and `images` are understood."""
    if not graph.is_directed():
        raise InputError("a hierarchy needs a directed graph with edges from parent to child")
    draft = Draft(path=Path("graph"), format="networkx", is_file=False)
    for node, attributes in graph.nodes(data=True):
        record = {str(key): _plain(value) for key, value in attributes.items() if value is not None}
        id = _text(node)
        draft.concept(id, jv.text_of(record, *jv.NAME) or id, *jv.details_of(record, KNOWN))
    for parent, child in dict.fromkeys(graph.edges()):
        draft.edge(_text(parent), _text(child))
    return build(draft)


def to_networkx(taxonomy: Taxonomy) -> Any:
    graph = require("networkx", "frames").DiGraph()
    for concept in taxonomy.concepts():
        attributes = jv.with_details({"name": concept.name}, concept, KNOWN)
        graph.add_node(concept.id)
        graph.nodes[concept.id].update(attributes)
    graph.add_edges_from(taxonomy.edges())
    return graph


def from_pandas(nodes: Any | None, edges: Any) -> Taxonomy:
    """`nodes` with `id`, `name` and more, or None; `edges` with `parent_id`/`parent` and `child_id`/`child`."""
    draft = Draft(path=Path("tables"), format="pandas", is_file=False)
    columns = _columns(edges)
    ends = []
    for end in ("parent", "child"):
        column = next((columns[name] for name in (f"{end}_id", end) if name in columns), None)
        if column is None:
            raise InputError(f"the edge table has no column '{end}_id' or '{end}'")
        ends.append([_text(value) for value in edges[column].tolist()])
    draft.parents, draft.children = ends
    if nodes is None:
        for id in dict.fromkeys(end for pair in zip(*ends, strict=True) for end in pair):
            draft.concept(id, id)
    else:
        _read_nodes(draft, nodes)
    return build(draft)


def _columns(frame: Any) -> dict[str, Hashable]:
    """Columns by our names for them. One that says `synonym` beside our `synonyms` is another's, and so is any with
    brackets, which mark an extra of several values here."""
    columns = {str(column): column for column in frame.columns}
    ours = {name: cells.column_name(name) for name in columns}
    foreign = {
        name for name, title in ours.items() if name.endswith(cells.ESCAPED) or (title != name and title in columns)
    }
    return {name if name in foreign else ours[name]: column for name, column in columns.items()}


def _read_nodes(draft: Draft, nodes: Any) -> None:
    columns = _columns(nodes)
    if "id" not in columns:
        raise InputError("the concept table has no column 'id'")
    for values in zip(*(nodes[column].tolist() for column in columns.values()), strict=True):
        row = {name: _plain(value) for name, value in zip(columns, values, strict=True) if not _is_missing(value)}
        for name in ("synonyms", "image"):
            if isinstance(row.get(name), str):
                row[name] = [text for text in row[name].split("|") if text]
        id = _text(row.pop("id", ""))
        draft.concept(id, jv.text_of(row, *jv.NAME) or id, *jv.details_of(row, KNOWN))


def to_pandas(taxonomy: Taxonomy) -> tuple[Any, Any]:
    """Concepts (id, name, description, synonyms and image as lists, one column per extra) and edges."""
    pandas = require("pandas", "frames")
    records = []
    for concept in taxonomy.concepts():
        record = {
            "id": concept.id,
            "name": concept.name,
            "description": concept.description,
            "synonyms": list(concept.synonyms),
            "image": list(concept.images),
        }
        bare = jv.with_details({}, concept, ("id", *KNOWN))
        records.append(record | {key: value for key, value in bare.items() if key not in KNOWN})
    columns = ["id", "name", "description", "synonyms", "image"]
    columns += dict.fromkeys(key for record in records for key in record if key not in columns)
    nodes = pandas.DataFrame(records, columns=columns, dtype=object)
    edges = pandas.DataFrame(list(taxonomy.edges()), columns=["parent_id", "child_id"])
    return nodes, edges


def _text(value: Hashable) -> str:
    """An id. A column of whole numbers with gaps is one of floats in pandas: `1.0` means `1`."""
    if _is_missing(value):
        return ""
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NAType"


def _plain(value: Any) -> Any:
    """Values as JSON knows them; arrays and tuples as lists, anything else as its text."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    return str(value)
