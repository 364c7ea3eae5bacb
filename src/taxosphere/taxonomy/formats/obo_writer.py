"""Writing OBO: the stanzas of the source letter by letter, except those whose concepts have changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from taxosphere.taxonomy.formats.io import obo_stanzas, obo_text
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.obo_clauses import normal, term_clauses, without_remains
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions
from taxosphere.taxonomy.formats.io.streams import open_to_write
from taxosphere.taxonomy.graph import Taxonomy

META = "obo"
HEADER = "format-version: 1.4\n"


def write(taxonomy: Taxonomy, path: Path, options: WriteOptions) -> None:
    """Write a taxonomy as OBO.

    Stanzas of the OBO source, its header, comments, blank lines and line ends stay as they were, except that a changed
    concept changes the clauses concerned and a removed one takes its stanza with it.

    Parameters
    ----------
    taxonomy : Taxonomy
        What to write.
    path : Path
        The file; a name ending in ``.gz`` is compressed.
    options : WriteOptions
        `placement` of new stanzas: after all terms, or after the last of their siblings.
    """
    with open_to_write(path) as handle:
        handle.writelines(pieces(taxonomy, options))


def pieces(taxonomy: Taxonomy, options: WriteOptions | None = None) -> Iterator[str]:
    """The text of the OBO file of a taxonomy, piece by piece.

    Parameters
    ----------
    taxonomy : Taxonomy
        What to write.
    options : WriteOptions, optional
        See `write`.
    """
    return _Rewriter(taxonomy, taxonomy.meta.get(META, {}), options or WriteOptions()).text()


class _Rewriter:
    """The pieces of the source, and what becomes of each."""

    def __init__(self, taxonomy: Taxonomy, kept: Mapping[str, Any], options: WriteOptions) -> None:
        from taxosphere.taxonomy.formats import obo  # the reader, which tells what the source said

        self.taxonomy = taxonomy
        self.pieces: list[str] = kept.get("pieces") or [HEADER]
        self.options = options
        self.source = Draft(path=Path(), format="obo")
        read = ReadOptions(relations=tuple(kept.get("relations", ())), equivalents=bool(kept.get("equivalents")))
        self.stated: dict[str, dict[str, list[str]]] = {}  # child → parent → clauses other than is_a
        for (parent, child), clauses in obo.read_pieces(self.source, self.pieces, read).items():
            self.stated.setdefault(child, {})[parent] = clauses
        self.rows = {id: row for row, id in reversed(list(enumerate(self.source.ids)))}
        self.parents: dict[str, set[str]] = {}
        for parent, child in zip(self.source.parents, self.source.children, strict=True):
            self.parents.setdefault(child, set()).add(parent)
        self.line_end = "\r\n" if any(piece.endswith("\r\n") for piece in self.pieces[:2]) else "\n"

    def text(self) -> Iterator[str]:
        """The pieces of the new file."""
        new = self._new_stanzas()
        tail, row = self.line_end * 2, 0
        for index, piece in enumerate(self.pieces):
            text = piece
            if index and obo_stanzas.is_term(piece):
                text = self._rewritten(self.source.ids[row], row, piece)
                row += 1
            yield text
            tail = text[-4:] or tail
            for position in new.get(index, ()):
                text = self._separated(self._stanza(position), tail)
                yield text
                tail = text[-4:]

    def _separated(self, stanza: str, tail: str) -> str:
        """A new stanza with a blank line before or after it, on the side where there is none."""
        if tail.endswith(self.line_end * 2):
            return stanza + self.line_end
        return self.line_end * (1 if tail.endswith("\n") else 2) + stanza

    def _rewritten(self, id: str, row: int, piece: str) -> str:
        """The text of a term's stanza now; empty where the term is gone, or is a second one of its id."""
        if id not in self.taxonomy or self.rows[id] != row:
            return ""
        position = self.taxonomy.position(id)
        parents = {self.taxonomy.ids[parent] for parent in self.taxonomy.parent_csr.row(position).tolist()}
        stated = {parent for parent in self.parents.get(id, ()) if parent in self.taxonomy}
        if parents == stated and self._same_texts(position, row):
            return piece
        outside = {parent: parent for parent in self.parents.get(id, ()) if parent not in self.taxonomy}
        outside = {parent: name for parent, name in outside.items() if parent not in self.rows}
        return self._edited(piece, self._clauses(position, outside))

    def _same_texts(self, position: int, row: int) -> bool:
        source, now = self.source, self.taxonomy
        return (
            now.names[position] == (source.names[row] if source.names[row].strip() else source.ids[row])
            and now.descriptions[position] == source.descriptions[row]
            and now.synonyms[position] == source.synonyms[row]
            and now.images[position] == source.images[row]
            and (
                now.extras[position] == source.extras[row] or sorted(now.extras[position]) == sorted(source.extras[row])
            )
        )

    def _clauses(self, position: int, outside: Mapping[str, str]) -> list[str]:
        now = self.taxonomy
        parents = {now.ids[parent]: now.names[parent] for parent in now.parent_csr.row(position).tolist()}
        concept = now.concept(position)
        row = self.rows.get(concept.id)
        if row is not None:
            concept = without_remains(concept, parents, self.source.extras[row])
        return term_clauses(concept, {**parents, **outside}, self.stated.get(concept.id, {}))

    def _edited(self, piece: str, clauses: list[str]) -> str:
        """The stanza with the clauses that are new and without those that no longer hold, all others untouched."""
        wanted = {normal(clause): clause for clause in clauses}
        present = set()
        lines: list[tuple[str, str]] = []  # tag (empty for blank lines and comments), text
        for number, line in enumerate(obo_stanzas.physical_lines(piece)):
            joined = line.replace("\\\r\n", "").replace("\\\n", "").strip(" \t\r\n")
            if not number or not joined or joined.startswith("!"):
                lines.append(("", line))
                continue
            key = normal(joined)
            present.add(key)
            if key[0] == "id" or key in wanted:
                lines.append((key[0], line))
        return self._with(lines, {key: clause for key, clause in wanted.items() if key not in present})

    def _with(self, lines: list[tuple[str, str]], missing: Mapping[tuple[str, str], str]) -> str:
        rank = obo_stanzas.RANK
        for (tag, _), clause in missing.items():
            order = rank.get(tag, len(rank))
            same = [i for i, (other, _) in enumerate(lines) if other == tag]
            lower = [i for i, (other, _) in enumerate(lines) if other and rank.get(other, len(rank)) <= order]
            at = max(same or lower or [0])
            if not lines[at][1].endswith("\n"):
                lines[at] = (lines[at][0], lines[at][1] + self.line_end)
                clause_end = ""
            else:
                clause_end = self.line_end
            lines.insert(at + 1, (tag, clause + clause_end))
        return "".join(text for _, text in lines)

    # -- new stanzas --------------------------------------------------------------------------------------------------

    def _stanza(self, position: int) -> str:
        id = obo_text.escape_id(self.taxonomy.ids[position])
        lines = ("[Term]", f"id: {id}", *self._clauses(position, {}))
        return "".join(line + self.line_end for line in lines)

    def _new_stanzas(self) -> dict[int, list[int]]:
        """Positions of new concepts by the index of the piece that they follow."""
        mentioned = set(self.source.parents)
        new = []
        for position, id in enumerate(self.taxonomy.ids):
            if id in self.rows or (id in mentioned and self._is_placeholder(position)):
                continue
            new.append(position)
        terms = [index for index, piece in enumerate(self.pieces) if index and obo_stanzas.is_term(piece)]
        last = terms[-1] if terms else 0
        places: dict[int, list[int]] = {}
        anchors: dict[int, int] = {}
        for position in new:
            at = last
            if self.options.placement == "siblings":
                at = self._after_siblings(position, terms, anchors, last)
            anchors[position] = at
            places.setdefault(at, []).append(position)
        return places

    def _is_placeholder(self, position: int) -> bool:
        """Whether a concept is nothing but the end of an edge that the source holds and no stanza describes."""
        concept = self.taxonomy.concept(position)
        return concept.name == concept.id and not (concept.description or concept.synonyms or concept.extras)

    def _after_siblings(self, position: int, terms: list[int], anchors: Mapping[int, int], last: int) -> int:
        now = self.taxonomy
        parents = now.parent_csr.row(position).tolist()
        siblings = [child for parent in parents for child in now.child_csr.row(parent).tolist()]
        for relatives in (siblings, parents):
            rows = [self.rows[now.ids[each]] for each in relatives if now.ids[each] in self.rows]
            if rows:
                return terms[max(rows)]
        return max((anchors[parent] for parent in parents if parent in anchors), default=last)
