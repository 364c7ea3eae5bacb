"""Live events: what changes is told to every open page, also what other processes have changed.

A thread asks the database twice a second, and soon after a decision made here. Decisions have numbers, so that a
page that was away asks for those it missed; the other events only say that something should be read again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from taxosphere.service import limits
from taxosphere.service.store import StoreError

_LOG = logging.getLogger("taxosphere")
_PAUSE = 0.5  # seconds between two looks at the database
_GATHER = 0.05  # seconds in which decisions are gathered, so that one look finds several
_ALIVE = 15.0  # seconds of silence after which a comment keeps the connection open
_WAITING = 1000  # events that a slow page may leave unread
MOST_REPLAYED = 1000


class TooManyListeners(Exception):
    """As many pages listen as may."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One event for the pages: its name, its content, and for decisions its number."""

    name: str
    data: dict[str, Any]
    seq: int = 0

    def encode(self) -> str:
        """The event as it is sent."""
        number = f"id: {self.seq}\n" if self.seq else ""
        return f"{number}event: {self.name}\ndata: {json.dumps(self.data, ensure_ascii=True)}\n\n"


class _Listener:
    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.queue: asyncio.Queue[Notice | None] = asyncio.Queue(_WAITING)

    def put(self, notice: Notice | None) -> None:
        """Called in the loop; a page that is too slow is sent away and comes back with its last number."""
        if self.queue.full():
            while not self.queue.empty():
                self.queue.get_nowait()
            notice = None
        self.queue.put_nowait(notice)


class Hub:
    """Tells every listener what changed.

    Parameters
    ----------
    look
        Asks the database and returns what is new; called in the thread of the hub.
    """

    def __init__(self, look: Callable[[], list[Notice]]) -> None:
        self._look = look
        self._listeners: set[_Listener] = set()
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="live", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def dismiss(self) -> None:
        """Send all listeners away; a page comes back with the number of the last event it received."""
        self._tell([None])

    def stop(self) -> None:
        """Send all listeners away and end."""
        self._stopped = True
        self._wake.set()
        self.dismiss()
        if self._thread.is_alive():
            self._thread.join(5)

    def wake(self) -> None:
        """Look at once: something was changed here."""
        self._wake.set()

    def _run(self) -> None:
        reachable = True
        while not self._stopped:
            if self._wake.wait(_PAUSE):
                time.sleep(_GATHER)
            self._wake.clear()
            try:
                self._tell(list(self._look()))
                reachable = True
            except StoreError as error:
                if reachable:  # said once, however long it lasts
                    _LOG.error("no changes are told to pages: %s", error)
                reachable = False
            except Exception:
                _LOG.exception("the database cannot be asked for changes")

    def _tell(self, notices: list[Any]) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            for notice in notices:
                try:
                    listener.loop.call_soon_threadsafe(listener.put, notice)
                except RuntimeError:  # its loop has ended
                    break

    async def listen(self, missed: Callable[[], list[Notice]]) -> AsyncIterator[str]:
        """Events for one page: first those it ``missed``, then what comes.

        Raises
        ------
        TooManyListeners
            Where `limits.LISTENERS` pages listen already.
        """
        listener = _Listener()
        with self._lock:
            if len(self._listeners) >= limits.LISTENERS:
                raise TooManyListeners
            self._listeners.add(listener)
        return self._stream(listener, missed)

    async def _stream(self, listener: _Listener, missed: Callable[[], list[Notice]]) -> AsyncIterator[str]:
        try:
            yield "retry: 2000\n\n"
            last = 0
            for notice in await asyncio.to_thread(missed):
                last = max(last, notice.seq)
                yield notice.encode()
            while True:
                try:
                    async with asyncio.timeout(_ALIVE):
                        following = await listener.queue.get()
                except TimeoutError:
                    yield ": still here\n\n"
                    continue
                if following is None:
                    return
                if not following.seq or following.seq > last:
                    last = max(last, following.seq)
                    yield following.encode()
        finally:
            with self._lock:
                self._listeners.discard(listener)
