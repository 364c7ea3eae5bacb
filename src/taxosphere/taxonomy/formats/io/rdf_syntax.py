"""The spellings of RDF and OWL: which one a file has, and statements from and to it."""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import owl_functional, owl_manchester, owl_xml, suffixes
from taxosphere.taxonomy.formats.io.limits import check_json_depth, check_xml
from taxosphere.taxonomy.formats.io.rdf_terms import oxigraph
from taxosphere.taxonomy.formats.io.source_text import MARK
from taxosphere.taxonomy.formats.io.streams import bare_suffix, open_binary_to_write, open_raw_bytes
from taxosphere.taxonomy.formats.io.suffixes import FUNCTIONAL, MANCHESTER, OWL_XML

Triple = tuple[Any, str, Any]

OWL_SYNTAXES = {FUNCTIONAL: owl_functional.axioms, MANCHESTER: owl_manchester.axioms, OWL_XML: owl_xml.axioms}
# Suffixes that say little: what stands in the file decides.
_SEVERAL_SYNTAXES = (".owl", ".rdf", ".xml", ".skos", ".ofn", ".omn", ".owx")
_COMMENTS = re.compile(rb"(?:\s|#[^\n]*(?:\n|$)|\xef\xbb\xbf)*")
_FUNCTIONAL = re.compile(rb"(?:Prefix|Ontology)\s*\(")
_MANCHESTER = re.compile(rb"(?:Prefix|Ontology|Class|ObjectProperty|AnnotationProperty):\s")
_XML = re.compile(rb"<(?:\?xml|!--|!DOCTYPE|[A-Za-z_][\w.-]*:?[\w.-]*[\s/>])")
_XML_ROOT = re.compile(rb"<(?:[A-Za-z_][\w.-]*:)?([A-Za-z_][\w.-]*)[\s/>]")
_XML_PROLOG = re.compile(rb"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL)
_LANGUAGE = re.compile(r"""(?:"@language"\s*:\s*"|["']@|xml:lang=["'])([A-Za-z]{2,8}(?:-[A-Za-z0-9]+)*)""")
_POSITION = re.compile(r"^Parser error at line \d+ [^:]*: |^at \d+\.\.\d+: |\s*\([^()]*line \d+\)$")
_DECLARED = re.compile(r"""(\A\s*<\?xml[^>]*?encoding\s*=\s*["'])([\w.:-]+)""")
_BROKEN_ATTRIBUTE = re.compile(r"""=\s*(?:"[^"<\n\t]*[\n\t]|'[^'<\n\t]*[\n\t])""")
_QUOTED_ENTITY = re.compile(r"""(<!ENTITY\s+[\w.-]+\s+)'([^'"<&%]*)'""")
_QUOTED = re.compile(r""""[^"<]*"|'[^'<]*'""")
_TAG = re.compile(r"""<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<[\w:](?:[^<>"']|"[^"<]*"|'[^'<]*')*>""", re.DOTALL)
NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(slots=True)
class Position:
    """Where a parser is, as a mark that costs little to take; `lines` makes line numbers of marks.

    Parameters
    ----------
    line : int
        The line, of parsers that tell it themselves; 0 in JSON-LD, which is parsed in larger pieces.
    source : BytesIO, optional
        The text, where it is handed out line by line: a mark is then how much of it has been handed out.
    """

    line: int = 0
    source: io.BytesIO | None = None

    @property
    def mark(self) -> Callable[[], int]:
        """A function that returns the present mark."""
        return self.source.tell if self.source is not None else lambda: self.line

    def lines(self, marks: Sequence[int]) -> list[int]:
        """The line that the parser was in at each mark."""
        if self.source is None:
            return list(marks)
        ends = np.flatnonzero(np.frombuffer(self.source.getvalue(), np.uint8) == ord("\n"))
        lines: list[int] = (np.searchsorted(ends, np.array(marks, np.int64) - 1) + 1).tolist()
        return lines


@dataclass(slots=True)
class Document:
    """An RDF or OWL text and what is needed to parse it.

    Parameters
    ----------
    text : str
        The whole file.
    syntax : str
        A name of `suffixes.RDF`.
    name : str
        Name of the file: relative addresses are resolved against it, the same on every machine.
    path : Path
        The file that errors name.
    prefixes : dict of str to str
        Filled by `statements`.
    position : Position
        Where `statements` is: at the end of the statement that it has just returned.
    """

    text: str
    syntax: str
    name: str
    path: Path
    prefixes: dict[str, str] = field(default_factory=dict)
    position: Position = field(default_factory=Position)

    def statements(self) -> Iterator[Any]:
        """Every statement as a triple or quad of RDF terms; `position` tells its line.

        Raises
        ------
        InputError
            For a syntax error, with its line.
        """
        with self.parsing() as statements:
            yield from statements

    @contextmanager
    def parsing(self, by_line: bool = True) -> Iterator[Iterable[Any]]:
        """The same for a block that goes over them itself, which is faster: in it a syntax error is an `InputError`.
        `position` need not be kept (`by_line`), which is faster again."""
        text = self.text.removeprefix(MARK)
        base = f"file:///{quote(self.name)}"
        if self.syntax in OWL_SYNTAXES:
            yield self._axioms(text, base)
            return
        if self.syntax == "RDF_XML":
            check_xml(self.path, text)
            text = _normalised_xml(text)
        if self.syntax == "JSON_LD":
            check_json_depth(self.path, text)
        ox, data = oxigraph(), text.encode()
        place = Position(source=io.BytesIO(data)) if by_line else Position()
        if self.syntax != "JSON_LD":
            self.position.source = place.source
        try:
            source = _LineByLine(place.source) if place.source else data
            parser = ox.parse(source, format=getattr(ox.RdfFormat, self.syntax), base_iri=base)
            yield parser
            self.prefixes.update(parser.prefixes)
        except (SyntaxError, ValueError) as error:
            message = _POSITION.sub("", str(error.args[0] if error.args else error))
            line = getattr(error, "lineno", None)
            if not line and not by_line:
                deque(self.statements(), maxlen=0)  # which finds the line
            line = line or place.lines([place.mark()])[0]
            raise InputError(f"RDF syntax error: {message}", path=self.path, line=line) from None

    def _axioms(self, text: str, base: str) -> Iterator[Any]:
        for triple, line in OWL_SYNTAXES[self.syntax](text, base, self.path, self.prefixes):
            self.position.line = line
            yield triple


def _normalised_xml(text: str) -> str:
    """An XML text with the line ends and attributes that every XML parser has to make of it, and ours does not.

    A line end is one LF, entities stand in double quotes, and blanks of any kind in an attribute are spaces; line ends
    go behind the attribute, so that lines keep their numbers.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "<!ENTITY" in text:
        text = _QUOTED_ENTITY.sub(r'\1"\2"', text)
    return _TAG.sub(_with_plain_attributes, text) if _BROKEN_ATTRIBUTE.search(text) else text


def _with_plain_attributes(match: re.Match[str]) -> str:
    if match[0].startswith(("<!", "<?")) or not _BROKEN_ATTRIBUTE.search(match[0]):
        return match[0]

    def plain(value: re.Match[str]) -> str:
        return value[0].replace("\n", " ").replace("\t", " ") + "\n" * value[0].count("\n")

    return _QUOTED.sub(plain, match[0])


class _LineByLine:
    """Hands a text out line by line, so that a mark tells the line."""

    def __init__(self, source: io.BytesIO) -> None:
        self.read = source.readline


def declared_encoding(path: Path) -> str | None:
    """The encoding that an XML document declares, None for UTF-8 and for all other documents."""
    with open_raw_bytes(path) as handle:
        match = _DECLARED.match(handle.read(200).decode("latin-1"))
    return match[2] if match and match[2].lower() not in ("utf-8", "us-ascii", "utf-16") else None


def declared_utf8(text: str) -> str:
    """A document that declares UTF-8, in which it is parsed and written, where it declares another encoding."""
    return _DECLARED.sub(r"\1utf-8", text, count=1)


def syntax_of(path: Path, head: bytes) -> str:
    """The syntax of a file: by suffix, and by its first bytes where the suffix says little.

    Parameters
    ----------
    path : Path
        The file; a suffix of no syntax (such as ``.json``) stands for JSON-LD.
    head : bytes
        Its first bytes, after the byte order mark.
    """
    suffix = bare_suffix(path)
    syntax = suffixes.RDF.get(suffix, "JSON_LD")
    if suffix not in _SEVERAL_SYNTAXES:
        return syntax
    start = _COMMENTS.sub(b"", head, count=1)
    if _FUNCTIONAL.match(start):
        return FUNCTIONAL
    if _MANCHESTER.match(start):
        return MANCHESTER
    if not _XML.match(start) or start.startswith((b"<http:", b"<https:", b"<urn:")):
        return syntax if syntax in OWL_SYNTAXES else "TURTLE"
    root = _XML_ROOT.search(_XML_PROLOG.sub(b"", start))
    return OWL_XML if root is not None and root[1] == b"Ontology" else "RDF_XML"


def serialize(
    path: Path, syntax: str, triples: Iterable[Any], prefixes: Mapping[str, str], source: Document | None = None
) -> None:
    """Write statements.

    Parameters
    ----------
    path : Path
        The file.
    syntax : str
        One of the RDF syntaxes of `suffixes.RDF`.
    triples : iterable of Triple or Quad
        Terms of pyoxigraph.
    prefixes : mapping of str to str
        Abbreviations of addresses.
    source : Document, optional
        Where the statements come from: their languages are written as there (the parser makes ``en-gb`` of ``en-GB``).
    """
    ox = oxigraph()
    checked = _fit_for_xml(path, triples) if syntax == "RDF_XML" else triples
    try:
        data = ox.serialize(checked, format=getattr(ox.RdfFormat, syntax), prefixes=dict(prefixes))
    except UnicodeEncodeError:
        raise
    except ValueError as error:
        raise InputError(f"cannot be written in this syntax: {error}", path=path) from None
    for tag in _capital_languages(source.text) if source else ():
        for start in (rb'"@', rb'"@language":"', rb'<[^<>]*xml:lang="'):
            pattern = rb"(?<!\\)(" + start + rb")" + tag.lower().encode() + rb"(?![A-Za-z0-9-])"
            data = re.sub(pattern, rb"\g<1>" + tag.encode(), data)
    with open_binary_to_write(path) as handle:
        handle.write(data)
        handle.write(b"\n" if syntax == "RDF_XML" else b"")


def _capital_languages(text: str) -> list[str]:
    """Languages that are written with capital letters, and never without."""
    tags = set(_LANGUAGE.findall(text))
    lower = {tag for tag in tags if tag == tag.lower()}
    return [tag for tag in tags if tag != tag.lower() and tag.lower() not in lower]


def _fit_for_xml(path: Path, triples: Iterable[Any]) -> Iterator[Any]:
    for triple in triples:
        odd = NOT_IN_XML.search(str(getattr(triple.object, "value", "")))
        if odd:
            message = f"XML cannot hold the character U+{ord(odd[0]):04X}; write Turtle or N-Triples instead"
            raise InputError(message, path=path)
        yield triple
