"""The decisions as the page shows them: documents of events, what was undone, how much of what was accepted stayed."""

from __future__ import annotations

import json
import threading
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere.decisions.events import Event, Snapshot, from_record
from taxosphere.decisions.fold import Fold
from taxosphere.service import store_events
from taxosphere.service.store_tables import EVENTS
from taxosphere.service.taxonomy_view import TaxonomyView

Document = dict[str, Any]


class History:
    """What the events so far say beyond the taxonomy they make.

    Parameters
    ----------
    view
        Says how concepts are called.
    """

    def __init__(self, view: TaxonomyView) -> None:
        self._view = view
        self._lock = threading.Lock()
        self._undone_by: dict[str, str] = {}
        self._accepted: dict[str, tuple[float, str, tuple[str, ...]]] = {}  # probability, item, parents by event
        self.seq = 0
        """Number of the last event that was read."""

    def catch_up(self, connection: Connection) -> list[tuple[int, Event]]:
        """Read the events that came since the last call, and return them with their numbers."""
        with self._lock:
            new = []
            for recorded in store_events.read(connection, self.seq):
                event = recorded.event
                if event.undoes:
                    self._undone_by[event.undoes] = event.id
                if event.kind == "accept" and event.probability is not None:
                    self._accepted[event.id] = event.probability, event.item, event.parents
                self.seq = recorded.seq
                new.append((recorded.seq, event))
            return new

    def precision(self, fold: Fold, at: float) -> tuple[int, int]:
        """Of the events that accepted with at least a probability: how many there were, and how many stayed.

        One has stayed where it was not undone and the item still hangs where it was put.
        """
        accepted = [(id, event) for id, event in tuple(self._accepted.items()) if event[0] >= at]
        kept = 0
        for id, (_, item, parents) in accepted:
            stands = fold.snapshot(item)
            kept += id not in self._undone_by and stands.state == "accepted" and stands.parents == parents
        return len(accepted), kept

    def document(self, seq: int, event: Event) -> Document:
        """One event for the API."""
        names = dict(event.names)
        concept = event.concept
        return {
            "id": event.id,
            "seq": seq,
            "kind": event.kind,
            "item": event.item,
            "name": concept.name if concept is not None else self._view.name(event.item),
            "parents": [self._named(id, names) for id in event.parents],
            "children": [self._named(id, names) for id in event.children],
            "by": event.by,
            "at": event.at,
            "note": event.note,
            "probability": event.probability,
            "model": event.model,
            "undone_by": self._undone_by.get(event.id),
            "undoes": event.undoes or None,
            "before": self._snapshot(event.before, names),
            "after": self._snapshot(event.after, names),
        }

    def _named(self, id: str, names: dict[str, str]) -> Document:
        return {"id": id, "name": names.get(id) or self._view.name(id)}

    def _snapshot(self, snapshot: Snapshot | None, names: dict[str, str]) -> Document | None:
        if snapshot is None:
            return None
        return {"state": snapshot.state, "parents": [self._named(id, names) for id in snapshot.parents]}

    def page(
        self, connection: Connection, *, before: int | None, limit: int, by: str = "", kind: str = "", item: str = ""
    ) -> list[Document]:
        """Events, the newest first.

        Parameters
        ----------
        connection
            From `Store.reading`.
        before
            Only those with a smaller number.
        limit
            At most so many.
        by, kind, item
            Only those of one person, of one kind, about one item.
        """
        query = sa.select(EVENTS.c.seq, EVENTS.c.body).order_by(EVENTS.c.seq.desc()).limit(limit)
        if before is not None:
            query = query.where(EVENTS.c.seq < before)
        for column, value in ((EVENTS.c.by, by), (EVENTS.c.kind, kind), (EVENTS.c.item, item)):
            if value:
                query = query.where(column == value)
        return [self.document(seq, from_record(json.loads(body))) for seq, body in connection.execute(query)]


def find(connection: Connection, id: str) -> tuple[int, Event] | None:
    """One event by its id."""
    row = connection.execute(sa.select(EVENTS.c.seq, EVENTS.c.body).where(EVENTS.c.id == id)).first()
    return None if row is None else (row.seq, from_record(json.loads(row.body)))


def find_by_key(connection: Connection, key: str) -> tuple[int, Event] | None:
    """One event by its idempotency key."""
    row = connection.execute(sa.select(EVENTS.c.seq, EVENTS.c.body).where(EVENTS.c.key == key)).first()
    return None if row is None else (row.seq, from_record(json.loads(row.body)))
