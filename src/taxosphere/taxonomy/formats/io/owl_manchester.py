"""OWL in Manchester syntax: frames of classes, properties and individuals."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.formats.io import owl_triples
from taxosphere.taxonomy.formats.io.owl_functional import DEEPEST, Axiom, Terms, translate
from taxosphere.taxonomy.formats.io.owl_tokens import Tokens
from taxosphere.taxonomy.formats.io.rdf_terms import XSD

_KINDS = {
    "Class:": "Class",
    "ObjectProperty:": "ObjectProperty",
    "DataProperty:": "DataProperty",
    "AnnotationProperty:": "AnnotationProperty",
    "Datatype:": "Datatype",
    "Individual:": "NamedIndividual",
}
_GROUPS = {
    "EquivalentClasses:": "EquivalentClasses",
    "DisjointClasses:": "DisjointClasses",
    "EquivalentProperties:": "EquivalentObjectProperties",
    "DisjointProperties:": "DisjointObjectProperties",
    "SameIndividual:": "SameIndividual",
    "DifferentIndividuals:": "DifferentIndividuals",
}
# Sections of a frame: name of the axiom by kind of the frame. The subject comes first.
_SECTIONS: dict[str, dict[str, str]] = {
    "SubClassOf:": {"Class": "SubClassOf"},
    "EquivalentTo:": {
        "Class": "EquivalentClasses",
        "ObjectProperty": "EquivalentObjectProperties",
        "DataProperty": "EquivalentDataProperties",
        "Datatype": "DatatypeDefinition",
    },
    "DisjointWith:": {
        "Class": "DisjointClasses",
        "ObjectProperty": "DisjointObjectProperties",
        "DataProperty": "DisjointDataProperties",
    },
    "SubPropertyOf:": {
        "ObjectProperty": "SubObjectPropertyOf",
        "DataProperty": "SubDataPropertyOf",
        "AnnotationProperty": "SubAnnotationPropertyOf",
    },
    "InverseOf:": {"ObjectProperty": "InverseObjectProperties"},
    "Domain:": {kind: f"{kind}Domain" for kind in ("ObjectProperty", "DataProperty", "AnnotationProperty")},
    "Range:": {kind: f"{kind}Range" for kind in ("ObjectProperty", "DataProperty", "AnnotationProperty")},
    "SameAs:": {"NamedIndividual": "SameIndividual"},
    "DifferentFrom:": {"NamedIndividual": "DifferentIndividuals"},
}
_SPECIAL = ("Annotations:", "Characteristics:", "SubPropertyChain:", "DisjointUnionOf:", "HasKey:", "Types:", "Facts:")
_KEYWORDS = {*_KINDS, *_GROUPS, *_SECTIONS, *_SPECIAL, "Prefix:", "Ontology:", "Import:"}
_DATATYPES = ("integer", "decimal", "float", "string")
_FACETS = {
    "length": "length",
    "minLength": "minLength",
    "maxLength": "maxLength",
    "pattern": "pattern",
    "<=": "maxInclusive",
    ">=": "minInclusive",
    "<": "maxExclusive",
    ">": "minExclusive",
}
_DATA_RANGES = ("DataIntersectionOf", "DataUnionOf", "DataComplementOf", "DataOneOf", "DatatypeRestriction")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


def axioms(text: str, base: str, path: Path, prefixes: dict[str, str]) -> Iterator[tuple[Any, int]]:
    """The triples of an OWL document in Manchester syntax, each with the line of its section.

    Parameters
    ----------
    text : str
        The document.
    base : str
        What relative addresses are resolved against.
    path : Path
        The file that errors name.
    prefixes : dict of str to str
        Receives the prefixes of the document.

    Raises
    ------
    InputError
        For a syntax error, with its line.
    """
    reader = _Reader(text, path, Terms(base, prefixes))
    translator = owl_triples.Translator()
    try:
        for axiom in reader.read():
            for triple in translate(translator, axiom, path):
                yield triple, axiom.line
    except ValueError as error:  # of an address or a language
        raise reader.fault(f"{error}; expected something else") from None


class _Reader(Tokens):
    """Reads frames into axioms."""

    def __init__(self, text: str, path: Path, terms: Terms) -> None:
        super().__init__(text, path)
        self.terms = terms
        self.depth = 0
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        self.data_properties = {b.text for a, b in pairs if a.text == "DataProperty:"}

    # -- frames -------------------------------------------------------------------------------------------------------

    def read(self) -> Iterator[Axiom]:
        """The head and every axiom."""
        while self.take("Prefix:"):
            prefix = self.next.text
            self.at += 1
            self.terms.prefixes[prefix.removesuffix(":")] = self.next.text.strip("<>")
            self.at += 1
        yield Axiom(("Ontology", *self._head()), 1, 0, 0)
        while self.next.kind != "end":
            line = self.line_now()
            if self.next.text in _KINDS:
                kind = _KINDS[self.next.text]
                self.at += 1
                yield from self._frame(kind, self._name())
            elif self.next.text in _GROUPS:
                name = _GROUPS[self.next.text]
                self.at += 1
                notes = self._notes() if self.take("Annotations:") else []
                yield Axiom((name, *notes, *self._list(self._description)), line, 0, 0)
            else:
                raise self.fault("expected a frame such as 'Class:'")

    def _head(self) -> list[Any]:
        parts: list[Any] = []
        if not self.take("Ontology:"):
            return parts
        while self.next.kind == "iri" or (self.next.kind == "name" and self.next.text not in _KEYWORDS):
            parts.append(self._name())
        while self.next.text in ("Import:", "Annotations:"):
            if self.take("Import:"):
                parts.append(("Import", self._name()))
            elif self.take("Annotations:"):
                parts += self._notes()
        return parts

    def _frame(self, kind: str, subject: Any) -> Iterator[Axiom]:
        yield Axiom(("Declaration", (kind, subject)), self.line_now(), 0, 0)
        while self.next.text in _SECTIONS or self.next.text in _SPECIAL:
            section, line = self.next.text, self.line_now()
            self.at += 1
            for expression in self._section(kind, subject, section):
                yield Axiom(expression, line, 0, 0)

    def _section(self, kind: str, subject: Any, section: str) -> Iterator[tuple[Any, ...]]:
        if section == "Annotations:":
            for _, *inner, property, value in self._notes():
                yield ("AnnotationAssertion", *inner, property, subject, value)
        elif section in _SECTIONS:
            name = _SECTIONS[section].get(kind)
            if name is None:
                raise self.fault(f"'{section}' does not fit into this frame; expected another section")
            for notes, value in self._items(self._description):
                yield (name, *notes, subject, value)
        elif section == "Characteristics:":
            for notes, value in self._items(self._word):
                yield (f"{value}{'Data' if kind == 'DataProperty' else 'Object'}Property", *notes, subject)
        elif section == "SubPropertyChain:":
            for notes, value in self._items(self._chain):
                yield ("SubObjectPropertyOf", *notes, ("ObjectPropertyChain", *value), subject)
        elif section == "DisjointUnionOf:":
            notes = self._notes() if self.take("Annotations:") else []
            yield ("DisjointUnion", *notes, subject, *self._list(self._description))
        elif section == "HasKey:":
            notes = self._notes() if self.take("Annotations:") else []
            yield ("HasKey", *notes, subject, *self._keys())
        else:
            yield from self._about_individual(subject, section)

    def _about_individual(self, subject: Any, section: str) -> Iterator[tuple[Any, ...]]:
        if section == "Types:":
            for notes, value in self._items(self._description):
                yield ("ClassAssertion", *notes, value, subject)
            return
        for notes, (negative, property, value) in self._items(self._fact):
            kind = "Data" if self._is_literal(value) else "Object"
            yield (f"{'Negative' * negative}{kind}PropertyAssertion", *notes, property, subject, value)

    # -- parts of a section -------------------------------------------------------------------------------------------

    def _items(self, one: Callable[[], Any]) -> Iterator[tuple[list[Any], Any]]:
        while True:
            notes = self._notes() if self.take("Annotations:") else []
            yield notes, one()
            if not self.take(","):
                return

    def _list(self, one: Callable[[], Any]) -> list[Any]:
        return [value for _, value in self._items(one)]

    def _notes(self) -> list[tuple[Any, ...]]:
        notes = []
        while True:
            inner = self._notes() if self.take("Annotations:") else []
            property = self._name()
            notes.append(("Annotation", *inner, property, self._value()))
            if not self.take(","):
                return notes

    def _keys(self) -> list[Any]:
        keys = []
        while self.next.kind == "iri" or (self.next.kind == "name" and self.next.text not in _KEYWORDS):
            keys.append(self._name())
            self.take(",")
        return keys

    def _chain(self) -> list[Any]:
        chain = [self._property()]
        while self.take("o"):
            chain.append(self._property())
        return chain

    def _fact(self) -> tuple[bool, Any, Any]:
        negative = self.take("not")
        return negative, self._property(), self._value()

    def _word(self) -> str:
        word = self.next.text
        self.at += 1
        return word

    def _value(self) -> Any:
        return self._literal() if self.next.kind in ("text", "number") else self._name()

    def _name(self) -> Any:
        token = self.next
        if token.kind == "iri":
            try:
                node = self.terms.iri(token.text[1:-1])
            except ValueError as error:
                raise self.fault(f"{error}; expected another address") from None
            self.at += 1
            return node
        if token.kind != "name" or token.text in _KEYWORDS:
            raise self.fault("expected a name")
        self.at += 1
        if token.text.startswith("_:"):
            return self.terms.ox.BlankNode("n" + re.sub(r"\W", "_", token.text[2:]))
        if token.text in _DATATYPES:
            return self.terms.iri(XSD + token.text)
        try:
            return self.terms.name(token.text if ":" in token.text else f":{token.text}")
        except ValueError as error:
            self.at -= 1
            raise self.fault(f"{error}; expected another name") from None

    def _literal(self) -> Any:
        token = self.next
        self.at += 1
        if token.kind == "number":
            kind = "float" if token.text[-1] in "fF" else "decimal" if "." in token.text else "integer"
            return self.terms.literal(token.text.rstrip("fF"), None, self.terms.iri(XSD + kind))
        datatype = token.match["type"]
        if datatype is not None:
            full = datatype[1:-1] if datatype.startswith("<") else None
            name = f"xsd:{datatype}" if datatype in _DATATYPES else datatype
            try:
                node = self.terms.iri(full) if full is not None else self.terms.name(name)
            except ValueError as error:
                raise self.fault(str(error)) from None
            return self.terms.literal(_ESCAPE.sub(r"\1", token.text[1:-1]), None, node)
        return self.terms.literal(_ESCAPE.sub(r"\1", token.text[1:-1]), token.match["language"], None)

    # -- class expressions --------------------------------------------------------------------------------------------

    def _description(self) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fault(f"expected fewer than {DEEPEST} expressions inside each other")
        parts = [self._conjunction()]
        while self.take("or"):
            parts.append(self._conjunction())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else (self._kind_of(parts, "UnionOf"), *parts)

    def _conjunction(self) -> Any:
        parts = [self._primary()]
        while self.take("and", "that"):
            parts.append(self._primary())
        return parts[0] if len(parts) == 1 else (self._kind_of(parts, "IntersectionOf"), *parts)

    def _kind_of(self, parts: list[Any], name: str) -> str:
        return f"Data{name}" if all(self._is_data(part) for part in parts) else f"Object{name}"

    def _primary(self) -> Any:
        if self.take("not"):
            inner = self._primary()
            return ("DataComplementOf" if self._is_data(inner) else "ObjectComplementOf", inner)
        if self.take("("):
            inner = self._description()
            self.expect(")")
            return inner
        if self.take("{"):
            members = self._list(self._value)
            self.expect("}")
            return ("DataOneOf" if self._is_literal(members[0]) else "ObjectOneOf", *members)
        data = self.next.text in self.data_properties
        property = self._property()
        if self.take("["):
            return self._facets(property)
        return self._restriction(property, "Data" if data else "Object")

    def _restriction(self, property: Any, kind: str) -> Any:
        for word, name in (("some", "SomeValuesFrom"), ("only", "AllValuesFrom")):
            if self.take(word):
                filler = self._primary()
                return (f"{'Data' if self._is_data(filler) else kind}{name}", property, filler)
        if self.take("value"):
            value = self._value()
            return (f"{'Data' if self._is_literal(value) else 'Object'}HasValue", property, value)
        if self.take("Self"):
            return ("ObjectHasSelf", property)
        for word, bound in (("min", "Min"), ("max", "Max"), ("exactly", "Exact")):
            if self.take(word):
                number = self._literal() if self.next.kind == "number" else None
                if number is None:
                    raise self.fault("expected a number")
                starts = self.next.kind in ("iri", "name") and self.next.text not in (*_KEYWORDS, "and", "or", "that")
                filler = [self._primary()] if starts or self.next.text in ("(", "{") else []
                of = "Data" if filler and self._is_data(filler[0]) else kind
                return (f"{of}{bound}Cardinality", number, property, *filler)
        return property

    def _property(self) -> Any:
        if self.take("inverse"):
            closing = self.take("(")
            inner = self._name()
            if closing:
                self.expect(")")
            return ("ObjectInverseOf", inner)
        return self._name()

    def _facets(self, datatype: Any) -> Any:
        parts: list[Any] = []
        while True:
            word = _FACETS.get(self.next.text)
            if word is None:
                raise self.fault("expected a facet such as '>='")
            self.at += 1
            parts += [self.terms.iri(XSD + word), self._value()]
            if not self.take(","):
                self.expect("]")
                return ("DatatypeRestriction", datatype, *parts)

    def _is_literal(self, value: Any) -> bool:
        return isinstance(value, self.terms.ox.Literal)

    def _is_data(self, value: Any) -> bool:
        if isinstance(value, tuple):
            return str(value[0]) in _DATA_RANGES
        return str(getattr(value, "value", "")).startswith(XSD)
