"""From concepts to statements, the understood ones first, then everything the source said besides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.options import WriteOptions
from taxosphere.taxonomy.formats.io.rdf_syntax import serialize
from taxosphere.taxonomy.graph import Taxonomy

Triple = tuple[Any, str, Any]


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    kept = taxonomy.meta.get("rdf", {})
    vocabulary = rt.VOCABULARIES[_vocabulary(path, kept.get("vocabulary"))]
    serialize(path, _Writer(taxonomy, vocabulary, kept).triples(), kept.get("prefixes") or rt.PREFIXES)


def _vocabulary(path: Path, source: str | None) -> str:
    """`.owl` and `.skos` anywhere in the name decide; else the words of the source; else SKOS."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    for name in rt.VOCABULARIES:
        if f".{name}" in suffixes:
            return name
    return source if source in rt.VOCABULARIES else "skos"


class _Writer:
    def __init__(self, taxonomy: Taxonomy, words: rt.Vocabulary, kept: Any) -> None:
        self.taxonomy = taxonomy
        self.words = words
        self.kept = kept
        self.ox = rt.oxigraph()
        self.language = kept.get("language") or None
        self.nodes = [self.ox.NamedNode(rt.iri_of(id)) for id in taxonomy.ids]
        self.defined_by_comments = bool(kept.get("comments"))
        self.definitions = (rt.COMMENT,) if self.defined_by_comments else rt.DEFINITIONS
        self.described = any(taxonomy.descriptions)

    def triples(self) -> Iterator[Triple]:
        for position, concept in enumerate(self.taxonomy.concepts()):
            for predicate, value in self._about(concept, position):
                yield self.nodes[position], predicate, value
        yield from self._others()

    def _others(self) -> Iterator[Triple]:
        lines = "\n".join(self.kept.get("statements", ()))
        for quad in self.ox.parse(lines, format=self.ox.RdfFormat.N_TRIPLES) if lines else ():
            yield quad.subject, quad.predicate.value, quad.object

    def _about(self, concept: Concept, position: int) -> Iterator[tuple[str, Any]]:
        extras = [self._statement(concept, key, value) for key, value in concept.extras]
        yield rt.TYPE, self.ox.NamedNode(self.words.type)
        if rt.is_obo_id(concept.id):
            yield rt.OBO_ID, self.ox.Literal(concept.id)
        if not _said(extras, rt.NAMES, concept.name):
            yield self._best(self.words.name, rt.NAMES, extras), self._text(concept.name)
        if concept.description and not _said(extras, self.definitions, concept.description):
            word = rt.COMMENT if self.defined_by_comments else self.words.definition
            yield self._best(word, self.definitions, extras), self._text(concept.description)
        yield from self._synonyms(concept, extras)
        for parent in self.taxonomy.parent_csr.row(position).tolist():
            yield self.words.parent, self.nodes[parent]
        if self.kept.get("narrower") and self.words.parent == rt.BROADER:
            for child in self.taxonomy.child_csr.row(position).tolist():
                yield rt.NARROWER, self.nodes[child]
        for image in concept.images:
            yield rt.DEPICTION, self.ox.NamedNode(image) if rt.is_address(image) else self.ox.Literal(image)
        yield from (statement for statement in extras if statement[0] not in rt.SYNONYMS)

    def _best(self, word: str, family: tuple[str, ...], extras: list[tuple[str, Any]]) -> str:
        """The usual word, or a better one that another text has: a reader would take that text for the first."""
        texts = [(predicate, value) for predicate, value in extras if predicate in family and rt.is_literal(value)]
        rivals = [predicate for predicate, value in texts if value.language in (None, self.language)]
        return min((word, *rivals), key=family.index)

    def _statement(self, concept: Concept, key: str, value: str) -> tuple[str, Any]:
        """Where nothing else defines a concept, a reader would take its comment for the definition."""
        defined = concept.description if self.defined_by_comments else self.described
        if key == "comment" and value.strip() and not defined:
            return rt.extra_statement(key, value)
        return rt.pair_to_statement(key, value)

    def _synonyms(self, concept: Concept, extras: list[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        spelled: dict[str, list[tuple[str, Any]]] = {}
        for predicate, value in extras:
            if predicate in rt.SYNONYMS:
                spelled.setdefault(value.value, []).append((predicate, value))
        for text in dict.fromkeys(concept.synonyms):
            yield from spelled.get(text, ((self.words.synonym, self._text(text)),))

    def _text(self, text: str) -> Any:
        return self.ox.Literal(text, language=self.language) if self.language else self.ox.Literal(text)


def _said(statements: list[tuple[str, Any]], predicates: tuple[str, ...], text: str) -> bool:
    return any(predicate in predicates and value.value == text for predicate, value in statements)
