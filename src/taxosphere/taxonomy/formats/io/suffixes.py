"""Suffixes of files by kind. Every reading starts here, so nothing is imported."""

from __future__ import annotations

MARKDOWN = (".md", ".markdown")
WORKBOOKS = (".xlsx", ".xls", ".ods", ".xlsm", ".xlsb")
TABLES_OF_TEXT = (".tsv", ".csv", ".txt", ".tab", *MARKDOWN)
TABLES = (*TABLES_OF_TEXT, *WORKBOOKS)
TARS = (".tar", ".tgz", ".tbz2", ".txz")
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
WORDNET = {".noun": "n", ".verb": "v", ".adj": "a", ".adv": "r"}  # with the letter of the part of speech
FUNCTIONAL, MANCHESTER, OWL_XML = "FUNCTIONAL", "MANCHESTER", "OWL_XML"
RDF = {  # with the syntax
    ".ttl": "TURTLE",
    ".turtle": "TURTLE",
    ".nt": "N_TRIPLES",
    ".nq": "N_QUADS",
    ".trig": "TRIG",
    ".jsonld": "JSON_LD",
    ".json-ld": "JSON_LD",
    ".rdf": "RDF_XML",
    ".owl": "RDF_XML",
    ".skos": "RDF_XML",
    ".xml": "RDF_XML",
    ".ofn": FUNCTIONAL,
    ".omn": MANCHESTER,
    ".owx": OWL_XML,
}
