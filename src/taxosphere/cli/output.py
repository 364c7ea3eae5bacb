"""What commands print: results on stdout, everything else on stderr; tables drawn on a terminal, plain in a pipe."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable, Sequence
from typing import Any

_NARROWEST = 12  # characters that a column keeps


def on_terminal() -> bool:
    return sys.stdout.isatty()


def say(text: str) -> None:
    """One line about what is going on."""
    print(text, file=sys.stderr, flush=True)


def warn(text: str) -> None:
    say(f"warning: {text}")


def document(content: Any) -> None:
    """The one JSON document of a ``--json`` command."""
    readable = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    print(json.dumps(content, ensure_ascii=not readable, indent=2, allow_nan=False))


def table(headers: Sequence[str], rows: Iterable[Sequence[object]], title: str = "", *, fit: bool = False) -> None:
    """Columns of text; a column whose cells are all numbers is set flush right.

    With ``fit``, cells of wide columns are cut so that no line is longer than the terminal (120 characters in a pipe).
    """
    cells = [list(row) for row in rows]
    numeric = [bool(cells) and all(_is_number(row[i]) for row in cells) for i in range(len(headers))]
    texts = [[_text(cell) for cell in row] for row in cells]
    if fit:
        texts = _cut(headers, texts)
    draw = _draw_rich if on_terminal() else _draw_plain
    draw(headers, texts, numeric, title)


def _cut(headers: Sequence[str], rows: list[list[str]]) -> list[list[str]]:
    """The rows with the texts of the widest columns cut until a line fits."""
    frame = 3 * len(headers) + 1  # borders on a terminal
    room = shutil.get_terminal_size((120, 24)).columns - frame
    widths = [max(len(line[i]) for line in (list(headers), *rows)) for i in range(len(headers))]
    limits = list(widths)
    while sum(limits) > room and max(limits) > _NARROWEST:
        limits[limits.index(max(limits))] -= 1
    return [
        [cell if len(cell) <= limit else cell[: limit - 1] + "…" for cell, limit in zip(row, limits, strict=True)]
        for row in rows
    ]


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _draw_rich(headers: Sequence[str], rows: list[list[str]], numeric: list[bool], title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Text, because names and paths may hold rich's markup brackets.
    shown = Text(title, "table.title") if title else None
    drawn = Table(title=shown, title_justify="left", show_header=any(headers))
    for header, right in zip(headers, numeric, strict=True):
        drawn.add_column(header, justify="right" if right else "left")
    for row in rows:
        drawn.add_row(*map(Text, row))
    Console().print(drawn)


def _draw_plain(headers: Sequence[str], rows: list[list[str]], numeric: list[bool], title: str) -> None:
    lines = [list(headers), *rows] if any(headers) else rows
    if title:
        print(title)
    widths = [max((len(line[i]) for line in lines), default=0) for i in range(len(headers))]
    for line in lines:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        )
        print("  ".join(padded).rstrip())
