"""Files no reader may accept, made on the spot: each must end in one clear line, never in a traceback."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

OBO_HEAD = "format-version: 1.2\n\n"
TURTLE_HEAD = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n@prefix e: <http://example.org/> .\n"
RDF_HEAD = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#" xmlns:owl="http://www.w3.org/2002/07/owl#">\n'
)
LONG = "x" * 200_000

FILES: dict[str, tuple[str, bytes | str]] = {
    "empty file": ("empty.tsv", b""),
    "only white space": ("blank.tsv", b"\n \n\n"),
    "binary file as table": ("binary.tsv", bytes(range(256)) * 4),
    "binary file as OBO": ("binary.obo", bytes(range(256)) * 4),
    "binary file as JSON": ("binary.json", b"\x00\x01\x02\x03"),
    "binary file as Turtle": ("binary.ttl", b"\x89PNG\r\n\x1a\n\x00\x00"),
    "unknown suffix": ("taxonomy.docx", b"PK\x03\x04"),
    "one column": ("one.tsv", "animal\nbird\ndog\n"),
    "ragged columns": ("ragged.csv", "parent,child\nanimal,bird\nanimal\n"),
    "unclosed quote": ("quote.csv", 'parent,child\nanimal,"bird\nanimal,dog\n'),
    "neither UTF-8 nor Windows-1252": ("bytes.tsv", b"parent\tchild\nanimal\tbird\nanimal\t\x8f\x9d\n"),
    "UTF-16 cut off": ("wide.tsv", "parent\tchild\nanimal\tbird\n".encode("utf-16")[:-1]),
    "Latin-1 ontology": ("latin.obo", b"[Term]\nid: A:1\nname: Schildkr\xf6te\n"),
    "200,000 characters in a line": ("long.tsv", f"parent\tchild\nanimal\tbird\nanimal\t{LONG}\n"),
    "self loop": ("loop.tsv", "parent\tchild\nanimal\tbird\nbird\tbird\n"),
    "cut-off gzip": ("cut.tsv.gz", gzip.compress(b"parent\tchild\nanimal\tbird\n", mtime=0)[:-9]),
    "gzip in name only": ("plain.tsv.gz", "parent\tchild\nanimal\tbird\n"),
    "truncated OBO": ("cut.obo", OBO_HEAD + "[Term]\nid: A:1\nname: animal\n\n[Term]\nid: A:2\nname: bird\nis_"),
    "OBO without a clause value": ("clause.obo", OBO_HEAD + "[Term]\nid: A:1\nname\n"),
    "OBO with a repeated id": ("twice.obo", OBO_HEAD + "[Term]\nid: A:1\nname: a\n\n[Term]\nid: A:1\nname: b\n"),
    "OBO without terms": ("none.obo", OBO_HEAD),
    "Turtle syntax error": ("syntax.ttl", TURTLE_HEAD + "e:a a skos:Concept ;\n  skos:prefLabel animal .\n"),
    "Turtle with an unknown prefix": ("prefix.ttl", "x:a x:b x:c .\n"),
    "Turtle without concepts": ("other.ttl", TURTLE_HEAD + "e:a e:b e:c .\n"),
    "RDF/XML syntax error": ("syntax.rdf", RDF_HEAD + '<owl:Class rdf:about="http://example.org/a">\n</rdf:RDF>\n'),
    "OWL file that is no XML": ("text.owl", "this is no ontology\n"),
    "N-Triples syntax error": ("syntax.nt", "<http://e.org/a> <http://e.org/b> .\n"),
    "JSON syntax error": ("syntax.json", '{"name": "animal", "children": [{"name": "bird"}\n'),
    "JSON of another shape": ("shape.json", '{"version": 3, "items": [1, 2]}\n'),
    "JSON number": ("number.json", "42\n"),
    "JSON children that are no list": ("children.json", '{"name": "animal", "children": "bird"}\n'),
    "JSON nested too deeply": ("deep.json", '{"name": "a", "children": [' * 100_000),
    "JSON lines with a broken line": ("broken.jsonl", '{"id": "a", "name": "animal"}\n{"id": "b", "name": \n'),
    "JSON-LD syntax error": ("syntax.jsonld", '{"@context": {"skos": "http://www.w3.org/2004/02/skos/core#"}, \n'),
    "WordNet line that ends early": ("data.verb", "00001740 29 v 01 breathe 0 003 @ 00009999 v\n"),
    "WordNet hypernym that is missing": ("data.noun", "00001740 03 n 01 thing 0 001 @ 00009999 n 0000 | a thing\n"),
    "MeSH cut off": ("desc2026.xml", "<DescriptorRecordSet>\n<DescriptorRecord><DescriptorUI>D1</Desc"),
    "MeSH that declares entities": (
        "bomb.xml",
        '<!DOCTYPE DescriptorRecordSet [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n<DescriptorRecordSet/>\n',
    ),
    "MeSH without descriptors": ("none.xml", "<DescriptorRecordSet>\n</DescriptorRecordSet>\n"),
    "SemEval line without a tab": ("line.taxo", "1\tbird\tanimal\n2 dog animal\n"),
}

NODES = "id\tname\tdescription\na\tanimal\t\nb\tbird\t\n"
EDGES = "parent_id\tchild_id\na\tb\n"

FOLDERS: dict[str, tuple[str | None, str | None]] = {  # contents of nodes.tsv and edges.tsv
    "folder without nodes.tsv": (None, EDGES),
    "folder without edges.tsv": (NODES, None),
    "folder with a repeated id": (NODES + "a\tape\t\n", EDGES),
    "folder with a dangling edge": (NODES, EDGES + "a\tc\n"),
    "folder with a self loop": (NODES, EDGES + "b\tb\n"),
    "folder with an empty name": (NODES + "c\t\t\n", EDGES),
    "folder with an empty id": (NODES + "\tcow\t\n", EDGES),
    "folder with strange columns": (NODES.replace("id\tname", "key\tlabel"), EDGES),
    "folder with too many cells": (NODES + "c\tcow\t\tx\ty\n", EDGES),
    "folder without concepts": ("id\tname\tdescription\n", "parent_id\tchild_id\n"),
    "folder with a broken meta.json": (NODES, EDGES),
}


def cases(tmp_path: Path) -> list[tuple[str, Path]]:
    """(what is wrong, path) of every malformed input; reading any of them raises `InputError`."""
    made = [(label, _file(tmp_path / name, content)) for label, (name, content) in FILES.items()]
    made += [(label, _folder(tmp_path / f"folder-{i}", *parts)) for i, (label, parts) in enumerate(FOLDERS.items())]
    made[-1][1].joinpath("meta.json").write_text("{", encoding="utf-8")
    made.append(("missing file", tmp_path / "nowhere.obo"))
    made.append(("missing folder", tmp_path / "nowhere" / "at-all"))
    if os.name == "posix" and os.geteuid() != 0:  # root may read everything
        made.append(("no permission", _file(tmp_path / "locked.tsv", "parent\tchild\na\tb\n")))
        made[-1][1].chmod(0)
    return made


def cyclic(tmp_path: Path) -> Path:
    """A well-formed file whose hierarchy runs in a circle: readable, but nothing to train on or pass on."""
    return _file(tmp_path / "cyclic.tsv", "parent\tchild\nthing\tanimal\nanimal\tbird\nbird\tduck\nduck\tanimal\n")


def _file(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def _folder(path: Path, nodes: str | None, edges: str | None) -> Path:
    path.mkdir()
    for name, content in (("nodes.tsv", nodes), ("edges.tsv", edges)):
        if content is not None:
            _file(path / name, content)
    return path
