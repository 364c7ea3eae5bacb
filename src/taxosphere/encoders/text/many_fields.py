"""Names and definitions of 232 concepts of many fields, written for this package: what texts in general look like."""

from __future__ import annotations

from importlib.resources import files

from taxosphere.taxonomy import Concept

FILE = files("taxosphere.encoders.text") / "many_fields.tsv"


def concepts() -> tuple[Concept, ...]:
    """All of them, with ids of the form "field/number"."""
    rows = [line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines()[1:]]
    return tuple(Concept(f"{field}/{i}", name, text) for i, (field, name, text) in enumerate(rows))
