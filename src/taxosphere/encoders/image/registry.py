"""The image encoders a model can use, behind one protocol, and the images of concepts as vectors."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders import weights
from taxosphere.encoders.cache import VectorCache, default_folder
from taxosphere.encoders.device import CPU
from taxosphere.encoders.image import efficientnet, files, precomputed
from taxosphere.encoders.image.clip import TextTower, TwoTowers
from taxosphere.encoders.image.efficientnet import EfficientNetLite0
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.streams import expand_home
from taxosphere.typing import CountProgress, Floats, Longs

if TYPE_CHECKING:
    from PIL.Image import Image

Broken = Literal["refuse", "skip"]

DEFAULT = efficientnet.NAME
_BATCH = 32
_MOST_FILES = 100_000  # of one pattern: a slip like '/**' must end


@dataclass(frozen=True)
class Fault:
    """An image that could not be used."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


@dataclass(frozen=True)
class ImageVectors:
    """One row per asked path, zero where `readable` is false; `faults` names every unusable file once."""

    vectors: Floats
    readable: NDArray[np.bool_]
    faults: tuple[Fault, ...]

    def or_refuse(self, broken: Broken) -> ImageVectors:
        """Itself; with "refuse", `InputError` names the first image that could not be used."""
        if self.faults and broken == "refuse":
            more = f" (and {len(self.faults) - 1:,} more)" if len(self.faults) > 1 else ""
            raise InputError(
                f"{self.faults[0].reason}{more}; remove or mend it, or skip broken images", self.faults[0].path
            )
        return self


class ImageEncoder(Protocol):
    """What turns image files into vectors."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    def encode(self, paths: Sequence[str]) -> ImageVectors:
        """One unit row per path."""


class Network(Protocol):
    """What turns opened images into rows; `identity` says which weights and settings do."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def identity(self) -> str: ...

    def embed(self, images: Sequence[Image]) -> Floats: ...


class FileEncoder:
    """Opens files and runs a network over them; the same content is encoded once, also between runs."""

    def __init__(self, network: Network, cache: Path | None) -> None:
        self.network = network
        self.name = network.name
        self.dim = network.dim
        self._cache = None if cache is None else VectorCache(cache, network.identity, network.dim)

    def encode(self, paths: Sequence[str], *, progress: CountProgress | None = None) -> ImageVectors:
        """Vectors of image files; ``progress(done, total)`` counts those that are not in the cache."""
        distinct = list(dict.fromkeys(paths))
        faults: dict[str, str] = {}
        content = {path: digest for path in distinct if (digest := _digest(path, faults))}
        vectors = self._cache.get(list(dict.fromkeys(content.values()))) if self._cache else {}
        fresh = {digest: path for path, digest in reversed(content.items()) if digest not in vectors}
        missing = list(reversed(fresh.items()))
        for start in range(0, len(missing), _BATCH):
            part = missing[start : start + _BATCH]
            vectors |= self._encode_files(part, faults)
            if progress is not None:
                progress(min(len(missing), start + len(part)), len(missing))
        for path, digest in content.items():
            if digest not in vectors:
                faults.setdefault(path, faults.get(fresh[digest], "cannot be used"))
        return _collect(
            paths, {path: vectors[digest] for path, digest in content.items() if digest in vectors}, faults, self.dim
        )

    def _encode_files(self, part: list[tuple[str, str]], faults: dict[str, str]) -> dict[str, Floats]:
        opened: list[Image] = []
        digests: list[str] = []
        for digest, path in part:
            try:
                opened.append(files.read(Path(path)))
                digests.append(digest)
            except files.Unreadable as error:
                faults[path] = str(error)
        if not opened:
            return {}
        rows = _unit(self.network.embed(opened))
        if self._cache is not None:
            self._cache.put(digests, rows)
        return dict(zip(digests, rows, strict=True))


class TableEncoder:
    """Looks images up in a table of vectors made elsewhere."""

    def __init__(self, table: precomputed.ImageTable, name: str) -> None:
        self.name = name
        self.table = table
        self.dim = int(table.vectors.shape[1])
        self._row = {path: row for row, path in reversed(list(enumerate(table.paths)))}

    def encode(self, paths: Sequence[str], *, progress: CountProgress | None = None) -> ImageVectors:
        row_of = {path: self._row[path] for path in paths if path in self._row}
        faults = {path: f"has no vector in {self.name}" for path in paths if path not in row_of}
        rows = _unit(self.table.vectors[list(row_of.values())].astype(np.float32))
        if progress is not None:
            progress(len(paths), len(paths))
        return _collect(paths, dict(zip(row_of, rows, strict=True)), faults, self.dim)


_DEFAULT_CACHE = Path()  # stands for default_folder(), which is read when an encoder is made


def load(name: str = DEFAULT, *, cache: Path | None = _DEFAULT_CACHE, device: str = CPU) -> FileEncoder | TableEncoder:
    """An image encoder by name.

    Parameters
    ----------
    name : str
        "efficientnet-lite0" (packaged), a CLIP or SigLIP name or folder of weights, or a .npy file with the paths of
        its rows beside it: in ``images.tsv``, or line by line in a .txt file of its name.
    cache : Path, optional
        Folder where vectors are kept between runs; None keeps nothing. Default: `encoders.cache.default_folder`.
    device : str
        Where images are encoded, as torch names it.

    Raises
    ------
    InputError
        There is no such encoder, or its files cannot be used.
    """
    if name.endswith(".npy"):
        return TableEncoder(precomputed.read(Path(name)), name)
    return FileEncoder(network(name, device), default_folder() if cache is _DEFAULT_CACHE else cache)


def network(name: str, device: str = CPU) -> EfficientNetLite0 | TwoTowers:
    """The network of that name on that device; `InputError` where there is none."""
    if name == efficientnet.NAME:
        return EfficientNetLite0(device)
    try:
        return TwoTowers(weights.locate(name), device)
    except InputError as error:
        if expand_home(name).is_dir() or error.path is not None:
            raise
        raise InputError(
            f"the image encoder '{name}' is neither a folder, nor in the local Hugging Face cache, nor reachable; "
            f"offline, '{efficientnet.NAME}' (the default), a folder of weights, and precomputed vectors work"
        ) from None


def text_tower(encoder: FileEncoder | TableEncoder) -> TextTower | None:
    """The text encoder that shares the space of an image encoder, if it has one."""
    made_by = encoder.network if isinstance(encoder, FileEncoder) else None
    return made_by.texts if isinstance(made_by, TwoTowers) else None


# -- images of concepts ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Gallery:
    """Images of concepts, one row each: `owner` is the position of the concept an image belongs to."""

    vectors: Floats
    owner: Longs
    concepts: int
    faults: tuple[Fault, ...] = ()

    @cached_property
    def shown(self) -> NDArray[np.bool_]:
        """Which concepts have a usable image."""
        return np.bincount(self.owner, minlength=self.concepts) > 0


def gallery(
    encoder: ImageEncoder,
    images: Sequence[Sequence[str]],
    *,
    broken: Broken = "refuse",
) -> Gallery:
    """Encode the images of concepts.

    Parameters
    ----------
    encoder : ImageEncoder
    images : sequence of sequences of str
        For every concept, paths or patterns of its images.
    broken : str
        "refuse" raises at an image that cannot be used, "skip" leaves it out and lists it in ``faults``.

    Raises
    ------
    InputError
        With "refuse": names the first image that cannot be used, and why.
    """
    faults: list[Fault] = []
    named = [(position, entry) for position, entries in enumerate(images) for entry in entries]
    files = [(position, path) for position, entry in named for path in _files(encoder, entry, faults)]
    files = list(dict.fromkeys(files))
    encoded = encoder.encode([path for _, path in files])
    every = (*dict.fromkeys(faults), *encoded.faults)
    checked = ImageVectors(encoded.vectors, encoded.readable, every).or_refuse(broken)
    owner = np.array([position for position, _ in files], np.int64)
    kept = checked.readable
    return Gallery(checked.vectors[kept], owner[kept], len(images), every)


def _files(encoder: ImageEncoder, entry: str, faults: list[Fault]) -> Iterable[str]:
    """Files that an entry of the image column means: itself, or everything its pattern matches."""
    if isinstance(encoder, TableEncoder):
        return [entry]
    place = str(expand_home(entry))
    if not glob.has_magic(entry) or Path(place).exists():
        return [place]
    matches = glob.iglob(place, recursive=True)  # noqa: PTH207 - Path.glob takes no absolute pattern
    matched = sorted(islice(matches, _MOST_FILES + 1))
    if len(matched) > _MOST_FILES:
        faults.append(Fault(place, f"this pattern matches more than {_MOST_FILES:,} files"))
        return []
    matched = [name for name in matched if Path(name).suffix.lower() in files.SUFFIXES]
    if not matched:
        faults.append(Fault(place, "no image matches this pattern"))
    return matched


def _digest(path: str, faults: dict[str, str]) -> str | None:
    place = Path(path)
    try:
        if not place.is_file():
            faults[path] = "is not a file" if place.exists() else "there is no such file"
            return None
        with place.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as error:
        faults[path] = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        return None


def _collect(paths: Sequence[str], rows: dict[str, Floats], faults: dict[str, str], dim: int) -> ImageVectors:
    vectors = np.zeros((len(paths), dim), np.float32)
    readable = np.array([path in rows for path in paths], bool)
    for place in np.flatnonzero(readable).tolist():
        vectors[place] = rows[paths[place]]
    named = tuple(Fault(path, faults[path]) for path in dict.fromkeys(paths) if path in faults)
    return ImageVectors(vectors, readable, named)


def _unit(rows: Floats) -> Floats:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)
