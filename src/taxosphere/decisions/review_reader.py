"""From a filled-in review table to events; what is wrong is said with its row, and nothing is taken from the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from uuid import uuid4

from taxosphere.decisions import spreadsheets
from taxosphere.decisions.events import Event
from taxosphere.decisions.kinds import KINDS
from taxosphere.decisions.references import References
from taxosphere.decisions.review import (
    ALREADY,
    CANDIDATES,
    COLUMNS,
    DECISION,
    DESCRIPTION,
    EXTRA,
    ID,
    IMAGE,
    NAME,
    NOTE,
    OPTIONAL,
    PARENT,
    SYNONYMS,
    WORDS,
    candidate_columns,
)
from taxosphere.errors import InputError
from taxosphere.placing.name_keys import fold
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.io.draft import LONGEST_TEXT
from taxosphere.taxonomy.ids import IdMinter

READ = (DECISION, PARENT, NAME, DESCRIPTION, NOTE, ID, candidate_columns(1)[0], ALREADY)
"""Columns in which a formula is refused."""
_PLACED = ("accept", "move", "top")
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Decided:
    """One row in which something was decided."""

    row: int
    word: str
    concept: Concept
    parent: str
    candidates: tuple[tuple[str, float | None], ...]
    already: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who decided, when, and on which taxonomy (see `Event`)."""

    by: str = ""
    at: str = ""
    base: str = ""
    model: str = ""


def is_review_table(header: Sequence[str]) -> bool:
    """Does a table with these titles hold decisions in words?"""
    titles = {title.strip().lower() for title in header}
    return {DECISION, NAME} <= titles


def read(path: str | PathLike[str], table: spreadsheets.Table | None = None) -> list[Decided]:
    """The rows of a review table in which the column `decision` is filled in.

    Parameters
    ----------
    path
        The table.
    table
        What `spreadsheets.read` returned for it, where it has been read already.

    Raises
    ------
    InputError
        With the row, where a word is none of `WORDS`, a name is missing, a formula stands in a cell, or a concept is
        decided about twice.
    """
    (line, header), rows = table or spreadsheets.read(path, is_review_table, READ)
    if not is_review_table(header):
        raise InputError(f"has no columns '{DECISION}' and '{NAME}'; is it a review table?", path, line)
    if len(rows) > MOST_ROWS:
        raise InputError(f"{len(rows):,} rows; at most {MOST_ROWS:,} are read", path, rows[MOST_ROWS][0])
    decided = list(_decided(path, header, rows))
    first: dict[str, int] = {}
    for one in decided:
        key = one.concept.id or f"\0{one.concept.name}"
        if key in first:
            message = f"a second decision about '{one.concept.name}'; the first one is in row {first[key]}"
            raise InputError(message, path, one.row)
        first[key] = one.row
    return decided


def _decided(path: str | PathLike[str], header: Sequence[str], rows: list[spreadsheets.Row]) -> Iterator[Decided]:
    ours = {title.lower(): i for i, title in enumerate(header) if title.lower() in (*COLUMNS, *OPTIONAL)}
    extras = {i: title for i, title in enumerate(header) if title and i not in ours.values()}
    for row, cells in rows:
        word = cells[ours[DECISION]].strip().lower()
        if not word:
            continue
        if word not in WORDS:
            raise InputError(
                f"'{cells[ours[DECISION]].strip()[:40]}' is no decision; write {', '.join(WORDS)}", path, row
            )
        _check_texts(path, row, cells)
        yield _row(row, word, {title: cells[i].strip() for title, i in ours.items()}, _extras(extras, cells), path)


def _extras(titles: Mapping[int, str], cells: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((title.removeprefix(EXTRA), cells[i]) for i, title in titles.items() if cells[i])


def _check_texts(path: str | PathLike[str], row: int, cells: Sequence[str]) -> None:
    for cell in cells:
        if len(cell) > LONGEST_TEXT:
            raise InputError(f"a cell of {len(cell):,} characters; at most {LONGEST_TEXT:,} are read", path, row)
        if "\0" in cell:
            raise InputError("a NUL character in a cell", path, row)


def _row(
    row: int, word: str, cells: Mapping[str, str], extras: tuple[tuple[str, str], ...], path: str | PathLike[str]
) -> Decided:
    def several(title: str) -> tuple[str, ...]:
        return tuple(part.strip() for part in cells.get(title, "").split("|") if part.strip())

    name = cells[NAME]
    if not name:
        raise InputError("a decision about a concept without a name", path, row)
    concept = Concept(cells.get(ID, ""), name, cells.get(DESCRIPTION, ""), several(SYNONYMS), several(IMAGE), extras)
    candidates = []
    for rank in range(1, CANDIDATES + 1):
        label, _, probability = (cells.get(title, "") for title in candidate_columns(rank))
        if label:
            candidates.append((label, _number(probability)))
    return Decided(
        row, word, concept, cells.get(PARENT, ""), tuple(candidates), cells.get(ALREADY, ""), cells.get(NOTE, "")
    )


def _number(text: str) -> float | None:
    """A probability, with a comma where Excel's language has one."""
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


# -- events -----------------------------------------------------------------------------------------------------------


def events(
    path: str | PathLike[str],
    rows: Sequence[Decided],
    taxonomy: Taxonomy,
    minter: IdMinter,
    origin: Origin,
    warn: Callable[[str], object] = lambda _line: None,
) -> list[tuple[int, Event]]:
    """Events for the rows of a review table, parents before their children.

    Parameters
    ----------
    path
        The table, for messages.
    rows
        What `read` returned.
    taxonomy
        The taxonomy that the decisions are applied to.
    minter
        Makes ids for new concepts without one.
    origin
        Who, when, on which base.
    warn
        Called with one line where an id had to be changed.

    Returns
    -------
    list of (int, Event)
        With the row of each.

    Raises
    ------
    InputError
        With the row, where a parent is unknown, ambiguous, the concept itself or a new one without a place.
    """
    rows = [_with_id(path, one, taxonomy, minter, warn) for one in rows]
    placed = {one.concept.id: one for one in rows if one.word in _PLACED}
    references = References(taxonomy, ((id, one.concept.name) for id, one in placed.items() if id not in taxonomy))
    made = {one.concept.id: _event(path, one, references, origin) for one in rows}
    order = _parents_first(path, made, {one.concept.id: one.row for one in rows})
    return [(next_row, made[id]) for id, next_row in order]


def _with_id(
    path: str | PathLike[str], one: Decided, taxonomy: Taxonomy, minter: IdMinter, warn: Callable[[str], object]
) -> Decided:
    id = one.concept.id
    if id in taxonomy and fold(taxonomy.names[taxonomy.position(id)]) != fold(one.concept.name):
        new = minter.mint(one.concept.name)
        other = taxonomy.names[taxonomy.position(id)]
        warn(f"{Path(path)}:{one.row}: the id {id} belongs to '{other}' by now; '{one.concept.name}' gets {new}")
        id = new
    return replace(one, concept=replace(one.concept, id=id or minter.mint(one.concept.name)))


def _event(path: str | PathLike[str], one: Decided, references: References, origin: Origin) -> Event:
    try:
        parents = _parents(one, references)
        if one.concept.id in parents:
            raise InputError(f"'{one.concept.name}' cannot be its own parent")
    except InputError as error:
        raise InputError(error.message, path, one.row) from None
    suggested = [(id, probability) for label, probability in one.candidates if (id := references.find(label))]
    return Event(
        id=uuid4().hex,
        kind=one.word,
        item=one.concept.id,
        by=origin.by,
        at=origin.at,
        base=origin.base,
        model=origin.model,
        concept=one.concept,
        parents=parents,
        names=tuple(references.names(parents)),
        probability=dict(suggested).get(parents[0]) if parents else None,
        suggested=tuple(id for id, _ in suggested),
        note=one.note,
    )


def _parents(one: Decided, references: References) -> tuple[str, ...]:
    fewest, most = KINDS[one.word].parents
    if most == 0:
        return ()
    usual = {"accept": one.candidates[0][0] if one.candidates else "", "same": one.already}.get(one.word, "")
    try:
        parents = references.resolve_all(one.parent or usual)
    except InputError as error:
        hint = "" if one.parent else "; was the table made for another version of the taxonomy?"
        raise InputError(f"{error.message}{hint}") from None
    if not parents and usual == "" and one.word == "accept":
        raise InputError(f"'accept' needs a parent, in the column '{PARENT}' or '{candidate_columns(1)[0]}'")
    if not fewest <= len(parents) <= most:
        wanted = "one concept" if most == 1 else "at least one concept"
        raise InputError(f"'{one.word}' needs {wanted} in the column '{PARENT}'")
    return parents


def _parents_first(
    path: str | PathLike[str], made: Mapping[str, Event], rows: Mapping[str, int]
) -> list[tuple[str, int]]:
    """Ids with their rows, every new parent before what hangs below it."""
    order: dict[str, int] = {}
    for start in made:
        way: list[tuple[str, Iterator[str]]] = [(start, iter(made[start].parents))] if start not in order else []
        above = {start}
        while way:
            id, parents = way[-1]
            parent = next((parent for parent in parents if parent in made and parent not in order), None)
            if parent is None:
                order[id] = rows[id]
                above.discard(id)
                way.pop()
            elif parent in above:
                concept = made[id].concept
                name = id if concept is None else concept.name
                raise InputError(f"'{name}' would hang below itself, by way of row {rows[parent]}", path, rows[id])
            else:
                above.add(parent)
                way.append((parent, iter(made[parent].parents)))
    return list(order.items())
