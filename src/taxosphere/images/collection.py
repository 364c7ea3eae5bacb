"""Where the images of a taxonomy are, and which encoder reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from taxosphere.encoders.image import efficientnet, precomputed
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.io.streams import expand_home

AUTO, NONE = "auto", "none"


def locate(taxonomy: Taxonomy, encoder: str = AUTO) -> tuple[Taxonomy, str]:
    """The taxonomy with images that can be found from any folder, and the name of the encoder for them.

    Parameters
    ----------
    taxonomy
        Relative paths of its images start from the folder it was read from, else from the working folder.
    encoder
        The name of an encoder or a file of vectors (.npy); 'auto' takes vectors that lie with ``images.tsv`` beside the
        taxonomy's file, else the packaged network; 'none' removes all images.

    Returns
    -------
    taxonomy
        With absolute paths, or keys into the vectors.
    encoder
        The name to load it by; empty where there are no images.
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
    """The file of image vectors in a folder that has a table of images; None where there is none."""
    if not (folder / precomputed.TABLE).is_file():
        return None
    return min(folder.glob("*.npy"), default=None)


def _folder(taxonomy: Taxonomy) -> Path:
    if taxonomy.source is None:
        return Path.cwd()
    path = Path(taxonomy.source.path)
    return path if path.is_dir() else path.parent


def _absolute(entry: str, folder: Path) -> str:
    return str(folder.absolute() / expand_home(entry))
