"""Signals that end a command let it tidy up first."""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NAMES = ("SIGTERM", "SIGHUP")
RESUMABLE = "stopped; the same command with --resume goes on from here"
DISCARDED = "what a stopped run has left is thrown away; with --resume it would be gone on with"


class Stopped(BaseException):
    """Asked to end by a signal: an exception, because it removes unfinished files on its way out."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise `Stopped` where a signal would have ended the process; one that is ignored, as nohup does, stays so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    ending = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    caught = [number for number in ending if signal.getsignal(number) is signal.SIG_DFL]

    def stop(number: int, _: FrameType | None) -> None:
        for each in caught:
            signal.signal(each, signal.SIG_IGN)  # a second one would come in the middle of tidying up
        for child in multiprocessing.active_children():
            child.terminate()  # a pool waits for its workers, and theirs may be hours of work
        raise Stopped(number)

    for number in caught:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in caught:
            signal.signal(number, signal.SIG_DFL)
