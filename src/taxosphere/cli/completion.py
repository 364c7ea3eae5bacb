"""What the shell offers at the tabulator key: model folders, and names of a model's concepts.

Commands and options are offered by typer itself (`taxosphere --install-completion`). Everything here runs while a
person waits for a key, so nothing heavy is imported.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from taxosphere.errors import TaxosphereError
from taxosphere.taxonomy.formats.io.tables import read_rows

PROTOCOL = "_TAXOSPHERE_COMPLETE"
_MOST = 50  # names offered at once
_SPECIAL = re.compile(r"([\s'\"\\()&;|<>$`*?\[\]#~!{}])")


def words_typed(environment: Mapping[str, str]) -> list[str]:
    """What stands on the command line behind the program while the shell asks for completions; nothing otherwise."""
    if PROTOCOL not in environment:
        return []
    typed = environment.get("COMP_WORDS") or environment.get("_TYPER_COMPLETE_ARGS") or ""
    return typed.split()[1:]


def models(_context: Any, _parameter: Any, incomplete: str) -> list[str]:
    """Model folders whose path begins with what was typed.

    Other folders, which may hold some, are offered where the shell does not do that by itself. bash does, and without
    the blank that it puts behind what we offer.
    """
    parent, start = os.path.split(incomplete)
    try:
        folders = sorted(path for path in Path(parent or ".").expanduser().iterdir() if path.is_dir())
    except OSError:
        return []
    offered = []
    for path in folders:
        if path.name.startswith(start) and (start.startswith(".") or not path.name.startswith(".")):
            shown = os.path.join(parent, path.name)  # noqa: PTH118 - keeps "./" and "~/" as they were typed
            if (path / "manifest.json").is_file():
                offered.append(_shown(shown))
            elif not _in_bash():
                offered.append(shown + "/")
    return offered


def names(context: Any, _parameter: Any, incomplete: str) -> list[str]:
    """Names in the taxonomy of the model on the command line that begin with what was typed, in any case."""
    model = context.params.get("model")
    if model is None:
        return []
    start = incomplete.casefold()
    matching = (name for name in _names(Path(model) / "seed" / "nodes.tsv") if name.casefold().startswith(start))
    return [_shown(name) for name in islice(dict.fromkeys(matching), _MOST)]


def _names(table: Path) -> Iterator[str]:
    try:
        rows = read_rows(table)
        title = next(rows)[1].index("name")
        yield from (row[title] for _, row in rows)
    except (OSError, StopIteration, ValueError, IndexError, TaxosphereError):
        return  # a key that completes nothing says enough


def _shown(value: str) -> str:
    """The value as bash has to find it on the line: with special characters escaped, unless a quote is open."""
    if not _in_bash():
        return value
    words = os.environ.get("COMP_WORDS", "").split("\n")
    at = int(os.environ.get("COMP_CWORD") or 0)
    quoted = at < len(words) and words[at][:1] in ("'", '"')
    return value if quoted else _SPECIAL.sub(r"\\\1", value)


def _in_bash() -> bool:
    return os.environ.get(PROTOCOL, "").endswith("bash")
