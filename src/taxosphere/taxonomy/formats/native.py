"""The native form: a folder of plain tab-separated tables.

`nodes.tsv` (id, name, description[, synonyms, image, …]) and `edges.tsv` (parent_id, child_id) always; `split.tsv` (id,
split), `extras.tsv` (id, key, value) and `meta.json` only when there is something to put into them.

Tables have no quoting: a cell is what stands between two tabs. Texts with a tab, a line break or a `|` inside a list
make the writer switch to backslash escapes, which `meta.json` announces; without the announcement a backslash is just a
backslash.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import escapes
from taxosphere.taxonomy.formats.io.compression import WRITABLE
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import STREAM, line_blocks, open_to_write, read_text
from taxosphere.taxonomy.formats.io.tables import check_distinct
from taxosphere.taxonomy.graph import Taxonomy

NODES, EDGES, SPLIT, EXTRAS, META = "nodes.tsv", "edges.tsv", "split.tsv", "extras.tsv", "meta.json"
OUR_FILES = frozenset(name + end for name in (NODES, EDGES, SPLIT, EXTRAS, META) for end in ("", *WRITABLE))
SPLIT_KEY = "split"
COLUMN_NAMES = {"synonym": "synonyms", "images": "image", "parent": "parent_id", "child": "child_id"}
KNOWN = ("id", "name", "description", "synonyms", "image")


def read(path: Path, options: ReadOptions) -> Draft:
    nodes, edges = _part(path, NODES), _part(path, EDGES)
    if nodes is None:
        message = f"the folder has no {NODES}; a taxonomy folder holds {NODES} and {EDGES}"
        raise InputError(f"{message}; of other folders give the file with the hierarchy", path=path)
    if edges is None:
        raise InputError(f"the folder has no {EDGES}; a taxonomy folder holds {NODES} and {EDGES}", path=path)
    meta, escaped = read_meta(path)
    draft = Draft(path=nodes, format="native", edge_path=edges, meta=meta)
    _read_nodes(draft, nodes, escaped)
    _read_edges(draft, edges, escaped)
    _read_extras(draft, path, escaped)
    return draft


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    check_target(path)
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
    return next((part for end in ("", *WRITABLE) if (part := folder / f"{name}{end}").exists()), None)


def _header(path: Path, line: str, wanted: tuple[str, ...]) -> list[str]:
    names = [_column_name(cell.strip()) for cell in line.split("\t")]
    if "description" not in names:
        names = ["description" if name.lower() == "definition" else name for name in names]
    for name in wanted:
        if names.count(name) != 1:
            fault = "no column" if name not in names else "two columns"
            raise InputError(f"the header names {fault} '{name}'; it needs {', '.join(wanted)}", path=path, line=1)
    check_distinct(path, names)
    return names


def _column_name(cell: str) -> str:
    """Our columns in any case and either number; foreign ones as they are."""
    name = COLUMN_NAMES.get(cell.lower(), cell.lower())
    return name if name in (*KNOWN, "parent_id", "child_id") else cell


class _Table:
    """A table read in blocks of columns, which is several times faster than row by row."""

    def __init__(self, path: Path, wanted: tuple[str, ...], fewest: int) -> None:
        self.path = path
        self.fewest = fewest
        self._blocks = line_blocks(path)
        _, self._lines = next(self._blocks)
        self.header = _header(path, self._lines.pop(0), wanted)

    def blocks(self) -> Iterator[tuple[Iterable[int], list[tuple[str, ...]]]]:
        """Line numbers and columns, a block at a time; empty lines are passed over."""
        for first, lines in chain([(2, self._lines)], self._blocks):
            numbers: Iterable[int] = range(first, first + len(lines))
            if "" in lines:
                numbers = [number for number, line in zip(numbers, lines, strict=True) if line]
            rows = [line.split("\t") for line in lines if line]
            if not rows:
                continue
            if set(map(len, rows)) != {len(self.header)}:
                rows = [self._fit(number, row) for number, row in zip(numbers, rows, strict=True)]
            yield numbers, list(zip(*rows, strict=True))

    def _fit(self, number: int, row: list[str]) -> list[str]:
        width = len(self.header)
        if not self.fewest <= len(row) <= width:
            columns = f"{len(row)} column{'s' * (len(row) != 1)}"
            names = ", ".join(self.header[:5])
            message = f"{columns} where the header names {width} ({names})"
            raise InputError(message, path=self.path, line=number)
        return row + [""] * (width - len(row))


def _read_nodes(draft: Draft, path: Path, escaped: bool) -> None:
    table = _Table(path, ("id", "name"), 2)
    others = [name for name in table.header if name not in KNOWN]
    lists = {"synonyms": draft.synonyms, "image": draft.images}
    texts = {"id": draft.ids, "name": draft.names, "description": draft.descriptions}
    lines: list[int] = []
    for numbers, block in table.blocks():
        columns = dict(zip(table.header, block, strict=True))
        lines += numbers
        for name, texts_so_far in texts.items():
            column = columns.get(name, ("",) * len(block[0]))
            texts_so_far += map(escapes.unescape, column) if escaped else column
        for name, lists_so_far in lists.items():
            if name in columns:
                lists_so_far += (escapes.split_list(cell, escaped) for cell in columns[name])
        if others:
            draft.extras += _extra_cells({name: columns[name] for name in others}, escaped)
    draft.lines = lines
    if others:
        draft.meta.setdefault("columns", others)


def _extra_cells(columns: dict[str, tuple[str, ...]], escaped: bool) -> Iterator[tuple[tuple[str, str], ...]]:
    clean = escapes.unescape if escaped else str
    for cells in zip(*columns.values(), strict=True):
        yield tuple((key, clean(cell)) for key, cell in zip(columns, cells, strict=True) if cell)


def _read_edges(draft: Draft, path: Path, escaped: bool) -> None:
    table = _Table(path, ("parent_id", "child_id"), 2)
    parent, child = table.header.index("parent_id"), table.header.index("child_id")
    lines: list[int] = []
    for numbers, columns in table.blocks():
        lines += numbers
        draft.parents += map(escapes.unescape, columns[parent]) if escaped else columns[parent]
        draft.children += map(escapes.unescape, columns[child]) if escaped else columns[child]
    draft.edge_lines = lines
    if len(table.header) > 2:
        names = ", ".join(name for name in table.header if name not in ("parent_id", "child_id"))
        draft.left_out(f"edges carry no attributes here; left out: {names}")


def _read_extras(draft: Draft, folder: Path, escaped: bool) -> None:
    pairs_of: dict[str, list[tuple[str, str]]] = {}
    for id, key, value in _side_rows(folder, EXTRAS, ("id", "key", "value"), escaped):
        pairs_of.setdefault(id, []).append((key, value))
    for id, part in _side_rows(folder, SPLIT, ("id", "split"), escaped):
        pairs_of.setdefault(id, []).append((SPLIT_KEY, part))
    if not pairs_of:
        return
    shared: dict[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]] = {}
    before = draft.extras or repeat(())
    draft.extras = [
        shared.setdefault(pairs, pairs)
        for pairs in ((*extras, *pairs_of.get(id, ())) for id, extras in zip(draft.ids, before, strict=False))
    ]
    unknown = len(pairs_of.keys() - set(draft.ids))
    if unknown:
        draft.left_out(f"{counted(unknown, 'id')} of {SPLIT} or {EXTRAS} without a concept left out")


def _side_rows(folder: Path, name: str, wanted: tuple[str, ...], escaped: bool) -> Iterator[list[str]]:
    path = _part(folder, name)
    if path is None:
        return
    table = _Table(path, wanted, len(wanted))
    at = [table.header.index(name) for name in wanted]
    for _, columns in table.blocks():
        for cells in zip(*(columns[column] for column in at), strict=True):
            yield list(map(escapes.unescape, cells) if escaped else cells)


def read_meta(folder: Path) -> tuple[dict[str, Any], bool]:
    """What a folder says beside its concepts, and whether its tables have escapes."""
    path = _part(folder, META)
    if path is None:
        return {}, False
    try:
        meta = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"is not JSON: {error.msg}", path=path, line=error.lineno) from None
    except RecursionError:
        raise InputError("is nested too deeply", path=path) from None
    if not isinstance(meta, dict):
        raise InputError("must hold a JSON object", path=path, line=1)
    return meta, bool(meta.pop("escapes", False))


def _needs_escapes(taxonomy: Taxonomy) -> bool:
    lists = list(chain.from_iterable(chain(taxonomy.synonyms, taxonomy.images)))
    pairs = chain.from_iterable(chain.from_iterable(taxonomy.extras))
    texts = chain(taxonomy.ids, taxonomy.names, taxonomy.descriptions, lists, pairs)
    while block := list(islice(texts, 10_000)):  # whole blocks are searched much faster than single texts
        if escapes.breaks_table("".join(block)):
            return True
    return any("|" in item or not item for item in lists)


def _write_nodes(taxonomy: Taxonomy, path: Path, escaped: bool) -> tuple[str, ...]:
    """Returns the extras that found a place in columns of their own."""

    def cells(texts: Iterable[str]) -> Iterable[str]:
        return map(escapes.escape, texts) if escaped else texts

    columns = {
        "id": cells(taxonomy.ids),
        "name": cells(taxonomy.names),
        "description": cells(taxonomy.descriptions),
    }
    for name, lists in (("synonyms", taxonomy.synonyms), ("image", taxonomy.images)):
        if any(lists):
            columns[name] = map(escapes.join_list, lists, repeat(escaped))
    columns_kept = _own_columns(taxonomy)
    for key in columns_kept:
        columns[key] = cells([dict(extras).get(key, "") for extras in taxonomy.extras])
    _write_table(path, tuple(columns), zip(*columns.values(), strict=True))
    return columns_kept


def _own_columns(taxonomy: Taxonomy) -> tuple[str, ...]:
    """The extra columns the taxonomy came with, as far as they still fit: at most one non-empty value per concept."""
    wanted = [key for key in taxonomy.meta.get("columns", ()) if isinstance(key, str) and key == key.strip() != ""]
    columns = {key for key in wanted if _column_name(key) not in (*KNOWN, SPLIT_KEY) and not escapes.breaks_table(key)}
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


def check_target(path: Path) -> None:
    """Raise what would stop `write`. A folder is replaced as a whole, so it must hold nothing but a taxonomy."""
    if path == STREAM or (path.exists() and not path.is_dir()):
        hint = "a name like out.obo or out.ttl says what to write"
        raise InputError(f"without a suffix this means a folder, and it is none; {hint}", path=path)
    atomic.refuse_folder(path)
    if not path.is_dir():
        return
    other = sorted(entry.name for entry in path.iterdir() if entry.name not in OUR_FILES)
    if other:
        raise InputError(f"the folder holds other files ({other[0]}); name a new folder", path=path)
