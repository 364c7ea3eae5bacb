"""A model on disk: a folder with a manifest, tensors and the seed taxonomy in native form.

    manifest.json       format version, method, config, seed hash, library versions, metrics, SHA-256 of the other files
    NAME.safetensors    arrays by name
    seed/               the taxonomy the model was fitted on
    taxonomy.safetensors  the same as arrays, of a large one

Nothing in it is executable, and it appears whole or not at all. Arrays are mapped into memory, not read: pages are
loaded when they are used, and several processes share them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mmap
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats import native
from taxosphere.taxonomy.mapped import MAPPED, from_arrays, to_arrays

FORMAT = 4  # 4: keys in the words of the glossary
MANIFEST = "manifest.json"
_DIGEST = "digest"  # key in the manifest: SHA-256 of everything else in it
SEED = "seed"
TAXONOMY = "taxonomy"
_OTHER_VERSION = "this model folder was written by another version of taxosphere; fit it again"
_LIBRARIES = ("taxosphere", "torch", "transformers", "numpy", "safetensors")

_CHECKED_AT_ONCE = 1 << 26  # bytes; of a larger file a sample is, hashing all of it would delay the first answer
_SAMPLES, _SAMPLED = 256, 1 << 12  # parts of a large file that are checked at once, and bytes of each
_DAMAGED = "was changed or damaged since the model was written; fit the model again"
_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
    "BOOL": np.bool_,
}
_LOG = logging.getLogger("taxosphere")

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Artifact:
    """What a model folder holds."""

    manifest: dict[str, Any]
    tensors: dict[str, Arrays]
    taxonomy: Taxonomy
    check: FileCheck


class FileCheck:
    """Compares the large files of a model folder with their digests, in the background.

    Parameters
    ----------
    digests
        SHA-256 by file.
    """

    def __init__(self, digests: Mapping[Path, str]) -> None:
        self._digests = dict(digests)
        self._damaged: Path | None = None
        self._thread = threading.Thread(target=self._run, name="check of a model's files", daemon=True)
        if digests:
            self._thread.start()

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: the arrays travel along, the files do not."""
        return type(self), ({},)

    def _run(self) -> None:
        for file, expected in self._digests.items():
            try:
                damaged = _sha256(file) != expected
            except OSError:  # replaced by a newer model meanwhile, or removed
                return
            if damaged:
                _LOG.error("%s: %s", file, _DAMAGED)
                self._damaged = file
                return

    def refuse_damage(self, *, wait: bool = False) -> None:
        """Raise `InputError` where a file was found to be damaged.

        Parameters
        ----------
        wait : bool
            Until all files have been compared.

        Raises
        ------
        InputError
            Names the file.
        """
        if wait and self._digests:
            self._thread.join()
        if self._damaged is not None:
            raise InputError(_DAMAGED, self._damaged)


def versions() -> dict[str, str]:
    """Versions of the libraries a result depends on."""
    numbers = {}
    for name in _LIBRARIES:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            continue
    return numbers


def seed_hash(taxonomy: Taxonomy) -> str:
    """Identifies the concepts, texts and edges a model was fitted on, whatever file they came from."""
    digest = hashlib.sha256()
    for column in (taxonomy.ids, taxonomy.names, taxonomy.descriptions):
        digest.update(json.dumps(list(column), ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if any(taxonomy.synonyms):
        digest.update(json.dumps(list(taxonomy.synonyms), ensure_ascii=False).encode("utf-8", "surrogatepass"))
    digest.update(np.ascontiguousarray(taxonomy.edge_array, "<i4").tobytes())
    return digest.hexdigest()


def save(
    path: str | PathLike[str],
    method: str,
    manifest: Mapping[str, Any],
    tensors: Mapping[str, Arrays],
    taxonomy: Taxonomy,
) -> None:
    """Write a model folder, replacing one that is there."""
    refuse_other_folders(path)
    with atomic.folder(path) as folder:
        taxonomy.write(folder / SEED)
        mapped = {TAXONOMY: to_arrays(taxonomy)} if len(taxonomy) > MAPPED else {}
        for name, arrays in (*tensors.items(), *mapped.items()):
            contiguous = {key: np.ascontiguousarray(value) for key, value in arrays.items()}
            save_file(contiguous, folder / f"{name}.safetensors")
        files = sorted(p for p in folder.rglob("*") if p.is_file())
        written = {
            "format": FORMAT,
            "method": method,
            "versions": versions(),
            "seed_hash": seed_hash(taxonomy),
            **manifest,
            "files": {p.relative_to(folder).as_posix(): _sha256(p) for p in files},
            "samples": {
                p.relative_to(folder).as_posix(): _sample(p) for p in files if p.stat().st_size > _CHECKED_AT_ONCE
            },
        }
        written[_DIGEST] = _digest_of(written)
        (folder / MANIFEST).write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def refuse_other_folders(path: str | PathLike[str]) -> None:
    """A model may replace a model, nothing else."""
    target = Path(path)
    if target.exists() and not (target / MANIFEST).is_file():
        raise InputError("exists and is no model; choose another name", target)


def load(path: str | PathLike[str], method: str) -> Artifact:
    """Read a model folder; refuses what is newer, damaged, of another method or no model."""
    folder = Path(path)
    manifest = read_manifest(folder)
    if manifest["format"] < FORMAT:
        seed = folder / SEED
        how = f": taxosphere fit {seed} -o NEW" if seed.is_dir() else ""
        raise InputError(_OTHER_VERSION + how, folder)
    if manifest.get("method", method) != method:
        raise InputError(f"holds '{manifest['method']}', not {method}", folder)
    check = check_files(folder, manifest)
    tensors = {
        name.removesuffix(".safetensors"): map_arrays(folder / name)
        for name in manifest["files"]
        if name.endswith(".safetensors") and "/" not in name
    }
    columns = tensors.pop(TAXONOMY, None)
    seed = folder / SEED
    with same_layout(path):
        taxonomy = Taxonomy.read(seed) if columns is None else from_arrays(columns, native.read_meta(seed)[0])
    return Artifact(manifest, tensors, taxonomy, check)


def map_arrays(path: Path) -> Arrays:
    """The arrays of a safetensors file, mapped into memory.

    Pages are read from the file when they are first used. Changes to an array stay in this process.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict of str to array

    Raises
    ------
    InputError
        It is no whole safetensors file.
    """
    try:
        with path.open("rb") as handle:
            start = 8 + int.from_bytes(handle.read(8), "little")
            header = json.loads(handle.read(start - 8))
            header.pop("__metadata__", None)
            pages = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_COPY)
        arrays = {}
        for key, entry in header.items():
            dtype, (first, last) = np.dtype(_DTYPES[entry["dtype"]]), entry["data_offsets"]
            values = (
                np.frombuffer(pages, dtype, (last - first) // dtype.itemsize, start + first) if last > first else ()
            )
            arrays[key] = np.asarray(values, dtype).reshape(entry["shape"])
        return arrays
    except (OSError, ValueError, KeyError, TypeError, OverflowError, MemoryError) as error:
        raise InputError(f"cannot be read: {error}", path) from None


def check_files(folder: Path, manifest: Mapping[str, Any]) -> FileCheck:
    """Compare the files of a model with the digests in its manifest, and go on with the large ones in the background.

    Of a file above 64 MB the size and a sample of the content are compared at once.

    Parameters
    ----------
    folder : Path
        The model.
    manifest : mapping
        What `read_manifest` returned.

    Returns
    -------
    FileCheck
        Of the large files.

    Raises
    ------
    InputError
        A file is missing or damaged.
    """
    samples, large = manifest.get("samples", {}), {}
    for name, expected in manifest["files"].items():
        file = folder / name
        if not file.is_file():
            raise InputError("belongs to the model and is missing; fit the model again", file)
        if file.stat().st_size <= _CHECKED_AT_ONCE:
            damaged = _sha256(file) != expected
        else:
            damaged = name in samples and _sample(file) != samples[name]
            large[file] = expected
        if damaged:
            raise InputError(_DAMAGED, file)
    return FileCheck(large)


@contextmanager
def same_layout(path: str | PathLike[str]) -> Iterator[None]:
    """Around what makes a model of arrays: files are whole, so what is missing or does not fit was written so."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RuntimeError) as error:
        if "memory" in str(error):
            raise
        raise InputError(_OTHER_VERSION, path) from None


def holds(path: Path, config: Mapping[str, Any], taxonomy: Taxonomy, began: str | None = None) -> bool:
    """Is there a whole model of this taxonomy with these settings, ``began`` from the same weights?"""
    if not (path / MANIFEST).is_file():
        return False
    manifest = read_manifest(path)
    stored = manifest["format"], manifest.get("config"), manifest.get("seed_hash"), manifest.get("began")
    return stored == (FORMAT, config, seed_hash(taxonomy), began)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a model ``folder``; `InputError` where there is none, or a damaged or newer one."""
    file = folder / MANIFEST
    if not file.is_file():
        raise InputError("is no model folder (it has no manifest.json); 'taxosphere fit' makes one", folder)
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        newest, files = manifest["format"], manifest["files"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise InputError("is damaged; fit the model again", file) from None
    hashes = [*files.items()] if isinstance(files, dict) else [(None, None)]
    if not isinstance(newest, int) or not all(isinstance(text, str) for pair in hashes for text in pair):
        raise InputError("is damaged; fit the model again", file)
    if newest > FORMAT:
        raise InputError(f"is of format {newest}, this version reads up to {FORMAT}; update taxosphere", file)
    digest = _digest_of(manifest)
    if newest == FORMAT and manifest.get(_DIGEST, digest) != digest:  # the first models of this format have none
        raise InputError(_DAMAGED, file)
    checked: dict[str, Any] = manifest
    return checked


def _digest_of(manifest: Mapping[str, Any]) -> str:
    """Of everything in a manifest but the digest itself."""
    rest = {key: value for key, value in manifest.items() if key != _DIGEST}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _sample(path: Path) -> str:
    """Digest of a file's size, its beginning, its end, and parts at equal distances between them."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as handle:
        for place in range(_SAMPLES):
            handle.seek(max(0, size - _SAMPLED) * place // (_SAMPLES - 1))
            digest.update(handle.read(_SAMPLED))
    return digest.hexdigest()
