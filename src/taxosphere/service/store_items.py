"""The queue: new concepts that wait for a decision, with what the model suggests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from taxosphere.decisions.events import concept_from, concept_record, now
from taxosphere.service.store import StoreError
from taxosphere.service.store_tables import EVENTS, ITEMS, SUGGESTIONS
from taxosphere.taxonomy import Concept

MOST = 1000  # items on one page
_WHOLE = sa.select(ITEMS, SUGGESTIONS.c.content).join(SUGGESTIONS, SUGGESTIONS.c.item == ITEMS.c.id)


class StaleVersion(StoreError):
    """Somebody else has decided about the item meanwhile; ``item`` is how it stands now."""

    def __init__(self, item: QueueItem) -> None:
        super().__init__(f"'{item.concept.name}' was changed meanwhile: version {item.version}, {item.state}")
        self.item = item


class NoSuchItem(StoreError):
    """The queue holds no such item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueItem:
    """One new concept in the queue.

    Parameters
    ----------
    concept
        The new concept; its id is that of the item, columns of the list that are not ours are in its extras.
    suggestions
        What `Suggestions.as_dict` says, or nothing.
    probability
        Of the best parent.
    why
        Why a person must decide.
    state, version
        What was decided last, and how often something was; both are kept in step with the events.
    assignee
        Whose it is, empty for everybody.
    """

    concept: Concept
    suggestions: dict[str, Any] = field(default_factory=dict)
    probability: float = 0.0
    why: str = ""
    state: str = "open"
    version: int = 0
    assignee: str = ""
    position: int = 0
    added_at: str = ""

    @property
    def id(self) -> str:
        return self.concept.id


def add(connection: Connection, items: Iterable[QueueItem]) -> int:
    """Add items at the end of the queue; those whose id is there already are left as they are.

    Returns
    -------
    int
        How many were added.
    """
    new = {item.id: item for item in items}
    present = set(taken(connection, list(new)))
    position = connection.scalar(sa.select(sa.func.max(ITEMS.c.position))) or 0
    added = [item for id, item in new.items() if id not in present]
    rows = [
        {
            "id": item.id,
            "position": position + number,
            "name": item.concept.name,
            "concept": concept_record(item.concept),
            "summary": summary(item.suggestions),
            "probability": item.probability,
            "why": item.why,
            "state": item.state,
            "version": item.version,
            "assignee": item.assignee,
            "added_at": now(),
        }
        for number, item in enumerate(added, 1)
    ]
    if rows:
        connection.execute(ITEMS.insert(), rows)
        connection.execute(SUGGESTIONS.insert(), [{"item": item.id, "content": item.suggestions} for item in added])
    return len(rows)


def summary(suggestions: Mapping[str, Any]) -> dict[str, Any]:
    """What a list of items shows of their suggestions: the best parent, and how probable it is that there is none."""
    best = None
    if suggestions.get("suggestions"):
        first = suggestions["suggestions"][0]
        best = {**{key: first[key] for key in ("id", "name", "probability")}, "path": first["path"][:-1]}
    return {"best": best, "none_probability": suggestions.get("none_probability")}


def suggest_anew(connection: Connection, items: Iterable[QueueItem]) -> None:
    """Replace what was suggested for items; what was decided about them stays."""
    for item in items:
        values = {"summary": summary(item.suggestions), "probability": item.probability, "why": item.why}
        connection.execute(ITEMS.update().where(ITEMS.c.id == item.id).values(**values))
        connection.execute(SUGGESTIONS.update().where(SUGGESTIONS.c.item == item.id).values(content=item.suggestions))


def taken(connection: Connection, ids: Sequence[str]) -> list[str]:
    """Those of the ids that items have."""
    size = 500  # SQLite takes some thousand parameters at most
    parts = [ids[start : start + size] for start in range(0, len(ids), size)]
    return [id for part in parts for id in connection.scalars(sa.select(ITEMS.c.id).where(ITEMS.c.id.in_(part)))]


def get(connection: Connection, id: str) -> QueueItem:
    """One item; `NoSuchItem` where there is none."""
    return get_and_former(connection, id, "")[0]


def get_and_former(connection: Connection, id: str, key: str) -> tuple[QueueItem, bool]:
    """One item, and whether a decision was recorded with an idempotency key; `NoSuchItem` where there is none."""
    former = sa.select(EVENTS.c.seq).where(EVENTS.c.key == key).scalar_subquery()
    query = _WHOLE.add_columns(former.label("former")) if key else _WHOLE.add_columns(sa.null().label("former"))
    row = connection.execute(query.where(ITEMS.c.id == id)).first()
    if row is None:
        raise NoSuchItem(f"the queue holds no item '{id}'")
    return _item(row), row.former is not None


def page(
    connection: Connection,
    *,
    after: int = 0,
    limit: int = 100,
    state: str = "",
    assignee: str = "",
    containing: str = "",
) -> list[QueueItem]:
    """Items in the order of the queue.

    Parameters
    ----------
    connection
        From `Store.reading`.
    after
        Only those with a larger `position`: that of the last item of the page before.
    limit
        At most so many, and never more than `MOST`.
    state, assignee, containing
        Only those in one state, of one person, with a text in their name.
    """
    query = _WHOLE.where(ITEMS.c.position > after).order_by(ITEMS.c.position).limit(min(limit, MOST))
    if state:
        query = query.where(ITEMS.c.state == state)
    if assignee:
        query = query.where(ITEMS.c.assignee == assignee)
    if containing:
        query = query.where(ITEMS.c.name.icontains(containing, autoescape=True))
    return [_item(row) for row in connection.execute(query)]


def every(connection: Connection) -> list[Concept]:
    """The concepts of all items, without their suggestions."""
    return [
        concept_from(record) for record in connection.scalars(sa.select(ITEMS.c.concept).order_by(ITEMS.c.position))
    ]


def undecided(connection: Connection) -> Iterator[QueueItem]:
    """Open items in the order of the queue, without their suggestions: there may be many."""
    columns = (ITEMS.c.concept, ITEMS.c.version, ITEMS.c.position)
    for row in connection.execute(sa.select(*columns).where(ITEMS.c.state == "open").order_by(ITEMS.c.position)):
        yield QueueItem(concept=concept_from(row.concept), version=row.version, position=row.position)


def counts(connection: Connection) -> dict[str, int]:
    """Number of items in each state."""
    rows = connection.execute(sa.select(ITEMS.c.state, sa.func.count()).group_by(ITEMS.c.state))
    return {row[0]: row[1] for row in rows}


def assign(connection: Connection, id: str, assignee: str) -> QueueItem:
    """Say whose an item is; its version stays, because nothing was decided."""
    connection.execute(ITEMS.update().where(ITEMS.c.id == id).values(assignee=assignee))
    return get(connection, id)


def version_and_former(connection: Connection, id: str, key: str) -> tuple[int | None, bool]:
    """Version of an item, None where there is none, and whether a decision was recorded with an idempotency key."""
    version = sa.select(ITEMS.c.version).where(ITEMS.c.id == id).scalar_subquery()
    former = sa.select(EVENTS.c.seq).where(EVENTS.c.key == key).scalar_subquery()
    row = connection.execute(sa.select(version, former)).one()
    return row[0], row[1] is not None


def decided(connection: Connection, id: str, state: str, name: str = "") -> None:
    """Note that an event was recorded about an item.

    Parameters
    ----------
    connection
        From `Store.writing`.
    id, state
        The item, and what was decided.
    name
        What the item is called since an edit; nothing for the name it came with. Its concept stays as it came.
    """
    as_it_came = sa.func.coalesce(ITEMS.c.concept["name"].as_string(), "")
    values = {"state": state, "version": ITEMS.c.version + 1, "name": name or as_it_came}
    connection.execute(ITEMS.update().where(ITEMS.c.id == id).values(**values))


def _item(row: Row[Any]) -> QueueItem:
    return QueueItem(
        concept=concept_from(row.concept),
        suggestions=row.content,
        probability=row.probability,
        why=row.why,
        state=row.state,
        version=row.version,
        assignee=row.assignee,
        position=row.position,
        added_at=row.added_at,
    )
