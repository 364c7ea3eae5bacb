"""Decisions from a file onto a taxonomy: all of them, or one line that says in which row the first fault is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

from taxosphere.decisions import exchange, review_reader, spreadsheets
from taxosphere.decisions.events import Event
from taxosphere.decisions.fold import Conflict, Fold
from taxosphere.decisions.former import Former
from taxosphere.decisions.review_reader import Origin
from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.obo import kept_ids
from taxosphere.taxonomy.ids import IdMinter, parse_pattern, style_of

SUFFIXES = (*exchange.JSON_LINES, *spreadsheets.SUFFIXES)


@dataclass(frozen=True, slots=True)
class Batch:
    """Events that were carried out, those that had been decided before, and sentences about a changed base."""

    events: tuple[Event, ...]
    repeated: int
    notices: tuple[str, ...]


def read_decisions(
    path: str | PathLike[str],
    taxonomy: Taxonomy,
    origin: Origin,
    *,
    ids: str = "",
    reserved: Iterable[str] = (),
    decided: Fold | None = None,
    rebase: bool = False,
    warn: Callable[[str], object] = lambda _line: None,
) -> list[tuple[int, Event]]:
    """Events in a file, each with its row.

    Parameters
    ----------
    path
        A review table that a person has filled in, or exported decisions (``.jsonl``, ``.csv``).
    taxonomy
        What they are going to be applied to.
    origin
        Who, when and on which base, for a review table; exported decisions say so themselves.
    ids
        Pattern of new ids (`parse_pattern`); without, the style of the taxonomy goes on.
    reserved
        Ids that no new concept may get besides those of the taxonomy.
    decided
        What was decided before: a concept without an id that was decided about keeps the id it has there.
    rebase
        Whether decisions on another base are taken, to be applied as far as they fit.
    warn
        Called with one line about every id that had to be changed, and about a text that is not in UTF-8.

    Raises
    ------
    InputError
        With file and row.
    """
    source = Path(path)
    if source.suffix.lower() not in SUFFIXES:
        raise InputError(f"decisions are read from {', '.join(SUFFIXES)} files", source)
    table = None
    if source.suffix.lower() not in exchange.JSON_LINES:
        table = spreadsheets.read(source, _is_header, (*review_reader.READ, *exchange.COLUMNS), warn)
    if table is None or exchange.is_event_table(table[0][1]):
        events = list(exchange.read(source, table))
        other = next((row for row, event in events if event.base not in ("", origin.base)), None)
        if other is not None and not rebase:
            message = "was decided on another version of the taxonomy; --rebase applies what still fits"
            raise InputError(message, source, other)
        return events
    rows = review_reader.read(source, table)
    if decided is not None:
        former = Former(decided)
        rows = [
            replace(one, concept=replace(one.concept, id=one.concept.id or former.item(one.concept))) for one in rows
        ]
    minter = _minter(taxonomy, ids, {*reserved, *(one.concept.id for one in rows)})
    return review_reader.events(source, rows, taxonomy, minter, origin, warn)


def _is_header(titles: Sequence[str]) -> bool:
    return review_reader.is_review_table(titles) or exchange.is_event_table(titles)


def _minter(taxonomy: Taxonomy, pattern: str, others: set[str]) -> IdMinter:
    kept = kept_ids(taxonomy)
    style = parse_pattern(pattern) if pattern else style_of(taxonomy)
    return IdMinter(style, lambda id: id in taxonomy or id in kept or id in others, (*taxonomy.ids, *kept, *others))


def carry_out(
    folding: Fold, events: Iterable[tuple[int, Event]], path: str | PathLike[str], *, rebase: bool = False
) -> Batch:
    """Carry all events out, or raise `InputError` with the row of the first that cannot be.

    Parameters
    ----------
    folding
        The taxonomy with what was decided before; after an error it is of no use any more.
    events
        With their rows.
    path
        The file they come from, for the message.
    rebase
        Whether an event that does not fit is left out instead, with a sentence in `Batch.notices`.
    """
    done: list[Event] = []
    left_out: list[str] = []
    repeated = 0
    for row, event in events:
        try:
            done.append(folding.apply(event))
        except Conflict as conflict:
            if conflict.code == "repeated":
                repeated += 1
            elif rebase:
                left_out.append(f"{Path(path)}:{row}: left out: {conflict}")
            else:
                raise InputError(str(conflict), path, row) from None
        except InputError as error:
            raise InputError(error.message, path, row) from None
    ours = {event.id for event in done}
    notices = [text for event, text in folding.notices if event.id in ours]
    return Batch(tuple(done), repeated, (*left_out, *notices))
