"""One suite over every format: what goes in comes out, and what is wrong is said with its file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry

pytest.importorskip("pyoxigraph")

# format → names to write to; one per spelling the format has
WRITTEN = {
    "native": ["x"],
    "edges": ["x.tsv", "x.csv"],
    "concept table": ["table.tsv", "table.csv", "x.xlsx"],
    "obo": ["x.obo"],
    "rdf": [
        "x.ttl",
        "x.nt",
        "x.rdf",
        "x.jsonld",
        "x.owl",
        "x.owl.ttl",
        "x.skos.nt",
        "x.nq",
        "x.trig",
        "x.ofn",
        "x.omn",
        "x.owx",
    ],
    "obographs": ["obographs.json"],
    "json": ["x.json"],
    "jsonl": ["x.jsonl"],
    "yaml": ["x.yaml"],
    "opml": ["x.opml"],
    "graphml": ["x.graphml"],
    "parquet": ["x.parquet", "x.arrow"],
}
# Written with a warning about what they cannot hold; their round trips are in tests of their own.
PARTLY_WRITTEN = {"newick": ("x.tre", "(bird)animal;")}
CLASSES = "Class ID,Preferred Label,Synonyms,Definitions,Obsolete,Parents\n"
MESH = (
    "<DescriptorRecord><DescriptorUI>D{}</DescriptorUI><DescriptorName><String>x</String></DescriptorName>"
    "<TreeNumberList><TreeNumber>{}</TreeNumber></TreeNumberList></DescriptorRecord>"
)
READ_ONLY = {
    "class table": ("x.csv", CLASSES + 'a,animal,beast|brute,,false,\nb,"bird, fowl",,flies,FALSE,a\n'),
    "depth table": ("x.csv", "Level,Name\n1,animal\n2,bird\n"),
    "outline": ("x.md", "- animal\n    - bird\n"),
    "semeval": ("x.taxo", "1\tbird\tanimal\n"),
    "wordnet": (
        "data.noun",
        "00000001 03 n 01 animal 0 000 | lives\n00000002 03 n 01 bird 0 001 @ 00000001 n 0000 | flies\n",
    ),
    "mesh": (
        "desc2026.xml",
        f"<DescriptorRecordSet>{MESH.format(1, 'A01')}{MESH.format(2, 'A01.1')}</DescriptorRecordSet>",
    ),
    "open food facts": ("x.txt", "en: animals, beasts\n\n< en:beasts\nen: birds\n"),
    "freemind": ("x.mm", '<map><node TEXT="animal"><node TEXT="bird"/></node></map>'),
    "claml": ("x.xml", '<ClaML><Class code="I"/><Class code="A00"><SuperClass code="I"/></Class></ClaML>'),
    "icd10cm": (
        "icd10cm_tabular_2026.xml",
        "<ICD10CM.tabular><chapter><name>1</name><section id='A00-A09'/></chapter></ICD10CM.tabular>",
    ),
    "xml": ("x.xml", "<list><item><name>animal</name><item><name>bird</name></item></item></list>"),
}
# Read only too, and folders; built in taxonomy/formats/test_releases.py
OF_FOLDERS = {"ncbi taxdump", "snomed rf2"}
OF_PICTURES = {"image folder", "cub"}  # read only too; their folders are built in taxonomy/formats/test_image_folder.py
# Written too, as far as they can hold a taxonomy: taxonomy/formats/test_level_table.py, test_path_list.py and so on.
OF_PATHS = {"level table", "path list", "nested codes"}
NAMES = [name for names in WRITTEN.values() for name in names]


def test_every_format_has_a_case() -> None:
    assert {*WRITTEN, *PARTLY_WRITTEN, *OF_PATHS, *READ_ONLY, *OF_PICTURES, *OF_FOLDERS} == set(registry.FORMATS)
    assert all(registry.FORMATS[name].write for name in {*WRITTEN, *PARTLY_WRITTEN, *OF_PATHS})
    assert all(registry.FORMATS[name].unsupported for name in PARTLY_WRITTEN)
    assert not any(registry.FORMATS[name].write for name in {*READ_ONLY, *OF_PICTURES, *OF_FOLDERS})
    spellings = {suffix for form in registry.FORMATS.values() for suffix in form.suffixes}
    tried = {Path(name).suffix for name in NAMES} | {".taxo", ".noun", ".mm", ".tre"}
    others = "/ .yml .terms .turtle .skos .xml .ndjson .verb .adj .adv .nwk .newick .tree .claml .dmp .pq .feather .ipc"
    tables = ".json-ld .nw .nh .nex .nexus .trees .md .markdown .txt .tab .xls .ods .xlsm .xlsb"
    assert spellings - tried <= {*others.split(), *tables.split()}  # other names of those tried


def content(taxonomy: Taxonomy) -> tuple[object, ...]:
    """Everything but order: concepts with synonyms and extras as sets, and the edges."""
    concepts = {
        c.id: (c.name, c.description, frozenset(c.synonyms), frozenset(c.images), tuple(sorted(c.extras)))
        for c in taxonomy.concepts()
    }
    assert len(concepts) == len(taxonomy)
    return concepts, set(taxonomy.edges())


def write(taxonomy: Taxonomy, path: Path) -> None:
    """What came from a concept table is written into one, where others would become an edge list."""
    columns = {"table": {"columns": ["Name", "Parent", "Definition"]}} if "table" in path.name else {}
    options = registry.WriteOptions(as_="obographs" if "obographs" in path.name else None)
    registry.write(replace(taxonomy, meta={**taxonomy.meta, **columns}), path, options)


def round_trip(taxonomy: Taxonomy, path: Path) -> Taxonomy:
    write(taxonomy, path)
    again = Taxonomy.read(path)
    assert not [problem for problem in again.reading if problem.fatal]
    return again


def make(*concepts: Concept, edges: list[tuple[str, str]] | None = None) -> Taxonomy:
    return Taxonomy.from_concepts(concepts, edges or [])


CASES: dict[str, Taxonomy] = {
    "tree": Taxonomy.from_edges([("a", "b"), ("a", "c"), ("c", "d")]),
    "one concept": make(Concept("only", "only")),
    "two parents": Taxonomy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "d"), ("a", "d")]),
    "several roots and isolated concepts": Taxonomy.from_edges(
        [("a", "b"), ("x", "y")], names={"lonely": "lonely", "alone": "all alone"}
    ),
    "same names under different ids": make(
        Concept("1", "bank", "of a river"),
        Concept("2", "bank", "for money"),
        Concept("3", "bank"),
        Concept("bank", "bank"),
        edges=[("1", "3"), ("2", "3"), ("3", "bank")],
    ),
    "ids of all kinds": make(
        Concept("GO:0008150", "biological process"),
        Concept("http://edamontology.org/data_0005", "resource type"),
        Concept("http://not an address/", "spaces"),
        Concept("urn:taxosphere:id:x", "our own prefix"),
        Concept("a:b:c", "colons"),
        Concept("100 % é/#?", "odd characters"),
        Concept("!{}[]\"'\\", "all the brackets"),
        Concept("_:b0", "not anonymous"),
        edges=[("GO:0008150", "a:b:c"), ("a:b:c", "100 % é/#?"), ("http://not an address/", "!{}[]\"'\\")],
    ),
    "unicode": make(
        Concept("é", "Ünïcödé ✓", "日本語の説明 😀 a\u0301", ("Ω", "עברית", "no\u00a0break\u00a0")),
        Concept("n", "\u00a0no-break spaces\u00a0", "\u2028line\u2029paragraph\u0085next"),
    ),
    "quotes and brackets": make(
        Concept(
            "1", 'the "quoted" name', "a 'definition' with \"quotes\", commas; {braces} [brackets] ! and <tags> & more"
        ),
        Concept("2", '5" disk', '"', ('"', "a\\", "\\n", "|", "a|b", "{x}", "! y"), ("p|q.png", "http://x.y/z.png")),
        Concept("3", '"', "\\"),
        Concept("4", "name ! not a comment", "ends with a backslash \\"),
        Concept("5", "[Term]", "id: 6"),
        Concept("6", "parent\tchild", "#not a comment"),
        edges=[("1", "2"), ("2", "3")],
    ),
    "tabs and line breaks": make(
        Concept("1", "tab\there", "line\nbreak and\ttab", ("syn\nonym", "ta\tb")),
        Concept("2", "new\nline", "\n\nx\n"),
        Concept("3", " spaces around ", "  two  "),
        edges=[("1", "2"), ("2", "3")],
    ),
    "empty and full texts": make(
        Concept("1", "x", ""),
        Concept("2", "y", "z" * 50_000, tuple(f"synonym {i}" for i in range(300))),
        Concept("3", "z", "", ("", "not empty")),
        edges=[("1", "2")],
    ),
    "extras": make(
        Concept(
            "1", "x", "d", (), ("a.png",), (("xref", "X:1"), ("xref", "X:2"), ("rank", "genus"), ("split", "train"))
        ),
        Concept("2", "y", "", ("s",), (), (("comment", "two\nlines"), ("http://x.y/p", "<http://x.y/z>"), ("n", "5"))),
        Concept(
            "3", "z", "", (), (), (("name", "odd"), ("id", "odd"), ("children", "[]"), ("k k", '"5"'), ("parents", "x"))
        ),
        Concept(
            "4", "w", "", ("s",), (), (("synonym", '"s" EXACT []'), ("is_obsolete", "false"), ("xref", "free text"))
        ),
        Concept("5", "v", "own", ("own",), (), (("description", "another"), ("synonyms", "a|b"), ("label", "V"))),
        edges=[("1", "2")],
    ),
    "a cycle": Taxonomy.from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]),
    "a long chain": Taxonomy.from_edges([(f"n{i}", f"n{i + 1}") for i in range(1500)]),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_a_round_trip_loses_nothing(case: str, name: str, tmp_path: Path) -> None:
    if name.endswith(".xlsx") and case == "empty and full texts":
        with pytest.raises(InputError, match="longer than a cell"):
            write(CASES[case], tmp_path / name)
        return
    again = round_trip(CASES[case], tmp_path / name)
    assert content(again) == content(CASES[case])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ["two parents", "extras", "unicode"])
def test_writing_is_deterministic_and_settles(case: str, name: str, tmp_path: Path) -> None:
    """Two writes give the same bytes, and so does writing what was read."""

    def written(taxonomy: Taxonomy, folder: str) -> dict[str, bytes]:
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / name
        write(taxonomy, path)
        files = sorted(path.iterdir()) if path.is_dir() else [path]
        return {file.name: file.read_bytes() for file in files}

    first = written(CASES[case], "1")
    assert written(CASES[case], "2") == first
    again = Taxonomy.read(tmp_path / "1" / name)
    assert written(Taxonomy.read(tmp_path / "1" / name), "3") == written(again, "4")
    assert content(Taxonomy.read(tmp_path / "3" / name)) == content(CASES[case])


def test_a_workbook_holds_no_time_of_writing(tmp_path: Path) -> None:
    """Neither a new workbook nor one that was read and changed; who made it and when stays as it was."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.properties.creator, book.properties.created = "a librarian", datetime(2019, 5, 17, 8, 30)
    for row in (["id", "name", "parent id"], ["1", "tool", ""], ["2", "hammer", "1"]):
        book.active.append(row)
    book.save(tmp_path / "old.xlsx")
    write(Taxonomy.read(tmp_path / "old.xlsx").add([Concept("3", "saw")], [("1", "3")]), tmp_path / "changed.xlsx")
    write(CASES["unicode"], tmp_path / "new.xlsx")
    properties = {}
    for name in ("old", "changed", "new"):
        with zipfile.ZipFile(tmp_path / f"{name}.xlsx") as archive:
            assert name == "old" or {item.date_time for item in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
            properties[name] = archive.read("docProps/core.xml").decode()
    assert "a librarian" in properties["changed"]
    assert properties["changed"] == properties["old"]
    assert set(re.findall(r">(\d{4}-[^<]+)<", properties["new"])) == {"2000-01-01T00:00:00Z"}


def zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("__MACOSX/._x", b"of a file manager")
        archive.writestr(f"folder/{name}", content)
    return buffer.getvalue()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "x"])
def test_compressed_in_and_out(name: str, tmp_path: Path, animals: Taxonomy) -> None:
    write(animals, tmp_path / name)
    (tmp_path / "packed").mkdir()
    plain = (tmp_path / name).read_bytes()
    for suffix, compress in {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}.items():
        packed = tmp_path / "packed" / f"{name}{suffix}"
        packed.write_bytes(compress(plain))
        assert content(Taxonomy.read(packed)) == content(animals)
        assert content(round_trip(animals, tmp_path / f"out.{name}{suffix}")) == content(animals)
    packed = tmp_path / "packed" / "any name.zip"
    packed.write_bytes(zipped(name, plain))
    assert content(Taxonomy.read(packed)) == content(animals)


@pytest.mark.parametrize("name", ["x.tsv", "x.csv", "table.csv", "x.obo", "x.ttl", "x.json", "x.jsonl", "x.rdf"])
def test_byte_order_mark_and_windows_line_ends_are_accepted(name: str, tmp_path: Path, animals: Taxonomy) -> None:
    write(animals, tmp_path / name)
    text = (tmp_path / name).read_bytes().replace(b"\n", b"\r\n")
    (tmp_path / name).write_bytes(b"\xef\xbb\xbf" + text)
    assert content(Taxonomy.read(tmp_path / name)) == content(animals)


@pytest.mark.parametrize("form", [*READ_ONLY, *PARTLY_WRITTEN])
def test_formats_without_a_full_writer_are_read(form: str, tmp_path: Path) -> None:
    name, text = (READ_ONLY | PARTLY_WRITTEN)[form]
    (tmp_path / name).write_text(text, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / name)
    assert len(taxonomy) == 2
    assert len(taxonomy.edge_array) == 1
    assert registry.recognise(tmp_path / name).name == form


def test_a_format_without_a_writer_says_so(tmp_path: Path, animals: Taxonomy) -> None:
    with pytest.raises(InputError, match=r"'\.taxo' names no format to write"):
        animals.write(tmp_path / "x.taxo")


letters = st.characters(exclude_categories=("Cs", "Cc"), include_characters="\t\n", exclude_characters="\ufffe\uffff")
texts = st.text(letters, max_size=12)
names = texts.filter(lambda text: bool(text.strip()))
extras = st.lists(st.tuples(st.sampled_from(["xref", "k", "K", "comment", "http://x.y/p", "é é"]), names), max_size=2)


@st.composite
def taxonomies(draw: Callable[..., object]) -> Taxonomy:
    ids = draw(st.lists(names, min_size=1, max_size=5, unique=True))
    concepts = [
        Concept(
            id,
            draw(st.one_of(st.just(id), names)),
            draw(texts).strip(),
            tuple(draw(st.lists(texts, max_size=2, unique=True))),
            tuple(draw(st.lists(names, max_size=1))),
            tuple(draw(extras)),
        )
        for id in ids
    ]
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids)).filter(lambda pair: pair[0] != pair[1])
    edges = draw(st.lists(pairs, max_size=6)) if len(ids) > 1 else []
    return Taxonomy.from_concepts(concepts, edges)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(taxonomy=taxonomies())
def test_any_text_survives(name: str, taxonomy: Taxonomy, tmp_path: Path) -> None:
    assert content(round_trip(taxonomy, tmp_path / name)) == content(taxonomy)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["a\ufffeb", "a\uffffb", "a\x01b", "a\x1fb"])
def test_characters_that_few_formats_hold_survive_or_are_refused(name: str, text: str, tmp_path: Path) -> None:
    root = Concept("1", "root", "what the others are kinds of; " * 10)  # few odd characters among many: a text file
    taxonomy = Taxonomy.from_concepts([root, Concept("2", text)], [("1", "2")])
    try:
        again, refusal = round_trip(taxonomy, tmp_path / name), ""
    except InputError as error:
        again, refusal = taxonomy, str(error)
    assert content(again) == content(taxonomy)
    assert bool(refusal) == (not (tmp_path / name).exists())
    assert not refusal or f"the character U+{ord(text[1]):04X}" in refusal


def test_text_that_looks_like_an_escape_of_a_workbook_survives(tmp_path: Path) -> None:
    names = ["_x0041_", "a_x000D_b", "_x005F_x0041_", "_x0041_x0042_", "a\r\nb", "=_x0041_", "_xFFFE_"]
    taxonomy = Taxonomy.from_concepts([Concept(str(i), name) for i, name in enumerate(names)], [])
    assert content(round_trip(taxonomy, tmp_path / "x.xlsx")) == content(taxonomy)
