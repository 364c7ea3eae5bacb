"""Formats of several files: the same whether they stand in a folder, a zip archive or a tar archive."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import compression, suffixes
from taxosphere.taxonomy.formats.io.streams import open_bytes, open_raw_bytes, reading, text_codec

MOST_FILES = 20_000
_DEEPEST = 5  # folders inside each other


class Parts:
    """The files of a folder or archive.

    Parameters
    ----------
    path : Path
        A folder, a zip archive, or a tar archive, possibly compressed.
    encoding : str, optional
        Of its texts; UTF-8 where it is not stated.

    Attributes
    ----------
    names : list of str
        Paths of the files, with slashes, relative to the folder or archive.
    """

    def __init__(self, path: Path, encoding: str | None = None) -> None:
        self.path = path
        self.encoding = encoding
        with reading(path):
            if path.is_dir():
                self.names = _in_folder(path)
            elif zipfile.is_zipfile(path):
                self.names = compression.zip_members(path)
            else:
                with _tar(path) as archive:
                    self.names = [member.name for member in _members(archive, path) if member.isfile()]

    def find(self, pattern: str) -> list[str]:
        """Return the names whose last part matches a regular expression, without case, shortest path first.

        Parameters
        ----------
        pattern : str
            The regular expression for the whole last part.
        """
        matcher = re.compile(pattern, re.IGNORECASE)
        names = [name for name in self.names if matcher.fullmatch(name.rpartition("/")[2])]
        return sorted(names, key=lambda name: (name.count("/"), name))

    def where(self, name: str) -> Path:
        """Return the path that messages about a file name."""
        return self.path / name

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield the lines of a file with their numbers, from 1.

        Parameters
        ----------
        name : str
            One of `names`.

        Raises
        ------
        InputError
            Where it is not in this encoding, or grows beyond the limits of `compression`.
        """
        codec = text_codec(self.path, self.encoding or "utf-8")
        with self._open(name) as raw, io.TextIOWrapper(raw, codec, newline="\n") as text:
            number = 0
            try:
                for number, line in enumerate(text, 1):
                    yield number, line.rstrip("\r\n")
            except UnicodeDecodeError:
                message = f"is not {self.encoding or 'UTF-8'} after this line; --encoding names the right one"
                raise InputError(message, self.where(name), number or None) from None

    @contextmanager
    def _open(self, name: str) -> Iterator[IO[bytes]]:
        if self.path.is_dir():
            with (open_raw_bytes if self.encoding else open_bytes)(self.path / name) as handle:
                yield handle
        elif zipfile.is_zipfile(self.path):
            with (
                reading(self.path),
                zipfile.ZipFile(self.path) as archive,
                compression.zip_member(archive, name, self.path) as part,
            ):
                yield part
        else:
            with reading(self.path), _tar(self.path) as packed:
                for member in _members(packed, self.path):
                    content = packed.extractfile(member) if member.name == name else None
                    if content is not None:
                        yield compression.limited(content, lambda: compression.MOST_BYTES, self.path)
                        break


def _in_folder(path: Path) -> list[str]:
    names: list[str] = []
    waiting = [(path, 0)]
    while waiting and len(names) < MOST_FILES:
        folder, depth = waiting.pop()
        for item in sorted(folder.iterdir()):
            if item.is_dir() and depth < _DEEPEST and not item.name.startswith("."):
                waiting.append((item, depth + 1))
            elif item.is_file():
                names.append(item.relative_to(path).as_posix())
    return names


@contextmanager
def _tar(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with (
            path.open("rb") as raw,
            compression.decompressed(raw, path) as plain,
            tarfile.open(fileobj=plain, mode="r|") as archive,
        ):
            yield archive
    except tarfile.TarError:
        raise InputError("is no tar archive, or is damaged", path=path) from None


def _members(archive: tarfile.TarFile, path: Path) -> Iterator[tarfile.TarInfo]:
    for number, member in enumerate(archive):
        if number > MOST_FILES:
            raise InputError(f"the archive holds more than {MOST_FILES:,} files", path=path)
        yield member


def parts_of(path: Path) -> Parts | None:
    """Return the files of a folder or archive; None where it is neither, or cannot be opened.

    Parameters
    ----------
    path : Path
        Any path.
    """
    archive = compression.compression_suffix(path) == ".zip" or _is_tar_name(path)
    if not (path.is_dir() or archive):
        return None
    try:
        return Parts(path)
    except InputError:
        return None


def _is_tar_name(path: Path) -> bool:
    packed = compression.compression_suffix(path) in compression.WRITABLE
    return path.suffix.lower() in suffixes.TARS or (packed and Path(path.stem).suffix.lower() == ".tar")
