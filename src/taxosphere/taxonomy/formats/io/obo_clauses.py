"""The clauses of an OBO term as the columns of a concept, and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import obo_text
from taxosphere.taxonomy.formats.io.obo_stanzas import RANK, split_clause

Pair = tuple[str, str]

# Clauses other than the understood ones, and what their value must look like to be written under their own tag.
_ID = re.compile(r"\S+(?: \{.*\})?(?: *! .*)?")
_ANY = re.compile(r"(?=\S)[^\n\r]*[^\s\\]")
TAGS = {
    **dict.fromkeys(("alt_id", "namespace", "subset", "consider", "replaced_by", "disjoint_from", "union_of"), _ID),
    "xref": re.compile(r'\S+(?: ".*")?(?: \{.*\})?(?: ! .*)?'),
    "relationship": re.compile(r"\S+ \S+( .*)?"),
    "intersection_of": re.compile(r"\S+( .*)?"),
    "equivalent_to": re.compile(r"\S+( .*)?"),
    **dict.fromkeys(("is_obsolete", "is_anonymous", "builtin"), re.compile(r"(?:true|false)(?: \{.*\})?(?: *! .*)?")),
    "created_by": _ANY,
    "creation_date": re.compile(r"\d{4}-\d\d-\d\d.*"),
    "property_value": re.compile(r'\S+ (?:\S+|"(?:[^"\\]|\\.)*"( \S+)?)(?: \{.*\})?(?: ! .*)?'),
}
COMMENT = "comment"
SYNONYM_TAGS = frozenset({"synonym", "exact_synonym", "narrow_synonym", "broad_synonym", "related_synonym"})
IMAGE = "image"
VERBATIM = "obo clause "  # marks the key of a clause that is kept and written letter by letter
_TEXT_PROPERTY = re.compile(r'((?:[^ \t\\]|\\.)+) ("(?:[^"\\]|\\.)*") xsd:string')
_NAME, _DEFINITION = ("name", ""), ("def", "")  # clauses a term has once, and their texts left open


def read_extra(tag: str, value: str) -> Pair:
    """The extra that a clause becomes.

    Free text in plain form, everything else as written; ``property_value`` of a plain text as that property.
    """
    if (pattern := TAGS.get(tag)) and "\\" not in value and tag != "property_value":  # most clauses
        return (tag if pattern.fullmatch(value) else VERBATIM + tag), value
    if tag == COMMENT and not obo_text.has_qualifiers(value):
        return tag, obo_text.unescape(value)
    if tag == "property_value" and (match := _TEXT_PROPERTY.fullmatch(value)):
        key = obo_text.unescape(match[1])
        text = (obo_text.split_quoted(match[2]) or ("", ""))[0]
        if not _fits(key, text):
            return key, text
    return (tag, value) if tag in TAGS and _fits(tag, value) else (VERBATIM + tag, value)


def _fits(key: str, text: str) -> bool:
    """Whether a pair can be written as a clause of its own."""
    pattern = TAGS.get(key)
    return key == COMMENT or (pattern is not None and bool(pattern.fullmatch(text)) and not obo_text.goes_on(text))


def term_clauses(concept: Concept, parents: Mapping[str, str], stated: Mapping[str, list[str]]) -> list[str]:
    """The clauses of a concept after its ``id``, in the order of the OBO specification.

    Parameters
    ----------
    concept : Concept
        What the stanza describes.
    parents : mapping of str to str
        Ids of its parents and their names, which become comments.
    stated : mapping of str to list of str
        Whole clauses that state an edge to a parent in another way than ``is_a``, by id of the parent.
    """
    clauses = _clauses(concept, parents, stated)
    return sorted(clauses, key=lambda clause: RANK.get(clause.partition(":")[0], len(RANK)))


def _clauses(concept: Concept, parents: Mapping[str, str], stated: Mapping[str, list[str]]) -> Iterator[str]:
    parts, others = _sorted(concept, parents)
    yield " ".join((f"name: {obo_text.escape_text(concept.name)}", *parts.get(_NAME, ())))
    if concept.description or _DEFINITION in parts:
        yield " ".join((f"def: {obo_text.quote(concept.description)}", *parts.get(_DEFINITION, ("[]",))))
    for text in dict.fromkeys(concept.synonyms):  # RELATED is the scope OBO assumes
        yield from parts.get(("synonym", text), (f"synonym: {obo_text.quote(text)} RELATED []",))
    for id, name in parents.items():
        if id in stated:
            yield from stated[id]
            continue
        note = " ".join(name.split())
        comment = f" ! {note}" if note and note != id and not note.endswith("\\") else ""
        yield f"is_a: {''.join(parts.get(('is_a', id), (obo_text.escape_id(id),)))}{comment}"
    for image in concept.images:
        yield _property(IMAGE, image)
    for key, value in others:
        yield _extra(key, value)


def _sorted(concept: Concept, parents: Iterable[str]) -> tuple[dict[Pair, list[str]], list[Pair]]:
    """Extras that belong to the clause of the name, the definition, a synonym or a parent, and all others."""
    clauses = {_NAME, _DEFINITION, *(("synonym", text) for text in concept.synonyms), *(("is_a", id) for id in parents)}
    parts: dict[Pair, list[str]] = {}
    others = []
    for key, value in concept.extras:
        clause = _clause(key, value) if _ANY.fullmatch(value) else None
        if clause not in clauses or (clause in parts and clause[0] != "synonym"):
            others.append((key, value))
        else:
            parts.setdefault(clause, []).append(f"{key}: {value}" if clause[0] == "synonym" else value)
    return parts, others


def without_remains(concept: Concept, parents: Iterable[str], source: Iterable[Pair]) -> Concept:
    """The concept without scopes, sources and qualifiers of clauses that its source had and that no longer hold.

    Parameters
    ----------
    concept : Concept
        The concept as it is now.
    parents : iterable of str
        Ids of its parents now.
    source : iterable of (str, str)
        The extras that were read from its stanza.
    """
    clauses = {_NAME, *(("synonym", text) for text in concept.synonyms), *(("is_a", id) for id in parents)}
    clauses |= {_DEFINITION} if concept.description else set()
    gone = {pair for pair in source if (clause := _clause(*pair)) and clause not in clauses}
    return replace(concept, extras=tuple(pair for pair in concept.extras if pair not in gone))


def _clause(key: str, value: str) -> Pair | None:
    """Where scopes, sources and qualifiers are written, if an extra is such a thing."""
    if key in SYNONYM_TAGS and (parts := obo_text.split_quoted(value)):
        return "synonym", parts[0]
    if key in ("name", "is_a") and obo_text.has_qualifiers(value):
        text = obo_text.split_text(value)[0]
        return (key, text) if text or key == "name" else None
    return _DEFINITION if key == "def" and value[:1] in ("[", "{") and value != "[]" else None


def _extra(key: str, value: str) -> str:
    if key.startswith(VERBATIM) and _ANY.fullmatch(value):
        return f"{key.removeprefix(VERBATIM)}: {value}"
    if key == COMMENT and value.strip():
        return f"{key}: {obo_text.escape_text(value)}"
    return f"{key}: {value}" if key != COMMENT and _fits(key, value) else _property(key, value)


def _property(key: str, value: str) -> str:
    return f"property_value: {obo_text.escape_id(key) or '_'} {obo_text.quote(value)} xsd:string"


def normal(line: str) -> tuple[str, str]:
    """Tag and spelling of a clause that two lines share if and only if they say the same.

    Parameters
    ----------
    line : str
        One clause, continued lines joined.
    """
    tag, value = split_clause(Path(), line, 0)
    if tag in ("name", "is_a"):
        escape = obo_text.escape_text if tag == "name" else obo_text.escape_id
        text, qualifiers = obo_text.split_text(value)
        return tag, f"{escape(text)} {qualifiers}".rstrip()
    if tag in ("def", *SYNONYM_TAGS) and (parts := obo_text.split_quoted(value)):
        return tag, f"{obo_text.quote(parts[0])} {parts[1] or '[]'}"
    key, text = read_extra(tag, value)
    return tag, value if key in (tag, VERBATIM + tag) and tag != COMMENT else f"{key} {text}"
