"""OWL axioms and class expressions as RDF triples, by the mapping of the OWL 2 recommendation.

An expression is an RDF term (a class, property, individual or literal) or a tuple of the name that the functional
syntax has for it and its arguments: ``("ObjectSomeValuesFrom", part_of, heart)``. The three OWL syntaxes are read into
such tuples, and whoever writes axioms builds them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from taxosphere.taxonomy.formats.io.rdf_terms import OWL, RDF, RDFS, XSD, oxigraph

Expression = Any  # an RDF term, or a tuple of a name and expressions

ENTITIES = {
    "Class": OWL + "Class",
    "Datatype": RDFS + "Datatype",
    "ObjectProperty": OWL + "ObjectProperty",
    "DataProperty": OWL + "DatatypeProperty",
    "AnnotationProperty": OWL + "AnnotationProperty",
    "NamedIndividual": OWL + "NamedIndividual",
}
# One triple each: subject, predicate, object.
_BINARY = {
    "SubClassOf": RDFS + "subClassOf",
    "SubDataPropertyOf": RDFS + "subPropertyOf",
    "SubAnnotationPropertyOf": RDFS + "subPropertyOf",
    "ObjectPropertyDomain": RDFS + "domain",
    "DataPropertyDomain": RDFS + "domain",
    "AnnotationPropertyDomain": RDFS + "domain",
    "ObjectPropertyRange": RDFS + "range",
    "DataPropertyRange": RDFS + "range",
    "AnnotationPropertyRange": RDFS + "range",
    "DatatypeDefinition": OWL + "equivalentClass",
    "InverseObjectProperties": OWL + "inverseOf",
}
# A triple between neighbours.
_CHAINED = {
    "EquivalentClasses": OWL + "equivalentClass",
    "EquivalentObjectProperties": OWL + "equivalentProperty",
    "EquivalentDataProperties": OWL + "equivalentProperty",
    "SameIndividual": OWL + "sameAs",
}
# For two a triple, for more a node with a list: predicate, type of the node.
_DISJOINT = {
    "DisjointClasses": (OWL + "disjointWith", OWL + "AllDisjointClasses"),
    "DisjointObjectProperties": (OWL + "propertyDisjointWith", OWL + "AllDisjointProperties"),
    "DisjointDataProperties": (OWL + "propertyDisjointWith", OWL + "AllDisjointProperties"),
    "DifferentIndividuals": (OWL + "differentFrom", OWL + "AllDifferent"),
}
_CHARACTERISTICS = {
    **{f"{kind}ObjectProperty": f"{OWL}{kind}Property" for kind in ("Functional", "InverseFunctional", "Reflexive")},
    **{f"{kind}ObjectProperty": f"{OWL}{kind}Property" for kind in ("Irreflexive", "Symmetric", "Asymmetric")},
    "TransitiveObjectProperty": OWL + "TransitiveProperty",
    "FunctionalDataProperty": OWL + "FunctionalProperty",
}
_NEGATIVE = ("NegativeObjectPropertyAssertion", "NegativeDataPropertyAssertion")
# Class expressions and data ranges over a list: type of the node, predicate.
_LISTS = {
    "ObjectIntersectionOf": (OWL + "Class", OWL + "intersectionOf"),
    "ObjectUnionOf": (OWL + "Class", OWL + "unionOf"),
    "ObjectOneOf": (OWL + "Class", OWL + "oneOf"),
    "DataIntersectionOf": (RDFS + "Datatype", OWL + "intersectionOf"),
    "DataUnionOf": (RDFS + "Datatype", OWL + "unionOf"),
    "DataOneOf": (RDFS + "Datatype", OWL + "oneOf"),
}
_COMPLEMENTS = {
    "ObjectComplementOf": (OWL + "Class", OWL + "complementOf"),
    "DataComplementOf": (RDFS + "Datatype", OWL + "datatypeComplementOf"),
}
_RESTRICTIONS = {
    f"{kind}{name}": OWL + word
    for kind in ("Object", "Data")
    for name, word in (
        ("SomeValuesFrom", "someValuesFrom"),
        ("AllValuesFrom", "allValuesFrom"),
        ("HasValue", "hasValue"),
    )
}
_CARDINALITIES = {
    f"{kind}{bound}Cardinality": (bound, OWL + ("onClass" if kind == "Object" else "onDataRange"))
    for kind in ("Object", "Data")
    for bound in ("Min", "Max", "Exact")
}
_BOUNDS = {"Min": ("minCardinality", "minQualifiedCardinality"), "Max": ("maxCardinality", "maxQualifiedCardinality")}
_EXACT = ("cardinality", "qualifiedCardinality")


class MisshapenError(ValueError):
    """An axiom that the mapping has no rule for, or with too few arguments."""


class Translator:
    """Makes triples of axioms; the nodes that expressions need are numbered in the order they are met.

    Parameters
    ----------
    prefix : str
        Begins the labels of anonymous nodes.
    """

    def __init__(self, prefix: str = "x") -> None:
        self.ox = oxigraph()
        self.prefix = prefix
        self.count = 0
        self.triples: list[Any] = []

    def axiom(self, axiom: tuple[Any, ...]) -> list[Any]:
        """The triples of one axiom, the one that states it first.

        Parameters
        ----------
        axiom : tuple
            Its name, annotations as ``("Annotation", property, value)``, and its arguments.

        Raises
        ------
        MisshapenError
        """
        self.triples = []
        notes = [part for part in axiom[1:] if isinstance(part, tuple) and part[0] == "Annotation"]
        arguments = [part for part in axiom[1:] if not (isinstance(part, tuple) and part[0] == "Annotation")]
        try:
            main = self._axiom(axiom[0], arguments)
        except (IndexError, KeyError, ValueError, AttributeError, TypeError) as error:
            raise MisshapenError(f"{axiom[0]} with arguments that do not fit") from error
        for triple in main if notes else ():
            self.annotate(triple, notes)
        return self.triples

    def annotate(self, triple: Any, notes: Sequence[tuple[Any, ...]]) -> None:
        """Annotations of an axiom, on a node that repeats its triple."""
        node = self._node(OWL + "Axiom")
        self._add(node, OWL + "annotatedSource", triple.subject)
        self._add(node, OWL + "annotatedProperty", triple.predicate)
        self._add(node, OWL + "annotatedTarget", triple.object)
        self._notes(node, notes)

    def _notes(self, node: Any, notes: Sequence[tuple[Any, ...]]) -> None:
        for note in notes:
            *inner, property, value = note[1:]
            statement = self._add(node, property.value, value)
            if inner:
                self.annotate(statement, inner)

    def _axiom(self, name: str, args: list[Expression]) -> list[Any]:
        if name == "Declaration":
            kind, entity = args[0]
            if kind not in ENTITIES:
                raise ValueError(f"'{kind}' is no kind of entity")
            return [self._add(entity, RDF + "type", self.ox.NamedNode(ENTITIES[kind]))]
        if name == "AnnotationAssertion":
            return [self._add(args[1], args[0].value, args[2])]
        if name in _BINARY:
            return [self._add(self.term(args[0]), _BINARY[name], self.term(args[1]))]
        if name == "SubObjectPropertyOf":
            return [self._sub_property(*args)]
        if name in _CHAINED:
            terms = [self.term(part) for part in args]
            return [self._add(a, _CHAINED[name], b) for a, b in itertools.pairwise(terms)]
        if name in _DISJOINT:
            return self._disjoint(name, args)
        if name in _CHARACTERISTICS:
            return [self._add(self.term(args[0]), RDF + "type", self.ox.NamedNode(_CHARACTERISTICS[name]))]
        return self._further(name, args)

    def _further(self, name: str, args: list[Expression]) -> list[Any]:
        if name == "ClassAssertion":
            return [self._add(args[1], RDF + "type", self.term(args[0]))]
        if name in ("ObjectPropertyAssertion", "DataPropertyAssertion"):
            if isinstance(args[0], tuple):  # of an inverse: said of the other end
                return [self._add(args[2], args[0][1].value, args[1])]
            return [self._add(args[1], args[0].value, args[2])]
        if name in _NEGATIVE:
            node = self._node(OWL + "NegativePropertyAssertion")
            self._add(node, OWL + "sourceIndividual", args[1])
            self._add(node, OWL + "assertionProperty", self.term(args[0]))
            target = "targetIndividual" if name == _NEGATIVE[0] else "targetValue"
            return [self._add(node, OWL + target, args[2])]
        if name == "DisjointUnion":
            return [self._add(self.term(args[0]), OWL + "disjointUnionOf", self.list(args[1:]))]
        if name == "HasKey":
            keys = [part for group in args[1:] for part in (group[1:] if isinstance(group, tuple) else (group,))]
            return [self._add(self.term(args[0]), OWL + "hasKey", self.list(keys))]
        raise MisshapenError(f"no axiom is called {name}")

    def _sub_property(self, lower: Expression, upper: Expression) -> Any:
        if isinstance(lower, tuple) and lower[0] == "ObjectPropertyChain":
            return self._add(self.term(upper), OWL + "propertyChainAxiom", self.list(lower[1:]))
        return self._add(self.term(lower), RDFS + "subPropertyOf", self.term(upper))

    def _disjoint(self, name: str, args: list[Expression]) -> list[Any]:
        predicate, kind = _DISJOINT[name]
        if len(args) == 2:
            return [self._add(self.term(args[0]), predicate, self.term(args[1]))]
        node = self._node(kind)
        members = OWL + ("distinctMembers" if name == "DifferentIndividuals" else "members")
        return [self._add(node, members, self.list(args))]

    def term(self, expression: Expression) -> Any:
        """The RDF term of an expression: itself, or an anonymous node that the triples added describe."""
        if not isinstance(expression, tuple):
            return expression
        name, *args = expression
        if name == "List":
            return self.list(args)
        if name in _LISTS:
            kind, predicate = _LISTS[name]
            node = self._node(kind)
            self._add(node, predicate, self.list(args))
            return node
        if name in _COMPLEMENTS:
            kind, predicate = _COMPLEMENTS[name]
            node = self._node(kind)
            self._add(node, predicate, self.term(args[0]))
            return node
        if name == "ObjectInverseOf":
            node = self._node(None)
            self._add(node, OWL + "inverseOf", self.term(args[0]))
            return node
        if name == "DatatypeRestriction":
            return self._facets(args)
        return self._restriction(name, args)

    def _restriction(self, name: str, args: list[Expression]) -> Any:
        node = self._node(OWL + "Restriction")
        at = 1 if name in _CARDINALITIES else 0
        self._add(node, OWL + "onProperty", self.term(args[at]))
        if name in _RESTRICTIONS:
            self._add(node, _RESTRICTIONS[name], self.term(args[1]))
        elif name == "ObjectHasSelf":
            true = self.ox.Literal("true", datatype=self.ox.NamedNode(XSD + "boolean"))
            self._add(node, OWL + "hasSelf", true)
        elif name in _CARDINALITIES:
            bound, of = _CARDINALITIES[name]
            plain, qualified = _BOUNDS.get(bound, _EXACT)
            number = self.ox.Literal(args[0].value, datatype=self.ox.NamedNode(XSD + "nonNegativeInteger"))
            self._add(node, OWL + (qualified if len(args) > 2 else plain), number)
            if len(args) > 2:
                self._add(node, of, self.term(args[2]))
        else:
            raise MisshapenError(f"no class expression is called {name}")
        return node

    def _facets(self, args: list[Expression]) -> Any:
        node = self._node(RDFS + "Datatype")
        self._add(node, OWL + "onDatatype", args[0])
        facets = []
        for facet, value in zip(args[1::2], args[2::2], strict=True):
            facets.append(self._node(None))
            self._add(facets[-1], facet.value, value)
        self._add(node, OWL + "withRestrictions", self.list(facets))
        return node

    def list(self, members: Sequence[Expression]) -> Any:
        """An RDF list of the terms of expressions."""
        rest = self.ox.NamedNode(RDF + "nil")
        for term in reversed([self.term(member) for member in members]):
            node = self._node(None)
            self._add(node, RDF + "first", term)
            self._add(node, RDF + "rest", rest)
            rest = node
        return rest

    def _node(self, kind: str | None) -> Any:
        node = self.ox.BlankNode(f"{self.prefix}{self.count}")
        self.count += 1
        if kind is not None:
            self._add(node, RDF + "type", self.ox.NamedNode(kind))
        return node

    def _add(self, subject: Any, predicate: str, value: Any) -> Any:
        triple = self.ox.Triple(subject, self.ox.NamedNode(predicate), value)
        self.triples.append(triple)
        return triple


def header(iri: Any, version: Any, imports: Sequence[Any], notes: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """The triples of an ontology's head; imports are stated and never followed.

    Parameters
    ----------
    iri : NamedNode or None
        Address of the ontology.
    version : NamedNode or None
        Address of its version.
    imports : sequence of NamedNode
        Ontologies it imports.
    notes : sequence of tuple
        Its annotations, as ``("Annotation", property, value)``.
    """
    ox = oxigraph()
    node = iri if iri is not None else ox.BlankNode("ontology")
    yield ox.Triple(node, ox.NamedNode(RDF + "type"), ox.NamedNode(OWL + "Ontology"))
    if version is not None:
        yield ox.Triple(node, ox.NamedNode(OWL + "versionIRI"), version)
    for other in imports:
        yield ox.Triple(node, ox.NamedNode(OWL + "imports"), other)
    for note in notes:
        *_, property, value = note[1:]
        yield ox.Triple(node, property, value)
