"""OPML outlines, mind maps and ICD classifications: XML trees as their programs write them."""

from __future__ import annotations

import time
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "lol">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 10}">' for i in range(9))
    + "]>"
)


def read(path: Path, text: str) -> Taxonomy:
    path.write_text(text, encoding="utf-8")
    return Taxonomy.read(path)


def named_edges(taxonomy: Taxonomy) -> set[tuple[str, str]]:
    names = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    return {(names[parent], names[child]) for parent, child in taxonomy.edges()}


def test_outlines_by_text_or_title(tmp_path: Path) -> None:
    text = """<?xml version="1.0"?><opml version="2.0"><head><title>Zoo</title><ownerName>x</ownerName></head><body>
    <outline text="animal"><outline title="bird" xmlUrl="http://b"/><outline text="fish" title="Fish"/>
    <outline><outline text="duck" _note="quacks"/></outline></outline><outline text="bird"/></body></opml>"""
    taxonomy = read(tmp_path / "x.opml", text)
    assert taxonomy.names == ("animal", "bird", "fish", "duck", "bird")
    assert list(taxonomy.edges()) == [("animal", "bird"), ("animal", "fish"), ("animal", "duck")]
    assert taxonomy.concept(1).extras == (("xmlUrl", "http://b"),)
    assert taxonomy.concept(2).extras == (("title", "Fish"),)
    assert taxonomy.concept(3).description == "quacks"
    assert [problem.text for problem in taxonomy.reading] == [
        "1 repeated name without an id: each a concept of its own, with its path as id",
        "1 outline without text left out, what is inside kept",
    ]
    taxonomy.write(tmp_path / "y.opml")
    head = ET.parse(tmp_path / "y.opml").getroot().find("head")
    assert head is not None
    assert [(item.tag, item.text) for item in head] == [("title", "Zoo"), ("ownerName", "x")]
    assert Taxonomy.read(tmp_path / "y.opml").names == taxonomy.names


def test_what_we_write_is_xml_that_others_read(tmp_path: Path) -> None:
    concepts = [Concept("1", 'a "b" <c> & d\n\te', "ü", ("s|t", ""), ("i.png",), (("k", "v"), ("k", "w"), ("é", "z")))]
    Taxonomy.from_concepts([*concepts, Concept("2", "x")], [("1", "2")]).write(tmp_path / "x.opml")
    outline = ET.parse(tmp_path / "x.opml").getroot().find("body/outline")
    assert outline is not None
    assert outline.get("text") == 'a "b" <c> & d\n\te'
    assert [inner.get("text") for inner in outline] == ["x"]


def test_a_character_that_xml_lacks_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    taxonomy = Taxonomy.from_concepts([Concept("1", "bell \x07")], [])
    for name in ("x.opml", "x.graphml"):
        with pytest.raises(InputError, match=r"'1' holds the character U\+0007, which XML cannot"):
            taxonomy.write(tmp_path / name)
        assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("name", "text", "line", "message"),
    [
        ("x.opml", BOMB + "<opml><body><outline text='&j;'/></body></opml>", 1, "declares the entity 'a'"),
        ("x.mm", BOMB + "<map><node TEXT='&j;'/></map>", 1, "declares the entity"),
        ("x.graphml", BOMB + "<graphml><graph/></graphml>", 1, "declares the entity"),
        ("x.xml", BOMB + "<ClaML/>", 1, "declares the entity"),
        ("x.opml", '<!DOCTYPE x SYSTEM "http://nowhere/x.dtd"><opml><body/></opml>', None, "holds no concepts"),
        ("x.opml", '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><opml>&f;</opml>', 1, "declares the entity"),
        ("x.opml", "<opml>\n<body><outline text='a'></body></opml>", 2, "XML syntax error: mismatched tag"),
        ("x.opml", "<opml><head/></opml>", 1, "has no <body>"),
        ("x.opml", "<html></html>", 1, "begins with <html> where <opml> is expected"),
        ("x.opml", "<opml><body>" + "<outline text='a'>" * 20_000, 1, "more than 10,000 elements inside each other"),
        ("x.opml", "no xml", 1, "XML syntax error"),
        ("x.mm", "<map version='1'/>", None, "holds no concepts"),
        ("x.claml", "<ClaML>\n<Class/></ClaML>", 2, "a <Class> without a code"),
        ("x.claml", "<ClaML>\n<Class code='1'><SuperClass code='2'/></Class></ClaML>", 2, "the edge names '2'"),
        (
            "x.xml",
            "<ICD10CM.tabular><chapter><name>1</name>\n<section/></chapter></ICD10CM.tabular>",
            2,
            "a <section> without a code",
        ),
    ],
)
def test_bad_files_are_one_line_at_once(tmp_path: Path, name: str, text: str, line: int | None, message: str) -> None:
    began = time.process_time()
    with pytest.raises(InputError, match=message) as caught:
        read(tmp_path / name, text)
    assert caught.value.line == line
    assert time.process_time() - began < 5


def test_a_mind_map_with_rich_text_and_notes(tmp_path: Path) -> None:
    text = """<map version="1.0.1"><node CREATED="1" ID="ID_1" MODIFIED="2" TEXT="animal">
    <node ID="ID_2" POSITION="right"><richcontent TYPE="NODE"><html><head/><body><p>bird &amp;
    <b>fowl</b></p></body></html></richcontent>
    <richcontent TYPE="NOTE"><html><body><p>flies</p></body></html></richcontent>
    <attribute NAME="rank" VALUE="class"/><node TEXT="" ID="ID_3">
    <node TEXT="duck" LINK="http://d" ID="ID_4"/></node></node>
    <node TEXT="fish" ID="ID_5"><arrowlink DESTINATION="ID_2"/><font NAME="SansSerif"/></node></node></map>"""
    taxonomy = read(tmp_path / "x.mm", text)
    assert taxonomy.names == ("animal", "bird & fowl", "duck", "fish")
    assert taxonomy.ids == ("ID_1", "ID_2", "ID_4", "ID_5")
    assert named_edges(taxonomy) == {("animal", "bird & fowl"), ("bird & fowl", "duck"), ("animal", "fish")}
    assert taxonomy.descriptions[1] == "flies"
    assert (taxonomy.extras[1], taxonomy.extras[2]) == ((("rank", "class"),), (("LINK", "http://d"),))
    assert [problem.text for problem in taxonomy.reading] == [
        "1 node without text left out, what is below kept",
        "1 arrow between nodes left out",
    ]


CLAML = """<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE ClaML SYSTEM "ClaML.dtd"><ClaML version="2.0.0">
<Meta name="lang" value="en"/><Title name="ICD-10" version="2019">x</Title>
<Modifier code="S04"><SubClass code=".0"/><Rubric kind="text"><Label>y</Label></Rubric></Modifier>
<ModifierClass modifier="S04" code=".0"><SuperClass code="S04"/></ModifierClass>
<Class code="I" kind="chapter"><SubClass code="A00-A09"/>
  <Rubric kind="preferred"><Label xml:lang="en">Infections</Label>
  <Label xml:lang="de">Infektionen</Label></Rubric></Class>
<Class code="A00-A09" kind="block"><SuperClass code="I"/><SubClass code="A00"/>
  <Rubric kind="preferred"><Label xml:lang="en">Intestinal <Term class="italics">infectious</Term> diseases</Label>
  </Rubric></Class>
<Class code="A00" kind="category"><SuperClass code="A00-A09"/><ModifiedBy code="S04"/>
  <Rubric kind="preferred"><Label xml:lang="en">Cholera<Reference class="in brackets">A00.0</Reference></Label></Rubric>
  <Rubric kind="definition"><Label xml:lang="en"><Para>An acute infection.</Para><Para>Rare.</Para></Label></Rubric>
  <Rubric kind="inclusion"><Label xml:lang="en">Asiatic cholera</Label></Rubric>
  <Rubric kind="exclusion"><Label xml:lang="en">Carrier</Label></Rubric></Class>
</ClaML>"""


def test_a_classification(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "icd.xml", CLAML)
    assert taxonomy.ids == ("I", "A00-A09", "A00")
    assert taxonomy.names == ("Infections", "Intestinal infectious diseases", "Cholera (A00.0)")
    assert list(taxonomy.edges()) == [("I", "A00-A09"), ("A00-A09", "A00")]
    assert taxonomy.descriptions[2] == "An acute infection. Rare."
    assert taxonomy.extras[2] == (("kind", "category"), ("inclusion", "Asiatic cholera"), ("exclusion", "Carrier"))
    assert [problem.text for problem in taxonomy.reading] == [
        "2 modifiers that refine codes by further digits left out"
    ]
    assert Taxonomy.read(tmp_path / "icd.xml", language="de").names[0] == "Infektionen"


def test_the_tabular_list(tmp_path: Path) -> None:
    text = """<?xml version="1.0" encoding="utf-8"?><ICD10CM.tabular><version>2026</version><introduction/>
    <chapter><name>1</name><desc>Certain infections</desc><includes><note>communicable</note></includes>
    <sectionIndex><sectionRef first="A00" last="A09" id="A00-A09">Intestinal</sectionRef></sectionIndex>
    <section id="A00-A09"><desc>Intestinal (A00-A09)</desc><diag><name>A00</name><desc>Cholera</desc>
    <diag><name>A00.0</name><desc>Cholera due to X</desc><inclusionTerm><note>Classical cholera</note></inclusionTerm>
    <sevenChrDef><extension char="A">initial</extension></sevenChrDef>
    <excludes1><note>p</note><note>q</note></excludes1>
    </diag></diag></section></chapter></ICD10CM.tabular>"""
    taxonomy = read(tmp_path / "tabular.xml", text)
    assert list(taxonomy.edges()) == [("chapter 1", "A00-A09"), ("A00-A09", "A00"), ("A00", "A00.0")]
    assert taxonomy.synonyms[3] == ("Classical cholera",)
    assert taxonomy.extras[3] == (("kind", "diag"), ("excludes1", "p"), ("excludes1", "q"))
    assert registry.recognise(tmp_path / "tabular.xml").name == "icd10cm"
