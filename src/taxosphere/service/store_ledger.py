"""The store and the fold in step: a decision is carried out, recorded and acknowledged, or none of it."""

from __future__ import annotations

from threading import Lock

from sqlalchemy.engine import Connection

from taxosphere.decisions.events import Event
from taxosphere.decisions.fold import Conflict, Fold
from taxosphere.decisions.state import TEXT
from taxosphere.service import store_bases, store_events, store_items
from taxosphere.service.store import Store
from taxosphere.service.store_events import Recorded
from taxosphere.taxonomy import Concept, Taxonomy


class Ledger:
    """All decisions of a store over its present base, kept up to date with what other processes record.

    Parameters
    ----------
    store
        The open store; it must hold a base. One ledger may be used by several threads.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = Lock()
        self._reset()

    def _reset(self) -> None:
        base = store_bases.load(self.store)
        self._base = base.seq
        self._fold = Fold(base.taxonomy, base.digest)
        self._seq = 0

    def _catch_up(self, connection: Connection) -> None:
        if store_bases.number(connection) != self._base:
            self._reset()
        for recorded in store_events.read(connection, self._seq):
            self._fold.add(recorded.event)
            self._seq = recorded.seq

    @property
    def fold(self) -> Fold:
        """Everything decided so far, also by others. Read it at once: a later decision changes it."""
        with self._lock, self.store.reading() as connection:
            self._catch_up(connection)
            return self._fold

    @property
    def latest(self) -> Fold:
        """Everything decided up to the last call of `fold` or `decide`, at once and without asking the database."""
        return self._fold

    def _edited_name(self, item: str) -> str:
        """Name that a person gave an item, nothing where it has the one it came with."""
        edited: Concept | None = self._fold.state.values.get((TEXT, item))
        return "" if edited is None else edited.name

    def taxonomy(self) -> Taxonomy:
        """The base with everything decided so far."""
        with self._lock, self.store.reading() as connection:
            self._catch_up(connection)
            return self._fold.taxonomy()

    def decide(self, event: Event, *, key: str = "", version: int | None = None) -> Recorded:
        """Carry out and record one decision.

        Parameters
        ----------
        event
            The decision.
        key
            Idempotency key: a second call with it changes nothing and returns what the first one recorded.
        version
            Version of the queue's item that the person saw.

        Returns
        -------
        Recorded
            The event with `before` and `after`, its number and hash. It is on disk.

        Raises
        ------
        Conflict
            Where the decision cannot be carried out; nothing is recorded.
        StaleVersion
            Where the item has another version by now.
        KeyReused
            Where the key belongs to another decision.
        """
        return self.decide_all([event], keys=[key], version=version)[0]

    def decide_all(
        self, events: list[Event], *, keys: list[str] | None = None, version: int | None = None
    ) -> list[Recorded]:
        """Carry out and record several decisions, all or none; see `decide`."""
        with self._lock:
            before = self._seq
            try:
                with self.store.writing() as connection:
                    self._catch_up(connection)
                    before = self._seq
                    pairs = zip(events, keys or [""] * len(events), strict=True)
                    done = [self._record(connection, event, key, version) for event, key in pairs]
            except BaseException:
                if self._seq != before:  # the fold has run ahead of the database
                    self._reset()
                raise
            return done

    def _record(self, connection: Connection, event: Event, key: str, version: int | None) -> Recorded:
        key = key or event.id
        former = store_events.replayed(connection, event, key)
        if former is not None:
            return former
        if version is not None:
            store_items.check_version(connection, event.item, version)
        done = self._fold.apply(event)
        self._seq += 1  # from here on an exception means that the fold must be built anew
        recorded = store_events.append(connection, done, key)
        store_items.decided(connection, event.item, self._fold.queue_state(event.item), self._edited_name(event.item))
        return recorded


__all__ = ["Conflict", "Ledger"]
