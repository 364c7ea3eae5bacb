"""Tables whose rows say how deep they stand, and tables that only look like a hierarchy."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere.errors import InputError
from taxosphere.taxonomy import Taxonomy

NACE = """Level,Code,Description,Includes
1,A,FARMING,
2,01,Crops and animals,"wheat: all kinds
of it"
3,01.1,Annual crops,
3,01.2,Perennial crops,
2,02,Forestry,
1,B,MINING,
2,05,Coal,
"""


def read(folder: Path, text: str, name: str = "x.csv") -> Taxonomy:
    (folder / name).write_bytes(text.encode())
    return Taxonomy.read(folder / name)


def test_a_row_is_below_the_nearest_one_above_it_that_is_less_deep(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, NACE)
    assert taxonomy.ids == ("A", "01", "01.1", "01.2", "02", "B", "05")
    assert taxonomy.names[2] == "Annual crops"
    edges = {("A", "01"), ("01", "01.1"), ("01", "01.2"), ("A", "02"), ("B", "05")}
    assert set(taxonomy.edges()) == edges
    assert taxonomy.extras[1] == (("Includes", "wheat: all kinds\nof it"),)
    taxonomy.write(tmp_path / "y.csv")
    assert set(Taxonomy.read(tmp_path / "y.csv").edges()) == edges


def test_short_rows_are_filled_up(tmp_path: Path) -> None:
    assert read(tmp_path, "Level,Name,Code\n1,a,A\n2,b\n").names == ("a", "b")


def test_without_codes_a_concept_is_its_path(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "Ebene;Bezeichnung\n0;Küche\n1;Zubehör\n0;Bad\n1;Zubehör\n")
    assert taxonomy.ids == ("Küche", "Küche > Zubehör", "Bad", "Bad > Zubehör")
    assert set(taxonomy.edges()) == {("Küche", "Küche > Zubehör"), ("Bad", "Bad > Zubehör")}


@pytest.mark.parametrize(
    "text",
    [
        "Level,Name\n1,a\n3,b\n2,c\n",  # a step is missing
        "Level,Name\n2,a\n1,b\n",  # does not begin with the outermost
        "Level,Name\nhigh,a\nlow,b\n",
    ],
)
def test_what_is_no_depth_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        read(tmp_path, text)


PLATES = "Hour,C01,C02,C03\n" + "".join(f"{i},{i * 0.5},{i + 7},{i * 3}.25\n" for i in range(30))
UNITS = "year,value,unit\n" + "".join(f"{1990 + i},{i},{'t/t' if i % 2 else 'kg/t'}\n" for i in range(30))
ADDRESSES = "who,when,where\n" + "".join(f"a{i % 7},{i},https://x.y/{i % 5}\n" for i in range(30))
GENES = "".join(f"gi|{i % 4}|ref|N{i}|\t{i}\t{i + 1}\t+\n" for i in range(30))
RULES = "".join(f"\\b\\w{i}\\s\t{i % 3}\tx{i % 5}\n" for i in range(30))
PROSE = "\n".join(
    ("    " if i % 3 else "") + "This line is much too long to be the name of anything but a novel " * 2
    for i in range(9)
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("x.csv", text) for text in (PLATES, UNITS, ADDRESSES)),
        ("x.tsv", GENES),
        ("x.tsv", RULES),
        ("x.txt", PROSE),
    ],
)
def test_measures_units_addresses_and_prose_are_no_hierarchy(tmp_path: Path, name: str, text: str) -> None:
    with pytest.raises(InputError, match=r"--map|running text"):
        read(tmp_path, text, name)


def test_paths_are_believed_by_their_separator_or_their_blanks(tmp_path: Path) -> None:
    for joint in (" > ", ">", " / "):
        rows = "".join(f"{i},Home{joint}Kitchen{joint}Thing {i}\n" for i in range(9))
        assert len(read(tmp_path, f"SKU,Where\n{rows}")) == 11


def test_old_line_ends_are_said_although_a_cell_holds_others(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="end in CR alone"):
        read(tmp_path, 'Level,Code,Name\r1,A,a\r2,B,"b\nb\nb\nb\nb"\r')


HEADED = """name: GAS
title: Gases
categories:
  A:
    title: all
    children:
    - [B, C]
    - [B, D]
  B: {title: b}
  C: {title: c}
  D: {title: d}
"""


def test_objects_by_id_below_the_name_of_the_whole(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, HEADED, "x.yaml")
    assert taxonomy.names == ("all", "b", "c", "d")
    assert set(taxonomy.edges()) == {("A", "B"), ("A", "C"), ("A", "D")}


def test_one_concept_among_many_objects_is_refused(tmp_path: Path) -> None:
    types = "".join(f"  t{i}: {{is_a: t{i // 2}}}\n" for i in range(1, 9))
    slots = "".join(f"  s{i}: {{is_a: s{i // 2}}}\n" for i in range(1, 9))
    with pytest.raises(InputError, match="one concept, 'model', and 'types', 'slots' hold objects"):
        read(tmp_path, f"name: model\ntypes:\n{types}slots:\n{slots}", "x.yaml")


def test_nexus_by_its_own_suffix(tmp_path: Path) -> None:
    text = "#NEXUS\nbegin trees;\ntranslate 1 a, 2 b;\ntree x = [&R] (1,2)r;\nend;\n"
    assert set(read(tmp_path, text, "x.nex").names) == {"a", "b", "r"}


def test_a_depth_that_is_none_far_below_the_beginning_is_named_by_its_line(tmp_path: Path) -> None:
    rows = [f"{1 + i % 3},{i},name {i}" for i in range(6000)]
    text = "\n".join(["Level,Code,Name", *rows, "2i,x,odd", "1,y,last"])
    with pytest.raises(InputError, match=r"x\.csv:6002: not every cell of 'Level'"):
        read(tmp_path, text)
