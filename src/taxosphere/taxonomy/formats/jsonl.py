"""JSON lines: one concept per line, with the ids of its parents.

`{"id": …, "name": …, "description": …, "synonyms": […], "images": […], "parents": […]}`; other keys are kept. Lines
with only `parent` and `child` are edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import json_values as jv
from taxosphere.taxonomy.formats.draft import Draft
from taxosphere.taxonomy.formats.streams import numbered_lines, open_to_write
from taxosphere.taxonomy.graph import Taxonomy

LINKS = ("parents", "parent", "children")
KNOWN = (*jv.OURS, *LINKS, "label", "definition", "image")


def read(path: Path) -> Draft:
    draft = Draft(path=path, format="jsonl")
    edges: list[tuple[str, str, int]] = []
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        record = jv.parse(line, path, number)
        if not isinstance(record, dict):
            raise InputError("each line must hold one JSON object", path=path, line=number)
        if "child" in record and "parent" in record and "id" not in record and "name" not in record:
            edges.append((jv.text_of(record, "parent"), jv.text_of(record, "child"), number))
        else:
            edges += _read_concept(draft, record, number)
    if not draft.ids:  # nothing but edges
        mentioned: dict[str, int] = {}
        for parent, child, number in edges:
            mentioned.setdefault(parent, number)
            mentioned.setdefault(child, number)
        for id, number in mentioned.items():
            draft.concept(id, id, line=number)
    draft.link(edges)
    return draft


def _read_concept(draft: Draft, record: dict[str, Any], number: int) -> Iterator[tuple[str, str, int]]:
    name = jv.text_of(record, "name", "label")
    id = jv.text_of(record, "id") or name
    if not id:
        raise InputError("a concept needs an 'id' or a 'name'", path=draft.path, line=number)
    draft.concept(
        id,
        name,
        jv.text_of(record, "description", "definition"),
        jv.texts_of(record, "synonyms"),
        jv.texts_of(record, "images", "image"),
        jv.extras_of(record, KNOWN),
        number,
    )
    return iter(
        [
            *((parent, id, number) for parent in jv.texts_of(record, "parents", "parent")),
            *((id, child, number) for child in jv.texts_of(record, "children")),
        ]
    )


def write(taxonomy: Taxonomy, path: Path) -> None:
    with open_to_write(path) as handle:
        for position, concept in enumerate(taxonomy.concepts()):
            record = jv.with_details({"id": concept.id, "name": concept.name}, concept, KNOWN)
            record["parents"] = [taxonomy.ids[parent] for parent in taxonomy.parent_csr.row(position).tolist()]
            handle.write(jv.spelling(record) + "\n")
