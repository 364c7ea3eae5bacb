"""Compressed files: gzip, bzip2, xz, and zip with one file in it, with limits that stop a decompression bomb.

A bomb is small on disk and huge in memory. What a file holds is therefore counted while it is decompressed: it may
grow to `MOST_BYTES` in all and, beyond the first `UNLIMITED_BYTES`, to `MOST_RATIO` times what was read from disk.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast

from taxosphere.errors import InputError

MOST_BYTES = 4 << 30
UNLIMITED_BYTES = 64 << 20
MOST_RATIO = 200
MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00", ".zip": b"PK\x03\x04"}
NAMES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zip": "zip"}
WRITABLE = (".gz", ".bz2", ".xz")
# What the decompressors raise on damaged data, beside the OSError of bzip2 and gzip.
DAMAGED = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, gzip.BadGzipFile, NotImplementedError)
# What zipfile raises where the directory of an archive is damaged; names in it may be no UTF-8 although it says so.
BAD_DIRECTORY = (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError)
_BZIP2_BLOCK = (b"1AY&SY", b"\x17rE8P\x90")  # follows the level of compression: a block, or the end of an empty file


def compression_suffix(path: Path) -> str:
    """Return the suffix of `path` where it names a compression, else an empty text."""
    suffix = path.suffix.lower()
    return suffix if suffix in MAGIC else ""


def kind_of(head: bytes) -> str:
    """Return the suffix of the compression whose data begins with `head` (10 bytes suffice), or an empty text."""
    for suffix, magic in MAGIC.items():
        if head.startswith(magic) and (suffix != ".bz2" or head[4:10] in _BZIP2_BLOCK):
            return suffix
    return ""


def zip_members(path: Path) -> list[str]:
    """Return the names of the files in a zip archive, without what file managers add to it.

    Parameters
    ----------
    path : Path
        The archive.

    Raises
    ------
    InputError
        Where it is no zip archive or is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return [item.filename for item in archive.infolist() if _is_content(item)]
    except BAD_DIRECTORY:
        raise InputError("the zip data is cut off or damaged", path=path) from None


def single_member(path: Path) -> str:
    """Return the name of the only file in a zip archive; refuse an archive with none or several."""
    names = zip_members(path)
    if len(names) != 1:
        shown = ", ".join(names[:3]) + ", …" * (len(names) > 3)
        what = f"holds {len(names)} files ({shown})" if names else "holds no file"
        raise InputError(f"the zip archive {what}, and one was expected; unpack it and name one", path=path)
    return names[0]


def _is_content(item: zipfile.ZipInfo) -> bool:
    path = PurePosixPath(item.filename)
    return bool(item.filename) and not item.is_dir() and "__MACOSX" not in path.parts and not path.name.startswith(".")


@contextmanager
def decompressed(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Yield what a file holds: its own bytes, or the decompressed ones within the limits.

    Parameters
    ----------
    raw : binary file
        The opened file, at its beginning.
    path : Path
        Its name, for the messages and for the compression that its suffix promises.

    Raises
    ------
    InputError
        Where the suffix promises a compression that the data has not, a zip archive holds several files, or the
        content grows beyond the limits.
    """
    head = raw.read(10)
    raw.seek(0)
    kind, promised = kind_of(head), compression_suffix(path)
    if promised and promised != kind and head:
        if promised == ".zip" and head.startswith(b"PK\x05\x06"):
            raise InputError("the zip archive holds no file", path=path)
        raise InputError(f"ends in {promised} but is not {NAMES[promised]} data", path=path)
    if not kind:
        yield raw
    elif kind == ".zip":
        name = single_member(path)
        with zipfile.ZipFile(raw) as archive, zip_member(archive, name, path) as member:
            yield member
    else:
        openers: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
            ".gz": lambda data: cast(IO[bytes], gzip.GzipFile(fileobj=data, mode="rb")),
            ".bz2": lambda data: cast(IO[bytes], bz2.BZ2File(data)),
            ".xz": lambda data: cast(IO[bytes], lzma.LZMAFile(data)),  # noqa: SIM115 - closed below
        }
        with openers[kind](raw) as content:
            yield limited(content, raw.tell, path)


@contextmanager
def zip_member(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[IO[bytes]]:
    """Yield the decompressed bytes of one file of a zip archive, within the limits.

    Parameters
    ----------
    archive : ZipFile
        The opened archive.
    name : str
        The file in it.
    path : Path
        Name of the archive, for the messages.
    """
    item = archive.getinfo(name)
    if item.flag_bits & 1:
        raise InputError(f"'{name[:60]}' in the zip archive is encrypted; unpack it first", path=path)
    try:
        with archive.open(item) as member:
            yield limited(member, lambda: item.compress_size, path)
    except NotImplementedError:
        raise InputError("the zip archive uses a compression that is not supported; unpack it", path=path) from None


def limited(content: IO[bytes], consumed: Callable[[], int], path: Path) -> IO[bytes]:
    """Return a reader of `content` that refuses more than the limits allow.

    Parameters
    ----------
    content : binary file
        What is decompressed while it is read.
    consumed : function without parameters
        Returns how many compressed bytes were read so far.
    path : Path
        Name of the compressed file, for the messages.
    """
    return io.BufferedReader(_Limited(content, consumed, path))


class _Limited(io.RawIOBase):
    def __init__(self, content: IO[bytes], consumed: Callable[[], int], path: Path) -> None:
        self.content = content
        self.consumed = consumed
        self.path = path
        self.produced = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self.content.read(len(buffer))
        buffer[: len(block)] = block
        self.produced += len(block)
        if self.produced > MOST_BYTES:
            raise InputError(f"holds more than {MOST_BYTES >> 30} GB when decompressed; refused", path=self.path)
        if self.produced > UNLIMITED_BYTES and self.produced > MOST_RATIO * self.consumed():
            message = f"grows to more than {MOST_RATIO} times its size when decompressed, as no taxonomy does; refused"
            raise InputError(message, path=self.path)
        return len(block)


def check_zip(content: IO[bytes], path: Path) -> None:
    """Refuse a zip archive, such as a workbook, whose directory promises more than the limits allow.

    Parameters
    ----------
    content : binary file
        The archive. What is no zip archive is left to its reader.
    path : Path
        Its name, for the messages.

    Raises
    ------
    InputError
        Where the files in it would grow beyond the limits, or their names cannot be read.
    """
    try:
        with zipfile.ZipFile(content) as archive:
            items = archive.infolist()
    except UnicodeDecodeError:
        raise InputError("is damaged: the names of the files in it cannot be read", path=path) from None
    except (zipfile.BadZipFile, NotImplementedError, OSError):
        return
    size, packed = sum(item.file_size for item in items), sum(item.compress_size for item in items)
    if size > MOST_BYTES or (size > UNLIMITED_BYTES and size > MOST_RATIO * packed):
        raise InputError("grows far beyond its size when decompressed, as no taxonomy does; refused", path=path)


@contextmanager
def compressing(raw: IO[bytes], path: Path) -> Iterator[IO[bytes]]:
    """Yield a writer of what the suffix of `path` asks for, without time stamps: equal content gives equal files.

    Parameters
    ----------
    raw : binary file
        Where the compressed bytes go.
    path : Path
        Its suffix names the compression, if any.
    """
    suffix = compression_suffix(path)
    if suffix == ".gz":
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed:
            yield cast(IO[bytes], packed)
    elif suffix == ".bz2":
        with bz2.BZ2File(raw, "wb") as squeezed:
            yield cast(IO[bytes], squeezed)
    elif suffix == ".xz":
        with lzma.LZMAFile(raw, "wb") as small:
            yield cast(IO[bytes], small)
    else:
        yield raw
