"""What a taxonomy keeps of the table it came from, so that it can be written back as it was."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.encodings import SourceText
from taxosphere.taxonomy.formats.io.grid import Grid
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.streams import bare_suffix

META = "source text"
BOOK = "source workbook"
WRITABLE = (".xlsx", ".xlsm")
LARGEST_BOOK = 8 << 20  # bytes; of a larger workbook the sheet that was read is written anew
_KEPT = ("columns", "mapping", "nested", "merge", "language")


def keep(draft: Draft, grid: Grid, options: ReadOptions) -> None:
    """Put the text of the file into the draft's `meta`, with the options that it was understood by."""
    draft.notes[:0] = grid.notes
    suffix = bare_suffix(draft.path)
    if grid.source is None:
        plain = suffix in WRITABLE and draft.path.suffix.lower() == suffix and draft.path.is_file()
        if plain and draft.path.stat().st_size <= LARGEST_BOOK:
            content = base64.b64encode(draft.path.read_bytes()).decode("ascii")
            draft.meta[BOOK] = {"content": content, "sheet": grid.sheet, "suffix": suffix, "options": _stated(options)}
        return
    draft.meta[META] = {
        "text": grid.source.text,
        "encoding": grid.source.encoding,
        "bom": grid.source.bom,
        "suffix": suffix,
        "options": _stated(options),
    }


def _stated(options: ReadOptions) -> dict[str, Any]:
    stated: dict[str, Any] = {name: getattr(options, name) for name in _KEPT}
    return {name: dict(v) if isinstance(v, Mapping) else v for name, v in stated.items() if v}


def is_kept(meta: Mapping[str, Any]) -> bool:
    """Whether `keep` put a text or a workbook there."""
    return META in meta or BOOK in meta


def kept_book(meta: Mapping[str, Any]) -> tuple[bytes, str, str] | None:
    """The workbook that `keep` put there, its suffix, and the title of the sheet that was read."""
    kept = meta.get(BOOK)
    if not isinstance(kept, Mapping):
        return None
    return base64.b64decode(kept["content"]), str(kept["suffix"]), str(kept["sheet"])


def kept_text(meta: Mapping[str, Any]) -> SourceText | None:
    """The text that `keep` put there."""
    kept = meta.get(META)
    if not isinstance(kept, Mapping) or not isinstance(kept.get("text"), str):
        return None
    return SourceText(kept["text"], str(kept.get("encoding", "utf-8")), bool(kept.get("bom")))


def kept_options(meta: Mapping[str, Any]) -> ReadOptions:
    """The options that `keep` put there; faults of the source are mended again the way they were."""
    stated = dict(meta.get(META, meta.get(BOOK, {})).get("options", {}))
    if "columns" in stated:
        stated["columns"] = tuple(stated["columns"])
    return ReadOptions(**stated, strict=False, dangling="keep")
