"""An RDF file written back: the statements of the source, minus what changed, plus what is new."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.formats.io import rdf_claims, rdf_text
from taxosphere.taxonomy.formats.io import rdf_terms as rt
from taxosphere.taxonomy.formats.io.draft import Draft
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.owl_triples import Translator
from taxosphere.taxonomy.formats.io.rdf_claims import Claim, ClaimWriter
from taxosphere.taxonomy.formats.io.rdf_syntax import OWL_SYNTAXES, Document, serialize
from taxosphere.taxonomy.formats.io.streams import open_to_write
from taxosphere.taxonomy.formats.rdf_reader import ConceptReader, read_document
from taxosphere.taxonomy.graph import Taxonomy

# Extras that stand for anonymous nodes of the source.
_ANONYMOUS = ("relationship", "def", "synonym")


@dataclass(slots=True)
class Source:
    """The document that a taxonomy was read from, read again."""

    document: Document
    draft: Draft
    reader: ConceptReader
    rows: dict[str, int]  # by id

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Source:
        """Read the text that is kept in the meta data of a taxonomy."""
        document = Document(text=kept["text"], syntax=kept["syntax"], name=kept["name"], path=Path(kept["name"]))
        options = kept.get("options", {})
        read = ReadOptions(
            language=options.get("language"),
            relations=tuple(options.get("relations", ())),
            equivalents=bool(options.get("equivalents")),
        )
        draft, reader = read_document(document, read)
        return cls(document, draft, reader, {id: row for row, id in reversed(list(enumerate(draft.ids)))})

    def concept(self, row: int) -> Concept:
        """A concept as the document describes it."""
        d = self.draft
        return Concept(d.ids[row], d.names[row], d.descriptions[row], d.synonyms[row], d.images[row], d.extras[row])

    def without_anonymous(self, concept: Concept) -> Concept:
        """A concept without the extras that `other_triples` state."""
        row = self.rows.get(concept.id)
        if row is None:
            return concept
        stated = {pair for pair in self.draft.extras[row] if pair[0] in _ANONYMOUS}
        return (
            replace(concept, extras=tuple(pair for pair in concept.extras if pair not in stated)) if stated else concept
        )

    def other_triples(self) -> Iterator[Any]:
        """The statements that no column of the taxonomy holds: about other things, or with anonymous values."""
        ox, concepts = rt.oxigraph(), self.reader.graph.concepts
        for key, triple in self.triples():
            if key not in concepts or not isinstance(triple.object, ox.NamedNode | ox.Literal):
                yield triple

    def triples(self, without: Container[tuple[str, str, str]] = frozenset()) -> Iterator[tuple[str, Any]]:
        """Every statement and what the graph calls its subject.

        Parameters
        ----------
        without : container of (str, str, str)
            Statements to leave out: subject, predicate, spelling of the object.
        """
        ox = rt.oxigraph()
        labels: dict[str, Any] = {}

        def steady(node: Any) -> Any:  # anonymous nodes have the same labels in every run
            if isinstance(node, ox.BlankNode):
                return labels.setdefault(node.value, ox.BlankNode(f"b{len(labels)}"))
            return node

        for key, statements in self.reader.graph.about.items():
            if key.startswith("_:"):
                subject = steady(ox.BlankNode(key[2:]))
            elif key.startswith("<<"):
                continue
            else:
                subject = ox.NamedNode(key)
            for predicate, value in statements:
                if (key, predicate, str(value)) not in without:
                    yield key, ox.Triple(subject, ox.NamedNode(predicate), steady(value))


class Rewriter:
    """Finds what changed in a taxonomy since it was read, and writes the source with these changes.

    Parameters
    ----------
    taxonomy : Taxonomy
        As it is now.
    source : Source
        As it was read.
    """

    def __init__(self, taxonomy: Taxonomy, source: Source) -> None:
        self.taxonomy = taxonomy
        self.source = source
        self.graph = source.reader.graph
        self.ox = rt.oxigraph()
        self.translator = Translator(prefix="new" if "_:new" not in source.document.text else "added")
        self.iri_of = {source.reader.id_of(iri): iri for iri in self.graph.concepts}
        self.parents: dict[str, set[str]] = {}
        for parent, child in zip(source.draft.parents, source.draft.children, strict=True):
            self.parents.setdefault(child, set()).add(parent)
        self.axioms: dict[tuple[str, str, str], list[str]] | None = None
        self.added: list[tuple[str, list[Claim]]] = []  # address of the subject, claims
        self.removed: set[tuple[str, str, str]] = set()  # subject, predicate, spelling of the object
        self.writer = ClaimWriter(
            source.reader.vocabulary,
            taxonomy,
            language=source.reader.language,
            defined_by_comments=source.reader.defined_by_comments,
            described=any(taxonomy.descriptions),
            addresses={id: iri for iri, id in source.reader.ids.items() if iri not in self.graph.concepts},
            obo_style=rt.TAGS["created_by"] in self.graph.predicates,
        )

    def write(self, path: Path, syntax: str) -> None:
        """Write the changed document.

        Parameters
        ----------
        path : Path
            The file.
        syntax : str
            The syntax to write; where it is that of the source, the text is kept as far as possible.
        """
        self._compare()
        document = self.source.document
        if syntax == document.syntax:
            text: str | None = document.text
            if self.added or self.removed:
                text = rdf_text.edited(
                    document, self.added, list(self._added_triples()), self.removed, self._graph_name
                )
            if text is not None:
                with open_to_write(path) as handle:
                    handle.write(text)
                return
        if syntax in OWL_SYNTAXES:
            message = "this change cannot be made in the text of the source; write .owl or .ttl with another suffix"
            raise InputError(message, path=path)
        serialize(path, syntax, self._all(syntax), rt.PREFIXES | document.prefixes, document)

    def _all(self, syntax: str) -> Iterator[Any]:
        """Every statement of the new document; graphs are kept where both syntaxes have them."""
        if syntax in ("N_QUADS", "TRIG") and self.source.document.syntax in ("N_QUADS", "TRIG"):
            for quad in self.source.document.statements():
                if (self.graph.key(quad.subject), quad.predicate.value, str(quad.object)) not in self.removed:
                    yield quad
        else:
            yield from (triple for _, triple in self.source.triples(self.removed))
        yield from self._added_triples()

    def _added_triples(self) -> Iterator[Any]:
        self.translator.count = 0
        for iri, claims in self.added:
            yield from rdf_claims.triples(self.ox.NamedNode(iri), claims, self.translator)

    # -- what changed -------------------------------------------------------------------------------------------------

    def _compare(self) -> None:
        now = self.taxonomy
        for row, id in enumerate(self.source.draft.ids):
            if id not in now:
                self._remove_subject(self.iri_of[id])
            elif self.source.rows[id] == row:
                self._compare_concept(row, now.position(id))
        mentioned = set(self.source.draft.parents)
        for position, id in enumerate(now.ids):
            if id not in self.source.rows and not (id in mentioned and now.names[position] == id):
                parents = self._parents_now(position)
                self._add(id, self.writer.about(now.concept(position), ()))
                self._add_edges(id, parents)

    def _parents_now(self, position: int) -> list[str]:
        return [self.taxonomy.ids[parent] for parent in self.taxonomy.parent_csr.row(position).tolist()]

    def _compare_concept(self, row: int, position: int) -> None:
        before, now = self.source.concept(row), self.taxonomy.concept(position)
        old, new = self.parents.get(now.id, set()), self._parents_now(position)
        if before != replace(now, extras=before.extras) or sorted(before.extras) != sorted(now.extras):
            claims = dict.fromkeys(self.writer.about(before, ()))
            wanted = dict.fromkeys(self.writer.about(_without_remains(before, now), ()))
            self._add(now.id, (claim for claim in wanted if claim not in claims))
            for claim in claims:
                if claim not in wanted:
                    self._remove_claim(self.iri_of[now.id], claim)
        for parent in old.difference(new):
            if parent in self.taxonomy or parent in self.source.rows:
                self._remove_edge(self.iri_of[parent], self.iri_of[now.id])
        self._add_edges(now.id, [parent for parent in new if parent not in old])

    def _iri(self, id: str) -> str:
        return self.iri_of.get(id) or rt.iri_of(id)

    def _add(self, id: str, claims: Iterable[Claim]) -> None:
        listed = list(claims)
        if listed:
            self.added.append((self._iri(id), listed))

    def _add_edges(self, child: str, parents: Iterable[str]) -> None:
        """New edges as the file states its others: upward, downward or both."""
        used, words = self.graph.used, self.source.reader.vocabulary
        downward = words.parent == rt.BROADER and 2 * used[rt.NARROWER] > len(self.graph.edges)
        upward = words.parent != rt.BROADER or used[rt.BROADER] > 0 or not downward
        for parent in parents:
            if upward:
                self._add(child, [Claim(words.parent, self.ox.NamedNode(self._iri(parent)))])
            if downward:
                self._add(parent, [Claim(rt.NARROWER, self.ox.NamedNode(self._iri(child)))])

    # -- what goes ----------------------------------------------------------------------------------------------------

    def _remove(self, subject: str, predicate: str, value: Any) -> None:
        """One statement, and what is said of the anonymous node that is its object."""
        statement = (subject, predicate, str(value))
        if statement in self.removed:
            return
        self.removed.add(statement)
        if isinstance(value, self.ox.BlankNode):
            for inner in self.graph.about.get(self.graph.key(value), ()):
                self._remove(self.graph.key(value), *inner)

    def _remove_claim(self, iri: str, claim: Claim) -> None:
        for predicate, value in self.graph.about.get(iri, ()):
            if predicate != claim.predicate:
                continue
            restriction = self.graph.restriction(value) if isinstance(claim.value, tuple) else None
            wanted = tuple(term.value for term in claim.value[1:]) if isinstance(claim.value, tuple) else None
            if value == claim.value or (restriction is not None and restriction == wanted):
                self._remove(iri, predicate, value)
                self._remove_notes(iri, predicate, value)

    def _remove_edge(self, parent: str, child: str) -> None:
        """Every statement that makes an edge, upward, downward, or by an option of reading."""
        ways = {(child, rt.BROADER, parent), (child, rt.SUBCLASS, parent), (parent, rt.NARROWER, child)}
        ways |= {way for way in self.graph.as_edges if {way[0], way[2]} == {parent, child}}
        for subject in (child, parent):
            for predicate, value in self.graph.about.get(subject, ()):
                target = getattr(value, "value", "")
                restriction = self.graph.restriction(value)
                if (subject, predicate, target) in ways or (restriction and (subject, *restriction) in ways):
                    self._remove(subject, predicate, value)
                    self._remove_notes(subject, predicate, value)

    def _remove_notes(self, subject: str, predicate: str, value: Any) -> None:
        for node in self._axioms().get((subject, predicate, str(value)), ()):
            for inner in self.graph.about.get(node, ()):
                self._remove(node, *inner)

    def _axioms(self) -> Mapping[tuple[str, str, str], list[str]]:
        if self.axioms is None:
            parts = [rt.OWL + name for name in ("annotatedSource", "annotatedProperty", "annotatedTarget")]
            self.axioms = {}
            for key, statements in self.graph.about.items():
                values = dict(statements) if key.startswith("_:") else {}
                if all(part in values for part in parts):
                    about = self.graph.key(values[parts[0]]), self.graph.key(values[parts[1]]), str(values[parts[2]])
                    self.axioms.setdefault(about, []).append(key)
        return self.axioms

    def _remove_subject(self, iri: str) -> None:
        """Every statement with a concept that is gone."""
        for statement in self.graph.about.get(iri, ()):
            self._remove(iri, *statement)
        node = self.ox.NamedNode(iri)
        for key, statements in self.graph.about.items():
            for predicate, value in statements:
                if value == node:
                    self._remove(key, predicate, value)
                    if predicate == rt.OWL + "annotatedSource":
                        for inner in statements:
                            self._remove(key, *inner)

    def _graph_name(self) -> Any:
        """The graph that most statements stand in."""
        if self.source.document.syntax not in ("N_QUADS", "TRIG"):
            return self.ox.DefaultGraph()
        names = Counter(quad.graph_name for quad in self.source.document.statements())
        return names.most_common(1)[0][0]


def _without_remains(before: Concept, now: Concept) -> Concept:
    """The concept now, without extras of the source that state a name or definition it no longer has."""
    gone = set()
    if before.name != now.name:
        gone |= {pair for pair in before.extras if pair[0] in rt.NAMES and _says(pair[1], before.name)}
    if before.description != now.description:
        definitions = (*rt.DEFINITIONS, "comment")
        gone |= {pair for pair in before.extras if pair[0] in definitions and _says(pair[1], before.description)}
        gone |= {pair for pair in before.extras if pair[0] == "def" and not now.description}
    return replace(now, extras=tuple(pair for pair in now.extras if pair not in gone))


def _says(value: str, text: str) -> bool:
    return bool(getattr(rt.unspell(value), "value", None) == text)
