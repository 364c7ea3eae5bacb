"""SKOS and OWL/RDFS hierarchies in Turtle, RDF/XML, JSON-LD and N-Triples.

Names, definitions, synonyms and the hierarchy are understood. Every other statement about a concept becomes one of its
extras; statements about anything else (schemes, properties, restrictions) are kept as they are. Both come back on
writing.
"""

from __future__ import annotations

from pathlib import Path

from taxosphere.taxonomy.formats.io import json_values
from taxosphere.taxonomy.formats.io.streams import bare_suffix
from taxosphere.taxonomy.formats.rdf_reader import read
from taxosphere.taxonomy.formats.rdf_writer import vocabulary_of, write
from taxosphere.taxonomy.graph import Taxonomy

__all__ = ["other_content", "read", "recognise", "vocabulary_of", "write"]


def recognise(path: Path, head: bytes) -> bool:
    """By suffix; `.json` only where it has the keys of JSON-LD."""
    if bare_suffix(path) != ".json":
        return True
    return not {b'"@context"', b'"@graph"', b'"@id"'}.isdisjoint(json_values.outer_keys(head))


def other_content(taxonomy: Taxonomy) -> list[str]:
    """What the RDF source says beside its concepts, one line each; only RDF and the native folder hold it."""
    kept = taxonomy.meta.get("rdf", {})
    lines = ["statements of the RDF source that are not about its concepts left out"] if kept.get("others") else []
    if kept.get("language"):
        lines.append(f"the language '{kept['language']}' of names, definitions and synonyms left out")
    return lines
