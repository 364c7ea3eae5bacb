"""The text of a file that is kept to be written back."""

from __future__ import annotations

from pathlib import Path

from taxosphere.taxonomy.formats.io import compression
from taxosphere.taxonomy.formats.io.streams import UTF8_BOM, read_text, reading

MARK = "\ufeff"  # byte order mark


def read_source(path: Path, encoding: str | None = None) -> str:
    """The whole text of a file, its byte order mark included where it is UTF-8."""
    text = read_text(path, encoding)
    if encoding is not None:
        return text
    with reading(path), path.open("rb") as raw, compression.decompressed(raw, path) as plain:
        return MARK + text if plain.read(3) == UTF8_BOM else text
