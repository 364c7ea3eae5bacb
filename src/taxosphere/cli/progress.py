"""How far a long command is: a bar on a terminal, a line per step elsewhere."""

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

    def __call__(self, done: int, total: int, text: str) -> None:
        now = time.monotonic()
        if text != self._text or now - self._said >= _PAUSE:
            self._text, self._said = text, now
            say(f"[{done}/{total}] {text}")


@contextmanager
def steps() -> Iterator[Callable[[int, int, str], None]]:
    """Yields ``report(done, total, what)``; everything goes to stderr."""
    if not sys.stderr.isatty():
        yield _Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, text: bar.update(task, completed=done, total=total, description=text)
