"""The statements of an RDF document by subject, and which of them make a hierarchy."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.rdf_syntax import Document

Statement = tuple[str, Any]  # predicate, object
Edge = tuple[str, str]  # addresses of parent and child

HIERARCHY = (rt.BROADER, rt.NARROWER, rt.SUBCLASS)
_TOPS = (rt.TOP_CONCEPT_OF, rt.HAS_TOP_CONCEPT)
_NOTED = frozenset({rt.TYPE, *HIERARCHY, *_TOPS})
# Relations that lead from parent to child; all others lead from child to parent, like part_of.
_ANONYMOUS = ("_:", "<<")
_NO_CONCEPT = (*_ANONYMOUS, *rt.VOCABULARY_PREFIXES)  # how subjects begin that are no concepts
_DOWNWARD = re.compile(r"narrow|member$|has_?part$|hasMember$", re.IGNORECASE)


@dataclass(slots=True)
class Graph:
    """Statements by subject, and which subjects are concepts. Anonymous nodes are called ``_:label``."""

    about: dict[str, list[Statement]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)  # for each subject of `about`, the line it is first met in
    # Each with the line it is first met in.
    concepts: dict[str, int] = field(default_factory=dict)
    edges: dict[Edge, int] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)  # words of the hierarchy, how often
    collections: dict[str, None] = field(default_factory=dict)
    anonymous: set[str] = field(default_factory=set)
    prefixes: dict[str, str] = field(default_factory=dict)
    as_edges: set[tuple[str, str, str]] = field(default_factory=set)  # child, property, parent that options made edges

    def texts(self, key: str, predicates: Iterable[str]) -> Iterator[str]:
        """The literals that are stated of a subject."""
        for predicate, value in self.about.get(key, ()):
            if predicate in predicates and rt.is_literal(value):
                yield str(value.value)

    def one(self, key: str, predicate: str) -> Any | None:
        """The first value of a property."""
        return next((value for name, value in self.about.get(key, ()) if name == predicate), None)

    def key(self, term: Any) -> str:
        """What this graph calls a subject."""
        ox = rt.oxigraph()
        if isinstance(term, ox.NamedNode):
            return str(term.value)
        return f"_:{term.value}" if isinstance(term, ox.BlankNode) else str(term)

    def list(self, node: Any) -> Iterator[Any]:
        """The members of an RDF list."""
        seen = set()
        while node is not None and (key := self.key(node)) not in seen and key != rt.RDF + "nil":
            seen.add(key)
            first = self.one(key, rt.RDF + "first")
            if first is not None:
                yield first
            node = self.one(key, rt.RDF + "rest")

    def restriction(self, node: Any) -> tuple[str, str] | None:
        """Property and class of ``some`` restrictions between named things."""
        key = self.key(node)
        if not key.startswith("_:"):
            return None
        property, target = self.one(key, rt.OWL + "onProperty"), self.one(key, rt.OWL + "someValuesFrom")
        named = rt.oxigraph().NamedNode
        if not isinstance(property, named) or not isinstance(target, named):
            return None
        return str(property.value), str(target.value)

    def definitions_of(self, concept: str) -> Iterator[Any]:
        """The members of every intersection that a class is equivalent to."""
        for predicate, value in self.about.get(concept, ()):
            if predicate == rt.OWL + "intersectionOf":
                yield from self.list(value)
            elif predicate == rt.EQUIVALENT:
                yield from self.list(self.one(self.key(value), rt.OWL + "intersectionOf"))


def collect(document: Document, options: ReadOptions) -> Graph:
    """The statements of a document and the hierarchy among them.

    Parameters
    ----------
    document : Document
        The text to parse.
    options : ReadOptions
        `relations` and `equivalents` state what makes further edges.

    Raises
    ------
    InputError
        For a syntax error, or a relation that is not there.
    """
    graph = Graph(prefixes=document.prefixes)
    named, about, lines, position = rt.oxigraph().NamedNode, graph.about, graph.lines, document.position
    predicates: dict[str, str] = {}  # one string for each, so that later look-ups need not compare letters
    # Statements of the hierarchy by predicate and object: many subjects share one.
    shared: dict[str, dict[str, tuple[Statement, str]]] = {predicate: {} for predicate in _NOTED}
    subject, statements = None, list[Statement]()
    for quad in document.statements():
        term, predicate, value = quad.subject, quad.predicate.value, quad.object
        key = term.value if type(term) is named else graph.key(term)
        if key != subject:  # statements about a subject mostly stand together
            subject, present = key, about.get(key)
            if present is None:
                about[key] = statements = []
                lines.append(position.line)
            else:
                statements = present
        same = shared.get(predicate)
        if same is None:
            statements.append((predicates.setdefault(predicate, predicate), value))
        elif type(value) is named:
            other = value.value
            statement, other = same.get(other) or same.setdefault(other, ((predicate, value), other))
            statements.append(statement)
            _note(graph, key, statement[0], other, position.line)
        else:
            statements.append((predicates.setdefault(predicate, predicate), value))
            _note(graph, key, predicate, None, position.line)
    if document.syntax in ("N_QUADS", "TRIG") and _has_graphs(document):  # several may state the same
        graph.about = about = {key: list(dict.fromkeys(statements)) for key, statements in about.items()}
    if options.relations or options.equivalents:
        _add_edges(graph, document, options)
    # Concepts in the order the file describes them, those it only mentions last.
    described = {iri: line for iri, line in zip(about, lines, strict=True) if iri in graph.concepts}
    if len(described) < len(graph.concepts):
        described |= {iri: line for iri, line in graph.concepts.items() if iri not in described}
    graph.concepts = described
    return graph


def _has_graphs(document: Document) -> bool:
    return len({quad.graph_name for quad in document.statements()}) > 1


def _note(graph: Graph, key: str, predicate: str, other: str | None, line: int) -> None:
    """Take a statement into the hierarchy if it is a part of it; `other` is the address of its object if it has one."""
    concepts = graph.concepts
    if predicate == rt.TYPE:
        _note_type(graph, key, other, line)
    elif key in concepts and other in concepts and (predicate == rt.BROADER or predicate == rt.SUBCLASS):
        graph.edges.setdefault((other, key), line)  # most statements
        graph.used[predicate] += 1
    elif key.startswith(_NO_CONCEPT):
        return
    elif predicate in _TOPS:
        concept = key if predicate == rt.TOP_CONCEPT_OF else other
        if concept is not None and not rt.is_vocabulary(concept):
            concepts.setdefault(concept, line)
            graph.used[rt.BROADER] += 1
    elif other is None or rt.is_vocabulary(other):
        concepts.setdefault(key, line)  # below owl:Thing or an anonymous class
    else:
        graph.edges.setdefault((key, other) if predicate == rt.NARROWER else (other, key), line)
        concepts.setdefault(key, line)
        concepts.setdefault(other, line)
        graph.used[predicate] += 1


def _note_type(graph: Graph, key: str, kind: str | None, line: int) -> None:
    if kind in rt.CONCEPT_TYPES:
        if not key.startswith(_NO_CONCEPT):
            graph.concepts.setdefault(key, line)
            graph.used[kind] += 1
        elif kind == rt.CONCEPT_TYPES[0]:
            graph.anonymous.add(key)
    elif kind in rt.COLLECTION_TYPES and not key.startswith(_ANONYMOUS):
        graph.collections[key] = None


def _add_edges(graph: Graph, document: Document, options: ReadOptions) -> None:
    """The edges that options make of other statements."""
    properties = _properties(graph, document, options.relations) if options.relations else {}
    named = rt.oxigraph().NamedNode
    sources = [*graph.concepts, *(graph.collections if rt.MEMBER in properties else ())]
    lines = dict(zip(graph.about, graph.lines, strict=True))
    for key in sources:
        line = lines.get(key, 0)
        for predicate, value in graph.about.get(key, ()):
            if predicate in properties and isinstance(value, named) and not rt.is_vocabulary(value.value):
                _add_edge(graph, (key, predicate, value.value), properties[predicate], line)
            elif predicate == rt.SUBCLASS and (pair := graph.restriction(value)) and pair[0] in properties:
                _add_edge(graph, (key, *pair), properties[pair[0]], line)
        for member in graph.definitions_of(key) if options.equivalents else ():
            pair = graph.restriction(member)
            if isinstance(member, named) and not rt.is_vocabulary(member.value):
                _add_edge(graph, (key, rt.EQUIVALENT, member.value), False, line)
            elif pair is not None and pair[0] in properties:
                _add_edge(graph, (key, *pair), properties[pair[0]], line)


def _add_edge(graph: Graph, statement: tuple[str, str, str], downward: bool, line: int) -> None:
    key, _, other = statement
    edge = (key, other) if downward else (other, key)
    graph.as_edges.add(statement)
    graph.edges.setdefault(edge, line)
    for end in edge:
        graph.concepts.setdefault(end, line)


def _properties(graph: Graph, document: Document, names: Iterable[str]) -> dict[str, bool]:
    """Addresses of the relations with these names, each with whether it leads from parent to child.

    A relation is named by its address, abbreviated or not, the end of it, its label, or its OBO id.
    """
    used: Counter[str] = Counter()
    named = rt.oxigraph().NamedNode
    for key, statements in graph.about.items():
        for predicate, value in statements:
            if predicate == rt.OWL + "onProperty" and isinstance(value, named):
                used[value.value] += 1
            elif isinstance(value, named) and (key in graph.concepts or key in graph.collections):
                used[predicate] += 1
    spelled: dict[str, list[str]] = {}
    for iri in used:
        for name in _names(graph, iri):
            spelled.setdefault(rt.spelled(name), []).append(iri)
    chosen: dict[str, bool] = {}
    for name in names:
        matches = spelled.get(rt.spelled(name))
        if not matches:
            listed = ", ".join(rt.local_name(iri) for iri, _ in used.most_common(12) if iri not in _NOTED) or "none"
            raise InputError(f"no relation is called '{name}'; the file has: {listed}", path=document.path)
        chosen |= {iri: bool(_DOWNWARD.search(rt.local_name(iri))) for iri in matches}
    return chosen


def _names(graph: Graph, iri: str) -> Iterator[str]:
    yield iri
    yield rt.local_name(iri)
    yield rt.id_of(iri, rt.curie_of(iri))
    for prefix, start in (graph.prefixes | rt.PREFIXES).items():
        if start and iri.startswith(start):
            yield f"{prefix}:{iri.removeprefix(start)}"
    yield from graph.texts(iri, (*rt.NAMES, rt.OBO_ID, rt.OBO_IN_OWL + "shorthand"))
