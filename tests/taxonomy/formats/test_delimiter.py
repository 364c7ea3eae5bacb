"""Which character parts the columns of a file that calls itself comma-separated."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy.formats.io import delimiter as delimiters
from taxosphere.taxonomy.formats.io.tables import read_rows


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "Food, dairy;Milk\nFood, dairy;Cheese\n",
        '"Food, dairy";Milk\n"Food, dairy";Cheese\n',
        '"Food, dairy",Milk\n"Food, dairy",Cheese\n',
        "Food, dairy\tMilk\nFood, dairy\tCheese\n",
        "parent;child\nFood, dairy;Milk\nFood, dairy;Cheese\n",
        "name;parent\nFood, dairy;\nMilk;Food, dairy\nCheese;Food, dairy\n",
        "name;parent;weight, kg\nFood, dairy\nMilk;Food, dairy\nCheese;Food, dairy;1,5\n",
        "\n \n\nparent;child\nFood, dairy;Milk\nFood, dairy;Cheese\n",
        "sep=;\nFood, dairy;Milk\nFood, dairy;Cheese\n",
        '"sep=;"\r\n\r\nparent;child\r\nFood, dairy;Milk\r\nFood, dairy;Cheese\r\n',
        "SEP=|\nFood, dairy|Milk\nFood, dairy|Cheese\n",
        'sep=,\nparent,child\n"Food, dairy",Milk\n"Food, dairy",Cheese\n',
    ],
)
def test_every_delimiter_gives_the_same_two_edges(tmp_path: Path, text: str) -> None:
    taxonomy = Taxonomy.read(write(tmp_path / "x.csv", text))
    assert set(taxonomy.edges()) == {("Food, dairy", "Milk"), ("Food, dairy", "Cheese")}


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b;c\na,d;e\n", ","),  # equally good
        ("a, b; c\na, d; e\n", ","),
        ("parent, child\na;b, c\na;b, d\n", ","),
        ("Milk; whole,Food\nMilk; skimmed,Food\n", ","),
        ("animal, dog\nanimal, cat\nanimal, pig;hog\n", ","),
        ("Food, dairy;Milk\nFood,bread;Rye\nFood;Salt\n", ";"),
        ("name\nMilk; whole\nCheese; old\n", ","),  # a list of one column
        ("Milk\n", ","),
        ("Milk|Whole milk\nCheese|Brie\n", ","),  # lists in one column
        ("name|parent\nMilk|Food, dairy\n", "|"),
        ("name;description, long\ncow;x\n", ";"),
        ('a;b, c\na;"b\n' + "c\n" * 200 + '"\n', ";"),  # a cell that ends after the lines that are tried
    ],
)
def test_the_delimiter_that_fits_best(text: str, delimiter: str) -> None:
    assert delimiters.of(text.splitlines(keepends=True)[: delimiters.HEAD]) == delimiter


def test_a_list_of_new_concepts_profits_too(tmp_path: Path) -> None:
    path = write(tmp_path / "x.csv", "sep=;\nname;description\nMilk;white, wet\n")
    assert list(read_rows(path)) == [(2, ["name", "description"]), (3, ["Milk", "white, wet"])]


@pytest.mark.parametrize(("before", "line"), [("sep=;\n", 4), ("sep=;\r\n\r\n", 5), ("\n\n", 5), ("", 3)])
def test_lines_are_counted_from_the_top_of_the_file(tmp_path: Path, before: str, line: int) -> None:
    path = write(tmp_path / "x.csv", before + "id;name;parent\n1;a;\n2;b;zzz\n")
    with pytest.raises(InputError, match="zzz") as caught:
        Taxonomy.read(path)
    assert caught.value.line == line
    path = write(tmp_path / "y.csv", before + "id;name;parent;parent\n1;a;;\n")
    with pytest.raises(InputError, match="twice") as caught:
        Taxonomy.read(path)
    assert caught.value.line == line - 2


@pytest.mark.parametrize(
    ("before", "between"), [("sep=;\n", ";"), ("\n", ";"), ("", ";"), ("sep=|\n", "|"), ("", "\t")]
)
def test_a_table_keeps_its_delimiter(tmp_path: Path, before: str, between: str) -> None:
    text = "id;name, full;name;parent\n1;Food, dairy;Food;\n2;Milk, fresh;Milk;1\n".replace(";", between)
    taxonomy = Taxonomy.read(write(tmp_path / "x.csv", before + text))
    taxonomy.write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == before + text
    anew = {key: value for key, value in taxonomy.meta.items() if key != "source text"}
    replace(taxonomy, meta=anew).write(tmp_path / "y.csv")
    assert (tmp_path / "y.csv").read_text(encoding="utf-8") == text
    assert list(Taxonomy.read(tmp_path / "y.csv").edges()) == [("1", "2")]
