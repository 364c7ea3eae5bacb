"""Hierarchies that stand under titles and keys that nobody foresaw: what the cells and objects themselves show."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import self_reference

TABLES = {
    "parents under an unusual title": (
        "Sachgruppe;Text;Steht unter\nW1;Werkzeug;\nW2;Hammer;W1\nW3;Zange;W1\nW4;Rohrzange;W3\n",
        {("W1", "W2"), ("W1", "W3"), ("W3", "W4")},
    ),
    "ids under an unusual title": (
        "Artikelgruppe;Bezeichnung;Übergeordnete Gruppe\n100;Werkzeug;\n110;Hämmer;100\n120;Zangen;100\n",
        {("100", "110"), ("100", "120")},
    ),
    "a column of children": (
        'Concept URI,Preferred Label,Children\nx:a,Rock,"x:b, x:c"\nx:b,Granite,\nx:c,Basalt,x:d\nx:d,Tholeiite,\n',
        {("x:a", "x:b"), ("x:a", "x:c"), ("x:c", "x:d")},
    ),
    "depths with a word": (
        "IAB Code,Tier,IAB Category\nI1,Tier 1,Arts\nI1-1,Tier 2,Books\nI2,Tier 1,Cars\nI2-1,Tier 2,Parts\n",
        {("I1", "I1-1"), ("I2", "I2-1")},
    ),
    "ids and parents by id and by name": (
        "taxonomy_id,name,parent_id,parent_name\n1,Help,,\n1-1,Food,1,Help\n1-2,Cash,1,Help\n2,Food,,\n2-1,Bread,2,Food\n",
        {("1", "1-1"), ("1", "1-2"), ("2", "2-1")},
    ),
    "codes with several rows": (
        "atc_code,atc_name,dose\n"
        + "".join(f"A{i:02},group {i},\nA{i:02}A,part {i},1\n" for i in range(1, 9))
        + "A01A,part 1,2\n",
        {(f"A{i:02}", f"A{i:02}A") for i in range(1, 9)},
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(tmp_path: Path, case: str) -> None:
    text, edges = TABLES[case]
    path = tmp_path / "table.csv"
    path.write_text(text, encoding="utf-8")
    assert set(Taxonomy.read(path).edges()) == edges


def test_levels_of_codes_with_descriptions_and_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "levels.csv"
    path.write_text(
        "ITEM CODE DESCRIPTION_Level 1,ITEM CODE_Level 1,ITEM CODE DESCRIPTION_Level 2,ITEM CODE_Level 2,price\n"
        "Light,10,Lamps,11,3\nLight,10,Poles,12,4\nData,20,NA,NA,5\n",
        encoding="utf-8",
    )
    taxonomy = Taxonomy.read(path)
    assert set(taxonomy.edges()) == {("10", "11"), ("10", "12")}
    assert sorted(taxonomy.names) == ["Data", "Lamps", "Light", "Poles"]
    assert "column 'price' kept as it is, not understood" in taxonomy.reading_notes


def test_a_column_that_happens_to_hold_row_numbers_is_no_column_of_parents() -> None:
    numbers, names, level = ["1", "2", "3", "4"], ["a", "b", "c", "d"], ["", "1", "1", "2"]
    assert self_reference.find([numbers, names, level]) is None
    assert self_reference.find([["a1", "a2", "a3", "a4"], names, ["", "a1", "a1", "a2"]]) == (0, 2)
    assert self_reference.find([["a1", "a2", "a3", "a4"], names, ["a2", "a1", "a1", "a2"]]) is None  # a cycle


DOCUMENTS = {
    '{"root": {"data": {"text": "r"}, "children": [{"data": {"text": "a"}, "children": []}]}}': {("r", "a")},
    '[{"id": "1", "name": "a"}, {"id": "2", "name": "b", "relations": {"is_a": ["1"]}}]': {("a", "b")},
    '{"id": "x", "version": 1, "tree": {"a": {"b": {"c": null}}, "d": null}}': {("a", "b"), ("b", "c")},
    '[{"id": 1, "parent_id": 9, "name": "a", "children_data": [{"id": 2, "parent_id": 1, "name": "b"}]}]': {("a", "b")},
}


@pytest.mark.parametrize("text", DOCUMENTS)
def test_documents(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tree.json"
    path.write_text(text)
    taxonomy = Taxonomy.read(path)
    called = dict(zip(taxonomy.ids, taxonomy.names, strict=True))
    assert {(called[parent], called[child]) for parent, child in taxonomy.edges()} == DOCUMENTS[text]


def test_classes_of_a_linkml_schema(tmp_path: Path) -> None:
    path = tmp_path / "schema.yaml"
    path.write_text(
        "id: https://ex.org/s\nname: s\nclasses:\n  thing:\n    description: any\n    is_a: Top\n"
        "  person:\n    is_a: thing\n  Top:\n    title: top\n"
        "slots:\n  age:\n    is_a: number\n  number:\n    title: n\n"
    )
    assert set(Taxonomy.read(path).edges()) == {("Top", "thing"), ("thing", "person")}


@pytest.mark.parametrize(
    "text",
    [
        '{"levels": {"1": [{"id": "A", "name": "a"}], "2": [{"id": "A1", "name": "b"}]}, "more": {"x": {"y": null}}}',
        '{"a": {"rows": [["id", "name"], ["1", "x"]]}, "b": {"rows": [["id", "name"], ["2", "y"]]}}',
    ],
)
def test_what_is_a_table_in_json_is_not_read_as_a_tree(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tables.json"
    path.write_text(text)
    with pytest.raises(InputError, match="save"):
        Taxonomy.read(path)


def test_entities_in_single_quotes(tmp_path: Path) -> None:
    path = tmp_path / "o.owl"
    path.write_text(
        "<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [ <!ENTITY x 'http://x.y/#' > ]>\n"
        "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:owl='http://www.w3.org/2002/07/owl#'"
        " xmlns:rdfs='http://www.w3.org/2000/01/rdf-schema#'><owl:Class rdf:about='&x;b'>"
        "<rdfs:subClassOf rdf:resource='&x;a'/></owl:Class></rdf:RDF>"
    )
    assert set(Taxonomy.read(path).edges()) == {("http://x.y/#a", "http://x.y/#b")}


def test_the_sheet_with_titles_is_taken_before_a_longer_one(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["Category ID", "Category Name", "Parent Category ID"])
    for row in (1, "Food", None), (2, "Bread", 1):
        book.active.append(row)
    log = book.create_sheet("Changes")
    for i in range(9):
        log.append([i, "changed", "x"])
    book.save(tmp_path / "book.xlsx")
    assert set(Taxonomy.read(tmp_path / "book.xlsx").edges()) == {("1", "2")}


def test_bookings_with_accounts_are_no_paths(tmp_path: Path) -> None:
    path = tmp_path / "bookings.csv"
    accounts = ("Income:Sales", "Income:Services", "Expenses:Office:Paper", "Expenses:Office", "Expenses:Travel")
    rows = [f"2024-01-{i + 1:02},{accounts[i % 5]},text {i},{i}.50" for i in range(25)]
    path.write_text("\n".join(["Date,Account,Text,Amount", *rows, ""]))
    with pytest.raises(InputError, match="--map"):
        Taxonomy.read(path)
