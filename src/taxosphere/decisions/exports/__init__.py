"""What was decided, in the formats that others read; each export is one row of `EXPORTS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from taxosphere.decisions import exchange, provenance
from taxosphere.decisions.events import Event
from taxosphere.decisions.exports import kgcl, patch, robot, sssom
from taxosphere.decisions.fold import Fold
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry

__all__ = ["EXPORTS", "Content", "Export", "write"]


@dataclass(frozen=True, slots=True)
class Content:
    """What there is to export.

    Parameters
    ----------
    folding
        The base with everything that was decided.
    events
        The whole history, undone events and undos included.
    source
        The file or folder of the base, which a patch is made against.
    """

    folding: Fold
    events: Sequence[Event]
    source: Path | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """One kind of export: ``write(content, path)`` returns lines about what it could not say."""

    summary: str
    suffixes: tuple[str, ...]
    write: Callable[[Content, Path], list[str]]


def _taxonomy(content: Content, path: Path) -> list[str]:
    grown, attached = content.folding.taxonomy(), content.folding.attached()
    signed = any(event.by for event in attached.values())
    marked = provenance.add(grown, attached, path, new_columns=signed)
    registry.write(marked, path)
    return registry.unsupported_content(marked, path)


def _decisions(content: Content, path: Path) -> list[str]:
    exchange.write(path, content.events)
    return []


def _patch(content: Content, path: Path) -> list[str]:
    if content.source is None:
        raise InputError("a patch needs the file of the taxonomy that the decisions were made on", path)
    grown, attached = content.folding.taxonomy(), content.folding.attached()
    patch.write(content.source, lambda target: registry.write(provenance.add(grown, attached, target), target), path)
    return []


EXPORTS = {
    "taxonomy": Export("the grown taxonomy, in the format of the suffix", (), _taxonomy),
    "decisions": Export("the whole history", (".jsonl", ".ndjson", ".csv", ".tsv", ".xlsx"), _decisions),
    "kgcl": Export(
        "commands of the Knowledge Graph Change Language",
        (".kgcl", ".txt"),
        lambda content, path: kgcl.write(content.folding, path),
    ),
    "sssom": Export(
        "SSSOM mappings of new concepts to their parents",
        (".tsv",),
        lambda content, path: sssom.write(content.folding, path),
    ),
    "robot": Export("template for ROBOT", (".tsv", ".csv"), lambda content, path: robot.write(content.folding, path)),
    "patch": Export("unified patch against the source file", (".patch", ".diff"), _patch),
}


def check(name: str, path: Path) -> Export:
    """The export with this name; `InputError` where there is none, or the path cannot hold it."""
    export = EXPORTS.get(name)
    if export is None:
        raise InputError(f"no export is called '{name}'; there are {', '.join(EXPORTS)}")
    if export.suffixes and path.suffix.lower() not in export.suffixes:
        raise InputError(f"an export as {name} is a {' or '.join(export.suffixes)} file", path)
    return export


def write(name: str, content: Content, path: Path) -> list[str]:
    """Write one export.

    Parameters
    ----------
    name
        A key of `EXPORTS`.
    content
        What there is to export.
    path
        The file, which appears whole or not at all.

    Returns
    -------
    list of str
        One line about each thing that the format could not hold.

    Raises
    ------
    InputError
        Where there is no such export, or the suffix does not fit.
    """
    return check(name, path).write(content, path)
