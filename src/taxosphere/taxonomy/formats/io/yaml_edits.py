"""New concepts in the text of a YAML list of objects that name each other: the text between them stays as it was."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from taxosphere.errors import require
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io import yaml_values
from taxosphere.taxonomy.formats.io.record_writer import Objects
from taxosphere.taxonomy.graph import Taxonomy


@dataclass
class _Value:
    """A value of a record: its text where it is one, and where its items stand where it is a list."""

    start: int
    end: int
    text: str | None = None
    flow: bool = False
    items: list[int] = field(default_factory=list)  # where each ends


@dataclass
class _Record:
    column: int
    end: int = 0
    values: dict[str, _Value] = field(default_factory=dict)


def _records(text: str) -> list[_Record]:
    """The objects of the list that a document is; empty where it is no block list of block objects."""
    yaml = require("yaml", "yaml")
    records: list[_Record] = []
    depth, key = 0, ""
    value: _Value | None = None
    for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        kind, start, end = type(event).__name__, event.start_mark, event.end_mark
        opens, closes = (
            kind.endswith(("SequenceStartEvent", "MappingStartEvent")),
            kind in ("SequenceEndEvent", "MappingEndEvent"),
        )
        if closes:
            depth -= 1
        if depth == 0 and kind == "MappingStartEvent":
            return []
        if depth == 1 and kind == "MappingStartEvent" and not event.flow_style:
            records.append(_Record(start.column))
        elif depth == 1 and not closes and kind != "MappingStartEvent":
            return []
        elif depth == 2 and records and (opens or kind in ("ScalarEvent", "AliasEvent")):
            if not key:
                key = getattr(event, "value", None) or "?"
            else:
                flow = bool(getattr(event, "flow_style", False))
                value = _Value(start.index, end.index, getattr(event, "value", None), flow)
                records[-1].values[key], key = value, ""
                records[-1].end = end.index
        elif depth == 2 and closes and value is not None:
            value.end = end.index if value.flow else (value.items[-1] if value.items else value.start)
            records[-1].end = value.end
        elif depth == 3 and value is not None and kind == "ScalarEvent":
            value.items.append(end.index)
        depth += opens
    return records


def extend(text: str, taxonomy: Taxonomy, size: int, edges: int) -> str | None:
    """Return a YAML text with new concepts in it, or None where its shape does not allow it.

    Parameters
    ----------
    text : str
        What the file held: a list of objects that name their parents or children.
    taxonomy : Taxonomy
        The same and more.
    size, edges : int
        How many concepts and edges the text holds.
    """
    records = _records(text)
    makes = Objects(taxonomy, nested=False)
    if not records or (taxonomy.edge_array[edges:, 1] < size).any():
        return None
    line_end = "\r\n" if "\r\n" in text else "\n"
    id_key, name_key = makes.names.get("id", "id"), makes.names.get("name", "name")
    places = {
        (value.text if (value := record.values.get(id_key)) else _text(record, name_key)): record for record in records
    }
    edits: list[tuple[int, int, str]] = []
    below: dict[str, list[str]] = {}
    for child in range(size, len(taxonomy)):
        for parent in taxonomy.parent_csr.row(child).tolist():
            if parent < size and "children" in makes.directions:
                below.setdefault(taxonomy.ids[parent], []).append(taxonomy.ids[child])
    block = next((v for r in records if (v := r.values.get(makes.children)) and v.items and not v.flow), None)
    for parent, ids in below.items():
        record = places.get(parent)
        list_ = record.values.get(makes.children) if record else None
        if record is None or list_ is None:
            return None
        edits.append(_appended(text, list_, list(map(yaml_values.spelling, ids)), block, record, line_end))
    last = records[-1]
    lines = [line for position in range(size, len(taxonomy)) for line in _lines(makes, position, last, block)]
    start = len(text.rstrip())
    edits.append((start, start, line_end + line_end.join(lines)))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


def _text(record: _Record, key: str) -> str | None:
    value = record.values.get(key)
    return value.text if value else None


def _appended(
    text: str, list_: _Value, ids: list[str], block: _Value | None, record: _Record, line_end: str
) -> tuple[int, int, str]:
    if list_.items and not list_.flow:
        end = list_.items[-1]
        start = text.rfind("\n", 0, end) + 1
        lead = text[start : text.index("-", start)]
        return end, end, "".join(f"{line_end}{lead}- {id}" for id in ids)
    inside = text[list_.start + 1 : list_.end - 1].strip() if list_.flow else ""
    if block is not None and not inside:
        lead = " " * record.column
        return len(text[: list_.start].rstrip(" ")), list_.end, "".join(f"{line_end}{lead}- {id}" for id in ids)
    return list_.start, list_.end, f"[{', '.join([*([inside] if inside else []), *ids])}]"


def _lines(makes: Objects, position: int, like: _Record, block: _Value | None) -> list[str]:
    """A new record with its keys in the order of another, indented like it."""
    entry = makes.entry(position)
    order = [key for key in like.values if key in entry]
    lead = " " * (like.column - 2)
    lines: list[str] = []
    for key in dict.fromkeys((*order, *entry)):
        value: Any = entry[key]
        start = f"{lead}{'  ' if lines else '- '}{yaml_values.spelling(key)}:"
        if isinstance(value, list | tuple) and value and block is not None and all(isinstance(v, str) for v in value):
            lines.append(start)
            lines += [f"{lead}  - {yaml_values.spelling(item)}" for item in value]
        else:
            lines.append(
                f"{start} {yaml_values.spelling(value) if not isinstance(value, list) else jv.spelling(value)}"
            )
    return lines
