"""The net difference between a base and what was decided on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

from taxosphere.decisions.fold import Fold
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats.io import rdf_terms


@dataclass(frozen=True, slots=True)
class Changes:
    """New concepts with their parents, synonyms of existing ones, and edges of existing ones that came and went."""

    new: tuple[tuple[Concept, tuple[str, ...]], ...]
    synonyms: tuple[tuple[str, str], ...]
    removed: tuple[tuple[str, str], ...]
    """(parent, child)"""
    added: tuple[tuple[str, str], ...]


def net(folding: Fold) -> Changes:
    """What changed between the base and the present taxonomy; what was undone does not show."""
    base, grown = folding.base, folding.taxonomy()
    fresh = [concept for concept in grown.concepts() if concept.id not in base]
    before, after = set(base.edges()), list(grown.edges())
    new_ids = {concept.id for concept in fresh}
    return Changes(
        new=tuple((concept, grown.parents(concept.id)) for concept in fresh),
        synonyms=tuple(_synonyms(base, grown)),
        removed=tuple(pair for pair in base.edges() if pair not in set(after)),
        added=tuple(pair for pair in after if pair not in before and pair[1] not in new_ids),
    )


def _synonyms(base: Taxonomy, grown: Taxonomy) -> Iterator[tuple[str, str]]:
    for position, id in enumerate(base.ids):
        if base.synonyms[position] != grown.synonyms[position]:
            present = set(base.synonyms[position])
            yield from ((id, text) for text in grown.synonyms[position] if text not in present)


def is_class_hierarchy(taxonomy: Taxonomy) -> bool:
    """Are its concepts classes (OBO, OWL) and not entries of a thesaurus or a table?"""
    return "obo" in taxonomy.meta or taxonomy.meta.get("rdf", {}).get("vocabulary") == "owl"


def local_iri(id: str) -> str:
    """An address for an id that is neither one itself nor of an OBO ontology, without blanks."""
    return rdf_terms.ID_PREFIX + quote(id, safe="")
