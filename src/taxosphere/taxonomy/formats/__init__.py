"""One module per format, each with `read(path) -> Draft` and `write(taxonomy, path)`, found by suffix and content."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import edges, native
from taxosphere.taxonomy.formats.draft import Draft, build
from taxosphere.taxonomy.formats.streams import bare_suffix
from taxosphere.taxonomy.graph import Taxonomy

__all__ = ["Draft", "build", "read", "write"]


def read(path: str | PathLike[str], *, columns: tuple[str, str] | None = None, strict: bool = True) -> Taxonomy:
    """Read any supported file or folder. `columns` states the order of an edge list without a header."""
    path = Path(path)
    if not path.exists():
        raise InputError("no such file or folder", path=path)
    if path.is_dir():
        return build(native.read(path), strict)
    if bare_suffix(path) in (".tsv", ".csv"):
        return build(edges.read(path, columns), strict)
    raise InputError(f"the suffix '{bare_suffix(path)}' names no known format", path=path)


def write(taxonomy: Taxonomy, path: str | PathLike[str]) -> None:
    path = Path(path)
    if bare_suffix(path) in (".tsv", ".csv"):
        edges.write(taxonomy, path)
    elif not path.suffix:
        native.write(taxonomy, path)
    else:
        raise InputError(f"the suffix '{path.suffix}' names no known format", path=path)
