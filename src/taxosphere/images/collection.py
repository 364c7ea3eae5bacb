"""Where the pictures of a taxonomy are, and which encoder reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from taxosphere.encoders.image import efficientnet, precomputed
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.io.streams import expand_home

AUTO, NONE = "auto", "none"


def locate(taxonomy: Taxonomy, encoder: str = AUTO) -> tuple[Taxonomy, str]:
    """The taxonomy with images that are found from anywhere, and the name of their encoder, empty without pictures.

    Vectors (.npy) that lie with ``images.tsv`` beside the taxonomy's file are taken unless another encoder is named.
    Relative paths start where the taxonomy was read from, else from the working folder.
    """
    if encoder == NONE:
        return replace(taxonomy, images=()), ""
    folder = _folder(taxonomy)
    vectors = Path(encoder) if encoder.endswith(".npy") else None
    if encoder == AUTO and taxonomy.source is not None:
        vectors = vectors_beside(folder)
    if vectors is not None:
        table = precomputed.read(vectors)
        if table.concepts:
            taxonomy = replace(taxonomy, images=tuple(table.of_concept(taxonomy.ids)))
        return taxonomy, str(vectors.absolute()) if any(taxonomy.images) else ""
    if not any(taxonomy.images):
        return taxonomy, ""
    images = tuple(tuple(_absolute(entry, folder) for entry in entries) for entries in taxonomy.images)
    return replace(taxonomy, images=images), efficientnet.NAME if encoder == AUTO else encoder


def vectors_beside(folder: Path) -> Path | None:
    if not (folder / precomputed.TABLE).is_file():
        return None
    return min(folder.glob("*.npy"), default=None)


def _folder(taxonomy: Taxonomy) -> Path:
    if taxonomy.source is None:
        return Path.cwd()
    place = Path(taxonomy.source.path)
    return place if place.is_dir() else place.parent


def _absolute(entry: str, folder: Path) -> str:
    return str(folder.absolute() / expand_home(entry))
