"""OBO: terms, names, definitions, synonyms and ``is_a`` understood; every other clause and stanza kept.

The text is split by `obo_stanzas` and not by a grammar of the whole language, because a file must survive the trip even
where it holds clauses no grammar knows. The stanzas themselves stay in ``Taxonomy.meta``, so that writing back changes
only those of changed concepts (`obo_writer`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import obo_stanzas, obo_text, obsolete
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft, counted
from taxosphere.taxonomy.formats.io.obo_clauses import IMAGE, SYNONYM_TAGS, VERBATIM, Pair, read_extra
from taxosphere.taxonomy.formats.io.obo_stanzas import Stanza
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.source_text import read_source
from taxosphere.taxonomy.formats.obo_writer import META
from taxosphere.taxonomy.graph import Taxonomy

__all__ = ["kept_ids", "other_content", "read", "read_pieces"]

EdgeClauses = dict[tuple[str, str], list[str]]
_FORMER_ID = ("alt_id", VERBATIM + "alt_id")
_PLAIN_HEADER = re.compile(r"\s*(?:format-version:.*)?\s*")


def read(path: Path, options: ReadOptions) -> Draft:
    """Read an OBO file.

    Parameters
    ----------
    path : Path
        The file, compressed or not.
    options : ReadOptions
        `relations` names relations (by id, name or xref of their ``[Typedef]``) whose ``relationship`` clauses are
        edges too; with `equivalents` the genus terms of ``intersection_of`` are parents.

    Returns
    -------
    Draft
        The terms; obsolete ones are still among them.
    """
    draft = Draft(path=path, format="obo")
    pieces = obo_stanzas.split(read_source(path, options.encoding))
    read_pieces(draft, pieces, options)
    if not draft.ids:
        raise InputError("holds no [Term]", path=path)
    kept: dict[str, Any] = {"pieces": pieces}
    if options.relations:
        kept["relations"] = list(options.relations)
    if options.equivalents:
        kept["equivalents"] = True
    draft.meta[META] = kept
    return draft


def read_pieces(draft: Draft, pieces: list[str], options: ReadOptions) -> EdgeClauses:
    """Read the stanzas of an OBO text into a draft.

    Parameters
    ----------
    draft : Draft
        Receives concepts, edges and problems.
    pieces : list of str
        The text as `obo_stanzas.split` cut it.
    options : ReadOptions
        See `read`.

    Returns
    -------
    dict
        For edges that other clauses than ``is_a`` state, those clauses: (parent, child) → list of lines.
    """
    stanzas = obo_stanzas.parse(draft.path, pieces)
    relations = _relations(draft.path, pieces, options) if options.relations else frozenset()
    reader = _TermReader(draft, relations, options.equivalents)
    for stanza in stanzas:
        if stanza.kind == "Term":
            reader.read(stanza)
    reader.finish()
    return reader.edge_clauses


def _relations(path: Path, pieces: list[str], options: ReadOptions) -> frozenset[str]:
    """Ids of the relations that `options` names.

    A relation is named by its id, or by the name or an xref of its stanza, whatever the case and with ``_`` or blanks.
    """
    used = dict[str, set[str]]()  # id → spellings
    for stanza in obo_stanzas.parse(path, pieces):
        for tag, value, _ in stanza.clauses if stanza.kind == "Term" else ():
            if tag == "relationship":
                id = value.split(maxsplit=1)[0] if value else ""
                used.setdefault(id, {rt.spelled(id)})
        if stanza.kind == "Typedef" and (id := stanza.first("id") or ""):
            names = [value for tag, value, _ in stanza.clauses if tag in ("id", "name", "xref", "alt_id")]
            used.setdefault(id, set()).update(rt.spelled(obo_text.split_text(value)[0]) for value in names)
    chosen: set[str] = set()
    for name in options.relations:
        matches = {id for id, spellings in used.items() if rt.spelled(name) in spellings}
        if not matches:
            listed = ", ".join(sorted(filter(None, used))[:12]) or "none"
            raise InputError(f"no relation is called '{name}'; the file has: {listed}", path=path)
        chosen |= matches
    return frozenset(chosen)


def other_content(taxonomy: Taxonomy) -> list[str]:
    """What the OBO source says beside its terms, one line each; only OBO and the native folder hold it."""
    pieces = taxonomy.meta.get(META, {}).get("pieces") or [""]
    others = sum(1 for piece in pieces[1:] if not obo_stanzas.is_term(piece))
    lines = [] if _PLAIN_HEADER.fullmatch(pieces[0]) else ["the header of the OBO source left out"]
    return lines + [f"{counted(others, 'stanza')} of the OBO source beside its terms left out"] * (others > 0)


@lru_cache(maxsize=1)  # every new concept asks, and there may be a million terms
def kept_ids(taxonomy: Taxonomy) -> frozenset[str]:
    """Ids a file holds beside those of its concepts, so that they are taken: of obsolete terms, which are written back,
    and former ids, by which other files still call a term."""
    aside = list(obsolete.concepts(taxonomy))
    every = chain(taxonomy.extras, (concept.extras for concept in aside))
    former = (value for extras in every for key, value in extras if key in _FORMER_ID)
    values = chain(_frame_ids(taxonomy), former)
    return frozenset((*(concept.id for concept in aside), *(obo_text.split_text(value)[0] for value in values)))


def _frame_ids(taxonomy: Taxonomy) -> Iterator[str]:
    pieces = taxonomy.meta.get(META, {}).get("pieces", ())
    others = [piece for piece in pieces[1:] if not obo_stanzas.is_term(piece)]
    for stanza in obo_stanzas.parse(Path(), ["", *others]) if others else ():
        yield from (value for tag, value, _ in stanza.clauses if tag in ("id", "alt_id"))


class _TermReader:
    """Turns terms into concepts, one by one."""

    def __init__(self, draft: Draft, relations: frozenset[str], equivalents: bool) -> None:
        self.draft = draft
        self.relations = relations
        self.equivalents = equivalents
        self.edge_clauses: EdgeClauses = {}
        self.stated: dict[tuple[str, str], int] = {}  # edges of one term by clauses that an option makes edges
        self.nameless = 0
        self.outward: dict[tuple[str, str], list[Pair]] = {}  # edges between different prefixes, with their clauses

    def finish(self) -> None:
        """Settle what only the whole file can tell: which parents are terms of other ontologies."""
        if self.nameless:
            self.draft.left_out(f"{counted(self.nameless, 'term')} without a name, called by id")
        self._drop_foreign_parents()

    def _drop_foreign_parents(self) -> None:
        """A parent that is not described here and has no prefix of this file is a term of another ontology."""
        draft, ids = self.draft, set(self.draft.ids)
        prefixes = {_prefix(id) for id in ids}
        foreign = {edge: clauses for edge, clauses in self.outward.items() if edge[0] not in ids}
        foreign = {e: c for e, c in foreign.items() if _prefix(e[0]) and _prefix(e[0]) not in prefixes}
        if not foreign:
            return
        edges = zip(draft.parents, draft.children, draft.edge_lines, strict=True)
        kept = [edge for edge in edges if edge[:2] not in foreign]
        draft.parents, draft.children, draft.edge_lines = map(list, zip(*kept, strict=True)) if kept else ([], [], [])
        clauses: dict[str, list[Pair]] = {}
        for (parent, child), pairs in foreign.items():
            clauses.setdefault(child, []).extend(pairs)
            self.edge_clauses.pop((parent, child), None)
        draft.extras = [(*extras, *clauses.get(id, ())) for id, extras in zip(draft.ids, draft.extras, strict=True)]
        draft.left_out(f"{counted(len(foreign), 'edge')} to other ontologies left out (kept for OBO files)")

    def read(self, term: Stanza) -> None:
        """Add one term to the draft."""
        value = term.first("id")
        if not value:
            raise InputError("this [Term] has no id; is the file cut off?", path=self.draft.path, line=term.line)
        id = obo_text.split_text(value)[0]
        name, description = None, None
        synonyms: dict[str, None] = {}
        images: list[str] = []
        extras: list[Pair] = []
        for tag, value, line in term.clauses:
            if tag == "name" and name is None:
                name, rest = obo_text.split_text(value)
                if rest:
                    extras.append(("name", rest))
            elif tag == "def" and description is None:
                description, rest = self._quoted(tag, value, line)
                if rest and rest != "[]":
                    extras.append(("def", rest))
            elif tag in SYNONYM_TAGS:
                text, rest = self._quoted(tag, value, line)
                synonyms[text] = None
                if rest != "RELATED []" or tag != "synonym":
                    extras.append((tag, value))
            elif tag == "is_a":
                extras += self._is_a(id, value, line)
            elif tag != "id" and not self._is_edge(id, tag, value, line):
                key, text = read_extra(tag, value)
                if key == IMAGE:
                    images.append(text)
                else:
                    extras.append((key, text))
        self.nameless += name is None
        if self.stated:
            self._add_stated(id)
        self.draft.concept(id, id if name is None else name, description or "", synonyms, images, extras, term.line)

    def _is_a(self, id: str, value: str, line: int) -> list[Pair]:
        """Adds an edge; returns its qualifiers as an extra."""
        parent, qualifiers = obo_text.split_text(value)
        self.draft.edge(parent, id, line)
        if _prefix(parent) != _prefix(id):
            self.outward.setdefault((parent, id), []).append((f"{VERBATIM}is_a", value))
        return [("is_a", f"{obo_text.escape_id(parent)} {qualifiers}")] if qualifiers else []

    def _add_stated(self, id: str) -> None:
        """Adds the edges that options made of other clauses, without those that `is_a` states too."""
        rows = range(len(self.draft.children) - 1, -1, -1)
        parents = {self.draft.parents[row] for row in takewhile(lambda row: self.draft.children[row] == id, rows)}
        for (parent, _), line in self.stated.items():
            if parent not in parents:
                self.draft.edge(parent, id, line)
        self.stated = {}

    def _is_edge(self, id: str, tag: str, value: str, line: int) -> bool:
        """Adds the edge of a clause that an option makes one."""
        if not (tag == "relationship" and self.relations) and not (tag == "intersection_of" and self.equivalents):
            return False
        words = obo_text.split_text(value)[0].split()
        if tag == "relationship" and (len(words) != 2 or words[0] not in self.relations):
            return False
        if tag == "intersection_of" and len(words) != 1:
            return False
        self.stated.setdefault((words[-1], id), line)
        self.edge_clauses.setdefault((words[-1], id), []).append(f"{tag}: {value}")
        if _prefix(words[-1]) != _prefix(id):
            self.outward.setdefault((words[-1], id), []).append(read_extra(tag, value))
        return True

    def _quoted(self, tag: str, value: str, line: int) -> Pair:
        parts = obo_text.split_quoted(value)
        if parts is None:
            message = f"'{tag}' needs a text in quotation marks that are closed; is the file cut off?"
            raise InputError(message, path=self.draft.path, line=line)
        return parts


def _prefix(id: str) -> str:
    return id.rpartition(":")[0]
