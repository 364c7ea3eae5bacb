"""Concept tables: a row per concept, parents by id or by name, written back as they came."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry

CATALOGUE = """SKU,ID,Title,Parent ID,Definition,Synonym
,1,Kitchen,,,
K-2,2,Cookware,1,"pots, and pans",pots|pans
K-3,3,Frying pans,2,,skillets
K-4,4,Gifts,1|2,,
"""


def read(path: Path, text: str) -> Taxonomy:
    path.write_text(text, encoding="utf-8")
    return Taxonomy.read(path)


@pytest.mark.parametrize(
    "text", [CATALOGUE, CATALOGUE.replace("pots, and", "pots and").replace('"', "").replace(",", ";")]
)
def test_a_catalogue_is_read_and_written_back_to_the_letter(tmp_path: Path, text: str) -> None:
    taxonomy = read(tmp_path / "x.csv", text)
    assert registry.recognise(tmp_path / "x.csv").name == "concept table"
    assert taxonomy.names == ("Kitchen", "Cookware", "Frying pans", "Gifts")
    assert set(taxonomy.edges()) == {("1", "2"), ("2", "3"), ("1", "4"), ("2", "4")}
    assert taxonomy.descriptions[1].endswith("and pans")
    assert taxonomy.synonyms[1] == ("pots", "pans")
    assert taxonomy.extras[1] == (("SKU", "K-2"),)
    taxonomy.write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == text
    taxonomy.write(tmp_path / "y.tsv")
    again = Taxonomy.read(tmp_path / "y.tsv")
    assert set(again.edges()) == set(taxonomy.edges())
    again.write(tmp_path / "z.csv")
    assert (tmp_path / "z.csv").read_text(encoding="utf-8").startswith("SKU,ID,Title,")


@pytest.mark.parametrize(
    "text",
    [
        "name\tparent\nanimal\t\ndog\tanimal\ncat\tanimal\n",
        "Parent\tName\n\tanimal\nanimal\tdog\nanimal\tcat\n",
        "id\tname\tbroader\nanimal\tanimal\t\ndog\tdog\tanimal\ncat\tcat\t animal \n",
        "id\tname\tparent\n\tanimal\t\n\tdog\tanimal\n\tcat\tanimal\n",
        "label\tparents\tcolour\nanimal\ndog\tanimal\ncat\tanimal\tblack\n",
    ],
)
def test_every_way_to_write_the_same_three_concepts(tmp_path: Path, text: str) -> None:
    taxonomy = read(tmp_path / "x.tsv", text)
    assert taxonomy.ids == ("animal", "dog", "cat")
    assert set(taxonomy.edges()) == {("animal", "dog"), ("animal", "cat")}


@pytest.mark.parametrize(
    "text",
    [
        "id,name,parent\n1,root ,\n2,a,root\n3,b ,root\n4,c,a|b\n",
        "name,parent\nroot ,\na,root\nb ,root\nc,a|b\n",
        "id,name,parent\n1 ,root,\n2,a,1\n3,b ,1\n4,c,2|3\n",
    ],
)
def test_spaces_around_a_name_need_not_be_repeated(tmp_path: Path, text: str) -> None:
    taxonomy = read(tmp_path / "x.csv", text)
    assert [taxonomy.parent_csr.row(i).tolist() for i in range(4)] == [[], [0], [0], [1, 2]]
    taxonomy.write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == text


def test_spaces_that_tell_names_apart_count(tmp_path: Path) -> None:
    text = "id,name,parent\n1,a|b ,\n2,a,\n3,b,\n4,c ,a|b\n5,c  ,\n6,d,c \n"
    taxonomy = read(tmp_path / "x.csv", text)
    assert set(taxonomy.edges()) == {("1", "4"), ("4", "6")}
    both = taxonomy.with_edges([*taxonomy.edge_array.tolist(), [1, 4], [2, 4]])
    both.write(tmp_path / "y.csv")
    assert set(Taxonomy.read(tmp_path / "y.csv").edges()) == {("1", "4"), ("4", "6"), ("2", "5"), ("3", "5")}


def test_parents_by_name_stay_names(tmp_path: Path) -> None:
    text = "id,name,parent\n1,animal,\n2,dog,animal\n3,cats | dogs,animal\n4,Tom,cats | dogs\n"
    taxonomy = read(tmp_path / "x.csv", text)
    assert set(taxonomy.edges()) == {("1", "2"), ("1", "3"), ("3", "4")}
    taxonomy.write(tmp_path / "y.csv")
    written = (tmp_path / "y.csv").read_text(encoding="utf-8")
    assert written == text
    taxonomy.with_edges([*taxonomy.edge_array.tolist(), [1, 3]]).write(tmp_path / "y.csv")
    written = (tmp_path / "y.csv").read_text(encoding="utf-8")
    assert written.endswith("3,cats | dogs,animal\n4,Tom,cats \\| dogs|dog\n")
    taxonomy.write(tmp_path / "y.tsv")
    assert "\tcats \\| dogs\n" in (tmp_path / "y.tsv").read_text(encoding="utf-8")
    assert set(Taxonomy.read(tmp_path / "y.csv").edges()) == {*taxonomy.edges(), ("2", "4")}


def test_what_is_new_gets_a_row_and_columns_of_its_own(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.csv", "name,parent,colour\nanimal,,\ndog,animal,brown\n")
    new = Concept("n1", "cat", "it purrs", extras=(("legs", "4"),))
    grown = Taxonomy.from_concepts([*taxonomy.concepts(), new], [*taxonomy.edges(), ("animal", "n1")], taxonomy.meta)
    grown.write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8").splitlines() == [
        "name,parent,colour,description,legs",
        "animal,,",
        "dog,animal,brown",
        "cat,animal,,it purrs,4",
    ]
    grown.add([Concept("n2", "cat")], [("dog", "n2")]).write(tmp_path / "y.csv")  # the names no longer differ
    assert (tmp_path / "y.csv").read_text(encoding="utf-8").splitlines() == [
        "id,name,parent,colour,description,legs",
        "animal,animal,,,,",
        "dog,dog,animal,brown,,",
        "n1,cat,animal,,it purrs,4",
        "n2,cat,dog,,,",
    ]


def test_columns_that_would_be_mistaken_are_marked(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.csv", "id,name,parent_id,parent,label\n1,a,,,A\n2,b,1,a,B\n")
    assert taxonomy.extras[1] == (("parent", "a"), ("label", "B"))
    taxonomy.write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == (tmp_path / "x.csv").read_text(encoding="utf-8")
    bare = Taxonomy.from_concepts(taxonomy.concepts(), taxonomy.edges(), {"table": {"columns": ["name", "parents"]}})
    bare.write(tmp_path / "z.csv")
    head = (tmp_path / "z.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == "id,name,parents,extra:label,extra:parent"
    assert list(map(sorted, Taxonomy.read(tmp_path / "z.csv").extras)) == list(map(sorted, taxonomy.extras))


def test_a_column_without_a_title_is_told_of(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.csv", "name,parent,\na,,x\nb,a,\n")
    assert [problem.text for problem in taxonomy.reading] == ["columns without a title are not read"]
