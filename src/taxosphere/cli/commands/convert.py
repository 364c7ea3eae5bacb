"""taxosphere convert: the same taxonomy in another format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import typer

from taxosphere.cli import output
from taxosphere.cli.options import COLUMNS, column_order
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.checks import Problem
from taxosphere.taxonomy.checks import repair as break_cycles
from taxosphere.taxonomy.formats import registry

SHOWN = 3  # notes of one kind


def convert(
    source: Path = typer.Argument(..., metavar="IN", help="A taxonomy in any supported format."),
    target: Path = typer.Argument(..., metavar="OUT", help="The suffix names the format; none: a native folder."),
    columns: str = COLUMNS,
    repair: bool = typer.Option(False, "--repair", help="Break cycles by dropping their least supported edges."),
    keep_cycles: bool = typer.Option(False, "--keep-cycles", help="Pass cycles on as they are."),
) -> None:
    """Rewrite a taxonomy in another format.

    Concepts, names, definitions, synonyms and edges all survive; what a format cannot hold is named in a warning. A
    taxonomy with a cycle is refused unless --repair or --keep-cycles says what to do.

    Example: taxosphere convert ontology.obo ontology.ttl
    """
    registry.check_target(target)
    taxonomy = Taxonomy.read(source, columns=column_order(columns))
    show_notes(taxonomy.reading)
    if repair:
        taxonomy, dropped = break_cycles(taxonomy)
        for problem in dropped:
            output.say(f"dropped {problem.where}: {problem.text}")
    elif not keep_cycles:
        taxonomy.refuse_cycles()
    for line in registry.unsupported_content(taxonomy, target):
        output.warn(f"{target}: {line}")
    taxonomy.write(target)
    output.say(f"wrote {len(taxonomy):,} concepts and {len(taxonomy.edge_array):,} edges to {target}")


def show_notes(notes: tuple[Problem, ...]) -> None:
    """One warning line per note; a kind with many of them ends in a count."""
    seen: Counter[str] = Counter()
    for note in notes:
        seen[note.kind] += 1
        if seen[note.kind] <= SHOWN:
            output.warn(f"{note.where}: {note.text}")
    for kind, count in seen.items():
        if count > SHOWN:
            output.warn(f"… and {count - SHOWN:,} more of the kind '{kind}' ('taxosphere inspect' lists them)")
