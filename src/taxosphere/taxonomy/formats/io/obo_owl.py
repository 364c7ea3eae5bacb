"""OBO as OWL, by the rules of the OBO 1.4 format that ROBOT follows: clauses as annotations and axioms."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from taxosphere.taxonomy.formats.io import obo_text
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.obo_clauses import SYNONYM_TAGS, VERBATIM, read_extra
from taxosphere.taxonomy.formats.io.obo_pairs import SCOPES, SYNONYM_TYPE, XREF
from taxosphere.taxonomy.formats.io.obo_stanzas import Stanza
from taxosphere.taxonomy.formats.io.rdf_claims import Claim, Note

OIO, OBO = rt.OBO_IN_OWL, rt.OBO
DEFINITION, REPLACED_BY, REASON, MERGED = (
    OBO + name for name in ("IAO_0000115", "IAO_0100001", "IAO_0000231", "IAO_0000227")
)
# Clauses whose text is the value of an annotation.
_TEXTS = {
    "namespace": OIO + "hasOBONamespace",
    "alt_id": OIO + "hasAlternativeId",
    "created_by": OIO + "created_by",
    "creation_date": OIO + "creation_date",
}
_HEADER = {
    "format-version": OIO + "hasOBOFormatVersion",
    "date": OIO + "date",
    "saved-by": OIO + "saved-by",
    "auto-generated-by": OIO + "auto-generated-by",
    "default-namespace": OIO + "default-namespace",
    "remark": rt.COMMENT,
    "owl-axioms": OIO + "owl-axioms",
}
_CHARACTERISTICS = {
    f"is_{name}": rt.OWL + word
    for name, word in (
        ("transitive", "TransitiveProperty"),
        ("symmetric", "SymmetricProperty"),
        ("asymmetric", "AsymmetricProperty"),
        ("anti_symmetric", "AsymmetricProperty"),
        ("reflexive", "ReflexiveProperty"),
        ("functional", "FunctionalProperty"),
        ("inverse_functional", "InverseFunctionalProperty"),
    )
}
_LABELS = {
    DEFINITION: "definition",
    REPLACED_BY: "term replaced by",
    OIO + "SubsetProperty": "subset_property",
    OIO + "SynonymTypeProperty": "synonym_type_property",
    OIO + "consider": "consider",
    OIO + "created_by": "created by",
    OIO + "creation_date": "creation date",
    OIO + "hasAlternativeId": "has_alternative_id",
    OIO + "hasBroadSynonym": "has_broad_synonym",
    OIO + "hasDbXref": "database_cross_reference",
    OIO + "hasExactSynonym": "has_exact_synonym",
    OIO + "hasNarrowSynonym": "has_narrow_synonym",
    OIO + "hasOBOFormatVersion": "has_obo_format_version",
    OIO + "hasOBONamespace": "has_obo_namespace",
    OIO + "hasRelatedSynonym": "has_related_synonym",
    OIO + "hasScope": "has_scope",
    OIO + "hasSynonymType": "has_synonym_type",
    OIO + "id": "id",
    OIO + "inSubset": "in_subset",
    OIO + "shorthand": "shorthand",
}
_NO_ANNOTATIONS = frozenset(
    {rt.TYPE, rt.SUBCLASS, rt.RDFS + "subPropertyOf", rt.RDFS + "domain", rt.RDFS + "range"}
    | {rt.OWL + word for word in ("equivalentClass", "disjointWith", "inverseOf", "propertyChainAxiom", "imports")}
    | {rt.OWL + "versionIRI"}
)
_XREFS = re.compile(r'\[((?:[^\]"\\]|\\.|"(?:[^"\\]|\\.)*")*)\]')
_XREF_ENTRY = re.compile(r'((?:[^,"\s\\]|\\.)+(?: +(?:[^,"\s\\]|\\.)+)*)\s*("(?:[^"\\]|\\.)*")?')
_XREF_VALUE = re.compile(r'((?:[^\s"\\]|\\.)+)\s*("(?:[^"\\]|\\.)*")?')
_SCOPE = re.compile(r"(EXACT|BROAD|NARROW|RELATED)?\s*([^\s\[\]{}]+)?\s*(?:\[(.*)\])?", re.DOTALL)
_OLD_SCOPES = {"exact_synonym": "EXACT", "narrow_synonym": "NARROW", "broad_synonym": "BROAD"}
_QUALIFIER = re.compile(r'([^\s="{},]+)\s*=\s*("(?:[^"\\]|\\.)*")')
_NUMBERED = re.compile(r"([A-Za-z][A-Za-z0-9]*):([0-9]\w*)")
_ANY_CURIE = re.compile(r"([A-Za-z][\w.-]*):(\S+)")
_SUBSETDEF = re.compile(r'(\S+)\s+("(?:[^"\\]|\\.)*")\s*(\w+)?')

Said = tuple[str, list[Claim]]


class OboTranslator:
    """Translates the stanzas of one OBO document.

    Parameters
    ----------
    header : Stanza
        Its header, which names the ontology and the namespace of terms that state none.
    frames : iterable of Stanza
        All other stanzas, of which the relations give their addresses.
    """

    def __init__(self, header: Stanza, frames: Iterable[Stanza]) -> None:
        self.ox = rt.oxigraph()
        self.header = header
        self.frames = list(frames)
        self.ontology = (header.first("ontology") or "").strip()
        self.namespace = header.first("default-namespace")
        self.used: dict[str, None] = {}  # annotation properties
        self.relations = {id: self._relation(frame, id) for frame in self.frames if (id := self._id(frame))}

    @staticmethod
    def _id(frame: Stanza) -> str:
        return obo_text.split_text(frame.first("id") or "")[0] if frame.kind == "Typedef" else ""

    def _relation(self, frame: Stanza, id: str) -> str:
        """A relation without a prefix has the address of the first OBO id among its xrefs, where it has one."""
        if ":" not in id:
            for tag, value, _ in frame.clauses:
                target = obo_text.split_text(value)[0]
                if tag == "xref" and re.fullmatch(r"(?:BFO|RO|[A-Z]+):\d{7}", target):
                    return self.iri(target)
        return self.iri(id)

    def iri(self, id: str) -> str:
        """The address of an id."""
        if id in getattr(self, "relations", {}):
            return self.relations[id]
        if rt.is_address(id):
            return id
        if match := _NUMBERED.fullmatch(id):
            return f"{OBO}{match[1]}_{match[2]}"
        if match := _ANY_CURIE.fullmatch(id):
            usual = {"dc": "http://purl.org/dc/elements/1.1/", "dcterms": rt.DCTERMS, "skos": rt.SKOS}
            start = (usual | rt.PREFIXES).get(match[1])
            full = f"{start}{match[2]}" if start else f"{OBO}{match[1]}#_{match[2]}"
            return full if rt.is_address(full) else rt.ID_PREFIX + quote(id, safe="")
        word = f"{OBO}{self.ontology or 'TEMP'}#{id}"
        return word if re.fullmatch(r"[\w.-]+", id) else rt.ID_PREFIX + quote(id, safe="")

    def all(self, terms: Iterable[Stanza]) -> Iterator[Said]:
        """Addresses of everything the document describes, with the claims about it; the head comes first."""
        said = [*self._head(), *(pair for term in terms for pair in self._term(term))]
        said += [pair for frame in self.frames if frame.kind == "Typedef" for pair in self._typedef(frame)]
        for _, claims in said:
            for claim in claims:
                self.used |= dict.fromkeys(p for p in (claim.predicate, *(p for p, _ in claim.notes)))
        yield from said
        for iri in self.used:
            if iri not in _NO_ANNOTATIONS and iri != rt.EXTRA:
                label = [Claim(rt.NAMES[1], self._text(_LABELS[iri]))] if iri in _LABELS else []
                yield iri, [Claim(rt.TYPE, self._node(rt.OWL + "AnnotationProperty")), *label]

    def _node(self, iri: str) -> Any:
        return self.ox.NamedNode(iri)

    def _text(self, text: str) -> Any:
        return self.ox.Literal(text)

    # -- head ---------------------------------------------------------------------------------------------------------

    def _head(self) -> Iterator[Said]:
        ontology = self.ontology if rt.is_address(self.ontology) else f"{OBO}{self.ontology or 'TEMP'}.owl"
        claims = [Claim(rt.TYPE, self._node(rt.OWL + "Ontology"))]
        for tag, value, _ in self.header.clauses:
            if tag in _HEADER:
                claims.append(Claim(_HEADER[tag], self._text(obo_text.unescape(value))))
            elif tag == "data-version" and not rt.is_address(self.ontology):
                version = f"{OBO}{self.ontology}/{value}/{self.ontology}.owl".replace(" ", "_")
                claims.append(Claim(rt.OWL + "versionIRI", self._node(version)))
            elif tag == "import":
                iri = value if rt.is_address(value) else f"{OBO}{value}.owl"
                claims.append(Claim(rt.OWL + "imports", self._node(iri)))
            elif tag == "property_value":
                claims += self._property_value(value) or ()
            elif tag in ("subsetdef", "synonymtypedef") and (match := _SUBSETDEF.match(value)):
                yield self._definition_of(tag, match)
        yield ontology, claims

    def _definition_of(self, tag: str, match: re.Match[str]) -> Said:
        """What declares a subset, or a kind of synonyms."""
        kind = "SubsetProperty" if tag == "subsetdef" else "SynonymTypeProperty"
        text = self._text(obo_text.unescape(match[2][1:-1]))
        self.used[OIO + kind] = None
        claims = [
            Claim(rt.TYPE, self._node(rt.OWL + "AnnotationProperty")),
            Claim(rt.COMMENT if tag == "subsetdef" else rt.NAMES[1], text),
            Claim(rt.RDFS + "subPropertyOf", self._node(OIO + kind)),
        ]
        if tag == "synonymtypedef" and match[3] in SCOPES:
            claims.append(Claim(OIO + "hasScope", self._node(SCOPES[match[3]])))
        return self.iri(match[1]), claims

    # -- terms --------------------------------------------------------------------------------------------------------

    def _term(self, term: Stanza) -> Iterator[Said]:
        id = obo_text.split_text(term.first("id") or "")[0]
        claims = [Claim(rt.TYPE, self._node(rt.OWL + "Class")), Claim(rt.OBO_ID, self._text(id))]
        parts: list[Any] = []
        unions: list[Any] = []
        for tag, value, _ in term.clauses:
            text, qualifiers = obo_text.split_text(value)
            notes = self._qualifiers(qualifiers)
            if tag == "is_a":
                claims.append(Claim(rt.SUBCLASS, self._node(self.iri(text)), notes))
            elif tag == "relationship" and len(text.split()) == 2:
                claims.append(Claim(rt.SUBCLASS, self._some(text), notes))
            elif tag == "intersection_of" and len(text.split()) in (1, 2):
                parts.append(self._some(text) if " " in text else self._node(self.iri(text)))
            elif tag == "union_of":
                unions.append(self._node(self.iri(text)))
            elif tag == "disjoint_from":
                claims.append(Claim(rt.OWL + "disjointWith", self._node(self.iri(text)), notes))
            elif tag == "alt_id":
                claims.append(Claim(_TEXTS[tag], self._text(text), notes))
                yield self._merged(text, self.iri(id))
            elif tag != "id":
                claims += self._annotation(tag, value)
        for name, members in (("ObjectIntersectionOf", parts), ("ObjectUnionOf", unions)):
            if len(members) > 1:
                claims.append(Claim(rt.EQUIVALENT, (name, *members)))
        yield self.iri(id), [*claims, *self._usual_namespace(term)]

    def _merged(self, id: str, into: str) -> Said:
        """A former id lives on as a class that says what replaces it."""
        true = self.ox.Literal("true", datatype=self._node(rt.XSD + "boolean"))
        return self.iri(id), [
            Claim(rt.TYPE, self._node(rt.OWL + "Class")),
            Claim(REASON, self._node(MERGED)),
            Claim(REPLACED_BY, self._node(into)),
            Claim(rt.DEPRECATED, true),
        ]

    def _some(self, text: str) -> tuple[Any, ...]:
        relation, target = text.split()
        return ("ObjectSomeValuesFrom", self._node(self.iri(relation)), self._node(self.iri(target)))

    def _usual_namespace(self, stanza: Stanza) -> list[Claim]:
        if self.namespace is None or stanza.first("namespace") is not None:
            return []
        return [Claim(_TEXTS["namespace"], self._text(obo_text.unescape(self.namespace)))]

    # -- clauses of any stanza ----------------------------------------------------------------------------------------

    def _annotation(self, tag: str, value: str) -> list[Claim]:
        text, qualifiers = obo_text.split_text(value)
        notes = self._qualifiers(qualifiers)
        quoted = obo_text.split_quoted(value)
        if tag == "name":
            return [Claim(rt.NAMES[1], self._text(text), notes)]
        if tag == "def" and quoted:
            return [Claim(DEFINITION, self._text(quoted[0]), self._sources(quoted[1]))]
        if tag in SYNONYM_TAGS and quoted:
            return [self._synonym(tag, *quoted)]
        if tag == "comment":
            return [
                Claim(rt.COMMENT, self._text(obo_text.split_text(value)[0] if qualifiers else obo_text.unescape(value)))
            ]
        if tag in _TEXTS:
            return [Claim(_TEXTS[tag], self._text(text), notes)]
        if tag == "subset":
            return [Claim(OIO + "inSubset", self._node(self.iri(text)), notes)]
        if tag in ("replaced_by", "consider"):
            predicate = REPLACED_BY if tag == "replaced_by" else OIO + tag
            return [Claim(predicate, self._node(self.iri(text)), notes)]
        if tag == "is_obsolete":
            kind = self._node(rt.XSD + "boolean")
            return [Claim(rt.DEPRECATED, self.ox.Literal(text, datatype=kind), notes)] if text == "true" else []
        if tag == "xref" and (match := _XREF_VALUE.match(value)):
            label = [(rt.NAMES[1], self._text(obo_text.unescape(match[2][1:-1])))] if match[2] else []
            return [Claim(XREF, self._text(obo_text.unescape(match[1])), (*label, *notes))]
        claims = self._property_value(value) if tag == "property_value" else None
        if claims is not None:
            return claims
        key, kept = read_extra(tag, value)
        return [Claim(*rt.extra_statement(key.removeprefix(VERBATIM) if key == tag else key, kept))]

    def _synonym(self, tag: str, text: str, rest: str) -> Claim:
        match = _SCOPE.match(rest)
        scope = (match[1] if match else None) or _OLD_SCOPES.get(tag, "RELATED")
        kind = [(SYNONYM_TYPE, self._node(self.iri(match[2])))] if match and match[2] else []
        return Claim(SCOPES[scope], self._text(text), (*self._sources(rest), *kind))

    def _sources(self, rest: str) -> tuple[Note, ...]:
        """The xrefs between brackets, then qualifiers."""
        listed = _XREFS.search(rest)
        xrefs = [obo_text.unescape(m[1].strip()) for m in _XREF_ENTRY.finditer(listed[1])] if listed else []
        qualifiers = self._qualifiers(rest[listed.end() :] if listed else rest)
        return (*((XREF, self._text(xref)) for xref in xrefs if xref), *qualifiers)

    def _qualifiers(self, text: str) -> tuple[Note, ...]:
        pairs = [(match[1], obo_text.unescape(match[2][1:-1])) for match in _QUALIFIER.finditer(text)]
        return tuple((self._qualifier(name), self._text(value)) for name, value in pairs)

    def _qualifier(self, name: str) -> str:
        if name in ("comment", "label"):
            return rt.RDFS + name
        return self.iri(name) if ":" in name else OIO + name

    def _property_value(self, value: str) -> list[Claim] | None:
        """An annotation with a text or an address; None where the value is neither."""
        name, _, rest = obo_text.split_text(value)[0].partition(" ") if '"' not in value else value.partition(" ")
        quoted = obo_text.split_quoted(rest)
        property = self.iri(obo_text.unescape(name))
        if not rt.is_address(property) or property == rt.EXTRA:
            return None
        if quoted is None:
            return [Claim(property, self._node(self.iri(rest)))] if rest and " " not in rest else None
        kind = obo_text.split_text(quoted[1])[0].strip()
        if kind and not kind.startswith("xsd:"):
            return None
        datatype = self._node(rt.XSD + kind.removeprefix("xsd:")) if kind not in ("", "xsd:string") else None
        term = self.ox.Literal(quoted[0], datatype=datatype) if datatype is not None else self._text(quoted[0])
        return [Claim(property, term)]

    # -- relations ----------------------------------------------------------------------------------------------------

    def _typedef(self, frame: Stanza) -> Iterator[Said]:
        id = self._id(frame)
        note = (frame.first("is_metadata_tag") or "").startswith("true")
        kind = rt.OWL + ("AnnotationProperty" if note else "ObjectProperty")
        claims = [Claim(rt.TYPE, self._node(kind)), Claim(rt.OBO_ID, self._text(id))]
        if self.iri(id) != f"{OBO}{self.ontology or 'TEMP'}#{id}" and ":" not in id:
            claims.append(Claim(OIO + "shorthand", self._text(id)))
        between = {"domain": rt.RDFS + "domain", "range": rt.RDFS + "range", "is_a": rt.RDFS + "subPropertyOf"}
        between |= {"inverse_of": rt.OWL + "inverseOf", "disjoint_from": rt.OWL + "propertyDisjointWith"}
        for tag, value, _ in frame.clauses:
            text, qualifiers = obo_text.split_text(value)
            notes = self._qualifiers(qualifiers)
            if tag in between:
                claims.append(Claim(between[tag], self._node(self.iri(text)), notes))
            elif tag in _CHARACTERISTICS:
                claims += [Claim(rt.TYPE, self._node(_CHARACTERISTICS[tag]))] if text == "true" else []
            elif tag in ("transitive_over", "holds_over_chain"):
                chain = [id, text] if tag == "transitive_over" else text.split()
                links = tuple(self._node(self.iri(link)) for link in chain)
                claims.append(Claim(rt.OWL + "propertyChainAxiom", ("List", *links), notes))
            elif tag not in ("id", "is_metadata_tag"):
                claims += self._annotation(tag, value)
        yield self.iri(id), [*claims, *self._usual_namespace(frame)]
