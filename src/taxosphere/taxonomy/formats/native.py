"""The native form: a folder of plain tab-separated tables.

`nodes.tsv` (id, name, description[, synonyms, image, …]) and `edges.tsv` (parent_id, child_id) always; `split.tsv` (id,
split), `extras.tsv` (id, key, value) and `meta.json` only when there is something to put into them.

Tables have no quoting: a cell is what stands between two tabs. Texts with a tab, a line break or a `|` inside a list make the
writer switch to backslash escapes, which `meta.json` announces; without the announcement a backslash is just a backslash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import escapes
from taxosphere.taxonomy.formats.draft import Draft
from taxosphere.taxonomy.formats.streams import numbered_lines, open_to_write, read_text
from taxosphere.taxonomy.graph import Taxonomy

NODES, EDGES, SPLIT, EXTRAS, META = "nodes.tsv", "edges.tsv", "split.tsv", "extras.tsv", "meta.json"
OUR_FILES = frozenset(name + end for name in (NODES, EDGES, SPLIT, EXTRAS, META) for end in ("", ".gz"))
SPLIT_KEY = "split"
COLUMN_NAMES = {"synonym": "synonyms", "images": "image", "parent": "parent_id", "child": "child_id"}
KNOWN = ("id", "name", "description", "synonyms", "image")


def read(path: Path) -> Draft:
    nodes, edges = _part(path, NODES), _part(path, EDGES)
    if nodes is None:
        raise InputError(f"the folder has no {NODES}; a taxonomy folder holds {NODES} and {EDGES}", path=path)
    if edges is None:
        raise InputError(f"the folder has no {EDGES}; a taxonomy folder holds {NODES} and {EDGES}", path=path)
    meta = _read_meta(path)
    escaped = bool(meta.pop("escapes", False))
    draft = Draft(path=nodes, format="native", edge_path=edges, meta=meta)
    _read_nodes(draft, nodes, escaped)
    _read_edges(draft, edges, escaped)
    _read_extras(draft, path, escaped)
    return draft


def write(taxonomy: Taxonomy, path: Path) -> None:
    _refuse_foreign_folder(path)
    escaped = _needs_escapes(taxonomy)
    cell = escapes.escape if escaped else str
    with atomic.folder(path) as folder:
        columns = _write_nodes(taxonomy, folder / NODES, escaped)
        pairs = ((cell(parent), cell(child)) for parent, child in taxonomy.edges())
        _write_table(folder / EDGES, ("parent_id", "child_id"), pairs)
        parts = ((cell(id), cell(value)) for id, key, value in _extra_rows(taxonomy) if key == SPLIT_KEY)
        _write_table(folder / SPLIT, ("id", "split"), parts, optional=True)
        skip = {SPLIT_KEY, *columns}
        rest = (tuple(map(cell, row)) for row in _extra_rows(taxonomy) if row[1] not in skip)
        _write_table(folder / EXTRAS, ("id", "key", "value"), rest, optional=True)
        _write_meta(taxonomy, folder / META, escaped)


def _part(folder: Path, name: str) -> Path | None:
    return next((part for part in (folder / name, folder / f"{name}.gz") if part.exists()), None)


def _header(path: Path, line: str, wanted: tuple[str, ...]) -> list[str]:
    names = [cell.strip().lower() for cell in line.split("\t")]
    names = [COLUMN_NAMES.get(name, name) for name in names]
    for name in wanted:
        if names.count(name) != 1:
            fault = "no column" if name not in names else "two columns"
            raise InputError(f"the header names {fault} '{name}'; it needs {', '.join(wanted)}", path=path, line=1)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the header names the column '{twice}' twice", path=path, line=1)
    return names


def _rows(path: Path, wanted: tuple[str, ...], fewest: int) -> Iterator[tuple[int, list[str]]]:
    """The header (as line 1), then every row padded to the header's width; trailing empty cells may be missing."""
    lines = numbered_lines(path)
    header = _header(path, next(lines)[1], wanted)
    width = len(header)
    yield 1, header
    for number, line in lines:
        cells = line.split("\t")
        if len(cells) != width:
            if not line:
                continue
            if len(cells) > width or len(cells) < fewest:
                message = f"{len(cells)} columns where the header names {width} ({', '.join(header[:5])})"
                raise InputError(message, path=path, line=number)
            cells.extend(repeat("", width - len(cells)))
        yield number, cells


def _read_nodes(draft: Draft, path: Path, escaped: bool) -> None:
    rows = _rows(path, ("id", "name"), 2)
    header = next(rows)[1]
    clean = escapes.unescape if escaped else str
    at = {name: header.index(name) for name in header}
    others = [(name, column) for name, column in at.items() if name not in KNOWN]
    id, name, description = at["id"], at["name"], at.get("description")
    synonyms, image = at.get("synonyms"), at.get("image")
    numbers: list[int] = []
    for number, cells in rows:
        if escaped:
            cells = [cell if column in (synonyms, image) else clean(cell) for column, cell in enumerate(cells)]
        numbers.append(number)
        draft.ids.append(cells[id])
        draft.names.append(cells[name])
        draft.descriptions.append(cells[description] if description is not None else "")
        if synonyms is not None:
            draft.synonyms.append(escapes.split_list(cells[synonyms], escaped))
        if image is not None:
            draft.images.append(escapes.split_list(cells[image], escaped))
        if others:
            draft.extras.append(tuple((key, cells[column]) for key, column in others if cells[column]))
    draft.lines = numbers
    if others:
        draft.meta.setdefault("columns", [key for key, _ in others])


def _read_edges(draft: Draft, path: Path, escaped: bool) -> None:
    rows = _rows(path, ("parent_id", "child_id"), 2)
    header = next(rows)[1]
    parent, child = header.index("parent_id"), header.index("child_id")
    numbers: list[int] = []
    for number, cells in rows:
        numbers.append(number)
        draft.parents.append(cells[parent])
        draft.children.append(cells[child])
    draft.edge_lines = numbers
    if escaped:
        draft.parents = list(map(escapes.unescape, draft.parents))
        draft.children = list(map(escapes.unescape, draft.children))
    if len(header) > 2:
        names = ", ".join(name for name in header if name not in ("parent_id", "child_id"))
        draft.left_out(f"edges carry no attributes here; left out: {names}")


def _read_extras(draft: Draft, folder: Path, escaped: bool) -> None:
    found: dict[str, list[tuple[str, str]]] = {}
    clean = escapes.unescape if escaped else str
    extras = _part(folder, EXTRAS)
    if extras is not None:
        for _, (id, key, value) in _table(extras, ("id", "key", "value")):
            found.setdefault(clean(id), []).append((clean(key), clean(value)))
    split = _part(folder, SPLIT)
    if split is not None:
        for _, (id, part) in _table(split, ("id", "split")):
            found.setdefault(clean(id), []).append((SPLIT_KEY, clean(part)))
    if not found:
        return
    shared: dict[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = {}
    before = draft.extras or repeat(())
    draft.extras = [
        shared.setdefault(pairs, pairs)
        for pairs in ((*own, *found.get(id, ())) for id, own in zip(draft.ids, before, strict=False))
    ]
    strangers = len(found.keys() - set(draft.ids))
    if strangers:
        draft.left_out(f"{strangers:,} ids of {SPLIT} or {EXTRAS} are no concepts of this folder")


def _table(path: Path, wanted: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    rows = _rows(path, wanted, len(wanted))
    header = next(rows)[1]
    at = [header.index(name) for name in wanted]
    for number, cells in rows:
        yield number, [cells[column] for column in at]


def _read_meta(folder: Path) -> dict[str, Any]:
    path = _part(folder, META)
    if path is None:
        return {}
    try:
        meta = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path=path, line=error.lineno) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path) from None
    if not isinstance(meta, dict):
        raise InputError("must hold a JSON object", path=path, line=1)
    return meta


def _needs_escapes(taxonomy: Taxonomy) -> bool:
    texts = chain(taxonomy.ids, taxonomy.names, taxonomy.descriptions)
    lists = chain.from_iterable(chain(taxonomy.synonyms, taxonomy.images))
    pairs = chain.from_iterable(chain.from_iterable(taxonomy.extras))
    return any(map(escapes.breaks_table, chain(texts, lists, pairs))) or any(
        "|" in item or not item for item in chain.from_iterable(chain(taxonomy.synonyms, taxonomy.images))
    )


def _write_nodes(taxonomy: Taxonomy, path: Path, escaped: bool) -> tuple[str, ...]:
    cell = escapes.escape if escaped else str
    columns = _own_columns(taxonomy)
    header = ["id", "name", "description"]
    if any(taxonomy.synonyms):
        header.append("synonyms")
    if any(taxonomy.images):
        header.append("image")

    def rows() -> Iterator[tuple[str, ...]]:
        for concept in taxonomy.concepts():
            row = [cell(concept.id), cell(concept.name), cell(concept.description)]
            if "synonyms" in header:
                row.append(escapes.join_list(concept.synonyms, escaped))
            if "image" in header:
                row.append(escapes.join_list(concept.images, escaped))
            own = dict(concept.extras)
            yield (*row, *(cell(own.get(key, "")) for key in columns))

    _write_table(path, (*header, *columns), rows())
    return columns


def _own_columns(taxonomy: Taxonomy) -> tuple[str, ...]:
    """The extra columns the taxonomy came with, as far as they still fit: at most one non-empty value per concept."""
    wanted = [key for key in taxonomy.meta.get("columns", ()) if isinstance(key, str) and key == key.strip().lower()]
    columns = {key for key in wanted if key not in (*KNOWN, SPLIT_KEY) and not escapes.breaks_table(key) and key}
    for extras in taxonomy.extras:
        keys = [key for key, _ in extras]
        columns -= {key for key, value in extras if key in columns and (not value or keys.count(key) > 1)}
    return tuple(dict.fromkeys(key for key in wanted if key in columns))


def _extra_rows(taxonomy: Taxonomy) -> Iterator[tuple[str, str, str]]:
    for id, extras in zip(taxonomy.ids, taxonomy.extras, strict=True):
        for key, value in extras:
            yield id, key, value


def _write_table(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]], optional: bool = False) -> None:
    rows = iter(rows)
    first = next(rows, None)
    if first is None and optional:
        return
    with open_to_write(path) as handle:
        handle.write("\t".join(header) + "\n")
        if first is not None:
            handle.writelines("\t".join(row) + "\n" for row in chain((first,), rows))


def _write_meta(taxonomy: Taxonomy, path: Path, escaped: bool) -> None:
    meta = dict(taxonomy.meta)
    if meta.get("format") == "native":
        del meta["format"]
    if escaped:
        meta["escapes"] = True
    if meta:
        with open_to_write(path) as handle:
            json.dump(meta, handle, ensure_ascii=False, indent=1, sort_keys=True)


def _refuse_foreign_folder(path: Path) -> None:
    """A folder is replaced as a whole, so it must hold nothing but a taxonomy."""
    if not path.exists():
        return
    if not path.is_dir():
        raise InputError("exists and is a file; name another folder", path=path)
    other = sorted(entry.name for entry in path.iterdir() if entry.name not in OUR_FILES)
    if other:
        raise InputError(f"the folder holds other files ({other[0]}); name a new folder", path=path)
