"""From statements to concepts: which statements a taxonomy understands, and where it keeps the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.obo_pairs import definition_pair, synonym_pair
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.rdf_graph import HIERARCHY, Graph, Statement, collect
from taxosphere.taxonomy.formats.io.rdf_syntax import Document, syntax_of
from taxosphere.taxonomy.formats.io.source_text import MARK, read_source

META = "rdf"
ENOUGH_ENGLISH = 0.9  # English is the usual language if it names at least this part of what the most frequent one does


def read(path: Path, options: ReadOptions) -> Draft:
    """Read a SKOS or OWL/RDFS file in any RDF or OWL syntax.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    options : ReadOptions
        `language` of the labels (the usual one of the file if not stated), `relations` that are edges too, and
        `equivalents` to make the named classes of intersections parents.

    Returns
    -------
    Draft
        The concepts; deprecated ones are still among them.
    """
    text = read_source(path)
    syntax = syntax_of(path, text[:4096].removeprefix(MARK).encode())
    document = Document(text=text, syntax=syntax, name=path.name, path=path)
    draft, reader = read_document(document, options)
    draft.meta[META] = {
        "vocabulary": reader.vocabulary.key,
        "language": reader.language,
        "comments": reader.defined_by_comments,
        "prefixes": document.prefixes,
        "text": text,
        "syntax": syntax,
        "name": path.name,
        "others": reader.describes_others(),
    }
    stated = {name: getattr(options, name) for name in ("language", "relations", "equivalents")}
    if any(stated.values()):
        draft.meta[META]["options"] = {**stated, "relations": list(options.relations)}
    return draft


def read_document(document: Document, options: ReadOptions) -> tuple[Draft, ConceptReader]:
    """The concepts of a document, and the reader that knows its graph, vocabulary and language.

    Parameters
    ----------
    document : Document
        The text to parse.
    options : ReadOptions
        See `read`.

    Raises
    ------
    InputError
        Where the document has a syntax error or no hierarchy.
    """
    graph = collect(document, options)
    if not graph.concepts:
        message = "holds no skos:Concept, owl:Class, skos:broader or rdfs:subClassOf; is it a hierarchy?"
        raise InputError(message, path=document.path)
    draft = Draft(path=document.path, format="rdf")
    skos = sum(count for word, count in graph.used.items() if word.startswith(rt.SKOS))
    vocabulary = "skos" if 2 * skos >= graph.used.total() else "owl"
    reader = ConceptReader(draft, graph, rt.VOCABULARIES[vocabulary], options.language)
    reader.read_all()
    reader.report()
    return draft, reader


class ConceptReader:
    """Turns the statements about each concept into its columns.

    Parameters
    ----------
    draft : Draft
        Receives the concepts.
    graph : Graph
        The statements.
    vocabulary : Vocabulary
        The words that most of them use.
    language : str, optional
        Language of the labels.
    """

    def __init__(self, draft: Draft, graph: Graph, vocabulary: rt.Vocabulary, language: str | None) -> None:
        self.draft = draft
        self.graph = graph
        self.vocabulary = vocabulary
        self.literal = rt.oxigraph().Literal
        self.named = rt.oxigraph().NamedNode
        self.languages = self._languages()
        self.language = self._usual_language() if language is None else self._stated_language(language)
        self.ranks: dict[str, int] = {}
        self.predicates = predicates = {p for iri in graph.concepts for p, _ in graph.about.get(iri, ())}
        self.defined_by_comments = rt.COMMENT in predicates and predicates.isdisjoint(rt.DEFINITIONS)
        self.definitions = (rt.COMMENT,) if self.defined_by_comments else rt.DEFINITIONS
        self.chosen = frozenset((*rt.NAMES, *self.definitions))
        self.notes = self._axiom_notes() if vocabulary.key == "owl" else {}
        self.ids: dict[str, str] = {}
        self.nameless: set[str] = set()

    # -- language -----------------------------------------------------------------------------------------------------

    def _languages(self) -> Counter[str]:
        """How many concepts are named in each language; empty for names without one."""
        languages: Counter[str] = Counter()
        names, literal = frozenset(rt.NAMES), self.literal
        for iri in self.graph.concepts:
            tags = [
                value.language or ""
                for predicate, value in self.graph.about.get(iri, ())
                if predicate in names and type(value) is literal and value.value.strip()
            ]
            languages.update(tags if len(tags) < 2 else list(dict.fromkeys(tags)))
        return languages

    def _usual_language(self) -> str:
        """English where it names nearly as many concepts as any other, since more was learnt from English texts; else
        the language that names most, the first of equals. A stray translation must not decide what language a whole
        thesaurus is in."""
        languages = self.languages
        most = max(languages, key=lambda language: languages[language], default="")
        english = max(filter(_is_english, languages), key=lambda language: languages[language], default=most)
        return english if languages[english] >= ENOUGH_ENGLISH * languages[most] else most

    def _stated_language(self, language: str) -> str:
        for tag in self.languages:
            if tag.lower() == language.lower():
                return tag
        among = [tag for tag in self.languages if tag.lower().partition("-")[0] == language.lower()]
        if among:
            return max(among, key=lambda tag: self.languages[tag])
        listed = ", ".join(f"{tag or 'none stated'} ({count:,})" for tag, count in self.languages.most_common(12))
        message = f"no label is in the language '{language}'; there are labels in: {listed or 'no language'}"
        raise InputError(message, path=self.draft.path)

    # -- concepts -----------------------------------------------------------------------------------------------------

    def read_all(self) -> None:
        """Add every concept and edge to the draft."""
        about = self.graph.about
        for iri in self.graph.concepts:
            stated = next((str(o.value) for p, o in about.get(iri, ()) if p == rt.OBO_ID and rt.is_literal(o)), None)
            self.ids[iri] = rt.id_of(iri, stated)
        for iri, line in self.graph.concepts.items():
            self._read_concept(iri, about.get(iri, []), line)
        for (parent, child), line in self.graph.edges.items():
            self.draft.edge(self.ids[parent], self.ids[child], line)

    def describes_others(self) -> bool:
        """Whether the file says more of anything but concepts than what it is and is called."""
        plain = (rt.TYPE, rt.NAMES[1])
        return any(
            key[:2] != "_:" and key not in self.graph.concepts and any(p not in plain for p, _ in statements)
            for key, statements in self.graph.about.items()
        )

    def report(self) -> None:
        """Say which language was taken, and what the taxonomy does not carry."""
        draft, others = self.draft, {tag: n for tag, n in self.languages.items() if tag != self.language}
        if others and self.languages:
            listed = ", ".join(f"{tag or 'none stated'} ({count:,})" for tag, count in Counter(others).most_common(8))
            draft.notes.append(f"labels in the language '{self.language or 'none stated'}'; others: {listed}")
        if self.nameless:
            text = "without a label, called by the end of the address"
            draft.left_out(f"{counted(len(self.nameless), 'concept')} {text}")
        if self.graph.anonymous:
            text = "without an address left out (kept for RDF files)"
            draft.left_out(f"{counted(len(self.graph.anonymous), 'concept')} {text}")
        outside = [key for key in self.graph.collections if key not in self.graph.concepts]
        if outside:
            draft.notes.append(
                f"{counted(len(outside), 'collection')} not read as concepts; --relations member does so"
            )

    def _read_concept(self, iri: str, statements: list[Statement], line: int) -> None:
        texts = _texts(statements, self.chosen, self.literal)
        name = self._choose(texts, rt.NAMES)
        definition = self._choose(texts, self.definitions)
        synonyms: dict[str, None] = {}
        images, extras = [], []
        id = self.ids[iri]
        for statement in statements:
            predicate, value = statement
            if predicate in rt.SYNONYM_SET and type(value) is self.literal:
                synonyms[value.value] = None
                if not self._is_usual_synonym(predicate, value, iri):
                    extras.append(self._synonym_extra(iri, predicate, value))
            elif predicate == rt.DEPICTION:
                images.append(value.value)
            elif predicate == rt.OBO_ID and value.value == id and rt.is_obo_id(id):
                continue
            elif predicate in HIERARCHY:
                extras += self._hierarchy_extra(iri, predicate, value)
            elif predicate in rt.ADDRESS_TAG_OF and type(value) is self.named and self.vocabulary.key == "owl":
                extras.append((rt.ADDRESS_TAG_OF[predicate], self.id_of(value.value)))
            elif (type(value) is self.literal or type(value) is self.named) and not self._goes_without_saying(
                statement, (name, definition), texts
            ):
                extras.append(rt.statement_to_pair(predicate, value))
        if definition is not None and self.notes and (notes := self._notes_of(iri, *definition)):
            extras += definition_pair(notes)
        if name is None:
            self.nameless.add(iri)
        text = name[1].value if name else rt.local_name(iri)
        self.draft.concept(id, text, definition[1].value if definition else "", synonyms, images, extras, line)

    def _hierarchy_extra(self, iri: str, predicate: str, value: Any) -> list[tuple[str, str]]:
        """Nothing for an edge; ``owl:Thing`` and its like as they are, restrictions as relationships."""
        if type(value) is self.named:
            if not rt.is_vocabulary(value.value):
                return []
            return [rt.statement_to_pair(predicate, value)]
        pair = self.graph.restriction(value) if predicate == rt.SUBCLASS else None
        if pair is None or (iri, *pair) in self.graph.as_edges:
            return []
        return [("relationship", f"{self.id_of(pair[0])} {self.id_of(pair[1])}")]

    def id_of(self, iri: str) -> str:
        """The id by which extras mention an address."""
        if iri not in self.ids:
            self.ids[iri] = rt.mentioned_id(iri, next(self.graph.texts(iri, (rt.OBO_ID,)), None))
        return self.ids[iri]

    def _choose(self, texts: Sequence[Statement], predicates: Sequence[str]) -> Statement | None:
        """The best statement: in the usual language or none, else in English; then by predicate, then the first. The
        language comes first because a change of vocabulary moves a name to another predicate, but not its
        translations. A text without a language is no translation, so there the better predicate wins."""
        texts = [statement for statement in texts if statement[0] in predicates]
        if len(texts) < 2:
            return texts[0] if texts else None

        def order(statement: Statement) -> tuple[int, int, int]:
            rank = self._rank(statement[1].language or "")
            return max(rank, 1), predicates.index(statement[0]), rank

        return min(texts, key=order)

    def _rank(self, language: str) -> int:
        rank = self.ranks.get(language)
        if rank is None:
            rank = 0 if language == self.language else 1 if not language else 2 if _is_english(language) else 3
            self.ranks[language] = rank
        return rank

    def _is_usual_synonym(self, predicate: str, value: Any, iri: str) -> bool:
        """Whether the writer would state a synonym exactly so."""
        if predicate != self.vocabulary.synonym or (value.language or "") != self.language:
            return False
        if not self.language and not rt.is_plain(value):
            return False
        return not (self.notes and self._notes_of(iri, predicate, value))

    def _synonym_extra(self, iri: str, predicate: str, value: Any) -> tuple[str, str]:
        """Scope and sources of a synonym, as OBO says them where it can."""
        if self.vocabulary.key == "owl" and rt.is_plain(value):
            pair = synonym_pair(predicate, value.value, self._notes_of(iri, predicate, value))
            if pair is not None:
                return pair
        return rt.statement_to_pair(predicate, value)

    def _goes_without_saying(
        self, statement: Statement, chosen: tuple[Statement | None, Statement | None], texts: Sequence[Statement]
    ) -> bool:
        """Whether the writer would say exactly this without being told."""
        predicate, value = statement
        words = self.vocabulary
        if predicate == rt.TYPE:
            return bool(value.value == words.type)
        if predicate not in self.chosen or type(value) is not self.literal:
            return False
        if (value.language or "") != self.language or (not self.language and not rt.is_plain(value)):
            return False
        if statement not in chosen or predicate not in (words.name, words.definition):
            return False
        family = rt.NAMES if predicate == words.name else self.definitions
        return not any(s is not statement and s[0] in family and s[1].value == value.value for s in texts)

    # -- annotations of axioms ----------------------------------------------------------------------------------------

    def _axiom_notes(self) -> dict[tuple[str, str, str], list[Statement]]:
        """Annotations by subject, predicate and object of the statement that they are about."""
        graph, notes = self.graph, dict[tuple[str, str, str], list[Statement]]()
        parts = (rt.OWL + "annotatedSource", rt.OWL + "annotatedProperty", rt.OWL + "annotatedTarget")
        for key, statements in graph.about.items():
            if not key.startswith("_:"):
                continue
            values = dict(statements)
            if all(part in values for part in parts):
                about = graph.key(values[parts[0]]), graph.key(values[parts[1]]), str(values[parts[2]])
                said = [s for s in statements if s[0] not in parts and s[0] != rt.TYPE]
                notes.setdefault(about, []).extend(said)
        return notes

    def _notes_of(self, iri: str, predicate: str, value: Any) -> list[Statement]:
        return self.notes.get((iri, predicate, str(value)), [])


def _texts(statements: Iterable[Statement], predicates: frozenset[str], literal: Any) -> list[Statement]:
    """What is said in words, not blank, under one of the predicates."""
    return [s for s in statements if s[0] in predicates and type(s[1]) is literal and s[1].value.strip()]


def _is_english(language: str) -> bool:
    return language.lower().partition("-")[0] == "en"
