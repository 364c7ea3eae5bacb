"""What a file says about one concept: predicates, values, and annotations of the statements."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import obo_pairs
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.owl_triples import Translator

Note = tuple[str, Any]  # predicate, value


class Claim(NamedTuple):
    """A statement about a concept; `value` is an RDF term, or an OWL expression as in `owl_triples`."""

    predicate: str
    value: Any
    notes: tuple[Note, ...] = ()


class ClaimWriter:
    """Says what a taxonomy holds in the words of a vocabulary.

    Parameters
    ----------
    words : Vocabulary
        SKOS or OWL.
    ids : container of str
        Ids of all concepts, which relationships may mention.
    language : str, optional
        Language of names, definitions and synonyms.
    defined_by_comments : bool
        Comments are the definitions of this file.
    described : bool
        The taxonomy has definitions.
    addresses : mapping of str to str
        Addresses of relations, subsets and the like that extras mention, where the source has others than the usual.
    obo_style : bool
        Who made a concept and when is said in the words of OBO ontologies, else in Dublin Core.
    """

    def __init__(
        self,
        words: rt.Vocabulary,
        ids: Container[str],
        *,
        language: str | None = None,
        defined_by_comments: bool = False,
        described: bool = True,
        addresses: Mapping[str, str] = MappingProxyType({}),
        obo_style: bool = False,
    ) -> None:
        self.ox = rt.oxigraph()
        self.words = words
        self.ids = ids
        self.language = language or None
        self.defined_by_comments = defined_by_comments
        self.definitions = (rt.COMMENT,) if defined_by_comments else rt.DEFINITIONS
        self.described = described
        self.addresses = addresses
        self.tags = rt.TAGS if obo_style else rt.TAGS | rt.DUBLIN_CORE

    def about(self, concept: Concept, parents: Iterable[str]) -> Iterator[Claim]:
        """Every claim about a concept, except that it has parents below which the file says nothing of it.

        Parameters
        ----------
        concept : Concept
            What to describe.
        parents : iterable of str
            Addresses of its parents.
        """
        extras = [claim for key, value in concept.extras for claim in self._extra(concept, key, value)]
        yield Claim(rt.TYPE, self.ox.NamedNode(self.words.type))
        if rt.is_obo_id(concept.id):
            yield Claim(rt.OBO_ID, self.ox.Literal(concept.id))
        if not _said(extras, rt.NAMES, concept.name):
            yield Claim(self._best(self.words.name, rt.NAMES, extras), self._text(concept.name))
        if concept.description and not _said(extras, self.definitions, concept.description):
            word = rt.COMMENT if self.defined_by_comments else self.words.definition
            notes = self._definition_notes(concept)
            yield Claim(self._best(word, self.definitions, extras), self._text(concept.description), notes)
        yield from self._synonyms(concept, extras)
        for parent in parents:
            yield Claim(self.words.parent, self.ox.NamedNode(parent))
        for image in concept.images:
            yield Claim(rt.DEPICTION, self.ox.NamedNode(image) if rt.is_address(image) else self.ox.Literal(image))
        yield from (claim for claim in extras if claim.predicate not in rt.SYNONYM_SET)

    def _best(self, word: str, family: tuple[str, ...], extras: list[Claim]) -> str:
        """The usual word, or a better one that another text has: a reader would take that text for the first."""
        texts = [(claim.predicate, claim.value) for claim in extras if claim.predicate in family]
        rivals = [p for p, value in texts if rt.is_literal(value) and value.language in (None, self.language)]
        return min((word, *rivals), key=family.index)

    def _extra(self, concept: Concept, key: str, value: str) -> Iterator[Claim]:
        """The claims of one extra; none for sources that go with the definition."""
        if self.words.key == "owl" and (key in ("def", "synonym", "relationship") or key in rt.ADDRESS_TAGS):
            claim = self._as_owl(concept, key, value)
            if claim is not None:
                yield from claim
                return
        # Where nothing else defines a concept, a reader would take its comment for the definition.
        defined = concept.description if self.defined_by_comments else self.described
        if key == "comment" and value.strip() and not defined:
            yield Claim(*rt.extra_statement(key, value))
        else:
            yield Claim(*rt.pair_to_statement(key, value, self.tags))

    def _as_owl(self, concept: Concept, key: str, value: str) -> list[Claim] | None:
        """The claims of an OBO clause that OWL can say; None where it cannot."""
        if key == "def":
            sources = concept.description and concept.extras.count((key, value)) == 1
            return [] if sources and obo_pairs.parse_definition(value) and self._is_only_definition(concept) else None
        if key == "synonym":
            synonym = obo_pairs.parse_synonym(value)
            if synonym is None or synonym.text not in concept.synonyms:
                return None
            kind = [(obo_pairs.SYNONYM_TYPE, self.ox.NamedNode(self._address(synonym.kind)))] if synonym.kind else []
            if synonym.kind and rt.mentioned_id(kind[0][1].value, None) != synonym.kind:
                return None
            if synonym.scope == "RELATED" and not synonym.kind and not synonym.xrefs:
                return None
            notes = (*((obo_pairs.XREF, self.ox.Literal(xref)) for xref in synonym.xrefs), *kind)
            return [Claim(obo_pairs.SCOPES[synonym.scope], self.ox.Literal(synonym.text), notes)]
        words = value.split(" ")
        iris = [self._address(word) for word in words]
        fits = all(w in self.ids or w in self.addresses or rt.mentioned_id(i, None) == w for w, i in zip(words, iris))
        if key in rt.ADDRESS_TAGS:
            return [Claim(rt.ADDRESS_TAGS[key], self.ox.NamedNode(iris[0]))] if len(words) == 1 and fits else None
        if len(words) != 2 or not fits:
            return None
        return [Claim(rt.SUBCLASS, ("ObjectSomeValuesFrom", *map(self.ox.NamedNode, iris)))]

    def _address(self, id: str) -> str:
        return self.addresses.get(id) or (rt.iri_of(id) if id in self.ids else rt.mentioned_iri(id))

    def _is_only_definition(self, concept: Concept) -> bool:
        return not self.language and not any(key in self.definitions for key, _ in concept.extras)

    def _definition_notes(self, concept: Concept) -> tuple[Note, ...]:
        if self.words.key != "owl" or not self._is_only_definition(concept):
            return ()
        values = [value for key, value in concept.extras if key == "def"]
        xrefs = obo_pairs.parse_definition(values[0]) if len(values) == 1 else None
        return tuple((obo_pairs.XREF, self.ox.Literal(xref)) for xref in xrefs or ())

    def _synonyms(self, concept: Concept, extras: list[Claim]) -> Iterator[Claim]:
        spelled: dict[str, list[Claim]] = {}
        for claim in extras:
            if claim.predicate in rt.SYNONYM_SET:
                spelled.setdefault(claim.value.value, []).append(claim)
        for text in dict.fromkeys(concept.synonyms):
            yield from spelled.get(text, (Claim(self.words.synonym, self._text(text)),))

    def _text(self, text: str) -> Any:
        return self.ox.Literal(text, language=self.language) if self.language else self.ox.Literal(text)


def _said(claims: list[Claim], predicates: tuple[str, ...], text: str) -> bool:
    return any(c.predicate in predicates and getattr(c.value, "value", None) == text for c in claims)


def triples(subject: Any, claims: Iterable[Claim], translator: Translator) -> Iterator[Any]:
    """The triples of claims about one subject.

    Parameters
    ----------
    subject : NamedNode
        What the claims are about.
    claims : iterable of Claim
        Statements with their annotations.
    translator : Translator
        Makes the anonymous nodes; one for a whole file.
    """
    ox = rt.oxigraph()
    for claim in claims:
        translator.triples = []
        value = translator.term(claim.value)
        triple = ox.Triple(subject, ox.NamedNode(claim.predicate), value)
        if claim.notes:
            translator.annotate(triple, [("Annotation", ox.NamedNode(p), v) for p, v in claim.notes])
        yield triple
        yield from translator.triples
