"""JSON lines: one concept per line, with the ids of its parents.

`{"id": …, "name": …, "description": …, "synonyms": […], "images": […], "parents": […]}`; other keys are kept. Lines
with only `parent` and `child` are edges; where the parent is null, the child is a root.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.kept_text import reads_as
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.record_keys import Keys, ambiguous_keys
from taxosphere.taxonomy.formats.io.records import NO_PARENT, Records, check_edges, flat_records
from taxosphere.taxonomy.formats.io.streams import numbered_lines, open_to_write
from taxosphere.taxonomy.graph import Taxonomy

CHILD = ("child", "child_id")
KNOWN = frozenset(("id", *jv.DETAILS, *jv.PARENTS, "children"))

SAMPLE = 200  # lines that say whether the keys are ours

Edge = tuple[str, str, int]  # parent (empty where there is none), child, line


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the concepts of a file with one JSON object per line.

    Lines under our keys are read one by one; under other keys all are needed to say which key plays which role.
    """
    draft = Draft(path=path, format="jsonl")
    lines = ((number, line) for number, line in numbered_lines(path, options.encoding) if line.strip())
    records = ((number, jv.parse(line, path, number)) for number, line in lines)
    first = list(islice(records, SAMPLE))
    ours = any(_is_ours(record) for _, record in first) and not any(_is_foreign(record) for _, record in first)
    if options.stated() or not ours:
        read_all(draft, [*first, *records], options)
    else:
        read_records(draft, chain(first, records))
    return draft


def _is_ours(record: Any) -> bool:
    related = isinstance(record, dict) and any(record.get(key) for key in (*jv.PARENTS, "children"))
    return related and (_is_edge(record) or any(key in record for key in ("id", *jv.NAME)))


def _is_foreign(record: Any) -> bool:
    """Whether the line names nothing above it in our words: a root, or one that has an id and no name."""
    if not isinstance(record, dict) or _is_edge(record):
        return False
    roots = any(text in NO_PARENT for text in jv.texts_of(record, *jv.PARENTS))
    return roots or not any(key in record for key in jv.NAME)


def read_all(draft: Draft, numbered: list[tuple[int, Any]], options: ReadOptions) -> None:
    """Add concepts and edges under any usual keys to a draft; refuse what names relations under unknown ones.

    Parameters
    ----------
    draft : Draft
        Takes them.
    numbered : list of (int, any JSON value)
        What stands in the lines, with their numbers.
    options : ReadOptions
        `mapping` and `language` are used.
    """
    entries = [jv.Entry(record.items(), number) for number, record in numbered if isinstance(record, dict)]
    records = flat_records(entries, options) if len(entries) == len(numbered) else None
    read_records(draft, numbered if records is None else ((entry.line, entry) for entry in records.entries))
    check_edges(draft, records or Records(entries, False, {}, Keys()))
    if records is not None:
        draft.notes += records.notes


def read_records(draft: Draft, records: Iterable[tuple[int, Any]]) -> None:
    """Concepts and edges that follow each other without nesting, each with its line."""
    edges: list[Edge] = []
    attributes: dict[str, None] = {}
    for number, record in records:
        if not isinstance(record, dict):
            raise InputError("each line must hold one JSON object", path=draft.path, line=number)
        if _is_edge(record):
            edges += _read_edge(draft, record, number)
            attributes |= dict.fromkeys(key for key in record if key not in (*jv.PARENTS, *CHILD))
        else:
            edges += _read_concept(draft, record, number)
    if attributes:
        draft.left_out(f"edges carry no attributes here; left out: {', '.join(attributes)}")
    if not draft.ids:  # nothing but edges
        mentioned: dict[str, int] = {}
        for parent, child, number in edges:
            mentioned.setdefault(parent, number)
            mentioned.setdefault(child, number)
        mentioned.pop("", None)
        for id, number in mentioned.items():
            draft.concept(id, id, line=number)
    draft.link(edge for edge in edges if edge[0])
    names = {*draft.ids, *draft.names}
    for parent, child, number in edges:
        if not parent and child not in names:
            text = f"the root '{child[:60]}' is no concept of this file"
            draft.faults.append(("dangling edge", number, text))


def _is_edge(record: dict[str, Any]) -> bool:
    named = "id" in record or "name" in record  # a label may be that of the edge
    return not named and all(any(key in record for key in end) for end in (jv.PARENTS, CHILD))


def _read_edge(draft: Draft, record: dict[str, Any], number: int) -> Iterator[Edge]:
    child = jv.text_of(record, *CHILD)
    if not child:
        raise InputError("the child is empty", path=draft.path, line=number)
    return ((parent, child, number) for parent in jv.texts_of(record, *jv.PARENTS) or ("",))


def _read_concept(draft: Draft, record: dict[str, Any], number: int) -> list[Edge]:
    name = jv.text_of(record, *jv.NAME)
    id = jv.text_of(record, "id") or name
    if not id:
        raise InputError("a concept needs an 'id' or a 'name'", path=draft.path, line=number)
    draft.concept(id, name, *jv.details_of(record, KNOWN), number)
    return [
        *((parent, id, number) for parent in jv.texts_of(record, *jv.PARENTS)),
        *((id, child, number) for child in jv.texts_of(record, "children")),
    ]


def extend(text: str, taxonomy: Taxonomy, size: int, edges: int) -> str | None:
    """Return the text of a file of JSON lines with a line per new concept, and one per new edge between old ones.

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
        None where the lines of the text are not under our keys.
    """
    line_end = "\r\n" if "\r\n" in text else "\n"
    lines = [jv.spelling(_record(taxonomy, position)) for position in range(size, len(taxonomy))]
    for parent, child in taxonomy.edge_array[edges:].tolist():
        if child < size:
            lines.append(jv.spelling({"parent": taxonomy.ids[parent], "child": taxonomy.ids[child]}))
    longer = text.removesuffix("\n").removesuffix("\r") + line_end + line_end.join(lines) + line_end
    draft = Draft(path=Path("extended"), format="jsonl")
    try:
        numbered = list(enumerate(longer.removeprefix("\ufeff").splitlines(), 1))
        read_records(draft, ((number, jv.parse(line, draft.path, number)) for number, line in numbered if line.strip()))
    except InputError:
        return None
    return longer if not draft.faults and reads_as(draft, taxonomy) else None


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write one line per concept, with the ids of its parents."""
    keys = KNOWN | ambiguous_keys(taxonomy)
    with open_to_write(path) as handle:
        handle.writelines(jv.spelling(_record(taxonomy, position, keys)) + "\n" for position in range(len(taxonomy)))


def _record(taxonomy: Taxonomy, position: int, keys: Collection[str] = KNOWN) -> dict[str, Any]:
    concept = taxonomy.concept(position)
    record = jv.with_details({"id": concept.id, "name": concept.name}, concept, keys)
    record["parents"] = [taxonomy.ids[parent] for parent in taxonomy.parent_csr.row(position).tolist()]
    return record
