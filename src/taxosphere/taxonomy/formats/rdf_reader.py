"""From statements to concepts: which statements a taxonomy understands, and where it keeps the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.rdf_syntax import parse

Statement = tuple[str, Any]
HIERARCHY = (rt.BROADER, rt.NARROWER, rt.SUBCLASS)
ENOUGH_ENGLISH = 0.9  # English is the usual language if it names at least this part of what the most frequent one does


@dataclass(slots=True)
class Graph:
    """Statements by subject, and which subjects are concepts."""

    about: dict[str, list[Statement]] = field(default_factory=dict)
    # Each with the line it is first met in.
    subjects: dict[str, int] = field(default_factory=dict)
    concepts: dict[str, int] = field(default_factory=dict)
    edges: dict[tuple[str, str], int] = field(default_factory=dict)  # (parent, child)
    used: Counter[str] = field(default_factory=Counter)  # words of the hierarchy, how often
    others: list[str] = field(default_factory=list)
    prefixes: dict[str, str] = field(default_factory=dict)
    anonymous: set[str] = field(default_factory=set)


def read(path: Path, options: ReadOptions) -> Draft:
    graph = _collect(path)
    if not graph.concepts:
        message = "holds no skos:Concept, owl:Class, skos:broader or rdfs:subClassOf; is it a hierarchy?"
        raise InputError(message, path=path)
    draft = Draft(path=path, format="rdf")
    skos = sum(count for word, count in graph.used.items() if word.startswith(rt.SKOS))
    vocabulary = "skos" if 2 * skos >= graph.used.total() else "owl"
    reader = _ConceptReader(draft, graph, rt.VOCABULARIES[vocabulary])
    reader.read_all()
    draft.meta["rdf"] = {
        "vocabulary": vocabulary,
        "language": reader.language,
        "comments": reader.defined_by_comments,
        "narrower": graph.used[rt.NARROWER] > 0,
        "prefixes": graph.prefixes,
        "statements": graph.others,
    }
    reader.say_what_is_missing()
    return draft


def _collect(path: Path) -> Graph:
    graph = Graph()
    ox = rt.oxigraph()
    for subject, predicate, value, line in parse(path, graph.prefixes):
        named = isinstance(subject, ox.NamedNode)
        if named:
            graph.subjects.setdefault(subject.value, line)
        if named and predicate in HIERARCHY and _is_link(graph, (subject, predicate, value), line):
            continue
        if predicate == rt.TYPE and str(getattr(value, "value", "")) in rt.CONCEPT_TYPES:
            if named and not rt.is_vocabulary(subject.value):
                graph.concepts.setdefault(subject.value, line)
                graph.used[value.value] += 1
            elif value.value == rt.CONCEPT_TYPES[0]:
                graph.anonymous.add(str(subject))
        if named and isinstance(value, (ox.NamedNode, ox.Literal)):
            graph.about.setdefault(subject.value, []).append((predicate, value))
        else:
            graph.others.append(f"{subject} <{predicate}> {value} .")
    for iri, said in graph.about.items():
        if iri not in graph.concepts:
            graph.others += (f"<{iri}> <{predicate}> {value} ." for predicate, value in said)
    # Concepts in the order the file describes them, those it only mentions last.
    described = {iri: line for iri, line in graph.subjects.items() if iri in graph.concepts}
    graph.concepts = described | {iri: line for iri, line in graph.concepts.items() if iri not in described}
    return graph


def _is_link(graph: Graph, statement: tuple[Any, str, Any], line: int) -> bool:
    """Takes a statement into the hierarchy; one about `owl:Thing` or an anonymous class is no part of it."""
    subject, predicate, value = statement
    named = isinstance(value, rt.oxigraph().NamedNode)
    if not named or rt.is_vocabulary(value.value) or rt.is_vocabulary(subject.value):
        if not rt.is_vocabulary(subject.value):
            graph.concepts.setdefault(subject.value, line)
        return False
    parent, child = (subject, value) if predicate == rt.NARROWER else (value, subject)
    graph.edges.setdefault((parent.value, child.value), line)
    for end in (subject, value):
        graph.concepts.setdefault(end.value, line)
    graph.used[predicate] += 1
    return True


class _ConceptReader:
    """Turns the statements about each concept into its columns."""

    def __init__(self, draft: Draft, graph: Graph, vocabulary: rt.Vocabulary) -> None:
        self.draft = draft
        self.graph = graph
        self.vocabulary = vocabulary
        self.language = self._usual_language()
        predicates = {p for iri in graph.concepts for p, _ in graph.about.get(iri, ())}
        self.defined_by_comments = rt.COMMENT in predicates and predicates.isdisjoint(rt.DEFINITIONS)
        self.definitions = (rt.COMMENT,) if self.defined_by_comments else rt.DEFINITIONS
        self.nameless = 0

    def _usual_language(self) -> str:
        """English where it names nearly as many concepts as any other, since more was learnt from English texts; else
        the language that names most, the first of equals. Empty for names without one. A stray translation must not
        decide what language a whole thesaurus is in."""
        languages: Counter[str] = Counter()
        for iri in self.graph.concepts:
            names = _texts(self.graph.about.get(iri, ()), rt.NAMES)
            languages.update(list(dict.fromkeys(value.language or "" for _, value in names)))
        most = max(languages, key=lambda language: languages[language], default="")
        english = max(filter(_is_english, languages), key=lambda language: languages[language], default=most)
        return english if languages[english] >= ENOUGH_ENGLISH * languages[most] else most

    def read_all(self) -> None:
        ids = {}
        for iri in self.graph.concepts:
            statements = self.graph.about.get(iri, [])
            stated = next((str(o.value) for p, o in statements if p == rt.OBO_ID), None)
            ids[iri] = rt.id_of(iri, stated)
            self._read_concept(iri, ids[iri], statements)
        for (parent, child), line in self.graph.edges.items():
            self.draft.edge(ids[parent], ids[child], line)

    def say_what_is_missing(self) -> None:
        told = (
            (self.nameless, "concept", "without a label, called by the end of the address"),
            (len(self.graph.anonymous), "concept", "without an address left out (kept for RDF files)"),
        )
        for count, noun, text in told:
            if count:
                self.draft.left_out(f"{counted(count, noun)} {text}")

    def _read_concept(self, iri: str, id: str, statements: list[Statement]) -> None:
        name = self._choose(statements, rt.NAMES)
        definition = self._choose(statements, self.definitions)
        synonyms: dict[str, None] = {}
        images, extras = [], []
        for statement in statements:
            predicate, value = statement
            if predicate == rt.DEPICTION:
                images.append(value.value)
                continue
            if predicate in rt.SYNONYMS and rt.is_literal(value):
                synonyms[value.value] = None
            if predicate == rt.OBO_ID and rt.is_obo_id(id) and value.value == id:
                continue
            if not self._goes_without_saying(statement, (name, definition), statements):
                extras.append(rt.statement_to_pair(predicate, value))
        self.nameless += name is None
        text = name[1].value if name else rt.local_name(iri)
        description, line = definition[1].value if definition else "", self.graph.concepts[iri]
        self.draft.concept(id, text, description, synonyms, images, extras, line)

    def _choose(self, statements: list[Statement], predicates: Sequence[str]) -> Statement | None:
        """The best statement: in the usual language or none, else in English; then by predicate, then the first. The
        language comes first because a change of vocabulary moves a name to another predicate, but not its
        translations. A text without a language is no translation, so there the better predicate wins."""

        def order(statement: Statement) -> tuple[int, int, int]:
            rank = self._rank(statement[1].language or "")
            return max(rank, 1), predicates.index(statement[0]), rank

        return min(_texts(statements, predicates), key=order, default=None)

    def _rank(self, language: str) -> int:
        return 0 if language == self.language else 1 if not language else 2 if _is_english(language) else 3

    def _goes_without_saying(
        self, statement: Statement, chosen: tuple[Statement | None, Statement | None], statements: list[Statement]
    ) -> bool:
        """Whether the writer would say exactly this without being told."""
        predicate, value = statement
        words = self.vocabulary
        if predicate == rt.TYPE:
            return bool(value.value == words.type)
        if not rt.is_literal(value) or (value.language or "") != self.language:
            return False
        if not self.language and not rt.is_plain(value):
            return False
        if predicate == words.synonym:
            return True
        if statement not in chosen or predicate not in (words.name, words.definition):
            return False
        family = rt.NAMES if predicate == words.name else self.definitions
        return not any(s is not statement and s[0] in family and s[1].value == value.value for s in statements)


def _texts(statements: Iterable[Statement], predicates: Sequence[str]) -> list[Statement]:
    """What is said in words, not blank, under one of the predicates."""
    return [s for s in statements if s[0] in predicates and rt.is_literal(s[1]) and s[1].value.strip()]


def _is_english(language: str) -> bool:
    return language.lower().partition("-")[0] == "en"
