"""Options that several commands share."""

from __future__ import annotations

from typing import Any

import typer

from taxosphere.errors import InputError

COLUMNS: Any = typer.Option(
    "", "--columns", metavar="ORDER", help="Order of an edge list without a header: parent,child or child,parent."
)


def column_order(text: str) -> tuple[str, str] | None:
    """``parent,child`` or ``child,parent`` as a pair, nothing as None."""
    if not text:
        return None
    names = tuple(name.strip().lower() for name in text.split(","))
    if sorted(names) != ["child", "parent"]:
        raise InputError(f"--columns must be parent,child or child,parent, not '{text}'")
    return names[0], names[1]
