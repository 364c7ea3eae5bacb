"""Tables in Parquet and Arrow files: a row per concept or a row per edge, under any usual column names.

Rows are read as JSON lines are. We write a row per concept with `id`, `name`, `description`, and lists of `synonyms`,
`images`, `parents` and `extras`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError, require
from taxosphere.taxonomy.formats import jsonl
from taxosphere.taxonomy.formats.io import compression, suffixes
from taxosphere.taxonomy.formats.io import json_values as jv
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import bare_suffix, open_binary_to_write, read_bytes
from taxosphere.taxonomy.graph import Taxonomy

BATCH_BYTES = 512 << 20  # that a batch may take in the worst case


def read(path: Path, options: ReadOptions) -> Draft:
    """Return the concepts and edges of a Parquet or Arrow file.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        `mapping` names columns for the roles id, name, description, synonyms, parent and child; `language` is used.

    Raises
    ------
    InputError
        Where the file is damaged, or holds far more than its size allows.
    """
    arrow = require("pyarrow", "parquet")
    draft = Draft(path=path, format="parquet")
    rows: list[dict[str, Any]] = []
    try:
        for batch in _batches(path):
            rows += batch
    except (arrow.ArrowException, OSError, ValueError, MemoryError) as error:
        text = " ".join(str(error).split())
        raise InputError(f"cannot be read as {_kind(path)}: {text[:120] or 'it is damaged'}", path) from None
    if not rows:
        raise InputError("the table has no rows", path)
    jsonl.read_all(draft, list(enumerate(rows, 1)), options)
    draft.lines, draft.edge_lines = [0] * len(draft.ids), [0] * len(draft.parents)  # rows are no lines
    return draft


def _kind(path: Path) -> str:
    return "Parquet" if bare_suffix(path) in suffixes.PARQUET else "Arrow"


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    """Rows in batches, counted while they are read so that a small file cannot fill the memory."""
    data = read_bytes(path)
    source = require("pyarrow", "parquet").BufferReader(data)
    if _kind(path) == "Parquet":
        file = require("pyarrow.parquet", "parquet").ParquetFile(source)
        batches = file.iter_batches(batch_size=_rows_at_once(file.metadata))
    else:
        is_file, ipc = data.startswith(b"ARROW1"), require("pyarrow.ipc", "parquet")
        reader = ipc.open_file(source) if is_file else ipc.open_stream(source)
        whole = (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else iter(reader)
        batches = (part for batch in whole for part in _slices(batch))
    most = max(compression.UNLIMITED_BYTES, compression.MOST_RATIO * len(data))
    size = 0
    for batch in batches:
        rows = list(_rows(batch))
        size += sum(len(str(value)) for row in rows for value in row.values())
        if size > most:
            raise InputError("holds far more than its size allows, as no taxonomy does; refused", path)
        yield rows


def _slices(batch: Any) -> Iterator[Any]:
    """Parts of a record batch. Arrow trusts the offsets in a file unless asked to check them first."""
    batch.validate(full=True)
    return (batch.slice(first, 1024) for first in range(0, batch.num_rows, 1024))


def _rows_at_once(metadata: Any) -> int:
    """How many rows are decoded together: one value may be as long as all of its group, and stand in every row.

    The sizes of columns would say more, but asking for a damaged column ends the process (pyarrow 26).
    """
    largest: int = max([1, *(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))])
    return min(4096, max(64, BATCH_BYTES // largest))


def _rows(batch: Any) -> Iterator[dict[str, Any]]:
    for row in batch.to_pylist():
        record: dict[str, Any] = {}
        for key, value in row.items():
            if key == "extras" and isinstance(value, list) and all(_is_pair(item) for item in value):
                for pair in value:
                    record.setdefault(f"{pair['key']}[]", []).append(jv.from_extra(pair["value"]))
            else:
                record[key] = _plain(value)
        yield record


def _is_pair(item: Any) -> bool:
    return isinstance(item, dict) and all(isinstance(item.get(key), str) for key in ("key", "value"))


def _plain(value: Any) -> Any:
    """A value as JSON has it: whole numbers without a fraction, dates and others as text."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, float):
        return None if value != value else int(value) if value.is_integer() else value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a row per concept."""
    pa: Any = require("pyarrow", "parquet")
    texts = pa.list_(pa.string())
    pair = pa.struct([("key", pa.string()), ("value", pa.string())])
    above = [[taxonomy.ids[parent] for parent in taxonomy.parent_csr.row(i).tolist()] for i in range(len(taxonomy))]
    extras = [[{"key": key, "value": value} for key, value in extras] for extras in taxonomy.extras]
    columns = {
        "id": pa.array(taxonomy.ids, pa.string()),
        "name": pa.array(taxonomy.names, pa.string()),
        "description": pa.array(taxonomy.descriptions, pa.string()),
        "synonyms": pa.array(list(map(list, taxonomy.synonyms)), texts),
        "images": pa.array(list(map(list, taxonomy.images)), texts),
        "parents": pa.array(above, texts),
        "extras": pa.array(extras, pa.list_(pair)),
    }
    table = pa.table(columns)
    with open_binary_to_write(path) as handle:
        if _kind(path) == "Parquet":
            require("pyarrow.parquet", "parquet").write_table(table, handle)
        else:
            with require("pyarrow.ipc", "parquet").new_file(handle, table.schema) as writer:
                writer.write_table(table)
