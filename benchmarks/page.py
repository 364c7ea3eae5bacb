"""A page of results: what was run, and its table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from taxosphere import atomic


def write(
    out: Path, title: str, script: str, folders: Sequence[str], flags: str, notes: Sequence[str], table: Sequence[str]
) -> None:
    names = " ".join(f"$TAXOSPHERE_DATA/{Path(folder).name}" for folder in folders)
    command = f"`python benchmarks/{script} {names} {flags} --out {out}`"
    atomic.write_text(out, "\n".join([f"# {title}", "", command, "", *notes, "", *table, ""]))
