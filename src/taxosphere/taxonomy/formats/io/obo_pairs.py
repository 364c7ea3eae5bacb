"""What OBO says in one clause and OWL in an annotated statement: synonyms with scope, definitions with sources."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from taxosphere.taxonomy.formats.io import obo_text
from taxosphere.taxonomy.formats.io import rdf_terms as rt

Pair = tuple[str, str]
Statement = tuple[str, Any]

SCOPES = {scope: f"{rt.OBO_IN_OWL}has{scope.title()}Synonym" for scope in ("EXACT", "BROAD", "NARROW", "RELATED")}
SCOPE_OF = {predicate: scope for scope, predicate in SCOPES.items()}
XREF, SYNONYM_TYPE = rt.OBO_IN_OWL + "hasDbXref", rt.OBO_IN_OWL + "hasSynonymType"
_SYNONYM = re.compile(r"(EXACT|BROAD|NARROW|RELATED)(?: ([^\s\[\]{}]+))? \[(.*)\]")
_XREFS = re.compile(r"\[(.*)\]")
_XREF = re.compile(r'(?:[^,\\"]|\\.)+')


class Synonym(NamedTuple):
    """A synonym clause: its text, scope, type (an id, or empty) and sources."""

    text: str
    scope: str
    kind: str
    xrefs: tuple[str, ...]


def synonym_pair(predicate: str, text: str, notes: Iterable[Statement]) -> Pair | None:
    """The extra of a synonym; None for a predicate without scope.

    Parameters
    ----------
    predicate : str
        One of the properties of `SCOPES`.
    text : str
        The synonym.
    notes : iterable of (str, term)
        Annotations of the statement.
    """
    scope = SCOPE_OF.get(predicate)
    if scope is None:
        return None
    notes = list(notes)
    kinds = [rt.mentioned_id(str(value.value), None) for name, value in notes if name == SYNONYM_TYPE]
    return "synonym", spelled(Synonym(text, scope, kinds[0] if kinds else "", _xrefs_of(notes)))


def definition_pair(notes: Iterable[Statement]) -> list[Pair]:
    """The extra that holds the sources of a definition, if it has any."""
    xrefs = _xrefs_of(notes)
    return [("def", f"[{joined(xrefs)}]")] if xrefs else []


def _xrefs_of(notes: Iterable[Statement]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value.value) for name, value in notes if name == XREF))


def spelled(synonym: Synonym) -> str:
    """A synonym as the value of an OBO clause."""
    kind = f" {synonym.kind}" if synonym.kind else ""
    return f"{obo_text.quote(synonym.text)} {synonym.scope}{kind} [{joined(synonym.xrefs)}]"


def joined(xrefs: Iterable[str]) -> str:
    """A list of sources as OBO has it between brackets."""
    return ", ".join(xref.replace("\\", "\\\\").replace(",", "\\,") for xref in xrefs)


def parse_synonym(value: str) -> Synonym | None:
    """The inverse of `spelled`; None for any other value."""
    parts = obo_text.split_quoted(value)
    match = _SYNONYM.fullmatch(parts[1]) if parts else None
    if parts is None or match is None:
        return None
    synonym = Synonym(parts[0], match[1], match[2] or "", split_xrefs(match[3]))
    return synonym if spelled(synonym) == value else None


def parse_definition(value: str) -> tuple[str, ...] | None:
    """Sources of a definition; None for a value that `definition_pair` does not make."""
    match = _XREFS.fullmatch(value)
    xrefs = split_xrefs(match[1]) if match else ()
    return xrefs if xrefs and f"[{joined(xrefs)}]" == value else None


def split_xrefs(text: str) -> tuple[str, ...]:
    """The entries of a list of sources, without what is said about them in quotation marks."""
    return tuple(obo_text.unescape(entry.strip()) for entry in _XREF.findall(text) if entry.strip())
