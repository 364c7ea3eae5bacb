"""Events in the store: appended one after the other, each with the hash of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.events import Event, canonical, from_record, to_record
from taxosphere.service.store import Store, StoreError
from taxosphere.service.store_tables import BASES, EVENTS

BEGINNING = hashlib.sha256(b"taxosphere decisions").hexdigest()
"""What stands in place of a previous hash before the first event."""
_BLOCK = 1000  # rows fetched at a time


class KeyReused(StoreError):
    """An idempotency key was used before, for another decision."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event with its place in the history."""

    seq: int
    event: Event
    hash: str
    replayed: bool = False
    """Was it there already, under the same idempotency key?"""


@dataclass(frozen=True, slots=True)
class End:
    """Where the history ends: number and hash of its last event, and the number of the base."""

    seq: int
    hash: str
    base: int


_LAST = sa.select(EVENTS.c.seq).order_by(EVENTS.c.seq.desc()).limit(1)
END = sa.select(
    _LAST.scalar_subquery().label("seq"),
    _LAST.with_only_columns(EVENTS.c.hash).scalar_subquery().label("hash"),
    sa.select(sa.func.max(BASES.c.seq)).scalar_subquery().label("base"),
)
"""The question that `end` asks; others add columns to it."""


def end(connection: Connection) -> End:
    """Where the history ends at this moment."""
    return end_of(connection.execute(END).one())


def end_of(row: Any) -> End:
    """What `END` was answered with."""
    return End(row.seq or 0, row.hash or BEGINNING, row.base or 0)


def append(connection: Connection, event: Event, key: str, last: End) -> Recorded:
    """Add one event at the end.

    Parameters
    ----------
    connection
        From `Store.writing`, so that nobody else adds one at the same time.
    event
        The event; its id must be new.
    key
        Idempotency key, which `replayed` has not found.
    last
        Where the history ended before it.

    Raises
    ------
    KeyReused
        Where an event has the same id.
    """
    seq, previous = last.seq + 1, last.hash
    body = canonical(to_record(event))
    hash = link(previous, seq, key, body)
    row = {"id": event.id, "item": event.item, "kind": event.kind, "by": event.by, "at": event.at}
    try:
        connection.execute(EVENTS.insert().values(**row, seq=seq, body=body, key=key, previous=previous, hash=hash))
    except sa.exc.IntegrityError:
        raise KeyReused(f"an event with the id '{event.id}' is there already") from None
    return Recorded(seq, event, hash)


def replayed(connection: Connection, event: Event, key: str) -> Recorded | None:
    """The event that was added before with the same key, if there is one; `KeyReused` where it decides otherwise."""
    row = connection.execute(sa.select(EVENTS).where(EVENTS.c.key == key)).first()
    if row is None:
        return None
    former = _checked(row)
    if former.content_id() != event.content_id():
        raise KeyReused(f"the idempotency key '{key}' was used for another decision")
    return Recorded(row.seq, former, row.hash, replayed=True)


def link(previous: str, seq: int, key: str, body: str) -> str:
    """The hash of an event: SHA-256 over the hash before it, its number, its key and its content."""
    return hashlib.sha256(f"{previous}\n{seq}\n{key}\n{body}".encode()).hexdigest()


def read(connection: Connection, after: int = 0, *, item: str = "", by: str = "", limit: int = 0) -> Iterator[Recorded]:
    """Events in their order.

    Parameters
    ----------
    connection
        From `Store.reading` or `Store.writing`.
    after
        Only those with a larger number.
    item, by
        Only those about one item, or of one person.
    limit
        At most so many; 0 for all.

    Raises
    ------
    StoreError
        Where the hash of one does not fit to its content.
    """
    columns = (EVENTS.c.seq, EVENTS.c.body, EVENTS.c.hash, EVENTS.c.previous, EVENTS.c.key)
    query = sa.select(*columns).where(EVENTS.c.seq > after).order_by(EVENTS.c.seq)
    if item:
        query = query.where(EVENTS.c.item == item)
    if by:
        query = query.where(EVENTS.c.by == by)
    if limit:
        query = query.limit(limit)
    for rows in connection.execute(query).partitions(_BLOCK):
        for row in rows:
            yield Recorded(row.seq, _checked(row), row.hash)


def _checked(row: sa.Row[*tuple[Any, ...]]) -> Event:
    """The event of a row, where its hash fits: a file may be damaged without SQLite's noticing it."""
    if row.hash != link(row.previous, row.seq, row.key, row.body):
        raise StoreError(f"the history was changed: decision {row.seq} is not what was recorded; restore a backup")
    return from_record(json.loads(row.body))


def all_events(store: Store) -> list[Event]:
    """Every event of a store, in order."""
    with store.reading() as connection:
        return [recorded.event for recorded in read(connection)]


def verify(store: Store) -> Recorded | None:
    """Recompute the chain of hashes.

    Returns
    -------
    Recorded or None
        The last event, whose number and hash one may write down elsewhere; None where there is no event.

    Raises
    ------
    StoreError
        At the first event that was changed, removed or put in between.
    """
    with store.reading() as connection:
        return verify_chain(connection)


def verify_chain(connection: Connection) -> Recorded | None:
    """`verify` on an open connection."""
    previous, last = BEGINNING, None
    for rows in connection.execute(sa.select(EVENTS).order_by(EVENTS.c.seq)).partitions(_BLOCK):
        for expected, row in enumerate(rows, 1 if last is None else last.seq + 1):
            if row.seq != expected:
                raise StoreError(f"the history was changed: decision {expected} is missing")
            if row.previous != previous or row.hash != link(previous, row.seq, row.key, row.body):
                raise StoreError(f"the history was changed: decision {row.seq} ({row.id}) is not what was recorded")
            event = from_record(json.loads(row.body))
            if (event.id, event.item, event.kind, event.by, event.at) != (row.id, row.item, row.kind, row.by, row.at):
                raise StoreError(f"the history was changed: the columns of decision {row.seq} ({row.id}) do not fit")
            previous, last = row.hash, Recorded(row.seq, event, row.hash)
    return last
