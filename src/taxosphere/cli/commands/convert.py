"""taxosphere convert: the same taxonomy in another format."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import typer

from taxosphere.cli import output
from taxosphere.cli.options import reads_taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.checks import repair as break_cycles
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.registry import ReadOptions

SHOWN = 3  # notes of one kind


@reads_taxonomy
def convert(
    source: Path = typer.Argument(..., metavar="IN", help="A taxonomy in any supported format."),
    target: Path = typer.Argument(..., metavar="OUT", help="The suffix names the format; none: a native folder."),
    repair: bool = typer.Option(False, "--repair", help="Break cycles by dropping their least supported edges."),
    keep_cycles: bool = typer.Option(False, "--keep-cycles", help="Pass cycles on as they are."),
    force: bool = typer.Option(False, "--force", help="Replace the input itself."),
    as_: str = typer.Option(
        "", "--as", metavar="NAME", help="What to write where the suffix leaves it open: skos, owl, 'level table' …"
    ),
    *,
    reading: ReadOptions,
) -> None:
    """Rewrite a taxonomy in another format.

    Concepts, names, definitions, synonyms and edges all survive; what a format cannot hold is named in a warning. A
    taxonomy with a cycle is refused unless --repair or --keep-cycles says what to do.

    Example: taxosphere convert ontology.obo ontology.ttl
    """
    registry.check_target(target)
    if not force and target.exists() and source.exists() and target.samefile(source):
        raise InputError("is the input itself; name another file, or --force replaces it", target)
    taxonomy = registry.read(source, reading)
    if not repair and not keep_cycles:
        taxonomy.refuse_cycles()
    show_reading(taxonomy)
    if repair:
        taxonomy, dropped = break_cycles(taxonomy)
        for problem in dropped:
            output.say(f"dropped {problem.where}: {problem.text}")
    for line in registry.unsupported_content(taxonomy, target, as_ or None):
        output.warn(f"{target}: {line}")
    taxonomy.write(target, as_=as_ or None)
    output.say(f"wrote {len(taxonomy):,} concepts and {len(taxonomy.edge_array):,} edges to {target}")


def show_reading(taxonomy: Taxonomy) -> None:
    """How the file was understood, and one warning line per problem; a kind with many of them ends in a count."""
    for text in taxonomy.reading_notes:
        output.say(text)
    seen: Counter[str] = Counter()
    for note in taxonomy.reading:
        seen[note.kind] += 1
        if seen[note.kind] <= SHOWN:
            output.warn(f"{note.where}: {note.text}")
    for kind, count in seen.items():
        if count > SHOWN:
            output.warn(f"… and {count - SHOWN:,} more of the kind '{kind}' ('taxosphere inspect' lists them)")
