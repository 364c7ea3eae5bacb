"""Writing tables: anew, or back into the text they were read from with every untouched line as it was."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from taxosphere.taxonomy.formats.io import suffixes, table_patch, table_source, workbook, workbook_patch
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.encodings import SourceText
from taxosphere.taxonomy.formats.io.grid import Grid
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import bare_suffix, open_binary_to_write, open_to_write
from taxosphere.taxonomy.formats.io.tables import delimiter_to_write, format_row
from taxosphere.taxonomy.graph import Taxonomy

Edge = tuple[int, int]  # positions of parent and child; the parent is -1 where the row has none


class Layout(ABC):
    """The rows of a taxonomy in one kind of table. Rows stand for edges, or for concepts with all their parents.

    Attributes
    ----------
    meta : str
        Key of `Taxonomy.meta` under which the columns of the source are kept.
    by_edge : bool
        Whether a row stands for an edge; else for a concept, written as the edge (-1, position).
    taxonomy : Taxonomy
        What is written.
    titles : list of str
        The header; empty where none is written.
    """

    meta: ClassVar[str]
    by_edge: ClassVar[bool]
    taxonomy: Taxonomy
    titles: list[str]

    @classmethod
    @abstractmethod
    def reread(cls, grid: Grid, options: ReadOptions) -> Draft:
        """Read the rows of the source again, as the same kind of table."""

    @abstractmethod
    def edges(self) -> Iterable[Edge]:
        """All rows of a table that is written anew, in their order."""

    @abstractmethod
    def row(self, edge: Edge) -> list[str]:
        """The cells of one row."""

    def covered(self, edge: Edge) -> Iterator[Edge]:
        """What a row says: its edge, and what it says on the way."""
        yield edge


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions, layout: Layout) -> None:
    """Write a table into a text file or a workbook, as its suffix says.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written.
    path : Path
        Where it goes. A file with the suffix of the source gets the text or the sheets of the source, changed where the
        taxonomy was.
    options : WriteOptions
        Where new rows go.
    layout : Layout
        The rows.
    """
    if bare_suffix(path) in suffixes.WORKBOOKS:
        if (content := workbook_patch.patched(path, layout)) is not None:
            write_bytes(path, content)
            return
        sheet = str(taxonomy.meta.get(layout.meta, {}).get("sheet") or "Taxonomy")
        workbook.write_xlsx(path, layout.titles, (layout.row(edge) for edge in layout.edges()), sheet)
        return
    if (patched := patched_bytes(taxonomy, path, options, layout)) is not None:
        write_bytes(path, patched)
        return
    between = delimiter_to_write(path, taxonomy.meta.get(layout.meta, {}))
    rows = chain([layout.titles] if layout.titles else [], map(layout.row, layout.edges()))
    lines_alone = bare_suffix(path) == ".txt"
    with open_to_write(path) as handle:
        handle.writelines(row[0] + "\n" if lines_alone and len(row) == 1 else format_row(row, between) for row in rows)


def write_bytes(path: Path, content: bytes) -> None:
    with open_binary_to_write(path) as handle:
        handle.write(content)


def patched_bytes(taxonomy: Taxonomy, path: Path, options: WriteOptions, layout: Layout) -> bytes | None:
    """The bytes of the source with the changes, None where the source is not kept or cannot be changed in place."""
    source = table_source.kept_text(taxonomy.meta)
    kept: Any = taxonomy.meta.get(table_source.META, {})
    if source is None or layout.meta not in taxonomy.meta or kept.get("suffix") != bare_suffix(path):
        return None
    text = table_patch.patched(source, path, options, layout, table_source.kept_options(taxonomy.meta))
    if text is None:
        return None
    try:
        return source.encode(text)
    except UnicodeEncodeError:  # a new name has characters that the encoding of the source has not
        return SourceText(text, bom=True).encode(text)


def goes_by_names(taxonomy: Taxonomy) -> bool:
    """Whether a taxonomy that came from a table without ids can go back into it: all names differ."""
    names = {name.strip() for name in taxonomy.names}
    return table_source.is_kept(taxonomy.meta) and len(names) == len(taxonomy) and "" not in names


def lost_encoding(taxonomy: Taxonomy, path: Path) -> str | None:
    """The encoding of the source, where the names of a taxonomy cannot be written in it."""
    source = table_source.kept_text(taxonomy.meta)
    kept: Any = taxonomy.meta.get(table_source.META, {})
    if source is None or kept.get("suffix") != bare_suffix(path) or source.encoding.startswith("utf"):
        return None
    return None if _fits(taxonomy.names, source.encoding) else source.encoding


def _fits(texts: Sequence[str], encoding: str) -> bool:
    try:
        "".join(texts).encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
