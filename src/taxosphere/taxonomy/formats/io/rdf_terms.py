"""The vocabularies of RDF hierarchies, and how ids and extras are spelled as RDF terms."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote, unquote

from taxosphere.errors import require

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
OBO = "http://purl.obolibrary.org/obo/"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
DCTERMS = "http://purl.org/dc/terms/"
FOAF = "http://xmlns.com/foaf/0.1/"

TYPE = RDF + "type"
BROADER, NARROWER, SUBCLASS = SKOS + "broader", SKOS + "narrower", RDFS + "subClassOf"
TOP_CONCEPT_OF, HAS_TOP_CONCEPT, MEMBER = SKOS + "topConceptOf", SKOS + "hasTopConcept", SKOS + "member"
EQUIVALENT = OWL + "equivalentClass"
DEPRECATED = OWL + "deprecated"
DEPICTION = FOAF + "depiction"
OBO_ID = OBO_IN_OWL + "id"
EXTRA = "urn:taxosphere:extra"  # a JSON pair [key, value] that has no predicate of its own
ID_PREFIX = "urn:taxosphere:id:"

# In order of preference. A comment defines a class only in files that have no other definitions.
NAMES = (SKOS + "prefLabel", RDFS + "label")
DEFINITIONS = (
    SKOS + "definition",
    OBO + "IAO_0000115",
    OBO_IN_OWL + "hasDefinition",
    DCTERMS + "description",
    "http://purl.org/dc/elements/1.1/description",
)
COMMENT = RDFS + "comment"
CHANGE_NOTE = SKOS + "changeNote"  # also how sure a model was of a new concept's place: "confidence 0.93"
SYNONYMS = (
    SKOS + "altLabel",
    *(f"{OBO_IN_OWL}has{scope}Synonym" for scope in ("Exact", "Related", "Narrow", "Broad")),
    OBO + "IAO_0000118",
    SKOS + "hiddenLabel",
)
SYNONYM_SET = frozenset(SYNONYMS)
# Labels of SKOS-XL, which are things with a literal form, and the plain words for the same.
SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
LITERAL_FORM = SKOS_XL + "literalForm"
LABEL_WORDS = {SKOS_XL + word: SKOS + word for word in ("prefLabel", "altLabel", "hiddenLabel")}
VOCABULARY_PREFIXES = (OWL, RDFS, RDF, SKOS)
CONCEPT_TYPES = (SKOS + "Concept", OWL + "Class", RDFS + "Class")
COLLECTION_TYPES = (SKOS + "Collection", SKOS + "OrderedCollection")
# What OBO says with a tag; both ways, for plain literals only.
TAGS = {
    "xref": OBO_IN_OWL + "hasDbXref",
    "namespace": OBO_IN_OWL + "hasOBONamespace",
    "alt_id": OBO_IN_OWL + "hasAlternativeId",
    "created_by": OBO_IN_OWL + "created_by",
    "creation_date": OBO_IN_OWL + "creation_date",
    "comment": COMMENT,
    "change_note": CHANGE_NOTE,
}
# The same for addresses, in ontologies.
ADDRESS_TAGS = {
    "replaced_by": OBO + "IAO_0100001",
    "consider": OBO_IN_OWL + "consider",
    "subset": OBO_IN_OWL + "inSubset",
    "disjoint_from": OWL + "disjointWith",
}
ADDRESS_TAG_OF = {predicate: tag for tag, predicate in ADDRESS_TAGS.items()}
# Who made a concept and when, outside of OBO ontologies, and why.
DUBLIN_CORE = {
    "created_by": DCTERMS + "creator",
    "creation_date": DCTERMS + "created",
}
TAG_OF = {predicate: tag for tags in (TAGS, DUBLIN_CORE) for tag, predicate in tags.items()}
PREFIXES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL, "skos": SKOS, "oboInOwl": OBO_IN_OWL, "xsd": XSD, "dcterms": DCTERMS}


@dataclass(frozen=True)
class Vocabulary:
    """How one of the two families says what a taxonomy holds."""

    key: str
    type: str
    parent: str
    name: str
    definition: str
    synonym: str


VOCABULARIES = {
    "skos": Vocabulary("skos", SKOS + "Concept", BROADER, NAMES[0], DEFINITIONS[0], SYNONYMS[0]),
    "owl": Vocabulary("owl", OWL + "Class", SUBCLASS, NAMES[1], DEFINITIONS[1], OBO_IN_OWL + "hasRelatedSynonym"),
}

_OBO_ID = re.compile(r"([A-Za-z][A-Za-z0-9]*):([0-9]+)")
_OBO_PURL = re.compile(re.escape(OBO) + r"([A-Za-z][A-Za-z0-9]*)_([0-9]+)")
_BLANKS = re.compile(r"[\s_]+")
_WORD = re.compile(r"[A-Za-z0-9_.:-]+")
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_.-]+")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
_CONFIDENCE = re.compile(rf"confidence ({_NUMBER.pattern})")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?")
_BOOLEANS = ("true", "false")
_SCHEMES = ("http", "https", "urn", "ftp", "tag", "info", "file", "doi", "ark")


@cache
def oxigraph() -> Any:
    return require("pyoxigraph", "rdf")


def iri_of(id: str) -> str:
    """The address of a concept: itself, the usual one of an OBO id, or one under our own prefix."""
    obo = _OBO_ID.fullmatch(id)
    if obo:
        return f"{OBO}{obo[1]}_{obo[2]}"
    if is_address(id) and not id.startswith(ID_PREFIX):
        return id
    return ID_PREFIX + quote(id, safe="")


def is_obo_id(id: str) -> bool:
    return _OBO_ID.fullmatch(id) is not None


def id_of(iri: str, obo_id: str | None) -> str:
    """The inverse of `iri_of`; an OBO address becomes an OBO id where the file itself says so."""
    if iri.startswith(ID_PREFIX):
        return unquote(iri.removeprefix(ID_PREFIX))
    if obo_id is None:
        return iri
    obo = _OBO_PURL.fullmatch(iri)
    return obo_id if obo and obo_id == f"{obo[1]}:{obo[2]}" else iri


def mentioned_id(iri: str, stated: str | None) -> str:
    """How an extra mentions something that is no concept: by the id the file states, an OBO id, the part after ``#`` of
    an OBO address, or the address."""
    if stated is not None and _WORD.fullmatch(stated):
        return stated
    word = iri.partition("#")[2] if iri.startswith(OBO) else ""
    return curie_of(iri) or (word if _WORD.fullmatch(word) else iri)


def mentioned_iri(id: str) -> str:
    """The inverse of `mentioned_id` for ids that it may return."""
    if _PLAIN_WORD.fullmatch(id):
        return f"{OBO}TEMP#{id}"
    return iri_of(id)


def plain_id(iri: str) -> str:
    """The id of a concept in a document that states none: the OBO id of an OBO address, else the address."""
    return unquote(iri.removeprefix(ID_PREFIX)) if iri.startswith(ID_PREFIX) else curie_of(iri) or iri


def spelled(name: str) -> str:
    """A name of a relation in the form in which names are compared."""
    return _BLANKS.sub(" ", name).strip().lower()


def curie_of(iri: str) -> str | None:
    """The OBO id of an OBO address, such as ``BFO:0000050``."""
    obo = _OBO_PURL.fullmatch(iri)
    return f"{obo[1]}:{obo[2]}" if obo else None


def local_name(iri: str) -> str:
    """The readable end of an address: `data_0005` of `http://edamontology.org/data_0005`."""
    return unquote(re.split(r"[/#:]", iri.rstrip("/#:"))[-1]) or iri


def is_web_address(text: str) -> bool:
    """Cheap, and enough where an address was expected anyway; needs no RDF library."""
    return text.startswith(("http://", "https://"))


def is_address(text: str) -> bool:
    """An absolute IRI with one of the usual schemes; `a: b` in running text is none."""
    if text.partition(":")[0].lower() not in _SCHEMES:
        return False
    try:
        oxigraph().NamedNode(text)
    except ValueError:
        return False
    return True


def is_vocabulary(iri: str) -> bool:
    """`owl:Thing` and its like: words to describe a hierarchy with, not concepts of one."""
    return iri.startswith(VOCABULARY_PREFIXES)


def is_literal(term: Any) -> bool:
    return isinstance(term, oxigraph().Literal)


def is_plain(term: Any) -> bool:
    """A literal that is nothing but text."""
    return is_literal(term) and not term.language and term.datatype.value == XSD + "string"


def spell(term: Any) -> str:
    """A term as the value of an extra: plain text where that cannot be mistaken, else as in N-Triples."""
    return str(term.value) if is_plain(term) and unspell(term.value) == term else str(term)


def unspell(value: str) -> Any:
    """The inverse of `spell`; text that only looks like a term stays text."""
    ox = oxigraph()
    if value[:1] in ("<", '"') and "\n" not in value:
        line = f"<x:s> <x:p> {value} .".encode("utf-8", "replace")
        try:
            terms = [quad.object for quad in ox.parse(line, format=ox.RdfFormat.N_TRIPLES)]
        except SyntaxError:
            terms = []
        if len(terms) == 1 and str(terms[0]) == value and (not is_plain(terms[0]) or spell(terms[0]) == value):
            return terms[0]
    return ox.Literal(value)


def pair_to_statement(key: str, value: str, tags: Mapping[str, str] = TAGS) -> tuple[str, Any]:
    """Predicate and object for one extra.

    Parameters
    ----------
    key, value : str
        The extra.
    tags : mapping of str to str
        Predicates of the keys that have one.
    """
    ox = oxigraph()
    if key == "confidence" and _NUMBER.fullmatch(value):
        return CHANGE_NOTE, ox.Literal(f"{key} {value}")
    if key in tags:
        kind = _date_type(value) if tags[key] == DUBLIN_CORE["creation_date"] else None
        return tags[key], ox.Literal(value, datatype=ox.NamedNode(kind)) if kind else ox.Literal(value)
    if key == "is_obsolete" and value in _BOOLEANS:
        return DEPRECATED, oxigraph().Literal(value, datatype=oxigraph().NamedNode(XSD + "boolean"))
    return (key, unspell(value)) if is_address(key) and key != EXTRA else extra_statement(key, value)


def _date_type(value: str) -> str | None:
    for pattern, name in ((_DAY, "date"), (_MOMENT, "dateTime")):
        if pattern.fullmatch(value):
            return XSD + name
    return None


def extra_statement(key: str, value: str) -> tuple[str, Any]:
    return EXTRA, oxigraph().Literal(json.dumps([key, value], ensure_ascii=False))


def statement_to_pair(predicate: str, term: Any) -> tuple[str, str]:
    if predicate == EXTRA and is_plain(term):
        try:
            pair = json.loads(term.value)
        except (ValueError, RecursionError):
            pair = None
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
            return pair[0], pair[1]
    if (
        predicate == DEPRECATED
        and is_literal(term)
        and term.datatype.value == XSD + "boolean"
        and term.value in _BOOLEANS
    ):
        return "is_obsolete", str(term.value)
    if predicate in TAG_OF and is_literal(term) and not term.language:
        kind = _date_type(term.value) if predicate == DUBLIN_CORE["creation_date"] else None
        if predicate == CHANGE_NOTE and (match := _CONFIDENCE.fullmatch(term.value)) and is_plain(term):
            return "confidence", match[1]
        if term.datatype.value == (kind or XSD + "string"):
            return TAG_OF[predicate], str(term.value)
    return predicate, spell(term)
