"""taxosphere inspect: what is in a taxonomy, and what is wrong with it."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

from taxosphere.cli import output
from taxosphere.cli.options import reads_taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.checks import Problem, repair
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.registry import ReadOptions
from taxosphere.taxonomy.summary import Summary, summarise

SHOWN = 10  # problems of one kind in the table; --all and --json give them all


@reads_taxonomy
def inspect(
    taxonomy: Path = typer.Argument(..., metavar="TAX", help="A taxonomy in any supported format."),
    json: bool = typer.Option(False, "--json", help="Print one JSON document instead of tables."),
    all: bool = typer.Option(False, "--all", help=f"Show every problem, not just the first {SHOWN} of a kind."),
    mend: bool = typer.Option(
        False, "--repair", help="Show what breaking the cycles would drop, and the size after it."
    ),
    *,
    reading: ReadOptions,
) -> None:
    """Show size, shape and problems of a taxonomy.

    Exits with 2 when the file holds faults that the other commands refuse (repeated ids, dangling edges, …).

    Example: taxosphere inspect ontology.obo --json
    """
    read = registry.read(taxonomy, replace(reading, strict=False))
    problems = read.problems()
    used, dropped = repair(read) if mend else (read, [])
    summary = summarise(used)
    if json:
        output.document(_document(taxonomy, read, summary, problems, dropped if mend else None))
    else:
        _show(taxonomy, read, summary, problems, dropped, None if all else SHOWN)
    refuse([problem for problem in read.reading if problem.fatal])


def refuse(faults: list[Problem]) -> None:
    """The first fault as the one line on stderr, and exit code 2."""
    if faults:
        more = f" (and {len(faults) - 1:,} more faults)" if len(faults) > 1 else ""
        raise InputError(f"{faults[0].where}: {faults[0].text}{more}")


def _document(
    path: Path, read: Taxonomy, summary: Summary, problems: list[Problem], dropped: list[Problem] | None
) -> dict[str, Any]:
    content = {
        "path": str(path),
        "format": read.meta.get("format"),
        "reading": list(read.reading_notes),
        **asdict(summary),
        "cycles": [[read.ids[i] for i in cycle.path] for cycle in read.cycles if cycle.path],
        "problem_counts": dict(Counter(problem.kind for problem in problems)),
        "problems": [asdict(problem) for problem in problems],
    }
    return content if dropped is None else {**content, "dropped": [asdict(problem) for problem in dropped]}


def _show(
    path: Path, read: Taxonomy, summary: Summary, problems: list[Problem], dropped: list[Problem], most: int | None
) -> None:
    facts = {name.replace("_", " "): value for name, value in asdict(summary).items() if value is not None}
    if not facts["on or below cycles"]:
        del facts["on or below cycles"]
    for text in read.reading_notes:
        print(text)
    if read.reading_notes:
        print(f"{len(read):,} concepts, {len(read.edge_array):,} edges\n")
    output.table(("", ""), facts.items(), title=f"{path} ({read.meta.get('format')})")
    for kind, count in Counter(problem.kind for problem in problems).items():
        _show_problems(kind, [problem for problem in problems if problem.kind == kind][:most], count)
    if dropped:
        _show_problems("edges dropped to break the cycles", dropped[:most], len(dropped))
    if not problems:
        print("\nno problems found")


def _show_problems(title: str, shown: list[Problem], count: int) -> None:
    print()
    output.table(("where", "what"), [(problem.where, problem.text) for problem in shown], f"{title}: {count:,}")
    if len(shown) < count:
        print(f"… and {count - len(shown):,} more (--all shows them)")
