"""How far a long command is: a bar on a terminal, a line per step elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from taxosphere.cli.output import say


@contextmanager
def steps() -> Iterator[Callable[[int, int, str], None]]:
    """Yields ``report(done, total, what)``; everything goes to stderr."""
    if not sys.stderr.isatty():
        yield lambda done, total, text: say(f"[{done}/{total}] {text}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total, text: bar.update(task, completed=done, total=total, description=text)
