"""SemEval taxonomy files: `.taxo` (edges), `.terms` (id, term) and, where it exists, `.desc` (definitions); read only.

The task's own `.taxo` has three columns: number, term, its hypernym. Benchmarks derived from it have two: parent and
child. The ends of an edge are ids of `.terms` or the terms themselves. `semeval_parts` reads what is held out.
"""

from __future__ import annotations

from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import numbered_lines
from taxosphere.taxonomy.formats.semeval_parts import companion, read_dictionary, read_held_out, read_parts

TAXO, TERMS, DESC = ".taxo", ".terms", ".desc"
SENSE = "||"  # some copies write `term||sense`


def read(path: Path, options: ReadOptions) -> Draft:
    taxo, terms, desc = (companion(path, suffix) for suffix in (TAXO, TERMS, DESC))
    if taxo is None:
        raise InputError(f"there is no '{TAXO}' file beside it, so the edges are missing", path=path)
    draft = Draft(path=terms or taxo, format="semeval", edge_path=taxo)
    if terms is not None:
        for number, cells in _rows(terms, options.encoding):
            name = cells[1].removesuffix(f"{SENSE}{cells[0]}").strip()
            draft.concept(cells[0], name, line=number)
    listed, ids = len(draft.ids), set(draft.ids)
    named: dict[str, str] = {}
    for id, name in zip(draft.ids, draft.names, strict=True):
        named.setdefault(name, id)
    unlisted = _read_edges(draft, taxo, ids, named, options)
    if terms is not None and unlisted:
        count = counted(unlisted, "term")
        draft.left_out(f"{count} of the edges not listed in {terms.name}, taken as concepts all the same")
    if desc is not None:
        _read_definitions(draft, desc, named, options.encoding)
    read_parts(draft, taxo, listed, options.encoding)
    read_held_out(draft, taxo, options.encoding)
    read_dictionary(draft, taxo, options.encoding)
    return draft


def _rows(path: Path, encoding: str | None) -> list[tuple[int, list[str]]]:
    rows = []
    for number, line in numbered_lines(path, encoding):
        cells = [cell.strip() for cell in line.split("\t")]
        if not any(cells):
            continue
        if len(cells) < 2 or not all(cells[:2]):
            raise InputError("expected at least two columns separated by a tab", path=path, line=number)
        rows.append((number, cells))
    return rows


def _read_edges(draft: Draft, path: Path, ids: set[str], named: dict[str, str], options: ReadOptions) -> int:
    unlisted = 0
    for number, cells in _rows(path, options.encoding):
        if len(cells) > 3:
            raise InputError(f"{len(cells)} columns; '{TAXO}' files have two or three", path=path, line=number)
        if len(cells) == 3 and not cells[2]:
            raise InputError("the hypernym is empty", path=path, line=number)
        order = options.columns or (("child", "parent") if len(cells) == 3 else ("parent", "child"))
        ends = dict(zip(order, cells[-2:], strict=True))
        for role, end in ends.items():
            end = end if end in ids else named.get(end, end)
            if end not in ids:
                ids.add(end)
                named.setdefault(end, end)
                draft.concept(end, end, line=number)
                unlisted += 1
            ends[role] = end
        draft.edge(ends["parent"], ends["child"], number)
    return unlisted


def _read_definitions(draft: Draft, path: Path, named: dict[str, str], encoding: str | None) -> None:
    """By id, by term, or by line where both files have equally many."""
    positions = {id: position for position, id in enumerate(draft.ids)}
    rows = _rows(path, encoding)
    unknown = 0
    for place, (_, cells) in enumerate(rows):
        key = cells[0].split(SENSE)[0]
        position = positions.get(cells[0], positions.get(named.get(key, "")))
        if position is None and len(rows) == len(draft.ids):
            position = place
        if position is None:
            unknown += 1
        else:
            draft.descriptions[position] = cells[1]
    if unknown:
        draft.left_out(f"{counted(unknown, 'definition')} of {path.name} without a term left out")
