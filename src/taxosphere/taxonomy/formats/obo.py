"""OBO: terms, names, definitions, synonyms and `is_a` understood; every other clause and stanza kept and written back.

The text is split by `obo_text` and not by a grammar of the whole language, because a file must survive the trip even
where it holds clauses no grammar knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import obo_text, obsolete
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.obo_text import Stanza
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import open_to_write
from taxosphere.taxonomy.graph import Taxonomy

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
FORMAT_VERSION = "format-version: 1.4"
COMMENT = "comment"
SYNONYM_TAGS = ("synonym", "exact_synonym", "narrow_synonym", "broad_synonym", "related_synonym")
IMAGE = "image"
_TEXT_PROPERTY = re.compile(r'((?:[^ \t\\]|\\.)+) ("(?:[^"\\]|\\.)*") xsd:string')
_VERBATIM = "obo clause "  # marks the key of a clause that is kept and written letter by letter
_NAME, _DEFINITION = ("name", ""), ("def", "")  # clauses a term has once, and their texts left open
_FORMER_ID = ("alt_id", _VERBATIM + "alt_id")


def read(path: Path, options: ReadOptions) -> Draft:
    draft = Draft(path=path, format="obo")
    reader = _TermReader(draft)
    comments: list[int] = []
    parts = obo_text.stanzas(path, comments)
    header = [f"{tag}: {value}" for tag, value, _ in next(parts).clauses]
    frames: list[list[str]] = []
    for stanza in parts:
        if stanza.kind == "Term":
            reader.read(stanza)
        else:
            frames.append(stanza.text())
    reader.settle()
    if not draft.ids:
        raise InputError("holds no [Term]", path=path)
    if comments:
        draft.left_out(f"{counted(len(comments), 'comment line')} left out", comments[0])
    draft.meta["obo"] = {"header": header, "frames": frames}
    return draft


@lru_cache(maxsize=1)  # every new concept asks, and there may be a million terms
def kept_ids(taxonomy: Taxonomy) -> frozenset[str]:
    """Ids a file holds beside those of its concepts, so that they are taken: of obsolete terms, which are written back,
    and former ids, by which other files still call a term."""
    aside = list(obsolete.concepts(taxonomy))
    frames = taxonomy.meta.get("obo", {}).get("frames", ())
    lines = (line.partition(": ") for frame in frames for line in frame if line.startswith(("id: ", "alt_id: ")))
    every = chain(taxonomy.extras, (concept.extras for concept in aside))
    former = (value for extras in every for key, value in extras if key in _FORMER_ID)
    values = chain((value for _, _, value in lines), former)
    return frozenset((*(concept.id for concept in aside), *(obo_text.split_text(value)[0] for value in values)))


class _TermReader:
    """Takes terms one by one, so that a large file never lies in memory as a whole."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.nameless = 0
        self.outward: dict[tuple[str, str], str] = {}  # (parent, child) under different prefixes → the clause

    def settle(self) -> None:
        """Decides what only the whole file can tell."""
        if self.nameless:
            self.draft.left_out(f"{counted(self.nameless, 'term')} without a name, called by id")
        self._set_foreign_parents_apart()

    def _set_foreign_parents_apart(self) -> None:
        """A parent that is not described here and bears no prefix of this file is a term of another ontology."""
        draft, ids = self.draft, set(self.draft.ids)
        own = {_prefix(id) for id in ids}
        foreign = {edge: clause for edge, clause in self.outward.items() if edge[0] not in ids}
        foreign = {edge: clause for edge, clause in foreign.items() if _prefix(edge[0]) and _prefix(edge[0]) not in own}
        if not foreign:
            return
        edges = zip(draft.parents, draft.children, draft.edge_lines, strict=True)
        kept = [edge for edge in edges if edge[:2] not in foreign]
        draft.parents, draft.children, draft.edge_lines = map(list, zip(*kept, strict=True)) if kept else ([], [], [])
        clauses: dict[str, list[Pair]] = {}
        for (_, child), clause in foreign.items():
            clauses.setdefault(child, []).append((f"{_VERBATIM}is_a", clause))
        draft.extras = [(*extras, *clauses.get(id, ())) for id, extras in zip(draft.ids, draft.extras, strict=True)]
        draft.left_out(f"{counted(len(foreign), 'edge')} to other ontologies left out (kept for OBO files)")

    def _id(self, term: Stanza) -> str:
        value = term.first("id")
        if not value:
            raise InputError("this [Term] has no id; is the file cut off?", path=self.draft.path, line=term.line)
        return obo_text.split_text(value)[0]

    def read(self, term: Stanza) -> None:
        id = self._id(term)
        name, description = None, None
        synonyms: dict[str, None] = {}
        images, extras = [], []
        for tag, value, line in term.clauses:
            if tag == "name" and name is None:
                name, rest = obo_text.split_text(value)
                extras += [("name", rest)] if rest else []
            elif tag == "def" and description is None:
                description, rest = _quoted(self.draft.path, tag, value, line)
                extras += [("def", rest)] if rest not in ("", "[]") else []
            elif tag in SYNONYM_TAGS:
                text, rest = _quoted(self.draft.path, tag, value, line)
                synonyms[text] = None
                extras += [(tag, value)] if (tag, rest) != ("synonym", "RELATED []") else []
            elif tag == "is_a":
                extras += self._link(id, value, line)
            elif tag != "id":
                key, text = _read_extra(tag, value)
                if key == IMAGE:
                    images.append(text)
                else:
                    extras.append((key, text))
        self.nameless += name is None
        self.draft.concept(id, id if name is None else name, description or "", synonyms, images, extras, term.line)

    def _link(self, id: str, value: str, line: int) -> list[Pair]:
        """Adds an edge; returns its qualifiers as an extra."""
        parent, qualifiers = obo_text.split_text(value)
        self.draft.edge(parent, id, line)
        if _prefix(parent) != _prefix(id):
            self.outward[parent, id] = value
        return [("is_a", f"{obo_text.escape_id(parent)} {qualifiers}")] if qualifiers else []


def _prefix(id: str) -> str:
    return id.rpartition(":")[0]


def _quoted(path: Path, tag: str, value: str, line: int) -> Pair:
    found = obo_text.split_quoted(value)
    if found is None:
        message = f"'{tag}' needs a text in quotation marks that are closed; is the file cut off?"
        raise InputError(message, path=path, line=line)
    return found


def _read_extra(tag: str, value: str) -> Pair:
    """Free text in plain form, everything else verbatim; `property_value` of a plain text as that property."""
    if tag == COMMENT and not obo_text.has_qualifiers(value):
        return tag, obo_text.unescape(value)
    if tag == "property_value" and (match := _TEXT_PROPERTY.fullmatch(value)):
        key = obo_text.unescape(match[1])
        text = (obo_text.split_quoted(match[2]) or ("", ""))[0]
        if not _fits(key, text):
            return key, text
    return (tag, value) if tag in TAGS and _fits(tag, value) else (_VERBATIM + tag, value)


def _fits(key: str, text: str) -> bool:
    """Whether a pair can be written as a clause of its own."""
    pattern = TAGS.get(key)
    return key == COMMENT or (pattern is not None and bool(pattern.fullmatch(text)) and not obo_text.goes_on(text))


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    kept = taxonomy.meta.get("obo", {})
    with open_to_write(path) as handle:
        header = kept.get("header") or [FORMAT_VERSION]
        handle.writelines(f"{line}\n" for line in header)
        for position in range(len(taxonomy)):
            handle.writelines(f"{line}\n" for line in ("", *_term(taxonomy, position)))
        for frame in kept.get("frames", ()):
            handle.writelines(f"{line}\n" for line in ("", *frame))


def _term(taxonomy: Taxonomy, position: int) -> Iterator[str]:
    concept = taxonomy.concept(position)
    parents = {taxonomy.ids[parent]: taxonomy.names[parent] for parent in taxonomy.parent_csr.row(position).tolist()}
    parts, others = _sorted(concept, parents)
    yield "[Term]"
    yield f"id: {obo_text.escape_id(concept.id)}"
    yield " ".join((f"name: {obo_text.escape_text(concept.name)}", *parts.get(_NAME, ())))
    if concept.description or _DEFINITION in parts:
        yield " ".join((f"def: {obo_text.quote(concept.description)}", *parts.get(_DEFINITION, ("[]",))))
    for text in dict.fromkeys(concept.synonyms):  # RELATED is the scope OBO assumes
        yield from parts.get(("synonym", text), (f"synonym: {obo_text.quote(text)} RELATED []",))
    for id, name in parents.items():
        told = " ".join(name.split())
        comment = f" ! {told}" if told and told != id and not told.endswith("\\") else ""
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


def _clause(key: str, value: str) -> Pair | None:
    """Where scopes, sources and qualifiers are written, if an extra is such a thing."""
    if key in SYNONYM_TAGS and (found := obo_text.split_quoted(value)):
        return "synonym", found[0]
    if key in ("name", "is_a") and obo_text.has_qualifiers(value):
        text = obo_text.split_text(value)[0]
        return (key, text) if text or key == "name" else None
    return _DEFINITION if key == "def" and value[:1] in ("[", "{") and value != "[]" else None


def _extra(key: str, value: str) -> str:
    if key.startswith(_VERBATIM) and _ANY.fullmatch(value):
        return f"{key.removeprefix(_VERBATIM)}: {value}"
    if key == COMMENT and value.strip():
        return f"{key}: {obo_text.escape_text(value)}"
    return f"{key}: {value}" if key != COMMENT and _fits(key, value) else _property(key, value)


def _property(key: str, value: str) -> str:
    return f"property_value: {obo_text.escape_id(key) or '_'} {obo_text.quote(value)} xsd:string"
