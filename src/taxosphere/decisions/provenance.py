"""Who added a concept, when, and how sure the model was, in the words of the format that is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

from taxosphere.decisions.events import Event
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io import rdf_terms

CREATED_BY, CREATION_DATE, CONFIDENCE = "created_by", "creation_date", "confidence"
TABLE_COLUMNS = (CREATED_BY, CREATION_DATE, CONFIDENCE)
_TABLES = ("concept table", "level table", "path list", "nested codes", "edges", "native")

Pairs = tuple[tuple[str, str], ...]


def add(
    taxonomy: Taxonomy, events: Mapping[str, Event], path: str | PathLike[str], *, new_columns: bool = False
) -> Taxonomy:
    """The taxonomy with a mark on every new concept.

    Parameters
    ----------
    taxonomy
        With the new concepts in it.
    events
        The event that placed each new concept, by its id.
    path
        Where the taxonomy is going to be written; its format decides about the words.
    new_columns
        Whether a table may get columns for it. Without, only columns that it has already are filled in, because a new
        column changes every line of the file.
    """
    form = registry.format_to_write(taxonomy, Path(path)).name
    allowed: set[str] | None = None
    if form in _TABLES and not new_columns:
        allowed = {key for id, extras in zip(taxonomy.ids, taxonomy.extras) if id not in events for key, _ in extras}
    extras = list(taxonomy.extras)
    for id, event in events.items():
        if id in taxonomy:
            at = taxonomy.position(id)
            marks = (pair for pair in pairs(event, form) if allowed is None or pair[0] in allowed)
            extras[at] = (*extras[at], *(pair for pair in marks if pair[0] not in dict(extras[at])))
    return replace(taxonomy, extras=tuple(extras))


def pairs(event: Event, form: str) -> Pairs:
    """The extras of a new concept that say where it comes from, in a format."""
    return _rdf(event) if form == "rdf" else tuple(_plain(event))


def _plain(event: Event) -> Iterable[tuple[str, str]]:
    if event.by:
        yield CREATED_BY, event.by
    if event.at:
        yield CREATION_DATE, event.at
    if event.probability is not None:
        yield CONFIDENCE, f"{event.probability:.4f}"


def _rdf(event: Event) -> Pairs:
    made = []
    if event.by:
        made.append((f"{rdf_terms.DCTERMS}creator", event.by))
    if event.at:
        made.append((f"{rdf_terms.DCTERMS}created", f'"{event.at}"^^<{rdf_terms.XSD}dateTime>'))
    made.append((f"{rdf_terms.SKOS}changeNote", change_note(event)))
    return tuple(made)


def change_note(event: Event) -> str:
    """One sentence about the decision."""
    names = dict(event.names)
    below = " and ".join(f"'{names.get(parent, parent)}'" for parent in event.parents)
    sure = "" if event.probability is None else f" (probability {event.probability:.4f})"
    note = f": {event.note}" if event.note else ""
    return f"{event.kind}{f' below {below}' if below else ''}{sure}{note}"
