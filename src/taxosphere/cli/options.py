"""Options that several commands share: how a taxonomy file is to be read."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import typer

from taxosphere.cli import completion
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.options import ReadOptions

_NEXT_ROLE = re.compile(r",(?=\s*[a-z][a-z0-9 _]*=)")  # titles may hold commas
_OPTIONS: dict[str, tuple[Any, Any]] = {
    "format": (
        str,
        typer.Option("", metavar="SUFFIX", help="The suffix that the file should have, such as csv, where it has not."),
    ),
    "columns": (
        str,
        typer.Option("", metavar="ORDER", help="Order of an edge list without a header: parent,child or child,parent."),
    ),
    "map": (
        list[str],
        typer.Option(
            [], metavar="ROLE=TITLE,…", help="Columns or keys by role: id, name, parent, child, description, path …"
        ),
    ),
    "nested": (bool, typer.Option(False, "--nested", help="The codes in the id column nest, as in NAICS or ATC.")),
    "sheet": (str, typer.Option("", metavar="TITLE", help="Sheet of a workbook; else the likely one is chosen.")),
    "encoding": (str, typer.Option("", metavar="NAME", help="Encoding of a text file, where it is not recognised.")),
    "merge": (
        str,
        typer.Option("", metavar="names", help="In paths and levels, equal names are one concept."),
    ),
    "language": (str, typer.Option("", metavar="CODE", help="Language of the labels, such as 'de'.")),
    "relations": (
        str,
        typer.Option("", metavar="NAME,…", help="Relations beside is-a that are read as edges, such as part_of."),
    ),
    "equivalents": (
        bool,
        typer.Option(False, "--equivalents", help="Named classes of an equivalent intersection are parents."),
    ),
    "dangling": (
        str,
        typer.Option("refuse", metavar="WHAT", help="Edges to missing concepts: refuse the file, keep or drop them."),
    ),
}

MODEL: Any = typer.Argument(
    ..., metavar="MODEL", help="A folder written by 'taxosphere fit'.", shell_complete=completion.models
)
DEVICE: Any = typer.Option(
    None, "--device", metavar="NAME", help="Where to encode and train, as torch names it: cpu, cuda, cuda:1, mps."
)
READER: Any = typer.Option(
    None,
    "--reader",
    metavar="NAME",
    help="A second reader of the first candidates (slow): cross-encoder, a language model, http://HOST/v1#MODEL.",
)
WORKERS: Any = typer.Option(1, "--workers", min=1, metavar="N", help="Processes of this machine to rank with.")
SCHEDULER: Any = typer.Option(
    "", "--scheduler", metavar="ADDRESS", help="Work with the workers of a dask scheduler: tcp://host:8786."
)
QUIET: Any = typer.Option(False, "--quiet", "-q", help="No progress, no summary; warnings and errors alone.")
BY: Any = typer.Option("", "--by", metavar="NAME", help="Who decided; written into the taxonomy beside the concepts.")
LIST_MAP: Any = typer.Option(
    [], "--map", metavar="ROLE=TITLE,…", help="Columns or keys of the list by role: name, description, id, synonyms …"
)
IDS: Any = typer.Option(
    "", "--ids", metavar="PATTERN", help="Ids of new concepts: GO:9{6}, GO:0500000..GO:0599999 or ex:{name}."
)


def reads_taxonomy(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that has a parameter ``reading`` of the type `ReadOptions` the options that make it up."""
    signature = inspect.signature(command, eval_str=True)
    kept = [parameter for name, parameter in signature.parameters.items() if name != "reading"]
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)
        for name, (kind, option) in _OPTIONS.items()
    ]

    @wraps(command)
    def with_reading(**arguments: Any) -> None:
        stated = {name: arguments.pop(name) for name in _OPTIONS}
        command(**arguments, reading=read_options(**stated))

    parameters = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in kept] + more
    with_reading.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_reading.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return with_reading


def read_options(**stated: Any) -> ReadOptions:
    """What the options say; empty texts say nothing."""
    return ReadOptions(
        format=stated["format"] or None,
        columns=_column_order(stated["columns"]),
        mapping=roles(stated["map"]),
        nested=stated["nested"],
        sheet=stated["sheet"] or None,
        encoding=stated["encoding"] or None,
        merge=stated["merge"] or None,
        language=stated["language"] or None,
        relations=tuple(name.strip() for name in stated["relations"].split(",") if name.strip()),
        equivalents=stated["equivalents"],
        dangling=stated["dangling"],
    )


def _column_order(text: str) -> tuple[str, str] | None:
    """``parent,child`` or ``child,parent`` as a pair, nothing as None."""
    if not text:
        return None
    names = tuple(name.strip().lower() for name in text.split(","))
    if sorted(names) != ["child", "parent"]:
        raise InputError(f"--columns must be parent,child or child,parent, not '{text}'")
    return names[0], names[1]


def roles(texts: list[str]) -> dict[str, str]:
    """``name=TITLE,parent=TITLE`` as pairs; the option may be repeated too."""
    stated = {}
    for part in (part for text in texts for part in _NEXT_ROLE.split(text)):
        role, equals, title = part.partition("=")
        if not equals or not role.strip() or not title.strip():
            raise InputError(f"--map wants ROLE=TITLE, such as parent=Oberbegriff, not '{part}'")
        stated[role.strip().lower()] = title.strip()
    return stated
