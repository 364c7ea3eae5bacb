"""SKOS and OWL/RDFS hierarchies in Turtle, RDF/XML, JSON-LD and N-Triples.

Names, definitions, synonyms and the hierarchy are understood. Every other statement about a concept becomes one of its
extras; statements about anything else (schemes, properties, restrictions) are kept as they are. Both come back on
writing.
"""

from taxosphere.taxonomy.formats.rdf_reader import read
from taxosphere.taxonomy.formats.rdf_writer import write

__all__ = ["read", "write"]
