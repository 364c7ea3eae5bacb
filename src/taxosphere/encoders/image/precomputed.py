"""Vectors of images made elsewhere: a .npy matrix, and a table that says which image each row is.

The table is ``images.tsv`` beside the matrix, with a header and a column ``path`` (or ``path_in_repo``, ``image``),
perhaps also the concept an image shows (``concept``, ``class_node_id`` or ``id``); or a .txt file of the matrix's name
with a path a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.precomputed import matrix
from taxosphere.errors import InputError

TABLE = "images.tsv"
_PATH, _CONCEPT = ("path", "path_in_repo", "image"), ("concept", "class_node_id", "id")


@dataclass(frozen=True)
class ImageTable:
    """`concepts` holds the id of what each image shows, and is empty when the table does not say."""

    vectors: NDArray[np.floating]
    paths: tuple[str, ...]
    concepts: tuple[str, ...] = ()

    def of_concept(self, ids: Sequence[str]) -> list[tuple[str, ...]]:
        """Paths of the images of every concept."""
        images: dict[str, list[str]] = {id: [] for id in ids}
        for path, concept in zip(self.paths, self.concepts, strict=False):
            if concept in images:
                images[concept].append(path)
        return [tuple(images[id]) for id in ids]


def read(path: Path) -> ImageTable:
    """Vectors from a .npy file and the table beside it; `InputError` where they do not fit together."""
    rows = matrix(path, mapped=True)
    table, lines = path.with_name(TABLE), path.with_suffix(".txt")
    names, concepts = _columns(table) if table.is_file() else (_lines(lines), ())
    source = table if table.is_file() else lines
    if len(rows) != len(names):
        raise InputError(f"{len(names)} images, but the array {path} has the shape {rows.shape}", source)
    if not np.isfinite(rows).all():
        raise InputError("the vectors hold a number that is not finite", path)
    empty = np.flatnonzero(~(rows != 0).any(axis=1))
    if len(empty):
        raise InputError(f"the vector of '{names[int(empty[0])]}' is zero", path)
    return ImageTable(rows, names, concepts)


def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(path.read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"the paths of the vectors' rows cannot be read from it: {error}", path) from None


def _columns(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    lines = _lines(path)
    header = lines[0].split("\t") if lines else []
    place = next((header.index(name) for name in _PATH if name in header), None)
    concept = next((header.index(name) for name in _CONCEPT if name in header), None)
    if place is None:
        raise InputError(f"the header names no column {' or '.join(_PATH)}", path, 1)
    numbered = [(number, line.split("\t")) for number, line in enumerate(lines[1:], 2) if line]
    for number, row in numbered:
        if len(row) != len(header):
            raise InputError(f"{len(row)} columns where the header names {len(header)}", path, number)
    rows = [row for _, row in numbered]
    return tuple(row[place] for row in rows), tuple(row[concept] for row in rows) if concept is not None else ()
