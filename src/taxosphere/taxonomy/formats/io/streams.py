"""Opening text files: compression, byte order marks, encodings, and the line where something is wrong."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TextIO, cast

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import compression

UTF8_BOM = b"\xef\xbb\xbf"
STREAM = Path("-")  # what other programs take for standard input or output
BLOCK = 1 << 18  # characters read at a time
OLD_LINE_ENDS = "its lines end in CR alone, as on old Macintosh computers; save it with LF or CRLF line ends"
WIDE_BOMS = (b"\xff\xfe", b"\xfe\xff")


_read_as: ContextVar[tuple[Path, str] | None] = ContextVar("read_as", default=None)


@contextmanager
def read_as(path: Path, suffix: str) -> Iterator[None]:
    """While this lasts, a file is read as if it had this suffix."""
    token = _read_as.set((path, suffix))
    try:
        yield
    finally:
        _read_as.reset(token)


def bare_suffix(path: Path) -> str:
    """The suffix that names the format: `.obo` for `x.obo`, `x.OBO.gz` and a zip archive with only `x.obo` in it, and
    for the file that is `read_as` such a one."""
    stated = _read_as.get()
    if stated is not None and stated[0] == path:
        return stated[1]
    packed = compression.compression_suffix(path)
    if packed == ".zip" and path.is_file():
        with reading(path):
            members = compression.zip_members(path)
        return Path(members[0]).suffix.lower() if len(members) == 1 else packed
    return Path(path.stem if packed else path.name).suffix.lower()


def suffix_to_write(path: Path) -> str:
    """The suffix that names the format of a file to be written, which is never a zip archive.

    Raises
    ------
    InputError
        For a zip archive.
    """
    if compression.compression_suffix(path) == ".zip":
        raise InputError(f"zip is only read; write to {', '.join(compression.WRITABLE)} or uncompressed", path=path)
    return bare_suffix(path)


def expand_home(entry: str) -> Path:
    """A path in which `~` stands for a home folder; where nobody has that name, it is a name like any other."""
    return Path(os.path.expanduser(entry))  # noqa: PTH111 - Path's own gives up there


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what the operating system, gzip or the decoder says into one line about `path`."""
    try:
        yield
    except FileNotFoundError:
        raise InputError("no such file", path=path) from None
    except IsADirectoryError:
        raise InputError("is a folder, a file was expected", path=path) from None
    except PermissionError:
        raise InputError("no permission to read it", path=path) from None
    except compression.DAMAGED:
        kind = compression.NAMES.get(compression.compression_suffix(path), "compressed")
        raise InputError(f"the {kind} data is cut off or damaged", path=path) from None
    except UnicodeDecodeError:
        raise _undecodable(path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


def peek(path: Path) -> bytes:
    """The first bytes of standard input (``-``), which can be read again afterwards."""
    buffer = cast(io.BufferedReader, sys.stdin.buffer)
    with reading(path):
        return buffer.peek(1)


@contextmanager
def open_raw_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Decompressed bytes with the byte order mark, if there is one; refuses empty files.

    Standard input (``-``) is taken as it is.
    """
    with reading(path), ExitStack() as opened:
        if path == STREAM:
            handle = cast(io.BufferedReader, sys.stdin.buffer)
        else:
            raw = opened.enter_context(path.open("rb"))
            plain = opened.enter_context(compression.decompressed(raw, path))
            handle = opened.enter_context(io.BufferedReader(cast(io.RawIOBase, plain)))
        if not handle.peek(1):
            raise InputError("the file is empty", path=path)
        yield handle


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Decompressed bytes after the byte order mark; refuses empty files and UTF-16."""
    with open_raw_bytes(path) as handle:
        head = cast(io.BufferedReader, handle).peek(3)[:3]
        if head.startswith(WIDE_BOMS):
            raise InputError("is UTF-16 text; save it as UTF-8", path=path, line=1)
        if head.startswith(UTF8_BOM):
            handle.read(3)
        yield handle


@contextmanager
def open_declared_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Decompressed bytes of a document that says itself how it is encoded; after the mark of UTF-8."""
    with open_raw_bytes(path) as handle:
        if cast(io.BufferedReader, handle).peek(3)[:3] == UTF8_BOM:
            handle.read(3)
        yield handle


@contextmanager
def open_text(path: Path, encoding: str | None = None) -> Iterator[TextIO]:
    """Text after the byte order mark: UTF-8, or in the encoding that is stated."""
    if encoding is None:
        with open_bytes(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="\n") as text:
            yield text
        return
    codec = text_codec(path, encoding)
    with open_raw_bytes(path) as raw, io.TextIOWrapper(raw, encoding=codec, newline="\n") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x} is not {encoding}"
            raise InputError(f"{byte}; --encoding names the right one, or save the file as UTF-8", path) from None


def text_codec(path: Path, stated: str) -> str:
    """Python's name of an encoding of texts, with the byte order mark where it may have one.

    Raises
    ------
    InputError
        Where there is none of that name.
    """
    try:
        name = codecs.lookup(stated).name
        b"".decode(name)  # some codecs are none of texts
    except (LookupError, ValueError):
        raise InputError(f"'{stated}' is no encoding that is known here; utf-8, cp1252 and utf-16 are", path) from None
    return "utf-8-sig" if name == "utf-8" else name


def line_blocks(path: Path, encoding: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """Blocks of lines without their ends, each with the number of its first line (from 1).

    Only `\\n` and `\\r\\n` end a line. Whole blocks keep a million lines a matter of a second.
    """
    first, rest = 1, ""
    with open_text(path, encoding) as handle:
        while chunk := handle.read(BLOCK):
            lines = (rest + chunk).split("\n")
            rest = lines.pop()
            if lines:
                yield first, _clean(path, first, lines)
                first += len(lines)
        if first == 1:
            check_line_ends(path, rest)
        if rest:
            yield first, _clean(path, first, [rest])


def check_line_ends(path: Path, line: str) -> None:
    """For the only line of a file: one with CR inside has more lines than it seems."""
    if "\r" in line.rstrip("\r\n"):
        raise InputError(OLD_LINE_ENDS, path=path, line=1)


def _clean(path: Path, first: int, lines: list[str]) -> list[str]:
    for number, line in enumerate(lines, first):
        if "\0" in line:
            raise InputError("holds a NUL byte; this is not a text file", path=path, line=number)
    return [line.removesuffix("\r") for line in lines]


def numbered_lines(path: Path, encoding: str | None = None) -> Iterator[tuple[int, str]]:
    for first, lines in line_blocks(path, encoding):
        yield from enumerate(lines, first)


def read_bytes(path: Path) -> bytes:
    with open_bytes(path) as handle:
        return handle.read()


def read_text(path: Path, encoding: str | None = None) -> str:
    with open_text(path, encoding) as handle:
        return handle.read()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """The same for writing."""
    try:
        yield
    except UnicodeEncodeError as error:
        text = ascii(error.object[max(0, error.start - 20) : error.end + 20])
        raise InputError(f"half a character in {text} cannot be written as UTF-8", path=path) from None
    except PermissionError:
        raise InputError("no permission to write it", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", path=path) from None


@contextmanager
def open_binary_to_write(path: Path) -> Iterator[IO[bytes]]:
    """Compressed when the name says so."""
    with atomic.file(path) as unfinished, unfinished.open("wb") as raw, compression.compressing(raw, path) as packed:
        yield packed


@contextmanager
def open_to_write(path: Path) -> Iterator[TextIO]:
    """UTF-8 with `\\n`."""
    with open_binary_to_write(path) as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as text:
        yield text


def _undecodable(path: Path) -> InputError:
    if path == STREAM:  # which cannot be read again to find the line
        return InputError("is not UTF-8 (Latin-1 perhaps?); recode it first, with iconv for example", path=path)
    with open_bytes(path) as handle:
        for number, line in enumerate(handle, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                byte = f"byte 0x{line[error.start]:02x} is not UTF-8 (Latin-1 perhaps?)"
                return InputError(f"{byte}; save the file as UTF-8 or state its --encoding", path=path, line=number)
    return InputError("is not UTF-8; save it as UTF-8", path=path)
