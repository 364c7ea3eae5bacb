"""How far a long command is: a bar on a terminal, a line per step elsewhere; both with rate and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from taxosphere.cli.output import say

_PAUSE = 10.0  # seconds between lines about the same step


class _Lines:
    """A line when a step begins, and now and then while it lasts."""

    def __init__(self) -> None:
        self._text, self._said = "", 0.0
        self._rate = _Rate()

    def __call__(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        pace = self._rate(done, total, text, now)
        if text != self._text or now - self._said >= _PAUSE:
            self._text, self._said = text, now
            say(f"[{done}/{total or '?'}] {text}" + (f", {pace}" if pace else ""))


class _Rate:
    """How fast a step goes, and how long it will take at that pace; nothing for steps of a few parts."""

    def __init__(self) -> None:
        self._text, self._began, self._first = "", 0.0, 0

    def __call__(self, done: int, total: int, text: str, now: float) -> str:
        if text != self._text:
            self._text, self._began, self._first = text, now, done
        seconds, parts = now - self._began, done - self._first
        if seconds <= 0 or parts <= 0:
            return ""
        rate = parts / seconds
        shown = f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"
        return f"{shown}, {_clock((total - done) / rate)} left" if total > done else shown


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _silent(_done: int, _total: int, _text: str) -> None:
    """Says nothing."""


@contextmanager
def steps(*, quiet: bool = False) -> Iterator[Callable[[int, int, str], None]]:
    """Yields ``report(done, total, what)``; a total of 0 is not known. Everything goes to stderr."""
    if quiet:
        yield _silent
        return
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    pace = TextColumn("{task.fields[pace]}", markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), pace)
    rate = _Rate()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace="")

        def report(done: int, total: int, text: str) -> None:
            shown = rate(done, total, text, time.monotonic())
            bar.update(task, completed=done, total=total or None, description=text, pace=shown)

        yield report
