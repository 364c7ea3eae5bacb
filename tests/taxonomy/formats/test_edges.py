"""Edge lists: with and without header, in both orders, with quotes that close and quotes that do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats import registry


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("x.tsv", "animal\tdog\nanimal\tcat\n", None),
        ("x.tsv", "parent\tchild\nanimal\tdog\nanimal\tcat\n", None),
        ("x.tsv", "Child\tParent\r\ndog\tanimal\r\ncat\tanimal", None),
        ("x.tsv", "dog\tanimal\ncat\tanimal\n", ("child", "parent")),
        ("x.csv", "hyponym,hypernym\ndog,animal\n\ncat,animal\n", None),
        ("x.csv", "Hypernym,Hyponym\nanimal,dog\nanimal,cat\n", None),
        ("x.csv", "Parent Name;Child Name\nanimal;dog\nanimal;cat\n", None),
        ("x.csv", '"animal", "dog"\nanimal,cat\n', None),
        ("x.csv", '"animal";dog\nanimal;"cat"\n', None),
        ("x.csv", "parent\tchild\nanimal\tdog\nanimal\tcat\n", None),
        ("x.tsv", "animal\tdog\t0.3\nanimal\tcat\t0.9\n", ("parent", "child")),
        ("x.tsv", "parent_id\tchild_id\nanimal\tdog\nanimal\tcat\n", ("parent", "child")),
    ],
)
def test_every_way_to_write_the_same_two_edges(
    tmp_path: Path, name: str, text: str, columns: tuple[str, str] | None
) -> None:
    taxonomy = Taxonomy.read(write(tmp_path / name, text), columns=columns)
    assert set(taxonomy.edges()) == {("animal", "dog"), ("animal", "cat")}
    assert set(taxonomy.names) == {"animal", "dog", "cat"}


def test_a_stray_quote_in_a_tab_table_stands_for_itself(tmp_path: Path) -> None:
    text = 'disk\t5" disk\ndisk\t"hard" disk\ndisk\t"open\ndisk\t"a ""b"" c"\ndisk\t"two\nlines"\ndisk\tx\n'
    taxonomy = registry.read(write(tmp_path / "x.tsv", text))
    assert taxonomy.names == ("disk", '5" disk', '"hard" disk', '"open', 'a "b" c', "two\nlines", "x")


def test_lines_are_counted_across_cells_with_line_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", 'a\t"b\nc\nd"\na\te\nlonely\n')
    with pytest.raises(InputError) as caught:
        registry.read(path)
    assert caught.value.line == 5


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("x.tsv", "parent\tchild\nz\ta\nb\ta\nz\tb\n", None),
        ("x.tsv", "z\ta\nb\ta\nz\tb\n", None),
        ("x.csv", "dog,animal\ncat,animal\n", ("child", "parent")),
        ("x.csv", "Food, dairy;Milk\nFood, dairy;Butter, salted\n", None),
        ("x.csv", "Child;Parent;Colour\nx;a;red\ny;a;\n", None),
        ("x.csv", "Child Name\tHypernym\nx\ta\n", None),
        ("x.csv", "Definition,Child Name,Child ID,Parent Name,Parent ID\nlives,x,1,,\nflies,y,2,x,1\n", None),
    ],
)
def test_a_list_is_written_back_as_it_was(
    tmp_path: Path, name: str, text: str, columns: tuple[str, str] | None
) -> None:
    taxonomy = Taxonomy.read(write(tmp_path / name, text), columns=columns)
    assert all(problem.kind != "left out" for problem in taxonomy.reading)
    taxonomy.write(tmp_path / f"out.{name}")
    assert (tmp_path / f"out.{name}").read_text(encoding="utf-8") == text
    taxonomy.write(tmp_path / "folder")
    registry.read(tmp_path / "folder").write(tmp_path / f"out.{name}")
    assert (tmp_path / f"out.{name}").read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    ("name", "text", "columns", "head"),
    [
        ("x.csv", "mother,parent\nparent,person\n", ("child", "parent"), "child,parent"),
        ("x.csv", '"a,b";"c,d"\n"e,f";"g,h"\n', None, "parent;child"),
        ("x.csv", '"b;c"\td\n"e;f"\tg\n', None, "parent\tchild"),
    ],
)
def test_a_list_that_would_be_mistaken_gains_a_header(
    tmp_path: Path, name: str, text: str, columns: tuple[str, str] | None, head: str
) -> None:
    taxonomy = Taxonomy.read(write(tmp_path / name, text), columns=columns)
    taxonomy = replace(taxonomy, meta={key: value for key, value in taxonomy.meta.items() if key != "source text"})
    taxonomy.write(tmp_path / f"out.{name}")
    assert (tmp_path / f"out.{name}").read_text(encoding="utf-8").splitlines()[0] == head
    assert list(registry.read(tmp_path / f"out.{name}").edges()) == list(taxonomy.edges())


def test_what_is_new_gets_titles_and_columns_of_its_own(tmp_path: Path) -> None:
    taxonomy = registry.read(write(tmp_path / "x.tsv", "animal\tdog\n"))
    new = Concept("n1", "cat", "it purrs", extras=(("Parent ID", "p"), ("hyponym", "h")))
    grown = Taxonomy.from_concepts([*taxonomy.concepts(), new], [*taxonomy.edges(), ("animal", "n1")], taxonomy.meta)
    grown.write(tmp_path / "y.tsv")
    assert (tmp_path / "y.tsv").read_text(encoding="utf-8").splitlines() == [
        "parent\tchild\tdescription\textra:Parent ID\textra:hyponym",
        "animal\tdog\t\t\t",
        "animal\tcat\tit purrs\tp\th",
    ]
    again = registry.read(tmp_path / "y.tsv")
    assert again.concept(again.position("cat")) == replace(new, id="cat")


def test_ids_as_ends_gain_columns_of_names(tmp_path: Path) -> None:
    taxonomy = registry.read(write(tmp_path / "x.csv", "child_id,parent_id\n2,1\n"))
    named = Taxonomy.from_concepts([Concept("1", "a"), Concept("2", "b")], taxonomy.edges(), taxonomy.meta)
    named.write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == "child_id,parent_id,parent,child\n2,1,a,b\n"
    assert registry.read(tmp_path / "y.csv").names == ("a", "b")


def test_header_and_stated_order_must_agree(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", "child\tparent\ndog\tanimal\n")
    assert list(Taxonomy.read(path, columns=("child", "parent")).edges()) == [("animal", "dog")]
    with pytest.raises(InputError, match="contradict"):
        Taxonomy.read(path, columns=("parent", "child"))


@pytest.mark.parametrize(
    ("text", "missing"),
    [("size,parent\ndog,animal\n", "child"), ("id;Category;Child Name\n1;animal;dog\n", "parent")],
)
def test_a_first_line_with_one_known_title_is_not_guessed_at(tmp_path: Path, text: str, missing: str) -> None:
    path = write(tmp_path / "x.csv", text)
    with pytest.raises(InputError, match=f"no column is called '{missing}'.*--columns") as caught:
        registry.read(path)
    assert caught.value.line == 1


def test_stated_columns_make_a_known_title_an_edge(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "mother,parent\nparent,person\n")
    taxonomy = Taxonomy.read(path, columns=("child", "parent"))
    assert list(taxonomy.edges()) == [("parent", "mother"), ("person", "parent")]


def test_the_rows_of_a_child_add_up(tmp_path: Path) -> None:
    text = (
        "parent,child,colour,size,description,synonyms\n"
        "a,x,red,,first,s|t\nb,x,,big,,\nc,x,blue,big,second,t|u\nd,x,red,,first,\na,y,,,,\n"
    )
    path = write(tmp_path / "x.csv", text)
    taxonomy = registry.read(path)
    concept = taxonomy.concept(taxonomy.position("x"))
    assert concept.description == "first"
    assert concept.synonyms == ("s", "t", "u")
    assert concept.extras == (("colour", "red"), ("size", "big"), ("colour", "blue"), ("description", "second"))
    taxonomy.write(tmp_path / "y.csv")
    again = registry.read(tmp_path / "y.csv")
    assert sorted(again.concept(again.position("x")).extras) == sorted(concept.extras)


def test_a_column_without_a_title_is_told_of(tmp_path: Path) -> None:
    taxonomy = registry.read(write(tmp_path / "x.csv", "parent,child,,\na,b,c,d\n"))
    assert [problem.text for problem in taxonomy.reading] == ["columns without a title are not read"]


def test_odd_extras_survive(tmp_path: Path) -> None:
    extras = (("parent", "p"), ("k[]", "1"), ("k", "a|b"), ("k", "c"), ("Name", "n"), ("", "empty key"), ("e", ""))
    taxonomy = Taxonomy.from_concepts([Concept("1", " a ", "d", ("s|t", "u"), ("i.png",), extras)], [])
    taxonomy.write(tmp_path / "x.csv")
    assert registry.read(tmp_path / "x.csv").concept(0) == taxonomy.concept(0)


def test_one_id_with_two_names_is_a_contradiction(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "parent,child,parent_id,child_id\na,b,1,2\na,c,1,3\nb,d,3,4\n")
    with pytest.raises(InputError, match="the id '3' is 'b' here and 'c' in line 3") as caught:
        registry.read(path)
    assert caught.value.line == 4
    assert [problem.kind for problem in Taxonomy.read(path, strict=False).reading] == ["contradictory columns"]


def test_a_column_keeps_its_title_and_gains_brackets_where_an_item_holds_the_bar(tmp_path: Path) -> None:
    given = registry.read(write(tmp_path / "x.csv", "parent,child,Synonym\nanimal,dog,hound|canine\n"))
    grown = given.add([Concept("labrador", "labrador", "", ("lab|retriever",))], [("dog", "labrador")])
    grown.write(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8").startswith("parent,child,Synonym[]\n")
    assert registry.read(tmp_path / "out.csv").synonyms == grown.synonyms


def test_two_spellings_of_one_column_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="names the column 'synonyms' twice"):
        registry.read(write(tmp_path / "x.csv", "parent,child,synonyms,synonyms[]\na,b,x,y\n"))


def test_a_list_without_a_header_may_become_empty(tmp_path: Path) -> None:
    registry.read(write(tmp_path / "x.tsv", "a\tb\n")).keep([]).write(tmp_path / "empty.tsv")
    assert (tmp_path / "empty.tsv").read_text(encoding="utf-8") == "parent\tchild\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [("bird\tanimal\n", True), ("child\tparent\nbird\tanimal\n", False), ("child\tparent\nchild\tanimal\n", False)],
)
def test_an_order_that_no_header_tells_is_told(tmp_path: Path, text: str, told: bool) -> None:
    (tmp_path / "x.tsv").write_text(text, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "x.tsv", columns=("child", "parent"))
    lines = registry.unsupported_content(taxonomy, tmp_path / "y.csv")
    assert [line for line in lines if "--columns child,parent" in line] == lines
    assert bool(lines) == told
    assert not registry.unsupported_content(taxonomy, tmp_path / "y.obo")
    described = taxonomy.add([Concept("duck", "duck", "quacks")], [("bird", "duck")] if told else [])
    assert not registry.unsupported_content(described, tmp_path / "y.csv")  # a third column brings a header
