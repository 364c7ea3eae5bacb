"""XML documents as plain elements with their lines, read so that no document can grow.

A document type is passed over without being fetched, entities may not be declared, and depth is limited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.streams import open_declared_bytes

DEEPEST = 10_000
_BLOCK = 1 << 18
_ROOT = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")
_NO_ELEMENTS = re.compile(rb"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!DOCTYPE[^<\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)


class Element:
    """An element without its namespace: its tag, attributes, texts and elements, in order."""

    __slots__ = ("attributes", "content", "line", "tag")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag = tag
        self.attributes = attributes
        self.line = line
        self.content: list[Element | str] = []

    def elements(self, *tags: str) -> Iterator[Element]:
        """Yield the elements directly inside, those with one of these tags where any are named."""
        return (item for item in self.content if isinstance(item, Element) and (not tags or item.tag in tags))

    def first(self, tag: str) -> Element | None:
        """Return the first element directly inside with this tag."""
        return next(self.elements(tag), None)

    def text(self) -> str:
        """Return all text inside, at any depth, with single blanks."""
        parts: list[str] = []
        waiting: list[Element | str] = [self]
        while waiting:
            item = waiting.pop()
            if isinstance(item, str):
                parts.append(item)
            else:
                waiting += reversed(item.content)
        return " ".join("".join(parts).split())

    def text_of(self, tag: str) -> str:
        """Return the text of the first element directly inside with this tag, or an empty one."""
        element = self.first(tag)
        return element.text() if element is not None else ""

    def walk(self) -> Iterator[Element]:
        """Yield the element and all below it, in the order of the document."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += reversed(list(element.elements()))


def root_tag(head: bytes) -> str:
    """Return the tag of the root element, without namespace, from the first bytes of a document; or an empty text.

    Parameters
    ----------
    head : bytes
        The beginning of a file in UTF-8 or a superset of ASCII.
    """
    match = _ROOT.search(_NO_ELEMENTS.sub(b"", head))
    return match[1].decode() if match else ""


def parse(path: Path, root: str | None, encoding: str | None = None) -> Element:
    """Return the root element of an XML file.

    Parameters
    ----------
    path : Path
        The file, possibly compressed.
    root : str or None
        The tag that the root must have, in any case; None for any.
    encoding : str, optional
        Where the file does not declare the right one.

    Raises
    ------
    InputError
        On a syntax error, another root, a declared entity, or elements deeper than `DEEPEST`.
    """
    reader = _Reader(path, root, encoding)
    parser = reader.parser
    with open_declared_bytes(path) as handle:
        try:
            while block := handle.read(_BLOCK):
                parser.Parse(block, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise InputError(f"XML syntax error: {expat.ErrorString(error.code)}", path, error.lineno) from None
        except (ValueError, LookupError) as error:  # an encoding Python does not know
            raise InputError(f"cannot be read as XML: {error}", path, parser.CurrentLineNumber) from None
    assert reader.root is not None  # the parser refuses a document without elements
    return reader.root


class _Reader:
    def __init__(self, path: Path, root: str | None, encoding: str | None) -> None:
        self.path = path
        self.expected = root
        self.root: Element | None = None
        self.open: list[Element] = []
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data
        self.parser.EntityDeclHandler = self.entity

    def entity(self, name: str, *_: object) -> None:
        message = f"declares the entity '{name[:40]}', which may grow without end; refused"
        raise InputError(message, self.path, self.parser.CurrentLineNumber)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.open) >= DEEPEST:
            raise InputError(f"more than {DEEPEST:,} elements inside each other", self.path, line)
        bare = {key.rpartition(":")[2] if key[:5] != "xmlns" else key: value for key, value in attributes.items()}
        element = Element(name.rpartition(":")[2], bare, line)
        if self.root is None:
            if self.expected is not None and element.tag.casefold() != self.expected.casefold():
                raise InputError(f"begins with <{name[:40]}> where <{self.expected}> is expected", self.path, line)
            self.root = element
        else:
            self.open[-1].content.append(element)
        self.open.append(element)

    def end(self, _: str) -> None:
        self.open.pop()

    def data(self, text: str) -> None:
        if self.open:
            self.open[-1].content.append(text)


def escape(text: str) -> str:
    """Return a text as it stands in XML, between tags or in an attribute; line breaks and tabs survive in both.

    Parameters
    ----------
    text : str
        Any text.
    """
    for character, code in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;")):
        text = text.replace(character, code)
    return re.sub(r"[\t\n\r]", lambda match: f"&#{ord(match[0])};", text)


def escape_content(text: str) -> str:
    """Return a text as it stands between tags, where line breaks and quotation marks may stay."""
    for character, code in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#13;")):
        text = text.replace(character, code)
    return text


def quoted(text: str) -> str:
    """Return a text as the value of an attribute, with its quotation marks."""
    return f'"{escape(text)}"'


UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # no spelling of XML 1.0 holds these
