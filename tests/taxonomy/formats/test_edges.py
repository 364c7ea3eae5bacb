"""Edge lists: with and without header, in both orders, with quotes that close and quotes that do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import formats


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
    taxonomy = formats.read(write(tmp_path / name, text), columns=columns)
    assert set(taxonomy.edges()) == {("animal", "dog"), ("animal", "cat")}
    assert set(taxonomy.names) == {"animal", "dog", "cat"}


def test_a_stray_quote_in_a_tab_table_stands_for_itself(tmp_path: Path) -> None:
    text = 'disk\t5" disk\ndisk\t"hard" disk\ndisk\t"open\ndisk\t"a ""b"" c"\ndisk\t"two\nlines"\ndisk\tx\n'
    taxonomy = formats.read(write(tmp_path / "x.tsv", text))
    assert taxonomy.names == ("disk", '5" disk', '"hard" disk', '"open', 'a "b" c', "two\nlines", "x")


def test_lines_are_counted_across_cells_with_line_breaks(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", 'a\t"b\nc\nd"\na\te\nlonely\n')
    with pytest.raises(InputError) as caught:
        formats.read(path)
    assert caught.value.line == 5


def test_a_plain_list_is_written_back_as_it_was(tmp_path: Path) -> None:
    text = "parent\tchild\nz\ta\nb\ta\nz\tb\n"
    formats.read(write(tmp_path / "x.tsv", text)).write(tmp_path / "y.tsv")
    assert (tmp_path / "y.tsv").read_text(encoding="utf-8") == text


def test_header_and_stated_order_must_agree(tmp_path: Path) -> None:
    path = write(tmp_path / "x.tsv", "child\tparent\ndog\tanimal\n")
    assert list(formats.read(path, columns=("child", "parent")).edges()) == [("animal", "dog")]
    with pytest.raises(InputError, match="contradict"):
        formats.read(path, columns=("parent", "child"))


def test_odd_extras_survive(tmp_path: Path) -> None:
    extras = (("parent", "p"), ("k[]", "1"), ("k", "a|b"), ("k", "c"), ("Name", "n"), ("", "empty key"), ("e", ""))
    taxonomy = Taxonomy.from_concepts([Concept("1", " a ", "d", ("s|t", "u"), ("i.png",), extras)], [])
    taxonomy.write(tmp_path / "x.csv")
    assert formats.read(tmp_path / "x.csv").concept(0) == taxonomy.concept(0)


def test_one_id_with_two_names_is_a_contradiction(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "parent,child,parent_id,child_id\na,b,1,2\na,c,1,3\nb,d,3,4\n")
    with pytest.raises(InputError, match="the id '3' is 'b' here and 'c' in line 3") as caught:
        formats.read(path)
    assert caught.value.line == 4
    assert [problem.kind for problem in formats.read(path, strict=False).reading] == ["contradictory columns"]
