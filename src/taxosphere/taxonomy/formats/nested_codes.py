"""Tables of codes that nest (NAICS, ATC, HS, ISIC, UNSPSC …): the parent of a code is the longest other code that it
begins with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.formats import concept_table, table_layouts
from taxosphere.taxonomy.formats.io import cells, table_source, table_writer
from taxosphere.taxonomy.formats.io.codes import codes_above, has_ranges, is_range
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.footers import without_footer
from taxosphere.taxonomy.formats.io.grid import Grid, kept_delimiter
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.table_reading import Reading
from taxosphere.taxonomy.formats.table_layouts import open_table
from taxosphere.taxonomy.graph import Taxonomy

META = "codes"


def read(path: Path, options: ReadOptions) -> Draft:
    return read_table(*open_table(path, options), options)


def read_table(grid: Grid, reading: Reading, options: ReadOptions) -> Draft:
    """Read a table that is understood as one of nested codes."""
    draft = Draft(path=grid.path, format="nested codes")
    at = reading.roles["id"]
    name = reading.roles.get("name", reading.roles.get("description", at))
    width = max(map(len, grid.rows))
    titles = [*reading.titles, *[""] * (width - len(reading.titles))]
    details = cells.detail_names(titles, {at, name})
    rows, lines = without_footer(draft, grid.rows[reading.header + 1 :], grid.lines[reading.header + 1 :])
    empty, repeated = 0, 0
    present: dict[str, str] = {}
    for row, line in zip(rows, lines, strict=True):
        code = row[at].strip() if at < len(row) else ""
        if not code:
            empty += 1
            continue
        text = row[name].strip() if name < len(row) else ""
        if present.get(code) == text:
            repeated += 1  # another row on the same code, as lists of doses have them
            continue
        present.setdefault(code, text)
        draft.concept(code, text or code, *cells.read_details(details, row), line)
    for child, parent in enumerate(codes_above(draft.ids)):
        if parent is not None:
            draft.edge(draft.ids[parent], draft.ids[child], draft.lines[child])
    draft.notes.append(f"codes in column {reading.title(at)} nest, names in column {reading.title(name)}")
    if has_ranges(draft.ids):
        ranges = sum(map(is_range, draft.ids))
        draft.notes.append(f"{counted(ranges, 'code')} read as a range that holds the codes in it")
    draft.notes += [*reading.notes, *cells.kept_note(details)]
    if repeated:
        draft.left_out(f"{counted(repeated, 'row')} with the code and name of an earlier one")
    if empty:
        draft.left_out(f"{counted(empty, 'row')} without a code")
    if not draft.parents:
        draft.notes.append("no code begins with another one: there is not one edge")
    header = titles if reading.header >= 0 else []
    draft.meta[META] = {"columns": header, "id": at, "name": name, "width": width, **kept_delimiter(grid)}
    table_source.keep(draft, grid, options)
    return draft


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write the source with its changes; where codes no longer say the hierarchy, a concept table."""
    layout = Layout(taxonomy)
    patched = table_writer.patched_bytes(taxonomy, path, options, layout)
    if patched is not None:
        table_writer.write_bytes(path, patched)
        return
    kept = taxonomy.meta.get(META, {})
    titles = [*(layout.titles or ["id", "name"]), "parent"]
    roles = {"id": layout.id, "name": layout.name} if layout.titles else {"id": 0, "name": 1}
    table = {**kept, "columns": titles, "roles": roles | {"parent": len(titles) - 1}}
    concept_table.write(replace(taxonomy, meta={**taxonomy.meta, concept_table.META: table}), path, options)


class Layout(table_writer.Layout):
    """The rows of a table of codes, a concept each; the codes say the hierarchy.

    Parameters
    ----------
    taxonomy : Taxonomy
        What is written, in the columns that it came with.
    """

    meta = META
    by_edge = False

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy
        kept: Any = taxonomy.meta.get(META, {})
        self.titles = [str(title) for title in kept.get("columns", ())]
        self.id, self.name = int(kept.get("id", 0)), int(kept.get("name", 1))
        self.details = cells.detail_columns(taxonomy) if self.titles else []
        meant = frozenset(("id", "name", "parent", "child"))
        self.places = cells.place_details(self.titles, {self.id, self.name}, self.details, meant)
        self.width = max(len(self.titles), int(kept.get("width", 2)))

    @classmethod
    def reread(cls, grid: Grid, options: ReadOptions) -> Draft:
        return read_table(grid, table_layouts.understand(grid, options), options)

    def edges(self) -> Iterator[tuple[int, int]]:
        return ((-1, position) for position in range(len(self.taxonomy)))

    def row(self, edge: tuple[int, int]) -> list[str]:
        texts = [""] * self.width
        concept = self.taxonomy.concept(edge[1])
        texts[self.id], texts[self.name] = concept.id, concept.name
        for place, value in zip(self.places, cells.write_columns(concept, self.details), strict=True):
            texts[place] = value
        return texts
