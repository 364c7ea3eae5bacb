"""OWL in its own XML syntax (OWL/XML, not RDF/XML)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.parsers import expat

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import owl_triples
from taxosphere.taxonomy.formats.io.limits import check_xml
from taxosphere.taxonomy.formats.io.owl_functional import Axiom, Terms, translate
from taxosphere.taxonomy.formats.io.rdf_terms import RDF

_ENTITIES = (*owl_triples.ENTITIES, "AnonymousIndividual")
_CARDINALITY = "Cardinality"
_XML_LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"
_XML_BASE = "http://www.w3.org/XML/1998/namespace base"


def axioms(text: str, base: str, path: Path, prefixes: dict[str, str]) -> Iterator[tuple[Any, int]]:
    """The triples of an OWL document in OWL/XML, each with the line of its axiom.

    Parameters
    ----------
    text : str
        The document.
    base : str
        What relative addresses are resolved against, unless the document says so.
    path : Path
        The file that errors name.
    prefixes : dict of str to str
        Receives the prefixes of the document.

    Raises
    ------
    InputError
        For a syntax error, with its line.
    """
    check_xml(path, text)
    reader = _Reader(path, Terms(base, prefixes))
    reader.parse(text)
    translator = owl_triples.Translator()
    for axiom in (Axiom(("Ontology", *reader.iris, *reader.head), 1, 0, 0), *reader.axioms):
        for triple in translate(translator, axiom, path):
            yield triple, axiom.line


class _Reader:
    """Collects the elements of a document as expressions."""

    def __init__(self, path: Path, terms: Terms) -> None:
        self.path = path
        self.terms = terms
        self.iris: list[Any] = []
        self.head: list[Any] = []
        self.axioms: list[Axiom] = []
        self.stack: list[tuple[str, dict[str, str], list[Any], int]] = []
        self.texts: list[str] = []
        self.parser = expat.ParserCreate(namespace_separator=" ")

    def parse(self, text: str) -> None:
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self.texts.append
        try:
            self.parser.Parse(text, True)
        except expat.ExpatError as error:  # a blank in a namespace, which only this parser looks into
            message = f"XML syntax error: {expat.ErrorString(error.code)}"
            raise InputError(message, path=self.path, line=error.lineno) from None

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(" ")[2]
        self.texts.clear()
        if not self.stack:
            self.terms.base = attributes.get(_XML_BASE, attributes.get("ontologyIRI", self.terms.base))
            self.iris = [self.terms.iri(attributes[key]) for key in ("ontologyIRI", "versionIRI") if key in attributes]
        self.stack.append((name, attributes, [], self.parser.CurrentLineNumber))

    def _end(self, _: str) -> None:
        name, attributes, children, line = self.stack.pop()
        if not self.stack:
            return
        try:
            expression = self._expression(name, attributes, children)
        except (ValueError, KeyError) as error:
            raise InputError(f"OWL syntax error: <{name}>: {error}", path=self.path, line=line) from None
        if expression is None:
            return
        if len(self.stack) > 1:
            self.stack[-1][2].extend(expression if name == "FacetRestriction" else [expression])
        elif name in ("Annotation", "Import"):
            self.head.append(expression)
        else:
            self.axioms.append(Axiom(expression, line, 0, 0))

    def _expression(self, name: str, attributes: dict[str, str], children: list[Any]) -> Any:
        if name == "Prefix":
            self.terms.prefixes[attributes["name"]] = attributes["IRI"]
            return None
        if name == "Import":
            return ("Import", self.terms.iri("".join(self.texts).strip()))
        if name == "IRI":
            return self.terms.iri("".join(self.texts).strip())
        if name == "AbbreviatedIRI":
            return self.terms.name("".join(self.texts).strip())
        if name == "Literal":
            return self._literal(attributes)
        if name == "AnonymousIndividual":
            return self.terms.ox.BlankNode("n" + "".join(c if c.isalnum() else "_" for c in attributes["nodeID"]))
        if name in _ENTITIES:
            entity = self._entity(attributes)
            return (name, entity) if self.stack[-1][0] == "Declaration" else entity
        if name == "FacetRestriction":
            return [self.terms.iri(attributes["facet"]), children[0]]
        number = [self.terms.ox.Literal(attributes["cardinality"])] if name.endswith(_CARDINALITY) else []
        return (name, *number, *children)

    def _entity(self, attributes: dict[str, str]) -> Any:
        if "abbreviatedIRI" in attributes:
            return self.terms.name(attributes["abbreviatedIRI"])
        return self.terms.iri(attributes["IRI"])

    def _literal(self, attributes: dict[str, str]) -> Any:
        datatype = attributes.get("datatypeIRI")
        language = attributes.get(_XML_LANGUAGE)
        plain = datatype is None or datatype == RDF + "PlainLiteral"
        return self.terms.literal("".join(self.texts), language, None if plain else self.terms.iri(datatype or ""))
