"""Malformed files: always an InputError that names the file, and the line where there is one; never anything else."""

from __future__ import annotations

import gzip
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

pytest.importorskip("pyoxigraph")

SKOS = b"http://www.w3.org/2004/02/skos/core#"
PREFIX = b"@prefix skos: <%s> .\n" % SKOS
TERM = b"format-version: 1.4\n\n[Term]\nid: A:1\nname: a\n\n"
TABLE = b"Class ID,Preferred Label,Parents\n"
RDF_XML = (
    b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    b'xmlns:s="http://www.w3.org/2004/02/skos/core#">\n<s:Concept rdf:about="http://x/a">\n'
    b"<s:prefLabel>%s</s:prefLabel></s:Concept>"
)
OWL_XML = b'<?xml version="1.0"?>\n<Ontology xmlns="http://www.w3.org/2002/07/owl#">'
NESTED = b"".join(b'<!ENTITY a%d "%s">' % (i + 1, b"&a%d;" % i * 10) for i in range(8))
BOMB = b'<!DOCTYPE rdf:RDF [<!ENTITY a0 "x">' + NESTED + b"]>\n"
LONG = b"x" * 200_000

# name of the file, its bytes, the line the error must carry (None: no line), a word of the message
FILES: dict[str, tuple[str, bytes, int | None, str]] = {
    "empty file": ("x.tsv", b"", None, "empty"),
    "empty OBO": ("x.obo", b"", None, "empty"),
    "only white space": ("x.tsv", b"\n\n  \n", None, "blanks"),
    "only a header": ("x.tsv", b"parent\tchild\n", None, "no concepts"),
    "one column": ("x.tsv", b"animal\nbird\n", 1, "one column"),
    "one column further down": ("x.tsv", b"animal\tbird\nfish\n", 2, "1 column"),
    "three columns without header": ("x.tsv", b"a\tb\tc\n", 1, "--columns"),
    "the concepts of a folder": ("nodes.tsv", b"id\tname\tdescription\n1\ta\t\n", 1, "give the folder"),
    "more columns than the header": ("x.csv", b"parent,child\na,b\na,b,c\n", 3, "3 columns"),
    "empty child": ("x.csv", b"parent,child\na,b\na,\n", 3, "child is empty"),
    "two parent columns": ("x.csv", b"parent,child,parent\na,b,c\n", 1, "twice"),
    "its own parent": ("x.tsv", b"a\tb\nb\tb\n", 2, "its own parent"),
    "open quote in a comma table": ("x.csv", b'a,b\na,"c\n', 2, "quotation"),
    "stray text after a quote": ("x.csv", b'a,b\na,"c" d\n', 2, "quotation"),
    "neither UTF-8 nor Windows-1252": ("x.tsv", b"a\tb\na\tcaf\xe9\na\t\x81\n", 2, "0x81"),
    "Latin-1 OBO": ("x.obo", TERM + b"[Term]\nid: A:2\nname: caf\xe9\n", 9, "0xe9"),
    "Latin-1 JSON lines": ("x.jsonl", b'{"name": "a"}\n{"name": "\xe9"}\n', 2, "0xe9"),
    "UTF-16 OBO": ("x.obo", "[Term]\n".encode("utf-16"), 1, "UTF-16"),
    "UTF-16 cut off": ("x.tsv", "a\tb\na\tc".encode("utf-16")[:-1], 2, "UTF-16"),
    "NUL byte": ("x.tsv", b"a\tb\na\tc\x00\n", 2, "NUL"),
    "binary": ("x.tsv", bytes(range(256)) * 8, 2, ""),
    "binary OBO": ("x.obo", bytes(random.Random(0).randbytes(4096)), 1, ""),
    "a very long line": ("x.tsv", b"a\tb\na\t" + LONG + b"\n", 2, "200,000 characters"),
    "a very long cell in quotes": ("x.csv", b'a,b\na,"' + LONG + b'"\n', 2, "quotation"),
    "a very long name in OBO": ("x.obo", TERM + b"[Term]\nid: A:2\nname: " + LONG + b"\n", 7, "200,000 characters"),
    "a very long name in JSON": ("x.json", b'[{"name": "a"},\n{"name": "' + LONG + b'"}]', 2, "200,000 characters"),
    "OBO cut off in a tag": ("x.obo", TERM + b"[Term]\nid: A:2\nnam", 9, "cut off"),
    "OBO cut off in a definition": ("x.obo", TERM + b'[Term]\nid: A:2\ndef: "a thing', 9, "cut off"),
    "OBO cut off before the id": ("x.obo", TERM + b"[Term]\n", 7, "cut off"),
    "OBO with an id twice": ("x.obo", TERM + b"[Term]\nid: A:1\nname: b\n", 7, "used twice (first in line 3)"),
    "OBO parent that does not exist": ("x.obo", TERM + b"[Term]\nid: A:2\nname: b\nis_a: A:9\n", 10, "'A:9'"),
    "OBO synonym without quotes": ("x.obo", b"[Term]\nid: A:1\nname: a\nsynonym: b EXACT []\n", 4, "quotation"),
    "OBO without terms": ("x.obo", b"format-version: 1.4\n", None, "[Term]"),
    "Turtle syntax": ("x.ttl", PREFIX + b"<http://x/a> skos:broader <http://x/b>\n<http://x/c> a\n", 3, "syntax"),
    "unknown Turtle prefix": ("x.ttl", PREFIX + b"ex:a skos:broader ex:b .\n", 2, "syntax"),
    "RDF/XML cut off in a tag": ("x.rdf", b'<?xml version="1.0"?>\n<rdf:RDF xmlns:rdf="http', 2, "cut off"),
    "RDF/XML cut off between elements": ("x.rdf", RDF_XML % b"a" + b"\n\n", 5, "cut off"),
    "RDF/XML mismatched tag": ("x.rdf", RDF_XML % b"a" + b"\n</rdf:rdf>", 4, "mismatched tag"),
    "RDF/XML unknown entity": ("x.rdf", RDF_XML % b"&nbsp;" + b"</rdf:RDF>", 3, "undefined entity"),
    "RDF/XML in Latin-1": ("x.rdf", RDF_XML % b"\xe9" + b"</rdf:RDF>", 3, "0xe9"),
    "RDF/XML entity bomb": ("x.rdf", BOMB + RDF_XML % b"&a8;" + b"</rdf:RDF>", 1, "entity 'a1'"),
    "RDF/XML long entity": ("x.rdf", b'<!DOCTYPE a [\n<!ENTITY a "%s">]>\n' % LONG + RDF_XML % b"&a;", 2, "entity 'a'"),
    "RDF/XML entity in another file": (
        "x.rdf",
        b'<!DOCTYPE a [\n<!ENTITY a SYSTEM "file:///etc/passwd">]>\n' + RDF_XML % b"&a;" + b"</rdf:RDF>",
        2,
        "leads out of the file",
    ),
    "RDF/XML nested without end": ("x.rdf", RDF_XML % b"a" + b"<s:a><s:b>" * 100_000, 3, "inside each other"),
    "JSON-LD nested without end": (
        "x.jsonld",
        b'{"@id": "http://x/a", "http://x/b":' * 100_000,
        1,
        "inside each other",
    ),
    "N-Triples syntax": ("x.nt", b"<http://x/a> <http://x/p> <http://x/b> .\n<http://x/a> .\n", 2, "syntax"),
    "JSON-LD syntax": ("x.jsonld", b'{"@id": "http://x/a",\n "@type" }', 2, "syntax"),
    "JSON-LD from elsewhere": ("x.jsonld", b'{"@context": "http://schema.org", "name": "a"}', 1, "syntax"),
    "RDF without a hierarchy": ("x.ttl", b"<http://x/a> <http://x/p> <http://x/b> .\n", None, "hierarchy"),
    "OWL functional without argument": (
        "x.owl",
        b"Prefix(:=<http://x/>)\nOntology(\nSubClassOf(:a)\n)",
        3,
        "SubClassOf",
    ),
    "OWL functional cut off": ("x.ofn", b"Prefix(:=<http://x/>)\nOntology(\nSubClassOf(:a :b)\n", 3, "cut off"),
    "OWL functional unknown prefix": ("x.ofn", b"Ontology(\nSubClassOf(z:a z:b))\n", 2, "'z:' is not declared"),
    "OWL functional unknown axiom": ("x.ofn", b"Ontology(\n\nBelow(<http://x/a> <http://x/b>))\n", 3, "Below"),
    "OWL functional open text": ("x.ofn", b'Ontology(\nAnnotationAssertion(<x:a> <x:b> "c))\n', 2, "out of place"),
    "OWL functional nested without end": ("x.ofn", b"Ontology(" + b"SubClassOf(" * 100_000, 1, "inside each other"),
    "OWL/XML without attribute": ("x.owl", OWL_XML + b"<Declaration><Class/></Declaration></Ontology>", 2, "<Class>"),
    "OWL/XML mismatched tag": ("x.owx", OWL_XML + b"<Declaration></Ontology>", 2, "mismatched tag"),
    "OWL/XML unknown axiom": ("x.owx", OWL_XML + b"\n<Below/></Ontology>", 3, "Below"),
    "Manchester without a name": ("x.owl", b"Ontology:\nClass:\n  SubClassOf: <http://x/a>\n", 3, "expected a name"),
    "Manchester cut off": ("x.omn", b"Ontology:\nClass: <http://x/a>\n  SubClassOf:", 3, "cut off"),
    "Manchester unknown prefix": ("x.omn", b"Ontology:\nClass: z:a\n", 2, "'z:' is not declared"),
    "Manchester nested without end": ("x.omn", b"Class: <x:a>\nSubClassOf: " + b"(" * 100_000, 2, "inside each other"),
    "OWL without classes": ("x.ofn", b"Ontology()\n", None, "hierarchy"),
    "RDF its own parent": ("x.ttl", PREFIX + b"<http://x/a> skos:broader <http://x/a> .\n", 2, "its own parent"),
    "RDF long text": (
        "x.ttl",
        PREFIX + b'<http://x/a> a skos:Concept ;\n skos:prefLabel "%s" .\n' % LONG,
        2,
        "200,000",
    ),
    "N-Triples its own parent": (
        "x.nt",
        b"# none\n\n<http://x/a> <%sbroader> <http://x/b> .\n<http://x/b> <%sbroader> <http://x/b> .\n" % (SKOS, SKOS),
        4,
        "its own parent",
    ),
    "RDF/XML its own parent": (
        "x.rdf",
        RDF_XML % b"a"
        + b'\n<s:Concept rdf:about="http://x/b">\n<s:broader rdf:resource="http://x/b"/></s:Concept></rdf:RDF>',
        5,
        "its own parent",
    ),
    "JSON syntax": ("x.json", b'{"name": "a",\n "children": [}', 2, "not JSON"),
    "JSON cut off": ("x.json", b'{"name": "a", "children": [{"name": "b"', 1, "cut off"),
    "JSON number": ("x.json", b"5", 1, "expected an object"),
    "JSON number among roots": ("x.json", b'[{"name": "a"},\n{"name": "b"}, 5]', 2, "found 5"),
    "JSON not a number": ("x.json", b'{"name": "NaN",\n "x": NaN}', 2, "NaN"),
    "JSON huge number": ("x.json", b'{"name": "a",\n "x": ' + b"9" * 5000 + b"}", 2, "not JSON"),
    "JSON children no list": (
        "x.json",
        b'[{"name": "{\\""},\n{"name": "a", "children": "b"}]',
        2,
        "must be a list",
    ),
    "JSON without names": ("x.json", b'{"children": [{"name": "a"},\n{"x": 1}]}', 2, "neither"),
    "JSON reference to nothing": ("x.json", b'{"name": "a", "children": [\n{"id": "b"}]}', 2, "'b'"),
    "JSON entry that is no object": (
        "x.json",
        b'{"name": "a",\n "children": [\n{"name": "b", "children": [5]}]}',
        3,
        "found 5",
    ),
    "JSON with an id twice": (
        "x.json",
        b'{"name": "a", "children": [{"id": 1, "name": "b",\n"x": {"y": {}}},\n{"id": 1, "name": "c"}]}',
        3,
        "used twice (first in line 1)",
    ),
    "JSON its own parent": ("x.json", b'{"id": 1, "name": "a", "children":\n\n[{"id": 1}]}', 3, "its own parent"),
    "JSON nested without end": ("x.json", b'{"name":"a","children":[' * 100_000, 1, "deep"),
    "JSON array nested without end": ("x.json", b"[" * 100_000 + b"]" * 100_000, 1, "deep"),
    "JSON half a character": ("x.json", b'{"name": "\\ud83d\\ude00",\n "x": "\\ud800"}', 2, "surrogate"),
    "JSON NUL character": ("x.json", b'[{"name": "a"},\n\n{"name": "a\\u0000b"}]', 3, "NUL"),
    "JSON key twice": (
        "x.json",
        b'{"name": "a", "children": [{"x": [{"name": 1}],\n "y": 2,\n "x": 3}]}',
        3,
        'key "x"',
    ),
    "JSON line key twice": ("x.jsonl", b'{"name": "a"}\n{"name": "b", "n\\u0061me": "c"}\n', 2, 'key "name"'),
    "JSON list without nesting": ("x.json", b'[{"name": "a"},\n{"name": "b", "parent": "c"}]', 2, "'c'"),
    "JSON line without child": ("x.jsonl", b'{"name": "a"}\n{"parent": "a", "child": null}\n', 2, "child is empty"),
    "JSON line root missing": ("x.jsonl", b'{"name": "a"}\n{"parent": null, "child": "b"}\n', 2, "'b'"),
    "JSON line syntax": ("x.jsonl", b'{"name": "a"}\n{"name": }\n', 2, "not JSON"),
    "JSON line no object": ("x.jsonl", b'{"name": "a"}\n[1]\n', 2, "object"),
    "JSON line without name": ("x.jsonl", b'{"name": "a"}\n{"x": 1}\n', 2, "'name'"),
    "JSON line with an id twice": ("x.jsonl", b'{"id": 1, "name": "a"}\n\n{"id": 1, "name": "b"}\n', 3, "used twice"),
    "JSON line parent missing": ("x.jsonl", b'{"name": "a"}\n{"name": "b", "parents": ["c"]}\n', 2, "'c'"),
    "class table with an id twice": ("x.csv", TABLE + b"a,A,\na,B,\n", 3, "used twice"),
    "class table parent missing": ("x.csv", TABLE + b"a,A,z\n", 2, "'z'"),
    "class table without a name": ("x.csv", TABLE + b"a,,\n", 2, "no name"),
    "class table too wide": ("x.csv", TABLE + b"a,A,,,\n", 2, "5 columns"),
    "concept table with an id twice": ("x.csv", b"id,name,parent\n1,a,\n1,b,\n", 3, "used twice"),
    "concept table parent missing": ("x.csv", b"id,name,parent\n1,a,\n2,b,a|z\n", 3, "'z'"),
    "concept table with a name for two": (
        "x.csv",
        b"id,name,parent\n1,a,\n2,a,\n3,b,a\n",
        4,
        "several concepts are called 'a'; give the id",
    ),
    "concept table with a bare name for two": ("x.csv", b"id,name,parent\n1,a ,\n2,b,\n3,a  ,\n4,c,a\n", 5, "several"),
    "JSON line with a name for two": (
        "x.jsonl",
        b'{"id": 1, "name": "a"}\n{"id": 2, "name": "a"}\n{"id": 3, "name": "b", "children": ["a"]}\n',
        3,
        "give the id",
    ),
    "CR line ends": ("x.csv", b"parent,child\ra,b\ra,c\r", 1, "lines end in CR"),
    "CR line ends with quotes": ("x.csv", b'"parent","child"\r"a","b"', 1, "lines end in CR"),
    "CR line ends in the middle": ("x.csv", b"parent,child\na,b\ra,c\n", 2, "lines end in CR"),
    "CR line ends in a tab table": ("x.tsv", b"parent\tchild\ra\tb\ra\tc\r", 1, "lines end in CR"),
    "CR line ends in OBO": ("x.obo", TERM.replace(b"\n", b"\r"), 1, "lines end in CR"),
    "concept table without a name": ("x.csv", b"id,name,parent\n1,,\n", 2, "no name"),
    "concept table too wide": ("x.csv", b"id,name,parent\n1,a,,x\n", 2, "4 columns"),
    "concept table with two columns of parents": ("x.csv", b"name,parent,broader\na,,b\nb,a,\n", 1, "--map parent"),
    "concept table its own parent": ("x.csv", b"id,name,parent\n1,a,1\n", 2, "its own parent"),
    "SemEval one column": ("x.taxo", b"1\tbird\tanimal\nfish\n", 2, "two columns"),
    "SemEval four columns": ("x.taxo", b"1\tbird\tanimal\tx\n", 1, "4 columns"),
    "SemEval terms without edges": ("x.terms", b"1\tbird\n", None, ".taxo"),
    "not gzip": ("x.tsv.gz", b"a\tb\n", None, "not gzip"),
    "gzip cut off": ("x.tsv.gz", gzip.compress(b"a\tb\n" * 1000)[:30], None, "cut off"),
    "gzip damaged": ("x.tsv.gz", gzip.compress(b"a\tb\n" * 1000)[:-6] + b"\0" * 6, None, "gzip"),
    "gzip RDF cut off": ("x.ttl.gz", gzip.compress(PREFIX * 1000)[:60], None, "cut off"),
    "gzip of nothing": ("x.tsv.gz", gzip.compress(b""), None, "empty"),
    "unknown suffix": ("x.docx", b"a\tb\n", None, ".docx"),
    "no suffix": ("x", b"a\tb\n", None, "names no known format"),
}


@pytest.mark.parametrize("case", FILES)
def test_one_error_with_file_and_line(case: str, tmp_path: Path) -> None:
    name, data, line, word = FILES[case]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError) as caught:
        Taxonomy.read(path)
    error = caught.value
    assert error.path == str(path)
    assert error.line == line
    assert word in error.message
    assert "\n" not in str(error)
    assert len(str(error)) < 300 + len(str(path))


NODES, EDGES = b"id\tname\tdescription\n1\ta\t\n2\tb\t\n", b"parent_id\tchild_id\n1\t2\n"
FOLDERS: dict[str, tuple[dict[str, bytes], str, int | None, str]] = {
    "nothing inside": ({}, "", None, "nodes.tsv"),
    "no edges.tsv": ({"nodes.tsv": NODES}, "", None, "edges.tsv"),
    "empty nodes.tsv": ({"nodes.tsv": b"", "edges.tsv": EDGES}, "nodes.tsv", None, "empty"),
    "no name column": ({"nodes.tsv": b"id\tlabel\n1\ta\n", "edges.tsv": EDGES}, "nodes.tsv", 1, "'name'"),
    "a column twice": ({"nodes.tsv": b"id\tname\tx\tx\n", "edges.tsv": EDGES}, "nodes.tsv", 1, "'x' twice"),
    "too many columns": ({"nodes.tsv": NODES + b"3\tc\td\te\n", "edges.tsv": EDGES}, "nodes.tsv", 4, "4 columns"),
    "too few columns": ({"nodes.tsv": NODES + b"3\n", "edges.tsv": EDGES}, "nodes.tsv", 4, "1 column"),
    "an id twice": ({"nodes.tsv": NODES + b"1\tc\n", "edges.tsv": EDGES}, "nodes.tsv", 4, "first in line 2"),
    "no id": ({"nodes.tsv": NODES + b"\tc\n", "edges.tsv": EDGES}, "nodes.tsv", 4, "without an id"),
    "no name": ({"nodes.tsv": NODES + b"3\t \n", "edges.tsv": EDGES}, "nodes.tsv", 4, "no name"),
    "Latin-1": ({"nodes.tsv": NODES + b"3\tcaf\xe9\n", "edges.tsv": EDGES}, "nodes.tsv", 4, "0xe9"),
    "edge to nowhere": ({"nodes.tsv": NODES, "edges.tsv": EDGES + b"1\t9\n"}, "edges.tsv", 3, "'9'"),
    "own parent": ({"nodes.tsv": NODES, "edges.tsv": EDGES + b"1\t1\n"}, "edges.tsv", 3, "own parent"),
    "edges of one column": ({"nodes.tsv": NODES, "edges.tsv": EDGES + b"1\n"}, "edges.tsv", 3, "1 column"),
    "edges without header": ({"nodes.tsv": NODES, "edges.tsv": b"1\t2\n"}, "edges.tsv", 1, "'parent_id'"),
    "meta no JSON": ({"nodes.tsv": NODES, "edges.tsv": EDGES, "meta.json": b"{\n{"}, "meta.json", 2, "JSON"),
    "meta no object": ({"nodes.tsv": NODES, "edges.tsv": EDGES, "meta.json": b"[]"}, "meta.json", 1, "object"),
    "split without header": ({"nodes.tsv": NODES, "edges.tsv": EDGES, "split.tsv": b"1\tx\n"}, "split.tsv", 1, "'id'"),
}


@pytest.mark.parametrize("case", FOLDERS)
def test_one_error_in_a_folder(case: str, tmp_path: Path) -> None:
    files, blamed, line, word = FOLDERS[case]
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        Taxonomy.read(tmp_path)
    assert caught.value.path == str(tmp_path / blamed if blamed else tmp_path)
    assert caught.value.line == line
    assert word in caught.value.message


EXTERNAL = b'<!DOCTYPE rdf:RDF SYSTEM "x.dtd">\n'


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.jsonl", b'{"name": NaN}', "1: is not JSON: NaN is no JSON number"),
        ("x.jsonl", b'\n{"name": "a', "2: is not JSON: Unterminated string; is the file cut off?"),
        ("x.jsonl", b'\n{"name": "a"', "2: is not JSON: Expecting ',' delimiter; is the file cut off?"),
        ("x.jsonl", b'\n{"name": "a\x01"}', "2: is not JSON: Invalid control character"),
        ("x.jsonl", b'\n{"name": "a"} {}', "2: is not JSON: Extra data"),
        (
            "x.json",
            b'{"n":\n' + b"9" * 5000 + b"}",
            "2: is not JSON: Exceeds the limit (4300 digits) for integer string",
        ),
        ("x.rdf", EXTERNAL + RDF_XML % b"&nbsp;" + b"</rdf:RDF>", "4: RDF syntax error: unrecognized entity `nbsp`"),
    ],
)
def test_a_message_points_to_no_other_place(name: str, data: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as caught:
        Taxonomy.read(tmp_path / name)
    assert str(caught.value).removesuffix(" conversion") == f"{tmp_path / name}:{said}"


@pytest.mark.parametrize("name", ["x.tsv", "x.obo", "x.ttl", "x", "folder/x.json", "n" * 300 + ".tsv"])
def test_missing_files(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file|cannot be read"):
        Taxonomy.read(tmp_path / name)


@pytest.fixture
def nobody() -> Iterator[Path]:
    """A folder that everyone may enter, while the test runs as a user without rights."""
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        if user == 0:
            os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(user)


def test_files_and_folders_without_permission(nobody: Path, animals: Taxonomy) -> None:
    path = nobody / "x.tsv"
    path.write_bytes(b"a\tb\n")
    path.chmod(0)
    with pytest.raises(InputError, match="no permission"):
        Taxonomy.read(path)
    locked = nobody / "locked"
    locked.mkdir(mode=0)
    for name in ("x.tsv", "x.obo", "x.ttl", "folder"):
        with pytest.raises(InputError, match="no permission"):
            Taxonomy.read(locked / name)
        with pytest.raises(InputError, match="no permission"):
            animals.write(locked / name)
    locked.chmod(0o700)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.tsv")
    with pytest.raises(InputError, match="neither a file nor a folder"):
        Taxonomy.read(tmp_path / "x.tsv")


@pytest.mark.parametrize("columns", [("a", "b"), ("parent", "parent"), ("parent",)])
def test_columns_must_be_parent_and_child(columns: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_bytes(b"a\tb\n")
    (tmp_path / "x.taxo").write_bytes(b"a\tb\n")
    for name in ("x.tsv", "x.taxo"):
        with pytest.raises(InputError, match="parent,child"):
            Taxonomy.read(tmp_path / name, columns=columns)


def test_columns_are_for_edge_lists(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_bytes(TERM)
    with pytest.raises(InputError, match="--columns"):
        Taxonomy.read(tmp_path / "x.obo", columns=("parent", "child"))


@pytest.mark.parametrize(
    "name", ["x.docx", "x.taxo", "x.gz", "missing/x.obo", "missing/x", "missing/x.ttl", "file", "x.json/y.obo"]
)
def test_writing_where_it_cannot_go_leaves_nothing(name: str, tmp_path: Path, animals: Taxonomy) -> None:
    (tmp_path / "file").write_bytes(b"precious")
    with pytest.raises(InputError):
        animals.write(tmp_path / name)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"precious"


@pytest.mark.parametrize("name", ["x.tsv", "x.obo", "x.json", "x.jsonl", "x.nt", "x"])
def test_half_characters_are_refused_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    taxonomy = Taxonomy.from_edges([("a", "b\ud800")])
    with pytest.raises(InputError, match="half a character"):
        taxonomy.write(tmp_path / name)
    assert not list(tmp_path.iterdir())


SEEDS: dict[str, bytes] = {
    "x.tsv": b'parent\tchild\tdescription\nanimal\t"bi""rd"\tflies\n\t"two\nlines"\t\nanimal\tfish\tswims\n',
    "x.csv": b'parent,child,synonyms[]\nanimal,"bi""rd",a\\|b\n,"two\nlines",\nanimal,fish,\n',
    "table.csv": b"Class ID,Preferred Label,Synonyms,Definitions,Obsolete,Parents\na,A,x|y,d,FALSE,\nb,B,,,TRUE,a\n",
    "x.taxo": b"1\tbird\tanimal\n2\tfish\tanimal\n",
    "x.obo": b'format-version: 1.4\nontology: x\n\n[Term]\nid: A:1\nname: a \\{b\\}\ndef: "d" [X:1 "y"] {a="b"}\n'
    b'synonym: "s" EXACT []\nxref: X:1\n\n[Term]\nid: A:2\nname: b\nis_a: A:1 {s="t"} ! a\n\n[Typedef]\nid: p\n',
    "x.ttl": PREFIX + b'<http://x/a> a skos:Concept ; skos:prefLabel "a"@en ; skos:altLabel "b" .\n'
    b"<http://x/b> skos:broader <http://x/a>, [ a skos:Concept ] .\n",
    "x.rdf": b'<?xml version="1.0"?><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    b'xmlns:s="http://www.w3.org/2004/02/skos/core#"><s:Concept rdf:about="http://x/a"><s:prefLabel xml:lang="en">a'
    b'</s:prefLabel><s:broader rdf:resource="http://x/b"/></s:Concept></rdf:RDF>',
    "x.jsonld": b'{"@id": "http://x/a", "http://www.w3.org/2004/02/skos/core#broader": [{"@id": "http://x/b"}]}',
    "x.nt": b"<http://x/a> <http://www.w3.org/2004/02/skos/core#broader> <http://x/b> .\n",
    "x.json": b'{"name": "a", "x": 5, "children": [{"name": "b", "synonyms": ["c"]}, {"id": "b"}, "d"]}',
    "x.jsonl": b'{"id": "a", "name": "A", "k": [1]}\n{"name": "b", "parents": ["a"]}\n{"parent": "a", "child": "b"}\n',
    "x.tsv.gz": gzip.compress(b"parent\tchild\nanimal\tbird\n"),
    "data.noun": b"  1 licence\n00001740 03 n 02 entity 0 being 1 001 ~ 00001930 n 0000 | that which is\n"
    b'00001930 03 n 01 thing 0 002 @ 00001740 n 0000 ! 00001740 n 0101 | a thing; "this thing"\n',
    "x.xml": b"<?xml version='1.0'?><DescriptorRecordSet>\n<DescriptorRecord><DescriptorUI>D1</DescriptorUI>"
    b"<DescriptorName><String>a</String></DescriptorName><TreeNumberList><TreeNumber>A1</TreeNumber></TreeNumberList>"
    b"<ConceptList><Concept PreferredConceptYN='Y'><ScopeNote>b &amp; c</ScopeNote><TermList><Term><String>d</String>"
    b"</Term></TermList></Concept></ConceptList></DescriptorRecord>\n<DescriptorRecord><DescriptorUI>D2</DescriptorUI>"
    b"<DescriptorName><String>b</String></DescriptorName><TreeNumberList><TreeNumber>A1.2</TreeNumber>"
    b"</TreeNumberList></DescriptorRecord></DescriptorRecordSet>",
}
TOKENS = [b"\n", b"\t", b"\r", b'"', b"\\", b",", b"|", b"!", b"{", b"}", b"[", b"]", b":", b"<", b">", b"\0", b"\xff"]
TOKENS += [b"\xc3", b"\\u0000", b"\\ud800", b"[Term]\n", b"id", b"null", b"5", b"@", b" ", b"\xe2\x80\xa8", b"\\", b"."]


def mutated(data: bytes, random_state: random.Random) -> bytes:
    text = bytearray(data)
    for _ in range(random_state.randint(1, 4)):
        place = random_state.randrange(len(text) + 1)
        match random_state.randrange(4):
            case 0:
                text[place:place] = random_state.choice(TOKENS)
            case 1:
                del text[place : place + random_state.randint(1, 12)]
            case 2:
                text[place : place + 1] = random_state.choice(TOKENS)
            case _:
                other = random_state.randrange(len(text) + 1)
                text[place:place] = text[other : other + random_state.randint(1, 30)]
    return bytes(text)


@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files_are_read_or_refused_and_never_crash(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    random_state = random.Random(name)
    read, refused, blamed = 0, 0, set()
    for _ in range(int(os.environ.get("TAXOSPHERE_FUZZ", "150"))):
        path = tmp_path / name
        path.write_bytes(mutated(SEEDS[name], random_state))
        for strict in (True, False):
            try:
                taxonomy = Taxonomy.read(path, strict=strict)
                read += 1
            except InputError as error:
                refused += 1
                blamed.add(error.path)
            else:
                assert len(taxonomy) == len(set(taxonomy.ids)) > 0
    assert blamed == {str(tmp_path / name)}
    assert read
    assert refused
    assert capfd.readouterr() == ("", "")
