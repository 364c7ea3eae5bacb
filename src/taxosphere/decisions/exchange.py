"""Decisions as files: JSON lines, which hold everything, and CSV, which people read in a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

from taxosphere import atomic
from taxosphere.decisions import spreadsheets
from taxosphere.decisions.events import Event, canonical, from_record, to_record
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values
from taxosphere.taxonomy.formats.io.streams import numbered_lines

JSON_LINES = (".jsonl", ".ndjson")
COLUMNS = (
    *("event", "kind", "item", "name", "description", "parents", "parent_names", "children", "undoes"),
    *("by", "at", "probability", "model", "note", "state_before", "state_after", "record"),
)
_CHECKED = ("event", "kind", "item", "parents", "children", "undoes", "by", "at", "note")


def write(path: str | PathLike[str], events: Iterable[Event]) -> None:
    """Write events as JSON lines or, by the suffix, as a table whose last column holds the whole record."""
    if Path(path).suffix.lower() not in JSON_LINES:
        spreadsheets.write(path, COLUMNS, (list(_cells(event).values()) for event in events))
        return
    with atomic.file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as handle:
        handle.writelines(f"{canonical(to_record(event))}\n" for event in events)


def _cells(event: Event) -> dict[str, str]:
    concept = event.concept
    names = dict(event.names)
    values = (
        *(event.id, event.kind, event.item),
        *(("", "") if concept is None else (concept.name, concept.description)),
        *("|".join(event.parents), "|".join(names.get(id, id) for id in event.parents), "|".join(event.children)),
        *(event.undoes, event.by, event.at, "" if event.probability is None else f"{event.probability:.4f}"),
        *(event.model, event.note),
        *("" if state is None else state.state for state in (event.before, event.after)),
        canonical(to_record(event)),
    )
    return dict(zip(COLUMNS, values, strict=True))


def is_event_table(header: Iterable[str]) -> bool:
    """Does a table with these titles hold exported events?"""
    return {"event", "record"} <= set(header)


def read(path: str | PathLike[str], table: spreadsheets.Table | None = None) -> Iterator[tuple[int, Event]]:
    """Events of a file that `write` has made, each with its row.

    Parameters
    ----------
    path
        The file.
    table
        What `spreadsheets.read` returned for it, where it has been read already.

    Raises
    ------
    InputError
        With the row, where it holds no event, or a table was edited: its columns and its record differ.
    """
    source = Path(path)
    rows = _json_rows(source) if source.suffix.lower() in JSON_LINES else _table_rows(source, table)
    for number, record, cells in rows:
        try:
            event = from_record(record)
        except InputError as error:
            raise InputError(error.message, source, number) from None
        edited = next((title for title in _CHECKED if cells and cells.get(title) != _cells(event)[title]), None)
        if edited is not None:
            message = f"the column '{edited}' was edited; change decisions in a review table, or in the JSON lines"
            raise InputError(message, source, number)
        yield number, event


def _json_rows(source: Path) -> Iterator[tuple[int, object, dict[str, str]]]:
    for number, line in numbered_lines(source):
        if line.strip():
            yield number, json_values.parse(line, source, number), {}


def _table_rows(source: Path, table: spreadsheets.Table | None) -> Iterator[tuple[int, object, dict[str, str]]]:
    (line, header), rows = table or spreadsheets.read(source, is_event_table, COLUMNS)
    if not is_event_table(header):
        raise InputError("has no columns 'event' and 'record'; is it an export of decisions?", source, line)
    for number, cells in rows:
        row = dict(zip(header, cells, strict=True))
        yield number, json_values.parse(row["record"], source, number), row
