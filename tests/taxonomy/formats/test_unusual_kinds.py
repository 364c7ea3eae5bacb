"""Kinds of files that people have and that name their format in another way than most, each in a few lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

TREE = {"name": "animal", "children": [{"name": "bird"}, {"name": "fish"}]}
EDGES = {("animal", "bird"), ("animal", "fish")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tree.mine", json.dumps(TREE)),
        ("RAxML_result.run2", "(bird:1,fish:2)animal;\n"),
        ("tree", "#NEXUS\nbegin trees;\ntree a = (bird,fish)animal;\nend;\n"),
        (
            "x.outline",
            '<opml><body><outline text="animal"><outline text="bird"/><outline text="fish"/></outline></body></opml>',
        ),
        (
            "x.ontology",
            "format-version: 1.2\n\n[Term]\nid: animal\nname: animal\n\n[Term]\nid: bird\nname: bird\nis_a: animal\n"
            "\n[Term]\nid: fish\nname: fish\nis_a: animal\n",
        ),
        (
            "x.graph",
            "@prefix s: <http://www.w3.org/2004/02/skos/core#> .\n@prefix : <urn:x:> .\n"
            ':animal s:prefLabel "animal" .\n:bird s:prefLabel "bird" ; s:broader :animal .\n'
            ':fish s:prefLabel "fish" ; s:broader :animal .\n',
        ),
    ],
)
def test_a_suffix_that_names_nothing_and_content_that_does(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    taxonomy = Taxonomy.read(tmp_path / name)
    named = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    assert {(named[parent], named[child]) for parent, child in taxonomy.edges()} == EDGES


def test_a_format_that_is_stated(tmp_path: Path) -> None:
    (tmp_path / "x.taxtable").write_text("id,name,parent\n1,animal,\n2,bird,1\n3,fish,1\n")
    with pytest.raises(InputError, match="--format csv"):
        Taxonomy.read(tmp_path / "x.taxtable")
    assert set(Taxonomy.read(tmp_path / "x.taxtable", format="csv").edges()) == {("1", "2"), ("1", "3")}
    (tmp_path / "pci.ids").write_text("# a comment\nanimal\n\tbird\n\tfish\n")
    assert len(Taxonomy.read(tmp_path / "pci.ids", format=".txt").edge_array) == 2
    with pytest.raises(InputError, match="not 'nonsense'"):
        Taxonomy.read(tmp_path / "pci.ids", format="nonsense")


def test_text_with_a_bracket_at_its_beginning_is_no_tree(tmp_path: Path) -> None:
    (tmp_path / "notes.mine").write_text("(Note: these are words, and no tree)\nmore of them\n")
    with pytest.raises(InputError, match="names no known format"):
        Taxonomy.read(tmp_path / "notes.mine")


def test_numbers_behind_a_word_are_no_codes_that_nest(tmp_path: Path) -> None:
    rows = [f"genre_{number:02d},{number:02d},kind {number}" for number in range(100)]
    (tmp_path / "x.csv").write_text("id,code,name\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError, match="--nested"):
        Taxonomy.read(tmp_path / "x.csv")


def test_a_root_that_is_named_as_its_children_are(tmp_path: Path) -> None:
    tree = {"strain": "root", "attr": {}, "children": [{"strain": "a"}, {"strain": "b", "children": [{"strain": "c"}]}]}
    for document in (tree, {"version": "2", "tree": tree}):
        (tmp_path / "x.json").write_text(json.dumps(document))
        assert _named_edges(tmp_path / "x.json") == {("root", "a"), ("root", "b"), ("b", "c")}


def test_a_tree_beside_lists_about_it(tmp_path: Path) -> None:
    document = {
        "version": "2",
        "meta": {"colours": [{"key": "x", "title": "X"}], "people": [{"name": "I"}]},
        "tree": TREE,
    }
    (tmp_path / "x.json").write_text(json.dumps(document))
    assert _named_edges(tmp_path / "x.json") == EDGES


def test_rows_of_a_database_as_django_stores_them(tmp_path: Path) -> None:
    rows = [("animal", None), ("bird", 1), ("fish", 1)]
    fixtures = [
        {"pk": pk, "model": "x.category", "fields": {"name": name, "parent": parent, "slug": name}}
        for pk, (name, parent) in enumerate(rows, 1)
    ]
    (tmp_path / "x.json").write_text(json.dumps(fixtures))
    assert _named_edges(tmp_path / "x.json") == EDGES


def test_a_key_that_marks_parts_is_no_concept(tmp_path: Path) -> None:
    parts = {code: {"_contains": [f"{code}{i}" for i in range(3)]} for code in ("001", "002", "003", "004")}
    (tmp_path / "x.json").write_text(json.dumps({"supplemental": {"version": {"_cldr": "48"}, "containment": parts}}))
    with pytest.raises(InputError, match="'_contains'"):
        Taxonomy.read(tmp_path / "x.json")


def test_texts_below_keys_are_said_to_be_no_concepts(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(
        json.dumps({"groups": {"aav": "bbh bru", "afa": "ber cdc"}, "version": {"n": "4"}})
    )
    assert "3 texts below a key kept as 'value'" in Taxonomy.read(tmp_path / "x.json").reading_notes[0]


def test_ranks_are_neither_names_nor_children(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(
        "tax_id,parent_id,rank,tax_name,class,subclass\n1,1,root,root,,\n2,1,class,Mammalia,2,\n"
        "3,2,subclass,Theria,2,3\n4,3,order,Primates,2,3\n"
    )
    taxonomy = Taxonomy.read(tmp_path / "x.csv")
    assert list(taxonomy.names) == ["root", "Mammalia", "Theria", "Primates"]
    assert set(taxonomy.edges()) == {("1", "2"), ("2", "3"), ("3", "4")}


def test_depths_in_a_column_without_a_title(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("1;-;Car\n2;-;Fuel\n2;-;Repair\n1;+;Salary\n2;+;Bonus\n")
    with pytest.raises(InputError, match="depth="):
        Taxonomy.read(tmp_path / "x.csv")
    taxonomy = Taxonomy.read(tmp_path / "x.csv", mapping={"depth": "1", "name": "3"})
    named = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    edges = {(named[parent], named[child]) for parent, child in taxonomy.edges()}
    assert edges == {("Car", "Fuel"), ("Car", "Repair"), ("Salary", "Bonus")}
    with pytest.raises(InputError, match="no depths"):
        Taxonomy.read(tmp_path / "x.csv", mapping={"depth": "2", "name": "3"})


def test_a_parent_of_all_that_is_no_row(tmp_path: Path) -> None:
    rows = "id,name,parent\n01,Live animals,TOTAL\n0101,Horses,01\n02,Meat,TOTAL\n"
    (tmp_path / "x.csv").write_text(rows)
    assert set(Taxonomy.read(tmp_path / "x.csv").edges()) == {("01", "0101")}
    (tmp_path / "y.csv").write_text(rows + "03,Fish,OTHER\n")
    with pytest.raises(InputError, match="--dangling"):
        Taxonomy.read(tmp_path / "y.csv")
    (tmp_path / "z.csv").write_text(rows + "03,Fish,\n")
    with pytest.raises(InputError, match="--dangling"):
        Taxonomy.read(tmp_path / "z.csv")


def test_cells_of_several_fields_tell_the_way_out(tmp_path: Path) -> None:
    rows = [f"{i * 7},Weakness {i},::NATURE:ChildOf:CWE ID:{i}:VIEW ID:1000:ORDINAL:Primary::" for i in range(1, 20)]
    (tmp_path / "x.csv").write_text("CWE-ID,Name,Related Weaknesses\n" + "\n".join(rows) + "\n")
    with pytest.raises(InputError, match=r"'Related Weaknesses' hold several fields each.*--map parent=TITLE"):
        Taxonomy.read(tmp_path / "x.csv")


def _named_edges(path: Path) -> set[tuple[str, str]]:
    taxonomy = Taxonomy.read(path)
    named = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    return {(named[parent], named[child]) for parent, child in taxonomy.edges()}
