"""Small files of every format, and the same with random damage: no reader may answer one with a traceback.

Seeded: a random state and a number give the same file on every machine.
"""

# ruff: noqa: E501 - samples read better unbroken
from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from taxosphere import Concept, Taxonomy
from taxosphere.errors import MissingExtra
from taxosphere.taxonomy.formats import registry

TOKENS = (
    *(
        b"\0",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\xe9",
        b"\r",
        b"\n",
        b"\t",
        b'"',
        b"'",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"(",
    ),
    *(
        b")",
        b"<",
        b">",
        b"&",
        b"*",
        b"&a ",
        b"*a",
        b":",
        b";",
        b",",
        b"|",
        b"#",
        b"!",
        b"---\n",
        b"null",
        b"-1",
        b"1e999",
    ),
    *(b"9" * 5000, b"[" * 3000, b"(" * 3000, b"<a>" * 3000, b"{" * 3000, b'{"a":' * 3000, b"- " * 3000, b"x" * 200_000),
    *(b"\\ud800", b"\xf0\x9f\x98\x80", b"\xe2\x80\xa8", b"<!ENTITY x 'y'>", b"<![CDATA[", b"<!--", b"]]>", b"<<: *a\n"),
    *(b'"id": 1,', b'"children": [', b"is_a: x\n", b"[Term]\n", b"@prefix x: <y> .\n", b"%YAML 1.1\n", b"<< en:x\n"),
)
FOODS = "stopwords:en: the\n\nen: drinks, beverages\nfr: boissons\n\n< en:drinks\nen: teas\nwikidata:en: Q1\n"
CLAML = (
    '<ClaML><Class code="I" kind="chapter"><SubClass code="A00"/><Rubric kind="preferred"><Label>x</Label></Rubric></Class>'
    '<Class code="A00"><SuperClass code="I"/></Class><Modifier code="S"/></ClaML>'
)
DISEASES = (
    "<ICD10CM.tabular><chapter><name>1</name><desc>x</desc><section id='A00-A09'><desc>y</desc><diag><name>A00</name>"
    "<desc>z</desc><inclusionTerm><note>n</note></inclusionTerm></diag></section></chapter></ICD10CM.tabular>"
)
MESH = (
    "<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D1</DescriptorUI><DescriptorName><String>x</String>"
    "</DescriptorName><TreeNumberList><TreeNumber>A01</TreeNumber></TreeNumberList></DescriptorRecord></DescriptorRecordSet>"
)
TEXTS = {
    "fixtures.json": '[{"pk": 1, "fields": {"name": "animal", "parent": null}},\n'
    ' {"pk": 2, "model": "x", "fields": {"name": "bird", "parent": 1, "slug": "b"}}]\n',
    "strains.json": '{"version": "2", "meta": {"people": [{"name": "I"}]},\n "tree": {"strain": "a", "children":'
    ' [{"strain": "b"}, {"strain": "c", "children": [{"strain": "d"}]}]}}\n',
    "unknown": '{"nodes": [{"uid": "1", "children": ["2"], "data": {"Name": "animal"}},\n'
    ' {"uid": "2", "children": [], "data": {"Name": "bird"}}]}\n',
    "result.run": "((duck:1,goose:2)bird:3,'fish (all)')animal;\n",
    "ranks.csv": "tax_id,parent_id,rank,tax_name,class,subclass\n1,,root,root,,\n2,1,class,Mammalia,2,\n3,2,x,Theria,2,3\n",
    "total.csv": "id,name,parent\n01,Live animals,TOTAL\n0101,Horses,01\n02,Meat,TOTAL\n",
    "titles.csv": 'Kennung;Bezeichnung;Oberbegriff;Beschreibung\r\n1;a;;x\r\n2;b;1;"y;z"\r\n3;c;1|2;\r\n',
    "outline.txt": "a\n  b\n    c\n  d\ne\n\tf\n",
    "children.json": '[{"id": "1", "name": "a", "child_ids": ["2"]}, {"id": "2", "name": "b", "child_ids": []}]',
    "broader.json": '{"v": 1, "concepts": [{"uri": "1", "label": {"en": "a"}}, {"uri": "2", "label": {"en": "b"}, '
    '"broader": [{"uri": "1"}]}]}',
    "keys.json": '{"animal": {"bird": ["duck", "goose"], "fish": {"tuna": 5}}}',
    "graph.json": '{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b"}]}',
    "d3.json": '{"title": "a", "kids": [{"title": "b", "kids": [{"title": "c"}]}, {"title": "d"}]}',
    "outline.yaml": "- animal:\n  - bird:\n    - duck\n  - fish\n",
    "ids.yml": "---\n- &a {id: a, name: animal, children: [b]}\n- {<<: *a, id: b, name: bird, children: []}\n",
    "map.mm": '<map><node TEXT="a" ID="1"><richcontent TYPE="NOTE"><p>n</p></richcontent><node TEXT="b"/></node></map>',
    "yed.graphml": '<graphml xmlns:y="u"><key id="d" for="node" yfiles.type="nodegraphics"/><graph><node id="n0">'
    '<data key="d"><y:NodeLabel>a</y:NodeLabel></data></node><node id="n1"/><edge source="n0" target="n1"/></graph></graphml>',
    "tree.tre": "[&R] ((Homo_sapiens:0.1,'Pan (x), ''y''':2e-3)Homininae[90]:1,Gorilla)Hominidae;\n",
    "nexus.tre": "#NEXUS\nbegin trees;\ntranslate 1 a, 2 b;\ntree x = [&R] (1,2)r;\nend;\n",
    "icd.xml": CLAML,
    "tabular.xml": DISEASES,
    "desc.xml": MESH,
    "foods.txt": FOODS,
    "paths.txt": "1 - Animals\n2 - Animals > Birds\n3 - Animals > Birds > Ducks\n",
    "outline.md": "# Animals\n\n- Birds\n  - Ducks\n- Fish\n",
    "table.md": "# Animals\n\n| ID | Name | Parent |\n|:--|---|---|\n| 1 | **animal** | |\n| 2 | bird \\| fowl | 1 |\n| 3 | duck | 2 |\n",
    "indented.txt": "animal\n\tbird\n\t\tduck\n\tfish\n",
    "levels.csv": "Level 1,Level 2,Level 3\nanimal,,\nanimal,bird,\nanimal,bird,duck\n",
    "parents.csv": "ID;Parent ID;Name\n1;;animal\n2;1;bird\n3;2;duck\n",
    "codes.csv": "Code,Title\n11,Farming\n111,Crops\n1111,Grain\n",
    "classes.csv": "Class ID,Preferred Label,Synonyms,Definitions,Obsolete,Parents\na,animal,beast|brute,,false,\nb,bird,,x,FALSE,a\n",
    "depths.csv": "Level,Code,Name\n1,A,animal\n2,01,bird\n3,01.1,duck\n2,02,fish\n",
    "x.taxo": "1\tbird\tanimal\n2\tduck\tbird\n",
    "data.noun": "00000001 03 n 01 animal 0 000 | lives\n00000002 03 n 01 bird 0 001 @ 00000001 n 0000 | flies\n",
    "functional.owl": "Prefix(:=<http://x.y/>)\nOntology(<http://x.y/>\nDeclaration(Class(:a))\nSubClassOf(:b :a)\n)\n",
    "x.nq": "<http://x/a> <http://www.w3.org/2004/02/skos/core#broader> <http://x/b> <http://x/g> .\n",
    "x.trig": "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n<u:g> { <u:a> s:broader <u:b> ; s:prefLabel 'a'@en . }\n",
    "obographs.json": '{"graphs": [{"id": "u", "nodes": [{"id": "u:a", "lbl": "a", "type": "CLASS"}, {"id": "u:b", "lbl": "b"}], '
    '"edges": [{"sub": "u:b", "pred": "is_a", "obj": "u:a"}]}]}',
}
RELEASES = {
    "taxdump.zip": {
        "nodes.dmp": "1\t|\t1\t|\tno rank\t|\n2\t|\t1\t|\tgenus\t|\n",
        "names.dmp": "1\t|\troot\t|\t\t|\tscientific name\t|\n2\t|\tx\t|\t\t|\tscientific name\t|\n",
    },
    "snomed.zip": {
        "sct2_Concept_Snapshot.txt": "id\teffectiveTime\tactive\n1\t2\t1\n2\t2\t1\n",
        "sct2_Description_Snapshot-en.txt": "id\teffectiveTime\tactive\tconceptId\tlanguageCode\ttypeId\tterm\n"
        "5\t2\t1\t1\ten\t900000000000003001\tx\n",
        "sct2_Relationship_Snapshot.txt": "id\teffectiveTime\tactive\tsourceId\tdestinationId\ttypeId\n6\t2\t1\t2\t1\t116680003\n",
    },
}


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip archive with these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def samples() -> dict[str, bytes]:
    """A small file of every format that is one file, by its name."""
    concepts = [
        Concept("A:1", "animal", "lives, 'moves'", ("beast", "brute"), ("a.png",), (("xref", "X:1"), ("rank", "k"))),
        *(Concept(f"A:{i}", name) for i, name in enumerate(("bird", "duck é", "farm animal", "mineral"), 2)),
    ]
    edges = [("A:1", "A:2"), ("A:2", "A:3"), ("A:1", "A:4"), ("A:4", "A:3")]
    taxonomy = Taxonomy.from_concepts(concepts, edges)
    files: dict[str, bytes] = {name: text.encode() for name, text in TEXTS.items()}
    suffixes = dict.fromkeys(
        suffix for form in registry.FORMATS.values() if form.write for suffix in form.suffixes if suffix.startswith(".")
    )
    with tempfile.TemporaryDirectory() as folder:
        for suffix in suffixes:
            path = Path(folder) / f"written{suffix}"
            try:
                taxonomy.write(path)
            except MissingExtra:
                continue
            except Exception:  # a suffix that is only read
                if path.exists():
                    raise
                continue
            files[path.name] = path.read_bytes()
    files |= {name: zipped({part: text.encode() for part, text in parts.items()}) for name, parts in RELEASES.items()}
    obo = files["written.obo"]
    packed = {".gz": gzip.compress(obo, mtime=0), ".bz2": bz2.compress(obo), ".xz": lzma.compress(obo)}
    files |= {f"packed.obo{suffix}": content for suffix, content in packed.items()}
    files["packed.zip"] = zipped({"x.obo": obo})
    return dict(sorted(files.items()))


def bombs() -> dict[str, bytes]:
    """Small files that hold a thousand times as much, by their names: archives, XML entities, YAML aliases, depth."""
    lines = b"a\tb\n" * (4 << 20)
    one = {".gz": gzip.compress(lines, 9), ".bz2": bz2.compress(lines), ".xz": lzma.compress(lines)}
    files = {f"bomb.tsv{suffix}": content * 200 for suffix, content in one.items()}
    files["bomb.zip"] = _deflated("x.tsv", lines, 20)
    entities = "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "x" * 100}">' for i in range(10))
    for name, top in (("rdf", "rdf:RDF"), ("opml", "opml"), ("mm", "map"), ("graphml", "graphml"), ("owx", "Ontology")):
        space = ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"' if name == "rdf" else ""
        files[f"bomb.{name}"] = f"<!DOCTYPE x [{entities}]><{top}{space}>&a9;</{top}>".encode()
    aliases = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10) if i else 'x'}]\n" for i in range(10))
    files["bomb.yaml"] = aliases.encode()
    files["deep.json"] = b'{"name": "a", "children": [' * 100_000
    files["deep.nwk"] = b"(" * 300_000 + b"a" + b")" * 300_000 + b";"
    files["bomb.xlsx"] = _deflated("xl/worksheets/sheet1.xml", b"<row><c><v>1</v></c></row>" * (1 << 19), 20)
    return files


def _deflated(name: str, content: bytes, times: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(name, "w") as member:
        for _ in range(times):
            member.write(content)
    return buffer.getvalue()


def mutated(files: dict[str, bytes], number: int, random_state: int = 0) -> tuple[str, bytes]:
    """Name and content of one damaged file.

    Parameters
    ----------
    files : dict of str to bytes
        The sound ones, as `samples` gives them.
    number : int
        Which file to make; the samples take turns.
    random_state : int
        Another one gives other damage.
    """
    chance = random.Random(f"{random_state}/{number}")
    names = list(files)
    name = names[number % len(names)]
    content = files[name]
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        damage = chance.choice(DAMAGES)
        content = damage(content, chance, files)[: 4 << 20]
    return name, content


def _place(content: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(content) + 1)
    return start, min(len(content), start + int(2 ** chance.uniform(0, 8)))


def _flip(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    changed = bytearray(content)
    for _step in range(chance.choice((1, 1, 4, 30)) if content else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def _cut(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    start, end = _place(content, chance)
    return content[:start] + content[end:]


def _cut_off(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    return content[: chance.randrange(len(content) + 1)]


def _insert(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    start, _end = _place(content, chance)
    return content[:start] + chance.choice(TOKENS) + content[start:]


def _repeat(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    start, end = _place(content, chance)
    return content[:end] + content[start:end] * chance.choice((1, 2, 50, 3000)) + content[end:]


def _swap(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    lines = content.split(b"\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return b"\n".join(lines)


def _splice(content: bytes, chance: random.Random, files: dict[str, bytes]) -> bytes:
    other = files[chance.choice(list(files))]
    start, end = _place(other, chance)
    place, _end = _place(content, chance)
    return content[:place] + other[start:end] + content[place:]


def _exchange(content: bytes, chance: random.Random, files: dict[str, bytes]) -> bytes:
    """The content of another format under this name."""
    return files[chance.choice(list(files))] if chance.random() < 0.3 else content


def _replace_word(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    words = content.split()
    if len(words) < 2:
        return content
    return content.replace(chance.choice(words), chance.choice([*words, b"", *TOKENS[:20]]))


def _recode(content: bytes, chance: random.Random, _: dict[str, bytes]) -> bytes:
    text = content.decode("utf-8", "replace")
    return text.encode(chance.choice(("utf-16", "utf-16-le", "latin-1", "utf-8-sig", "utf-7")), "replace")


Damage = Callable[[bytes, random.Random, dict[str, bytes]], bytes]
DAMAGES: tuple[Damage, ...] = (
    *(_flip, _flip, _cut, _cut_off, _insert, _insert, _repeat, _swap, _splice, _exchange, _replace_word, _recode),
)
