"""``taxosphere methods``: what `evaluate` and `bench` can measure."""

from __future__ import annotations

import typer

from taxosphere.cli import output
from taxosphere.methods import registry as registry


def methods(json: bool = typer.Option(False, "--json", help="Print one JSON document.")) -> None:
    """List every scorer that 'evaluate' and 'bench' accept, with one line each.

    Example: taxosphere methods --json
    """
    rows = [(name, *registry.describe(name)) for name in registry.names()]
    if json:
        output.document([{"name": name, "kind": kind, "summary": summary} for name, kind, summary in rows])
    else:
        output.table(["method", "for", "what it does"], rows)
