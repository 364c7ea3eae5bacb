"""Files of everyday kinds that look like a hierarchy and are none, or like another one than they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


ADDRESSES = "\n".join(f"https://x.org/skill/{n:03},tool {n % 7}" for n in range(40))
CURIES = "\n".join(f"go:{n:05}\tskos:exactMatch\tmesh:{n * 3:05}" for n in range(40))
DATES = "\n".join(f"{n % 28 + 1:02}/{n % 12 + 1:02}/2024,{n}" for n in range(60))
HOURS = "\n".join(f"2015-01-{n % 28 + 1:02} {n % 24:02}:00,{n % 5}" for n in range(60))
RATES = "\n".join(f"{1000 + n}\t.0{n % 9}" for n in range(60))
NUMBERED = "\n".join(f"{n},land {n}" for n in range(1, 60))
UNITS = ",".join(f'"unit {n}": {{"entity": "length", "symbols": ["u{n}"], "surfaces": ["u{n}s"]}}' for n in range(6))
EXTENSIONS = (', "extensions": ["x"]', "")
TYPES = ",".join(f'"text/x{n}": {{"source": "iana"{EXTENSIONS[n % 2]}}}' for n in range(8))
NOTES = "\n".join([*(f"a line of text, number {n}" for n in range(300)), "- one", "-- two", "-- three"])
NINE = '<o name="a"/>' * 9


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("skills.csv", f"id,description\n{ADDRESSES}\n", "name no parents, levels or paths"),
        ("mappings.tsv", f"subject_id\tpredicate_id\tobject_id\n{CURIES}\n", "no header with 'parent' and 'child'"),
        ("days.csv", f"day,count\n{DATES}\n", "no edges|no parents"),
        ("hours.csv", f"time,count\n{HOURS}\n", "no edges|no parents"),
        ("rates.tsv", f"id\trate\n{RATES}\n", "no edges|no parents"),
        ("lands.csv", f"id,name\n{NUMBERED}\n", "name no parents"),
        ("pairs.tsv", "node_0\tnode_1\tscore\na\tb\t0.5\na\tc\t0.25\nb\tc\t0.75\n", "3 columns"),
        ("units.json", f"{{{UNITS}}}", "have the keys 'entity', 'symbols', 'surfaces'.*--map"),
        ("types.json", f"{{{TYPES}}}", "have the keys 'source', 'extensions'.*--map"),
        ("clades.xml", "<tree><clade><clade/><clade><name>a</name></clade></clade></tree>", "2 of 3 have no name"),
        ("people.xml", "<list><person><name>a</name></person></list>", "root <list>.*of XML are read"),
        ("plot.xml", f"<p><o n='1'><o n='2'/></o>{NINE}</p>", "have no name|few of the"),
        ("codes.txt", "A00\nA000\nA001\nB01\n", "--nested"),
        ("notes.txt", NOTES, "no outline|one column"),
    ],
)
def test_refused_with_a_way_out(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Taxonomy.read(written(tmp_path, name, text))


def test_types_with_several_parents_and_addresses(tmp_path: Path) -> None:
    rows = [
        '"http://x.org/Thing","Thing",""',
        '"http://x.org/Place","Place","http://x.org/Thing"',
        '"http://x.org/Shop","Shop","http://x.org/Place, http://x.org/Firm"',
        '"http://x.org/Firm","Firm","http://x.org/Thing"',
    ]
    taxonomy = Taxonomy.read(written(tmp_path, "types.csv", "\n".join(["id,label,subTypeOf", *rows])))
    assert sorted(taxonomy.parents("http://x.org/Shop")) == ["http://x.org/Firm", "http://x.org/Place"]
    assert (len(taxonomy), len(taxonomy.edge_array)) == (4, 4)


def test_section_called_like_its_only_diagnosis(tmp_path: Path) -> None:
    text = (
        "<ICD10CM.tabular><chapter><name>1</name><desc>Infections</desc>"
        '<section id="B10"><desc>Herpes (B10)</desc><diag><name>B10</name><desc>Herpes</desc></diag></section>'
        '<section id="B15-B19"><desc>Hepatitis</desc><diag><name>B15</name><desc>A</desc></diag></section>'
        "</chapter></ICD10CM.tabular>"
    )
    taxonomy = Taxonomy.read(written(tmp_path, "x.xml", text))
    assert taxonomy.parents("B10") == ("section B10",)
    assert taxonomy.parents("section B10") == ("chapter 1",)
    assert taxonomy.parents("B15") == ("B15-B19",)


def test_elements_that_nest(tmp_path: Path) -> None:
    text = (
        '\ufeff<codes>\n<item type="chapter"><name>I</name><description>Infections</description>\n'
        '<children><item type="block"><name>A00</name><description>Cholera</description>'
        "<synonym>blue death</synonym></item></children></item></codes>"
    )
    taxonomy = Taxonomy.read(written(tmp_path, "codes.xml", text))
    assert list(taxonomy.edges()) == [("I", "A00")]
    concept = taxonomy.concept(1)
    assert (concept.description, concept.synonyms, concept.extras) == ("Cholera", ("blue death",), (("type", "block"),))


def test_concepts_of_a_scheme_with_other_lists(tmp_path: Path) -> None:
    text = """{"license": [{"uri": "x:cc0"}], "topConcepts": [{"uri": "x:a"}], "concepts": [
        {"uri": "x:a", "prefLabel": {"en": "work"}},
        {"uri": "x:b", "prefLabel": {"en": "book"}, "broader": [{"uri": "x:a"}]}]}"""
    taxonomy = Taxonomy.read(written(tmp_path, "scheme.json", text))
    assert list(taxonomy.edges()) == [("x:a", "x:b")]
    assert taxonomy.names == ("work", "book")


def test_concepts_without_an_edge_are_told(tmp_path: Path) -> None:
    taxonomy = Taxonomy.read(written(tmp_path, "x.json", '[{"name": "a", "size": 1}, {"name": "b", "size": 2}]'))
    assert any("not one edge" in note and "'size'" in note for note in taxonomy.reading_notes)


def test_trees_of_names_whose_branches_repeat(tmp_path: Path) -> None:
    branch = '{"Shoes": ["Boots"], "Bags": ["Totes"]}'
    taxonomy = Taxonomy.read(written(tmp_path, "x.json", f'{{"Men": {branch}, "Women": {branch}, "Kids": {branch}}}'))
    assert (len(taxonomy), len(taxonomy.edge_array)) == (15, 12)


def test_a_column_of_names_with_a_slash_stays_a_path(tmp_path: Path) -> None:
    text = "\n".join(["Food", "Food/Fruit", "Food/Fruit/Apples", "Food/Bread", "Drinks", "Drinks/Tea"])
    taxonomy = Taxonomy.read(written(tmp_path, "x.txt", text))
    assert (len(taxonomy), len(taxonomy.edge_array)) == (6, 4)
