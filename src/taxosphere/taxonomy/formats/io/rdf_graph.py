"""The statements of an RDF document by subject, and which of them make a hierarchy."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.rdf_syntax import Document, Position
from taxosphere.taxonomy.structure import Ints

Statement = tuple[str, Any]  # predicate, object
Text = tuple[Statement, str, str]  # a statement, its text and its language
Description = tuple[str, int, list[Statement], list[Text]]  # address, line, statements, names and definitions
Edge = tuple[str, str]  # addresses of parent and child
Notes = dict[tuple[str, str, str], list[Statement]]  # annotations of a statement: its subject, predicate, object

HIERARCHY = (rt.BROADER, rt.NARROWER, rt.SUBCLASS)
TEXT_WORDS = frozenset((*rt.NAMES, *rt.DEFINITIONS, rt.COMMENT))
_TOPS = (rt.TOP_CONCEPT_OF, rt.HAS_TOP_CONCEPT)
_UPWARD = frozenset((rt.BROADER, rt.SUBCLASS))
_LINKS = (*HIERARCHY, *_TOPS)
_NOTED = frozenset({rt.TYPE, *_LINKS})
# Relations that lead from parent to child; all others lead from child to parent, like part_of.
_ANONYMOUS = ("_:", "<<")
_NO_CONCEPT = (*_ANONYMOUS, *rt.VOCABULARY_PREFIXES)  # how subjects begin that are no concepts
_DOWNWARD = re.compile(r"narrow|member$|has_?part$|hasMember$", re.IGNORECASE)


@dataclass(slots=True)
class Graph:
    """Statements by subject, and which subjects are concepts. Anonymous nodes are called ``_:label``."""

    about: dict[str, list[Statement]] = field(default_factory=dict)
    lines: list[int] = field(default_factory=list)  # for each subject of `about`, the line it is first met in
    texts: list[list[Text]] = field(default_factory=list)  # the same for its names and definitions that are not blank
    # Statements of types and of the hierarchy by predicate and object, which many subjects share; with the object.
    links: dict[str, dict[str, tuple[Statement, str]]] = field(default_factory=lambda: {word: {} for word in _NOTED})
    unshared: bool = False  # some of these have another object than an address
    predicates: frozenset[str] = frozenset()
    # Each with the line it is first met in.
    concepts: dict[str, int] = field(default_factory=dict)
    described: list[Description] = field(default_factory=list)  # the same concepts with what is said of them
    edges: dict[Edge, int] = field(default_factory=dict)
    used: Counter[str] = field(default_factory=Counter)  # words of the hierarchy, how often
    collections: dict[str, None] = field(default_factory=dict)
    anonymous: set[str] = field(default_factory=set)
    prefixes: dict[str, str] = field(default_factory=dict)
    as_edges: set[tuple[str, str, str]] = field(default_factory=set)  # child, property, parent that options made edges

    def literals(self, key: str, predicates: Iterable[str]) -> Iterator[str]:
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

    def axiom_notes(self) -> Notes:
        """Annotations by subject, predicate and object of the statement that they are about."""
        notes: Notes = {}
        parts = (rt.OWL + "annotatedSource", rt.OWL + "annotatedProperty", rt.OWL + "annotatedTarget")
        for key, statements in self.about.items():
            if not key.startswith("_:"):
                continue
            values = dict(statements)
            if all(part in values for part in parts):
                about = self.key(values[parts[0]]), self.key(values[parts[1]]), str(values[parts[2]])
                said = [s for s in statements if s[0] not in parts and s[0] != rt.TYPE]
                notes.setdefault(about, []).extend(said)
        return notes


def collect(document: Document, options: ReadOptions, with_lines: bool = True) -> Graph:
    """The statements of a document and the hierarchy among them.

    Parameters
    ----------
    document : Document
        The text to parse.
    options : ReadOptions
        `relations` and `equivalents` state what makes further edges.
    with_lines : bool
        Whether to note the lines; without them they are all 0, and reading is faster.

    Raises
    ------
    InputError
        For a syntax error, or a relation that is not there.
    """
    graph = Graph(prefixes=document.prefixes)
    with document.parsing(by_line=with_lines) as statements:
        hierarchy = _gather(graph, statements, document.position if with_lines else None)
    about, concepts, edges, used = graph.about, graph.concepts, graph.edges, graph.used
    if document.syntax in ("N_QUADS", "TRIG") and _has_graphs(document):  # several may state the same
        graph.about = about = {key: list(dict.fromkeys(statements)) for key, statements in about.items()}
        graph.texts = [list(dict.fromkeys(texts)) for texts in graph.texts]
    if not _take_plain(graph, hierarchy):
        for subject, link, line in zip(*hierarchy, strict=True):
            (predicate, _), other = link
            if other in concepts and subject in concepts and predicate in _UPWARD:  # most statements
                edges.setdefault((other, subject), line)
                used[predicate] += 1
            else:
                _note(graph, subject, predicate, other, line)
    if options.relations or options.equivalents:
        _add_edges(graph, document, options)
    # Concepts in the order the file describes them, those it only mentions last.
    rows = zip(about, graph.lines, about.values(), graph.texts, strict=True)
    if about.keys() == concepts.keys():
        described, graph.concepts = list(rows), dict(zip(about, graph.lines, strict=True))
    else:
        described = [row for row in rows if row[0] in concepts]
        graph.concepts = {row[0]: row[1] for row in described}
    if len(described) < len(concepts):
        mentioned = {iri: line for iri, line in concepts.items() if iri not in graph.concepts}
        described += [(iri, line, [], []) for iri, line in mentioned.items()]
        graph.concepts |= mentioned
    graph.described = described
    return graph


class LineFinder:
    """Finds the lines of the concepts and edges of a document, in the order they are read in: parses it once more.

    Parameters
    ----------
    document : Document
        What was read.
    options : ReadOptions
        How it was read.
    """

    def __init__(self, document: Document, options: ReadOptions) -> None:
        self.document, self.relations, self.equivalents = document, options.relations, options.equivalents
        self.lines: tuple[Ints, Ints] | None = None

    def __call__(self) -> tuple[Ints, Ints]:
        if self.lines is None:
            options = ReadOptions(relations=self.relations, equivalents=self.equivalents)
            graph = collect(replace(self.document, position=Position()), options)
            columns = [row[1] for row in graph.described], list(graph.edges.values())
            self.lines = np.array(columns[0], np.int32), np.array(columns[1], np.int32)
        return self.lines


_Link = tuple[Statement, str | None]  # a statement, and the address of its object if it has one
_Links = tuple[list[str], list[_Link], list[int]]  # subjects, statements, lines


def _gather(graph: Graph, quads: Iterable[Any], position: Position | None) -> _Links:
    """Sort the statements by subject and note the types; returns those that may be edges, in their order.

    Runs for every statement of a file: what the statements of a predicate are is decided at the first one. Without a
    position all lines are 0.
    """
    ox, about, marks, links = rt.oxigraph(), graph.about, list[int](), graph.links
    named, literal, of_hierarchy = ox.NamedNode, ox.Literal, frozenset(_LINKS)
    # For each predicate one string, so that later look-ups need not compare letters, whether it states texts, and its
    # statements where many subjects share them.
    predicates: dict[str, tuple[str, bool, dict[str, tuple[Statement, str]] | None]] = {}
    types: defaultdict[str, list[str]] = defaultdict(list)  # subjects by type
    children, statements_up, marks_up = list[str](), list[_Link](), list[int]()
    here: Callable[[], int] = position.mark if position else int
    again: dict[str, list[Text]] = {}  # texts of subjects that the file comes back to
    previous, subject, statements, texts = None, "", list[Statement](), list[Text]()
    for quad in quads:
        term = quad.subject
        if term != previous:  # statements about a subject mostly stand together
            previous, subject = term, term.value if type(term) is named else graph.key(term)
            if subject in about:
                statements, texts = about[subject], again.setdefault(subject, [])
            else:
                about[subject] = statements = []
                marks.append(here())
                graph.texts.append(texts := [])
        predicate, value = quad.predicate.value, quad.object
        kind = predicates.get(predicate)
        if kind is None:
            kind = predicates[predicate] = (predicate, predicate in TEXT_WORDS, links.get(predicate))
        word, is_text, same = kind
        if same is None:
            statement = (word, value)
            statements.append(statement)
            if is_text and type(value) is literal and (text := value.value) and not text.isspace():
                texts.append((statement, text, value.language or ""))
        elif type(value) is named:
            other = value.value
            link = same.get(other)
            if link is None:
                link = same[other] = ((word, value), other)
            statements.append(link[0])
            if word != rt.TYPE:
                children.append(subject)
                statements_up.append(link)
                marks_up.append(here())
            else:
                types[other].append(subject)
        else:
            statements.append((word, value))
            graph.unshared = True
            if word in of_hierarchy:
                children.append(subject)
                statements_up.append(((word, value), None))
                marks_up.append(here())
    graph.lines, graph.predicates = marks, frozenset((*predicates, *links))
    if position is not None:
        graph.lines, marks_up = position.lines(marks), position.lines(marks_up)
    _complete(graph, again, types)
    return children, statements_up, marks_up


def _complete(graph: Graph, again: dict[str, list[Text]], types: dict[str, list[str]]) -> None:
    """Add the texts of subjects that the file came back to, and take the subjects of each type."""
    if again:
        for key, texts in zip(graph.about, graph.texts, strict=True):
            texts += again.get(key, ())
    for kind, subjects in types.items():
        _note_type(graph, kind, subjects)


def _take_plain(graph: Graph, hierarchy: _Links) -> bool:
    """Take all statements of the hierarchy at once if each leads up from one typed concept to another and none is
    repeated; returns whether this is so."""
    subjects, links, lines = hierarchy
    concepts = graph.concepts
    above = [link[1] for link in links if link[1] is not None]
    words = Counter([link[0][0] for link in links])
    if len(above) < len(links) or not words.keys() <= _UPWARD:
        return False
    if not all(map(concepts.__contains__, subjects)) or not all(map(concepts.__contains__, above)):
        return False
    edges = dict(zip(zip(above, subjects, strict=True), lines, strict=True))
    if len(edges) < len(links):
        return False
    graph.edges.update(edges)
    graph.used.update(words)
    return True


def _has_graphs(document: Document) -> bool:
    return len({quad.graph_name for quad in document.statements()}) > 1


def _note(graph: Graph, key: str, predicate: str, other: str | None, line: int) -> None:
    """Take a statement into the hierarchy; `other` is the address of its object if it has one."""
    concepts = graph.concepts
    if key.startswith(_NO_CONCEPT):
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


def _note_type(graph: Graph, kind: str, subjects: list[str]) -> None:
    """Take the subjects that are of a kind of concepts or collections; their lines are those of `Graph.lines`."""
    if kind in rt.CONCEPT_TYPES:
        named = [key for key in subjects if not key.startswith(_NO_CONCEPT)]
        graph.concepts |= dict.fromkeys(named, 0)
        graph.used[kind] += len(named)
        if kind == rt.CONCEPT_TYPES[0] and len(named) < len(subjects):
            graph.anonymous.update(key for key in subjects if key.startswith(_NO_CONCEPT))
    elif kind in rt.COLLECTION_TYPES:
        graph.collections |= dict.fromkeys(key for key in subjects if not key.startswith(_ANONYMOUS))


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
    yield from graph.literals(iri, (*rt.NAMES, rt.OBO_ID, rt.OBO_IN_OWL + "shorthand"))
