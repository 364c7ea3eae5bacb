"""From bytes to text: UTF-8, UTF-16 and Windows-1252 are recognised, others are stated."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.streams import BLOCK, STREAM, open_raw_bytes, text_codec

BOMS = {
    "utf-8-sig": codecs.BOM_UTF8,
    "utf-32-le": codecs.BOM_UTF32_LE,  # before UTF-16, whose mark it begins with
    "utf-32-be": codecs.BOM_UTF32_BE,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
}
TITLES = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}
HEAD = 4096  # bytes in which zeros tell UTF-16 without a mark
_WIDE_SHARE = 0.3  # of zero bytes at even or odd places, at least
_NOT_WINDOWS = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # bytes that Windows-1252 has no character for
_CONTROLS = 0.01  # share of control characters above which bytes are no text


@dataclass(frozen=True, slots=True)
class SourceText:
    """The whole text of a file as it was, line ends included, and how it was encoded.

    Parameters
    ----------
    text : str
        Without the byte order mark.
    encoding : str
        Python's name of the encoding.
    bom : bool
        Whether the file begins with a byte order mark.
    note : str
        What to say about the encoding; empty for UTF-8.
    """

    text: str
    encoding: str = "utf-8"
    bom: bool = False
    note: str = ""

    def encode(self, text: str) -> bytes:
        """Return `text` in the encoding of the source; characters it does not have raise `UnicodeEncodeError`."""
        mark = BOMS.get("utf-8-sig" if self.encoding == "utf-8" else self.encoding, b"") if self.bom else b""
        return mark + text.encode(self.encoding)


def read_source(path: Path, stated: str | None = None) -> SourceText:
    """Read a text file as a whole.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    stated : str, optional
        Its encoding. Without one, a byte order mark decides, then zeros at every other place (UTF-16); what is not
        UTF-8 is Windows-1252.

    Raises
    ------
    InputError
        Where the encoding is unknown, or the bytes are no text in it.
    """
    with open_raw_bytes(path) as handle:
        data = handle.read()
    if stated is not None:
        return _decode(path, data, text_codec(path, stated).removesuffix("-sig"), "")
    for encoding, mark in BOMS.items():
        if data.startswith(mark):
            note = f"read as {TITLES[encoding]}" if encoding in TITLES and encoding != "utf-8-sig" else ""
            return _decode(path, data, encoding.removesuffix("-sig"), note)
    if wide := _wide(data[:HEAD]):
        return _decode(path, data, wide, "read as UTF-16, which it has no mark for")
    try:
        return SourceText(_checked(path, data.decode("utf-8")))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        note = f"read as Windows-1252, for line {line} is not UTF-8; --encoding states another"
        return _decode(path, data, "cp1252", note, line)


def recognise(path: Path) -> tuple[str | None, str]:
    """The encoding of a text that is read piece by piece, None for UTF-8, and what to say about it.

    The file is read once for this, in little memory. Standard input cannot be read twice and is UTF-8.

    Parameters
    ----------
    path : Path
        The file, compressed or not.

    Raises
    ------
    InputError
        With the line, where it is neither UTF-8 nor UTF-16 nor Windows-1252.
    """
    if path == STREAM:
        return None, ""
    with open_raw_bytes(path) as handle:
        block = handle.read(BLOCK)
        for encoding, mark in BOMS.items():
            if block.startswith(mark) and encoding != "utf-8-sig":
                return encoding[:6], f"read as {encoding[:6].upper()}"
        if wide := _wide(block[:HEAD]):
            return wide, "read as UTF-16, which it has no mark for"
        decoder, before = codecs.getincrementaldecoder("utf-8")(), 0
        while True:
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                line = before + error.object.count(b"\n", 0, error.start) + 1
                while block and not (odd := _NOT_WINDOWS.search(block)):
                    block = handle.read(BLOCK)
                if block and odd:
                    message = f"byte 0x{odd[0].hex()} is neither UTF-8 nor Windows-1252; save the file as UTF-8"
                    raise InputError(message, path, line) from None
                return "cp1252", f"read as Windows-1252, for line {line} is not UTF-8"
            if not block:
                return None, ""
            before += block.count(b"\n")
            block = handle.read(BLOCK)


def _decode(path: Path, data: bytes, encoding: str, note: str, line: int | None = None) -> SourceText:
    marks = {mark: name for name, mark in BOMS.items()}
    if encoding == "utf-16":
        encoding = marks.get(data[:2], "utf-16-le")
    mark = BOMS.get("utf-8-sig" if encoding == "utf-8" else encoding, b"")
    bom = bool(mark) and data.startswith(mark)
    try:
        text = data[len(mark) * bom :].decode(encoding)
    except UnicodeDecodeError as error:
        number = line or data.count(b"\n", 0, error.start) + 1
        byte = f"byte 0x{data[error.start]:02x} is not {TITLES.get(encoding, encoding)}"
        hint = "--encoding names the right one, or save the file as UTF-8"
        also = ", nor is the file UTF-8" if line else ""
        raise InputError(f"{byte}{also}; {hint}", path, number) from None
    return SourceText(_checked(path, text), encoding, bom, note)


def _checked(path: Path, text: str) -> str:
    """Refuse what is no text although it can be decoded: every byte is some character in most old encodings."""
    place = text.find("\0")
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        raise InputError("holds a NUL byte; this is not a text file", path=path, line=line)
    head = text[:HEAD]
    controls = sum(char < " " and char not in "\t\n\r\f\v\x1a" for char in head)
    if controls > _CONTROLS * len(head):
        raise InputError("holds control characters throughout; this is not a text file", path=path, line=1)
    if not text.strip():
        raise InputError("holds nothing but blanks", path=path)
    return text


def _wide(head: bytes) -> str | None:
    """The byte order of UTF-16 without a mark, where Latin letters leave every other byte zero."""
    half = len(head) // 2
    if half < 2:
        return None
    even, odd = head[0::2].count(0) / half, head[1::2].count(0) / half
    if max(even, odd) < _WIDE_SHARE or min(even, odd) > 0.05:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"
