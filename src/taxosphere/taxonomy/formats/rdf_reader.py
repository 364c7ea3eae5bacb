"""SKOS and OWL/RDFS hierarchies in every syntax of RDF and OWL.

Names, definitions, synonyms and the hierarchy are understood. Every other statement about a concept becomes one of its
extras; statements about anything else (schemes, properties, restrictions) are kept as they are. Both come back on
writing (`rdf_writer`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import json_values
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.obo_pairs import definition_pair, synonym_pair
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.rdf_graph import HIERARCHY, Graph, LineFinder, Statement, Text, collect
from taxosphere.taxonomy.formats.io.rdf_syntax import Document, declared_encoding, declared_utf8, syntax_of
from taxosphere.taxonomy.formats.io.source_text import MARK, read_source
from taxosphere.taxonomy.formats.io.streams import bare_suffix

META = "rdf"
_Columns = tuple[str, str, tuple[str, ...], tuple[str, ...], tuple[tuple[str, str], ...]]
ENOUGH_ENGLISH = 0.9  # English is the usual language if it names at least this part of what the most frequent one does


def recognise(path: Path, head: bytes) -> bool:
    """By suffix; `.json` only where it has the keys of JSON-LD."""
    if bare_suffix(path) != ".json":
        return True
    return not {b'"@context"', b'"@graph"', b'"@id"'}.isdisjoint(json_values.outer_keys(head))


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
    encoding = options.encoding or declared_encoding(path)
    text = declared_utf8(read_source(path, encoding)) if encoding else read_source(path)
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
    graph = collect(document, options, with_lines=False)
    if not graph.concepts:
        message = "holds no skos:Concept, owl:Class, skos:broader or rdfs:subClassOf; is it a hierarchy?"
        raise InputError(message, path=document.path)
    draft = Draft(path=document.path, format="rdf", find_lines=LineFinder(document, options))
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
        self.ids: dict[str, str] = {}  # by address, where they differ from it
        self.label_synonyms: dict[str, list[str]] = {}  # forms of SKOS-XL labels, by concept
        self.languages: Counter[str] = Counter()  # how many concepts are named in each; empty for none stated
        self._gather()
        self.language = self._usual_language() if language is None else self._stated_language(language)
        self.ranks: dict[str, int] = {}
        commented = rt.COMMENT in graph.predicates
        defining = {text[0][0] for row in graph.described for text in row[3]} if commented else set()
        self.defined_by_comments = rt.COMMENT in defining and defining.isdisjoint(rt.DEFINITIONS)
        self.definitions = (rt.COMMENT,) if self.defined_by_comments else rt.DEFINITIONS
        self.notes = graph.axiom_notes() if vocabulary.key == "owl" else {}
        self.nameless: set[str] = set()
        # Property and language of synonyms that the writer would state so; without a language it needs a closer look.
        self.usual_synonym = (vocabulary.synonym, self.language) if self.language and not self.notes else None

    def _gather(self) -> None:
        """Ids, and languages of names; what SKOS-XL labels say is added to the texts."""
        graph, languages, names = self.graph, self.languages, rt.NAMES
        if graph.predicates.isdisjoint((rt.OBO_ID, *rt.LABEL_WORDS)):
            self.ids = {iri: rt.id_of(iri, None) for iri in graph.concepts if iri.startswith(rt.ID_PREFIX)}
        else:
            for iri, _, statements, texts in graph.described:
                self._identify(iri, statements, texts)
        alone = [row[3][0] for row in graph.described if len(row[3]) == 1]
        languages.update([text[2] for text in alone if text[0][0] in names])
        for row in graph.described if len(alone) < len(graph.described) else ():
            if len(row[3]) > 1:
                languages.update(list(dict.fromkeys(text[2] for text in row[3] if text[0][0] in names)))

    def _identify(self, iri: str, statements: list[Statement], texts: list[Text]) -> None:
        """Note the id that the file states of a concept, and the forms of its SKOS-XL labels."""
        stated: str | None = None
        for predicate, value in statements:
            if predicate == rt.OBO_ID and stated is None and type(value) is self.literal:
                stated = value.value
            elif predicate in rt.LABEL_WORDS and (label := self.graph.one(self.graph.key(value), rt.LITERAL_FORM)):
                self._take_label(iri, rt.LABEL_WORDS[predicate], label, texts)
        if (id := rt.id_of(iri, stated)) != iri:
            self.ids[iri] = id

    def _take_label(self, iri: str, word: str, label: Any, texts: list[Text]) -> None:
        """The form of a SKOS-XL label says what a plain label would: a name, or a synonym."""
        if type(label) is not self.literal or not label.value.strip():
            return
        if word != rt.NAMES[0]:
            self.label_synonyms.setdefault(iri, []).append(label.value)
        elif all((text[0][0], text[1]) != (word, label.value) for text in texts):
            texts.append(((word, label), label.value, label.language or ""))

    # -- language -----------------------------------------------------------------------------------------------------

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
        id_of, draft, edges = self.ids.get, self.draft, self.graph.edges
        self.usual_links = self._usual_links()
        described = self.graph.described
        draft.ids = [id_of(row[0], row[0]) for row in described]
        columns = zip(*self._rows(), strict=True)
        draft.names, draft.descriptions, draft.synonyms, draft.images, draft.extras = map(list, columns)
        draft.parents = [id_of(parent, parent) for parent, _ in edges]
        draft.children = [id_of(child, child) for _, child in edges]
        draft.lines, draft.edge_lines = list(range(len(draft.ids))), list(range(len(edges)))

    def describes_others(self) -> bool:
        """Whether the file says more of anything but concepts than what it is and is called."""
        plain, about = (rt.TYPE, rt.NAMES[1]), self.graph.about
        others = [key for key in about.keys() - self.graph.concepts.keys() if key[:2] != "_:"]
        return any(predicate not in plain for key in others for predicate, _ in about[key])

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

    def _rows(self) -> list[_Columns]:
        """The columns of every concept. Most are concepts of which only a name, synonyms and edges are said, in the
        words that the writer would use: these are read here, in one loop, all others by `_read_concept`."""
        graph, words, literal, language = self.graph, self.vocabulary, self.literal, self.language
        links = self.usual_links
        if not self.usual_synonym or self.label_synonyms:
            return [self._read_concept(iri, statements, texts) for iri, _, statements, texts in graph.described]
        kind = graph.links[rt.TYPE].get(words.type, (None,))[0]
        above = graph.links[words.parent].values()
        # The word for parents, if each of its statements is an edge.
        parent = words.parent if all(id(link[0]) in links for link in above) and not graph.unshared else None
        rows: list[_Columns] = []
        for iri, _, statements, texts in graph.described:
            if len(texts) == 1 and texts[0][2] == language and texts[0][0][0] == words.name:
                name, called, _ = texts[0]
                synonyms: list[str] = []
                for statement in statements:
                    word, value = statement
                    if statement is name or statement is kind or word == parent:
                        continue
                    if word == words.synonym and type(value) is literal and value.language == language:
                        synonyms.append(value.value)
                    elif id(statement) not in links:
                        break
                else:
                    rows.append((called, "", tuple(dict.fromkeys(synonyms) if len(synonyms) > 1 else synonyms), (), ()))
                    continue
            rows.append(self._read_concept(iri, statements, texts))
        return rows

    def _read_concept(self, iri: str, statements: list[Statement], texts: list[Text]) -> _Columns:
        """Name, definition, synonyms, images and extras of a concept."""
        definition: Text | None = None
        name: Text | None = texts[0] if texts else None
        if len(texts) != 1 or texts[0][0][0] not in rt.NAMES:
            name, definition = self._choose(texts, rt.NAMES), self._choose(texts, self.definitions)
        plain_name = name[0] if name is not None and self._is_usual_text(name, texts) else None
        plain_definition = definition[0] if definition is not None and self._is_usual_text(definition, texts) else None
        synonyms = dict.fromkeys(self.label_synonyms.get(iri, ())) if self.label_synonyms else {}
        images: list[str] = []
        extras: list[tuple[str, str]] = []
        literal, synonym_words, usual_links, usual = self.literal, rt.SYNONYM_SET, self.usual_links, self.usual_synonym
        for statement in statements:
            if id(statement) in usual_links or statement is plain_name or statement is plain_definition:
                continue
            predicate, value = statement
            if predicate in synonym_words and type(value) is literal:
                synonyms[value.value] = None
                if (predicate, value.language) != usual and not self._is_usual_synonym(predicate, value, iri):
                    extras.append(self._synonym_extra(iri, predicate, value))
            elif predicate in HIERARCHY:
                if type(value) is not self.named or rt.is_vocabulary(value.value):
                    extras += self._hierarchy_extra(iri, predicate, value)
            elif predicate == rt.TYPE:
                if type(value) is self.named and value.value != self.vocabulary.type:
                    extras.append(rt.statement_to_pair(predicate, value))
            elif predicate == rt.DEPICTION:
                images.append(value.value)
            else:
                extras += self._other_extra(iri, predicate, value)
        if definition is not None and self.notes and (notes := self._notes_of(iri, *definition[0])):
            extras += definition_pair(notes)
        if name is None:
            self.nameless.add(iri)
        called = name[1] if name else rt.local_name(iri)
        return called, definition[1] if definition else "", tuple(synonyms), tuple(images), tuple(extras)

    def _usual_links(self) -> frozenset[int]:
        """The statements (by identity, for many concepts share one) that the writer makes of edges and of being a
        concept."""
        links = self.graph.links
        edges = [link for word in HIERARCHY for link in links[word].values() if not rt.is_vocabulary(link[1])]
        kind = links[rt.TYPE].get(self.vocabulary.type)
        return frozenset(id(link[0]) for link in (*edges, *([kind] if kind else [])))

    def _other_extra(self, iri: str, predicate: str, value: Any) -> list[tuple[str, str]]:
        """Any other statement as it is; none for the OBO id, and for what is anonymous."""
        if predicate == rt.OBO_ID and value.value == self.ids.get(iri, iri) and rt.is_obo_id(value.value):
            return []
        if type(value) is self.named:
            if predicate in rt.ADDRESS_TAG_OF and self.vocabulary.key == "owl":
                return [(rt.ADDRESS_TAG_OF[predicate], self.id_of(value.value))]
        elif type(value) is not self.literal:
            return []
        elif value.language:
            return [(predicate, str(value))]
        return [rt.statement_to_pair(predicate, value)]

    def _hierarchy_extra(self, iri: str, predicate: str, value: Any) -> list[tuple[str, str]]:
        """What is above a concept and no edge: words like ``owl:Thing`` as they are, restrictions as relationships."""
        if type(value) is self.named:
            return [rt.statement_to_pair(predicate, value)]
        pair = self.graph.restriction(value) if predicate == rt.SUBCLASS else None
        if pair is None or (iri, *pair) in self.graph.as_edges:
            return []
        return [("relationship", f"{self.id_of(pair[0])} {self.id_of(pair[1])}")]

    def id_of(self, iri: str) -> str:
        """The id by which extras mention an address."""
        if iri in self.graph.concepts:
            return self.ids.get(iri, iri)
        if iri not in self.ids:
            self.ids[iri] = rt.mentioned_id(iri, next(self.graph.literals(iri, (rt.OBO_ID,)), None))
        return self.ids[iri]

    def _choose(self, texts: Sequence[Text], predicates: Sequence[str]) -> Text | None:
        """The best text: in the usual language or none, else in English; then by predicate, then the first. The
        language comes first because a change of vocabulary moves a name to another predicate, but not its
        translations. A text without a language is no translation, so there the better predicate wins."""
        if len(texts) < 2:
            return texts[0] if texts and texts[0][0][0] in predicates else None
        best = predicates[0]
        for text in texts:
            if text[2] == self.language and text[0][0] == best:
                return text
        texts = [text for text in texts if text[0][0] in predicates]
        if len(texts) < 2:
            return texts[0] if texts else None

        def order(text: Text) -> tuple[int, int, int]:
            rank = self._rank(text[2])
            return max(rank, 1), predicates.index(text[0][0]), rank

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

    def _is_usual_text(self, text: Text, texts: Sequence[Text]) -> bool:
        """Whether the writer would state a name or definition exactly so without being told."""
        (predicate, value), said, language = text
        words = self.vocabulary
        if language != self.language or (not language and not rt.is_plain(value)):
            return False
        if predicate not in (words.name, words.definition):
            return False
        if len(texts) < 2:
            return True
        family = rt.NAMES if predicate == words.name else self.definitions
        return not any(t is not text and t[1] == said and t[0][0] in family for t in texts)

    def _notes_of(self, iri: str, predicate: str, value: Any) -> list[Statement]:
        return self.notes.get((iri, predicate, str(value)), [])


def _is_english(language: str) -> bool:
    return language.lower().partition("-")[0] == "en"
