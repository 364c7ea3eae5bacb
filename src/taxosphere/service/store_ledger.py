"""The store and the fold in step: a decision is carried out, recorded and acknowledged, or none of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock

from sqlalchemy.engine import Connection

from taxosphere.decisions.events import Event
from taxosphere.decisions.fold import Conflict, Fold
from taxosphere.decisions.state import TEXT
from taxosphere.errors import TaxosphereError
from taxosphere.service import store_bases, store_events, store_items
from taxosphere.service.store import Store
from taxosphere.service.store_events import End, Recorded
from taxosphere.service.store_items import StaleVersion
from taxosphere.taxonomy import Concept, Taxonomy


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A decision that waits to be recorded."""

    event: Event
    key: str
    version: int | None
    recorded: Future[Recorded] = field(default_factory=Future)


class Ledger:
    """All decisions of a store over its present base, kept up to date with what other processes record.

    Decisions that arrive while others are being written are recorded together, in one transaction: waiting for the
    disk takes as long for twenty as for one.

    Parameters
    ----------
    store
        The open store; it must hold a base. One ledger may be used by several threads.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = Lock()
        self._waiting: deque[_Waiting] = deque()
        self._reset()

    def _reset(self) -> None:
        base = store_bases.load(self.store)
        self._fold = Fold(base.taxonomy, base.digest)
        self._end = End(0, store_events.BEGINNING, base.seq)

    def _catch_up(self, connection: Connection) -> None:
        present = store_events.end(connection)
        if present.base != self._end.base:
            self._reset()
        if present.seq == self._end.seq:
            return
        for recorded in store_events.read(connection, self._end.seq):
            self._fold.add(recorded.event)
            self._end = replace(self._end, seq=recorded.seq, hash=recorded.hash)

    def catch_up(self, present: End) -> None:
        """Carry out what other processes have recorded, where the history ends later than here."""
        if (present.base, present.seq) != (self._end.base, self._end.seq):
            with self._lock, self.store.reading() as connection:
                self._catch_up(connection)

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
        mine = _Waiting(event, key, version)
        self._waiting.append(mine)
        with self._lock:  # whoever comes first records for all who wait
            if not mine.recorded.done():
                self._record_waiting()
        return mine.recorded.result()

    def _record_waiting(self) -> None:
        batch = [self._waiting.popleft() for _ in range(len(self._waiting))]
        answers: list[Recorded | TaxosphereError] = []
        try:
            with self._transaction() as connection:
                answers += [self._attempt(connection, waiting) for waiting in batch]
        except BaseException as error:
            for waiting in batch:
                waiting.recorded.set_exception(error)
            return
        for waiting, answer in zip(batch, answers, strict=True):
            if isinstance(answer, Recorded):
                waiting.recorded.set_result(answer)
            else:
                waiting.recorded.set_exception(answer)

    def _attempt(self, connection: Connection, waiting: _Waiting) -> Recorded | TaxosphereError:
        """Record one decision of several; one that is refused before anything was written leaves the others alone."""
        before = self._end
        try:
            return self._record(connection, waiting.event, waiting.key, waiting.version)
        except TaxosphereError as refused:
            if self._end != before:
                raise
            return refused

    def decide_each(self, events: Iterable[tuple[Event, int]]) -> list[Recorded]:
        """Carry out and record several decisions in one transaction, but for those that are refused.

        Parameters
        ----------
        events
            Each with the version of the queue's item that it is about.

        Returns
        -------
        list of Recorded
            What was recorded; a decision that cannot be carried out, or whose item has another version, is left out.
        """
        with self._lock, self._transaction() as connection:
            answers = [self._attempt(connection, _Waiting(event, "", version)) for event, version in events]
        return [answer for answer in answers if isinstance(answer, Recorded)]

    def decide_all(self, events: list[Event]) -> list[Recorded]:
        """Carry out and record several decisions, all or none; see `decide`."""
        with self._lock, self._transaction() as connection:
            return [self._record(connection, event, "", None) for event in events]

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A connection that may write, with the fold in step with the database: at its beginning and at its end."""
        before = self._end
        try:
            with self.store.writing() as connection:
                self._catch_up(connection)
                before = self._end
                yield connection
        except BaseException:
            if self._end != before:  # the fold has run ahead of the database
                self._reset()
            raise

    def _record(self, connection: Connection, event: Event, key: str, version: int | None) -> Recorded:
        key = key or event.id
        present, is_repeated = store_items.version_and_former(connection, event.item, key)
        if is_repeated and (former := store_events.replayed(connection, event, key)) is not None:
            return former
        if version is not None and present != version:
            raise StaleVersion(store_items.get(connection, event.item))
        done, last = self._fold.apply(event), self._end
        self._end = replace(last, seq=last.seq + 1)  # from here on an exception means that the fold must be built anew
        recorded = store_events.append(connection, done, key, last)
        self._end = replace(self._end, hash=recorded.hash)
        store_items.decided(connection, event.item, self._fold.queue_state(event.item), self._edited_name(event.item))
        return recorded


__all__ = ["Conflict", "Ledger"]
