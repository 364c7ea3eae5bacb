"""Hundreds of damaged ontology files for every reader: each is read, or refused in one line that names the file."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

pytest.importorskip("pyoxigraph")

FILES = {
    "x.obo": (
        'format-version: 1.4\nontology: z\n\n[Term]\nid: Z:1\nname: a {x="1"} ! b\ndef: "d \\"q\\"" [X:1, Y:2]\n'
        'synonym: "s" EXACT T [A:1]\nis_a: Z:2 ! b\nrelationship: part_of Z:2\ncomment: c \\\n d\n\n[Term]\nid: Z:2\n'
        "name: b\nintersection_of: Z:3\n\n[Term]\nid: Z:3\nname: c\nis_obsolete: true\n\n[Typedef]\nid: part_of\n"
    ),
    "x.ttl": (
        "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n@prefix e: <http://e/> .\n"
        'e:a a s:Concept ; s:prefLabel "a"@en , "b"@de-AT ; s:broader e:b ; s:note [ e:x ( 1 2.5 "c" ) ] .\n'
    ),
    "x.nq": (
        "<http://e/a> <http://www.w3.org/2004/02/skos/core#broader> <http://e/b> <http://e/g> .\n"
        '_:x <http://e/p> "l"@en .\n'
    ),
    "x.trig": "<http://e/g> { <http://e/a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://e/b> . }\n",
    "x.rdf": (
        '<?xml version="1.0"?>\n<!DOCTYPE r [<!ENTITY o "http://www.w3.org/2002/07/owl#">]>\n'
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:o="http://www.w3.org/2002/07/owl#" '
        'xmlns:s="http://www.w3.org/2000/01/rdf-schema#">\n<o:Class rdf:about="http://e/a"><s:label xml:lang="en">a'
        '</s:label><s:subClassOf rdf:resource="http://e/b"/></o:Class>\n</rdf:RDF>\n'
    ),
    "x.jsonld": '{"@id": "http://e/a", "http://www.w3.org/2000/01/rdf-schema#subClassOf": [{"@id": "http://e/b"}]}',
    "x.ofn": (
        "Prefix(:=<http://e/>)\nOntology(<http://e>\nDeclaration(Class(:a))\n"
        "SubClassOf(:a ObjectSomeValuesFrom(:p :b))\n"
        'SubClassOf(Annotation(rdfs:comment "c") :a :b)\nAnnotationAssertion(rdfs:label :a "a \\"q\\""@en)\n'
        "EquivalentClasses(:a ObjectIntersectionOf(:b ObjectMinCardinality(2 :p)))\n)\n"
    ),
    "x.omn": (
        'Prefix: : <http://e/>\nOntology: <http://e>\nClass: a\n  Annotations: :l "a"@en\n'
        "  SubClassOf: b, p some (c or {i}),"
        " d some integer[>= 5]\n  EquivalentTo: b and not c\nObjectProperty: p\n  Characteristics: Transitive\n"
    ),
    "x.owx": (
        '<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#" ontologyIRI="http://e">\n'
        '<Declaration><Class IRI="#a"/></Declaration><SubClassOf><Class IRI="#a"/><ObjectSomeValuesFrom>'
        '<ObjectProperty IRI="#p"/><Class IRI="#b"/></ObjectSomeValuesFrom></SubClassOf>\n<AnnotationAssertion>'
        '<AnnotationProperty IRI="#l"/><IRI>#a</IRI><Literal xml:lang="en">a</Literal></AnnotationAssertion></Ontology>'
    ),
    "x.json": json.dumps(
        {
            "graphs": [
                {
                    "nodes": [
                        {
                            "id": "http://e/a",
                            "type": "CLASS",
                            "lbl": "a",
                            "meta": {"definition": {"val": "d", "xrefs": ["X"]}},
                        },
                        {
                            "id": "http://e/b",
                            "meta": {"synonyms": [{"pred": "hasExactSynonym", "val": "s", "xrefs": []}]},
                        },
                    ],
                    "edges": [{"sub": "http://e/a", "pred": "is_a", "obj": "http://e/b"}],
                }
            ]
        }
    ),
}
WORDS = [
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    '"',
    "\\",
    "<",
    ">",
    ":",
    "\n",
    "\r",
    "\0",
    "\t",
    ",",
    "!",
    "&",
    "@",
    "^^",
    "\ufeff",
    "é",
    "[Term]",
]
WORDS += [
    "is_a: Z:1\n",
    "id:",
    "null",
    "Ontology(",
    "SubClassOf(",
    "Class:",
    "<!ENTITY a 'b'>",
    "&a;",
    "_:x",
    "some",
    "owl:",
]
MUTATIONS = 300


def damaged(text: str, chance: random.Random) -> bytes:
    """A text after one to four small accidents."""
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(text) + 1), chance.choice([1, 1, 3, 10, 60])
        kind = chance.randrange(5)
        if kind == 0:
            text = text[:at] + text[at + length :]
        elif kind == 1:
            text = text[:at] + chance.choice(WORDS) + text[at:]
        elif kind == 2:
            text = text[:at] + text[at : at + length] * chance.choice([2, 50]) + text[at + length :]
        elif kind == 3:
            other = chance.randrange(len(text) + 1)
            text = text[:at] + text[other : other + length] + text[at + length :]
        else:
            text = text[:at]
    data = text.encode("utf-8", "replace")
    if chance.random() < 0.1:
        at = chance.randrange(len(data) + 1)
        data = data[:at] + bytes([chance.randrange(256)]) + data[at:]
    return data


@pytest.mark.parametrize("name", FILES)
def test_damaged_files_are_read_or_refused(name: str, tmp_path: Path) -> None:
    chance, path = random.Random(name), tmp_path / name
    refused = 0
    for _ in range(MUTATIONS):
        path.write_bytes(damaged(FILES[name], chance))
        start = time.process_time()
        refusal = ""
        try:
            Taxonomy.read(path).write(path.with_name(f"out{path.suffix}"))
        except InputError as error:
            refusal = str(error)
        if refusal:
            refused += 1
            assert "\n" not in refusal
            assert str(path) in refusal
        else:
            assert path.with_name(f"out{path.suffix}").read_bytes() == path.read_bytes()
        assert time.process_time() - start < 10
    assert 0 < refused < MUTATIONS
