"""New axioms in the OWL syntaxes: functional, Manchester and XML."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import owl_functional, owl_triples
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.rdf_claims import Claim
from taxosphere.taxonomy.formats.io.rdf_syntax import NOT_IN_XML, Document
from taxosphere.taxonomy.formats.io.xml_tree import escape_content, quoted

Removed = Container[tuple[str, str, str]]  # subject, predicate, spelling of the object
Added = Sequence[tuple[str, Sequence[Claim]]]  # address of the subject, claims about it
_LOCAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def document(syntax: str, claims: Added, path: Path) -> str:
    """A whole document of claims.

    Parameters
    ----------
    syntax : {"FUNCTIONAL", "MANCHESTER", "OWL_XML"}
        How to write it.
    claims : sequence of (str, sequence of Claim)
        Claims by address of their subject.
    path : Path
        The file that errors name.
    """
    if syntax == "FUNCTIONAL":
        prefixes = "".join(f"Prefix({prefix}:=<{iri}>)\n" for prefix, iri in rt.PREFIXES.items())
        return f"{prefixes}\nOntology(\n" + "".join(f"{line}\n" for line in functional(claims, rt.PREFIXES)) + ")\n"
    if syntax == "MANCHESTER":
        return "Ontology:\n" + frames(claims)
    elements = xml(claims).replace("<@", "<").replace("</@", "</")
    odd = NOT_IN_XML.search(elements)
    if odd:
        raise InputError(f"XML cannot hold the character U+{ord(odd[0]):04X}; write Turtle instead", path=path)
    return f'<?xml version="1.0"?>\n<Ontology xmlns="{rt.OWL}">\n{elements}</Ontology>\n'


# -- functional -------------------------------------------------------------------------------------------------------


def edit_functional(document: Document, added: Added, removed: Removed) -> str:
    """A document in functional syntax without the axioms that go, and with new ones at its end.

    Parameters
    ----------
    document : Document
        The source.
    added : sequence of (str, sequence of Claim)
        What is new, by address of the subject.
    removed : container of (str, str, str)
        Statements that go.
    """
    text = document.text
    end = "\r\n" if "\r\n" in text else "\n"
    base = f"file:///{document.name}"
    translator, last, prefixes = owl_triples.Translator(), 0, dict[str, str]()
    kept, start = [], 0
    for axiom in owl_functional.expressions(text, base, document.path, prefixes):
        triples = owl_functional.translate(translator, axiom, document.path)
        last = max(last, axiom.end)
        if axiom.end and any(_key(triple) in removed for triple in triples):
            kept.append(text[start : axiom.start].rstrip(" \t"))
            start = axiom.end
            if text.startswith(("\n", "\r\n"), start):
                start = text.index("\n", start) + 1
    closing = max(text.rfind(")", last), start)
    kept.append(text[start:closing])
    before = "".join(kept)
    axioms = "".join(line + end for line in functional(added, document.prefixes))
    return before + ("" if before.endswith("\n") else end) + axioms + text[closing:]


def _key(triple: Any) -> tuple[str, str, str]:
    ox = rt.oxigraph()
    subject = triple.subject.value if isinstance(triple.subject, ox.NamedNode) else f"_:{triple.subject.value}"
    return subject, triple.predicate.value, str(triple.object)


def functional(added: Added, prefixes: dict[str, str]) -> Iterator[str]:
    """Claims as axioms, one line each.

    Parameters
    ----------
    added : sequence of (str, sequence of Claim)
        Claims by address of their subject.
    prefixes : dict of str to str
        Abbreviations that the document declares.
    """
    for iri, claims in added:
        subject = _name(iri, prefixes)
        for claim in claims:
            notes = "".join(f"Annotation({_name(p, prefixes)} {_value(v, prefixes)}) " for p, v in claim.notes)
            value = _value(claim.value, prefixes)
            if claim.predicate == rt.TYPE and claim.value.value == rt.OWL + "Class":
                yield f"Declaration({notes}Class({subject}))"
            elif claim.predicate == rt.TYPE:
                yield f"ClassAssertion({notes}{value} {subject})"
            elif claim.predicate == rt.SUBCLASS:
                yield f"SubClassOf({notes}{subject} {value})"
            else:
                yield f"AnnotationAssertion({notes}{_name(claim.predicate, prefixes)} {subject} {value})"


def _name(iri: str, prefixes: dict[str, str]) -> str:
    for prefix, start in prefixes.items():
        if start and iri.startswith(start) and _LOCAL.fullmatch(iri.removeprefix(start)):
            return f"{prefix}:{iri.removeprefix(start)}"
    return f"<{iri}>"


def _value(value: Any, prefixes: dict[str, str]) -> str:
    if isinstance(value, tuple):
        return f"{value[0]}({' '.join(_value(part, prefixes) for part in value[1:])})"
    if not rt.is_literal(value):
        return _name(value.value, prefixes)
    text = '"' + value.value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if value.language:
        return f"{text}@{value.language}"
    plain = value.datatype.value == rt.XSD + "string"
    return text if plain else f"{text}^^{_name(value.datatype.value, prefixes)}"


# -- Manchester -------------------------------------------------------------------------------------------------------


def frames(added: Added) -> str:
    """Claims as frames of classes, one per subject."""
    return "\n" + "\n".join(_frame(iri, list(claims)) for iri, claims in _by_subject(added).items())


def _by_subject(added: Added) -> dict[str, list[Claim]]:
    subjects: dict[str, list[Claim]] = {}
    for iri, claims in added:
        subjects.setdefault(iri, []).extend(claims)
    return subjects


def _frame(iri: str, claims: Sequence[Claim]) -> str:
    above, notes = [], []
    for claim in claims:
        inner = ", ".join(f"<{p}> {_value(v, {})}" for p, v in claim.notes)
        mark = f"Annotations: {inner} " if inner else ""
        if claim.predicate == rt.SUBCLASS:
            above.append(mark + _class(claim.value))
        elif claim.predicate != rt.TYPE:
            notes.append(f"{mark}<{claim.predicate}> {_value(claim.value, {})}")
    types = [f"<{c.value.value}>" for c in claims if c.predicate == rt.TYPE and c.value.value != rt.OWL + "Class"]
    lines = [f"Individual: <{iri}>", f"    Types: {', '.join(types)}"] if types else []
    lines += [f"Class: <{iri}>"]
    lines += [f"    Annotations: {', '.join(notes)}"] if notes else []
    lines += [f"    SubClassOf: {', '.join(above)}"] if above else []
    return "\n".join(lines) + "\n"


def _class(value: Any) -> str:
    return f"<{value[1].value}> some <{value[2].value}>" if isinstance(value, tuple) else f"<{value.value}>"


# -- OWL/XML ----------------------------------------------------------------------------------------------------------


def xml(added: Added) -> str:
    """Claims as elements; ``@`` stands for the prefix of the OWL namespace."""
    return "".join(f"    {element}\n" for iri, claims in added for claim in claims for element in _axioms(iri, claim))


def _axioms(iri: str, claim: Claim) -> Iterator[str]:
    subject = f"<@Class IRI={quoted(iri)}/>"
    notes = "".join(f"<@Annotation>{_xml_property(p)}{_xml_value(v)}</@Annotation>" for p, v in claim.notes)
    if claim.predicate == rt.TYPE and claim.value.value != rt.OWL + "Class":
        individual = f"<@NamedIndividual IRI={quoted(iri)}/>"
        yield f"<@ClassAssertion>{_xml_class(claim.value)}{individual}</@ClassAssertion>"
    elif claim.predicate == rt.TYPE:
        yield f"<@Declaration>{subject}</@Declaration>"
    elif claim.predicate == rt.SUBCLASS:
        yield f"<@SubClassOf>{notes}{subject}{_xml_class(claim.value)}</@SubClassOf>"
    else:
        name = "AnnotationAssertion"
        parts = f"{notes}{_xml_property(claim.predicate)}<@IRI>{escape_content(iri)}</@IRI>{_xml_value(claim.value)}"
        yield f"<@{name}>{parts}</@{name}>"


def _xml_property(iri: str) -> str:
    return f"<@AnnotationProperty IRI={quoted(iri)}/>"


def _xml_class(value: Any) -> str:
    if not isinstance(value, tuple):
        return f"<@Class IRI={quoted(value.value)}/>"
    parts = f"<@ObjectProperty IRI={quoted(value[1].value)}/><@Class IRI={quoted(value[2].value)}/>"
    return f"<@{value[0]}>{parts}</@{value[0]}>"


def _xml_value(value: Any) -> str:
    if not rt.is_literal(value):
        return f"<@IRI>{escape_content(value.value)}</@IRI>"
    mark = f" xml:lang={quoted(value.language)}" if value.language else ""
    if not value.language and value.datatype.value != rt.XSD + "string":
        mark = f" datatypeIRI={quoted(value.datatype.value)}"
    return f"<@Literal{mark}>{escape_content(value.value)}</@Literal>"
