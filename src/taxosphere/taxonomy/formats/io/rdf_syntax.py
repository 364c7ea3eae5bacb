"""The four spellings of RDF: which one a file has, and triples from and to it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote
from xml.parsers import expat

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io.rdf_terms import oxigraph
from taxosphere.taxonomy.formats.io.streams import BLOCK, bare_suffix, open_binary_to_write, open_bytes, open_text

SYNTAX_OF_SUFFIX = {
    ".ttl": "TURTLE",
    ".turtle": "TURTLE",
    ".nt": "N_TRIPLES",
    ".jsonld": "JSON_LD",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".skos": "RDF_XML",
    ".xml": "RDF_XML",
}
_CUT_OFF = (expat.errors.XML_ERROR_NO_ELEMENTS, expat.errors.XML_ERROR_UNCLOSED_TOKEN)
_POSITION = re.compile(r"^Parser error at line \d+ [^:]*: |^at \d+\.\.\d+: |\s*\([^()]*line \d+\)$")
_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Lines:
    """Hands a file out line by line, so that the line the parser is at is known at any time; it does not tell."""

    def __init__(self, handle: IO[bytes]) -> None:
        self.handle = handle
        self.number = 1
        self.ended = False

    def read(self, size: int = -1) -> bytes:
        line = self.handle.readline(size)
        self.number += self.ended and bool(line)
        self.ended = line.endswith(b"\n")
        return line


def parse(path: Path, prefixes: dict[str, str]) -> Iterator[tuple[Any, str, Any, int]]:
    """Subject, predicate address, object, and the line where they end; 0 in JSON-LD, which is parsed in larger pieces.
    Anonymous nodes get the same labels in every run; fills `prefixes`."""
    ox = oxigraph()
    labels: dict[str, Any] = {}

    def steady(node: Any) -> Any:
        if isinstance(node, ox.BlankNode):
            return labels.setdefault(node.value, ox.BlankNode(f"b{len(labels)}"))
        return node

    with open_bytes(path) as handle:
        syntax = _syntax(path, handle)
        if syntax == ox.RdfFormat.RDF_XML:
            _refuse_broken_xml(path)
        lines = _Lines(handle)
        try:
            # Relative addresses are resolved against the name of the file alone, the same on every machine.
            parser = ox.parse(lines, format=syntax, base_iri=f"file:///{quote(path.name)}")
            for quad in parser:
                line = lines.number if syntax != ox.RdfFormat.JSON_LD else 0
                yield steady(quad.subject), quad.predicate.value, steady(quad.object), line
            prefixes.update(parser.prefixes)
        except (SyntaxError, ValueError) as error:
            message = _POSITION.sub("", str(error.args[0] if error.args else error))
            line = getattr(error, "lineno", None) or lines.number
            raise InputError(f"RDF syntax error: {message}", path=path, line=line) from None


def _syntax(path: Path, handle: IO[bytes]) -> Any:
    """By suffix; where RDF/XML is usual, Turtle is recognised by its first character."""
    ox = oxigraph()
    name = SYNTAX_OF_SUFFIX.get(bare_suffix(path), "JSON_LD")
    head = handle.peek(4096).lstrip()  # type: ignore[attr-defined]
    if head.startswith((b"Prefix(", b"Ontology(")):
        raise InputError("is OWL in functional syntax; save it as RDF/XML or Turtle", path=path, line=1)
    if name == "RDF_XML" and b"<Ontology" in head and b"RDF" not in head.partition(b"<Ontology")[0]:
        raise InputError("is OWL/XML; save it as RDF/XML or Turtle", path=path, line=1)
    if name == "RDF_XML" and (head[:1] != b"<" or head.startswith((b"<http", b"<urn:"))):
        name = "TURTLE"
    return getattr(ox.RdfFormat, name)


def _refuse_broken_xml(path: Path) -> None:
    """The RDF parser is content with a file that ends before its elements do, and expands entities without limit."""
    parser = expat.ParserCreate()
    with open_text(path) as handle:
        try:
            while block := handle.read(BLOCK):
                parser.Parse(block)
            parser.Parse("", True)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            hint = "; is the file cut off?" * (message in _CUT_OFF)
            raise InputError(f"XML syntax error: {message}{hint}", path=path, line=error.lineno) from None


def serialize(path: Path, triples: Iterable[tuple[Any, str, Any]], prefixes: Mapping[str, str]) -> None:
    ox = oxigraph()
    name = SYNTAX_OF_SUFFIX.get(bare_suffix(path), "JSON_LD")
    checked = _fit_for_xml(path, triples) if name == "RDF_XML" else triples
    statements = (ox.Triple(subject, ox.NamedNode(predicate), value) for subject, predicate, value in checked)
    with open_binary_to_write(path) as handle:
        ox.serialize(statements, handle, getattr(ox.RdfFormat, name), prefixes=dict(prefixes))
        handle.write(b"\n" if name == "RDF_XML" else b"")


def _fit_for_xml(path: Path, triples: Iterable[tuple[Any, str, Any]]) -> Iterator[tuple[Any, str, Any]]:
    for triple in triples:
        odd = _NOT_IN_XML.search(str(getattr(triple[2], "value", "")))
        if odd:
            message = f"XML cannot hold the control character {odd[0]!a}; write Turtle or N-Triples instead"
            raise InputError(message, path=path)
        yield triple
