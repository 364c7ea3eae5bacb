"""Changes in the text of an RDF or OWL document that leave all other letters as they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import owl_spelling
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.owl_spelling import Added, Removed
from taxosphere.taxonomy.formats.io.rdf_graph import Graph
from taxosphere.taxonomy.formats.io.rdf_syntax import Document
from taxosphere.taxonomy.formats.io.xml_tree import escape_content, quoted

_PREFIX_LINE = re.compile(r"@prefix\s+([^\s:]*):\s*<([^>]*)>\s*\.\s*")
_ROOT = re.compile(r"<(?:[\w.-]+:)?RDF\b[^>]*>", re.DOTALL)
_CLOSING = re.compile(r"[ \t]*</(?P<prefix>[\w.-]+:)?(?:RDF|Ontology)\s*>\s*(?:<!--(?:(?!-->).)*-->\s*)*\Z", re.DOTALL)
_SPLIT = re.compile(r"(.*[/#:])([A-Za-z_][\w.-]*)", re.DOTALL)


def edited(
    document: Document, added: Added, triples: list[Any], removed: set[tuple[str, str, str]], graph: Callable[[], Any]
) -> str | None:
    """The text of a document with statements added and removed, all else untouched.

    Parameters
    ----------
    document : Document
        The source.
    added : sequence of (str, sequence of Claim)
        What is new, by address of the subject.
    triples : list of Triple
        The same as RDF.
    removed : set of (str, str, str)
        Statements that go: subject, predicate, spelling of the object.
    graph : callable
        The graph that new statements belong to.

    Returns
    -------
    str or None
        None where the syntax allows no such change, so that the document must be written anew.
    """
    if document.syntax in ("N_TRIPLES", "N_QUADS"):
        return _appended(_without_lines(document, removed), _serialized(document, triples, graph()))
    if document.syntax == "FUNCTIONAL":
        return owl_spelling.edit_functional(document, added, removed)
    if removed:
        return None
    text: str | None
    if document.syntax in ("TURTLE", "TRIG"):
        text = _appended(document.text, _serialized(document, triples, graph()))
    elif document.syntax == "RDF_XML":
        text = _into_xml(document.text, _rdf_xml(document, triples))
    elif document.syntax == "OWL_XML":
        text = _into_xml(document.text, owl_spelling.xml(added))
    elif document.syntax == "MANCHESTER":
        text = _appended(document.text, owl_spelling.frames(added))
    else:
        return None
    return text if text is not None and _is_sound(document, text, triples) else None


def _is_sound(document: Document, text: str, triples: list[Any]) -> bool:
    """Whether the new text parses, to as many statements as it should: a check on everything above."""
    again = Document(text=text, syntax=document.syntax, name=document.name, path=document.path)
    try:
        size = sum(1 for _ in again.statements())
    except InputError:
        return False
    before = sum(1 for _ in document.statements())
    return size == before + len(triples) or document.syntax in ("OWL_XML", "MANCHESTER")


# -- lines and statements at the end ----------------------------------------------------------------------------------


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _appended(text: str, more: str) -> str:
    end = _line_end(text)
    gap = "" if text.endswith("\n") or not text else end
    return text + gap + more.replace("\n", end)


def _serialized(document: Document, triples: list[Any], graph: Any) -> str:
    """Statements in the syntax of a document, without the prefixes that it declares already."""
    ox = rt.oxigraph()
    quads = [ox.Quad(triple.subject, triple.predicate, triple.object, graph) for triple in triples]
    if document.syntax in ("TURTLE", "N_TRIPLES"):
        quads = triples
    data = ox.serialize(quads, format=getattr(ox.RdfFormat, document.syntax), prefixes=_prefixes(document, triples))
    lines = data.decode().splitlines(keepends=True)
    kept = [line for line in lines if not _is_declared(document, line)]
    return "".join(kept)


def _prefixes(document: Document, triples: list[Any]) -> dict[str, str]:
    """Those of the document, and usual ones for what else the statements use."""
    words = [triple.predicate.value for triple in triples] + [getattr(t.object, "value", "") for t in triples]
    used = {name: iri for name, iri in rt.PREFIXES.items() if any(word.startswith(iri) for word in words)}
    taken = set(document.prefixes.values())
    new = {name: iri for name, iri in used.items() if iri not in taken and name not in document.prefixes}
    return document.prefixes | new


def _is_declared(document: Document, line: str) -> bool:
    match = _PREFIX_LINE.fullmatch(line)
    return match is not None and document.prefixes.get(match[1]) == match[2]


def _without_lines(document: Document, removed: Removed) -> str:
    """A text of one statement per line without those that go."""
    graph, marks = Graph(), list[int]()
    for quad in document.statements():
        if (graph.key(quad.subject), quad.predicate.value, str(quad.object)) in removed:
            marks.append(document.position.mark())
    gone = set(document.position.lines(marks))
    lines = document.text.split("\n")
    return "\n".join(line for number, line in enumerate(lines, 1) if number not in gone)


# -- XML --------------------------------------------------------------------------------------------------------------


def _into_xml(text: str, elements: str) -> str | None:
    """A text with elements before the closing tag of its root."""
    closing = _CLOSING.search(text)
    if closing is None:
        return None
    elements = elements.replace("<@", f"<{closing['prefix'] or ''}").replace("</@", f"</{closing['prefix'] or ''}")
    return text[: closing.start()] + elements.replace("\n", _line_end(text)) + text[closing.start() :]


def _rdf_xml(document: Document, triples: list[Any]) -> str:
    """One element per subject, with the prefixes that the root declares."""
    root = _ROOT.search(document.text)
    names = _XmlNames(root[0] if root else "")
    subjects: dict[Any, list[Any]] = {}
    for triple in triples:
        subjects.setdefault(triple.subject, []).append(triple)
    return "".join(_element(names, subject, said) for subject, said in subjects.items())


def _element(names: _XmlNames, subject: Any, triples: list[Any]) -> str:
    ox = rt.oxigraph()
    kinds = [triple for triple in triples if triple.predicate.value == rt.TYPE and names.split(triple.object.value)]
    kind = kinds[0].object.value if kinds else rt.RDF + "Description"
    tag, spaces = names.tag(kind)
    rdf, more = names.tag(rt.RDF + "about")
    about = rdf if isinstance(subject, ox.NamedNode) else rdf.replace("about", "nodeID")
    name = f"    <{tag}{spaces}{more if more not in spaces else ''} {about}={quoted(subject.value)}"
    lines = [_property(names, triple) for triple in triples if not kinds or triple != kinds[0]]
    return f"{name}>\n{''.join(lines)}    </{tag}>\n"


def _property(names: _XmlNames, triple: Any) -> str:
    ox = rt.oxigraph()
    tag, spaces = names.tag(triple.predicate.value)
    value = triple.object
    rdf, more = names.tag(rt.RDF + "resource")
    more = "" if more in spaces else more
    if isinstance(value, ox.NamedNode):
        return f"        <{tag}{spaces}{more} {rdf}={quoted(value.value)}/>\n"
    if isinstance(value, ox.BlankNode):
        return f"        <{tag}{spaces}{more} {rdf.replace('resource', 'nodeID')}={quoted(value.value)}/>\n"
    mark = ' xml:lang=""' if names.has_language else ""
    if value.language:
        mark = f" xml:lang={quoted(value.language)}"
    elif value.datatype.value != rt.XSD + "string":
        mark = f"{more} {rdf.replace('resource', 'datatype')}={quoted(value.datatype.value)}"
    return f"        <{tag}{spaces}{mark}>{escape_content(value.value)}</{tag}>\n"


class _XmlNames:
    """Names of elements: with a prefix of the root element where it declares one, else with their namespace."""

    def __init__(self, root: str) -> None:
        declared = re.findall(r"xmlns:([\w.-]+)\s*=\s*[\"']([^\"'&]*)[\"']", root)
        self.prefixes = {iri: prefix for prefix, iri in reversed(declared)}
        self.usual = {iri: prefix for prefix, iri in rt.PREFIXES.items()}
        self.has_language = "xml:lang" in root

    def split(self, iri: str) -> re.Match[str] | None:
        return _SPLIT.fullmatch(iri)

    def tag(self, iri: str) -> tuple[str, str]:
        """The name of an element and the declaration that it needs."""
        parts = self.split(iri)
        if parts is None:
            raise InputError(f"XML has no name for the property {iri}; write Turtle instead")
        if parts[1] in self.prefixes:
            return f"{self.prefixes[parts[1]]}:{parts[2]}", ""
        prefix = self.usual.get(parts[1], "ns")
        return f"{prefix}:{parts[2]}", f" xmlns:{prefix}={quoted(parts[1])}"
