"""Workbooks that are written back: only the rows of changed concepts differ, cell by cell, for openpyxl."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from taxosphere.taxonomy import Concept, Taxonomy


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A catalogue with a title above, a price that is a number, a formula, widths, colours and a second sheet."""
    content = openpyxl.Workbook()
    page = content.active
    page.title = "Sortiment"
    rows = [
        ("Nr", "Bezeichnung", "Oberbegriff", "Preis", "Brutto"),
        ("P1", "Möbel", None, None, None),
        ("P2", "Stühle", "P1", 19.5, "=D3*1.19"),
        ("P3", "Tische", "P1", 100, "=D4*1.19"),
    ]
    for row in rows:
        page.append(row)
    page.column_dimensions["B"].width = 41
    page["B3"].font = openpyxl.styles.Font(bold=True, color="FF0000")
    content.create_sheet("Notizen").append(("nicht anfassen", 7))
    path = tmp_path / "sortiment.xlsx"
    content.save(path)
    return path


def cells(path: Path, sheet: str) -> dict[str, Any]:
    page = openpyxl.load_workbook(path)[sheet]
    return {cell.coordinate: cell.value for row in page.iter_rows() for cell in row if cell.value is not None}


def test_new_rows_are_the_only_difference(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "grown.xlsx"
    Taxonomy.read(book).add([Concept("P4", "Hocker")], [("P2", "P4")]).write(out)
    before, after = cells(book, "Sortiment"), cells(out, "Sortiment")
    assert {key: value for key, value in after.items() if before.get(key) != value} == {
        "A5": "P4",
        "B5": "Hocker",
        "C5": "P2",
    }
    assert before.items() <= after.items()
    assert cells(out, "Notizen") == cells(book, "Notizen")
    page = openpyxl.load_workbook(out)["Sortiment"]
    assert page.column_dimensions["B"].width == 41
    assert page["B3"].font.bold
    assert page["E3"].value == "=D3*1.19"


def test_unchanged(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "same.xlsx"
    Taxonomy.read(book).write(out)
    assert all(cells(out, sheet) == cells(book, sheet) for sheet in ("Sortiment", "Notizen"))


def test_a_moved_concept_changes_its_cell(book: Path, tmp_path: Path) -> None:
    out = tmp_path / "moved.xlsx"
    taxonomy = Taxonomy.read(book)
    edges = taxonomy.edge_array.copy()
    edges[edges[:, 1] == 2, 0] = 1  # the tables below the chairs
    replace(taxonomy, edge_array=edges).write(out)
    assert cells(out, "Sortiment") == cells(book, "Sortiment") | {"C4": "P2"}


def test_through_a_model_folder(book: Path, tmp_path: Path) -> None:
    Taxonomy.read(book).write(tmp_path / "native")
    Taxonomy.read(tmp_path / "native").write(tmp_path / "again.xlsx")
    assert cells(tmp_path / "again.xlsx", "Notizen") == cells(book, "Notizen")


@pytest.fixture
def levels(tmp_path: Path) -> Path:
    """A catalogue with a column per level and numbers in a column of the user's own."""
    content = openpyxl.Workbook()
    page = content.active
    page.title = "Katalog"
    for row in [
        ("Level 1", "Level 2", "Level 3", "SKU"),
        ("Kitchen", "Cookware", "Woks", 1001),
        ("Kitchen", "Cookware", "Saucepans", 1002),
        ("Garden", "Tools", "Rakes", 1003),
    ]:
        page.append(row)
    path = tmp_path / "levels.xlsx"
    content.save(path)
    return path


def test_a_row_is_all_that_a_column_per_level_gets(levels: Path, tmp_path: Path) -> None:
    # ids of such a table are paths; that of a new concept, which is its name, needs no column
    taxonomy, out = Taxonomy.read(levels), tmp_path / "grown.xlsx"
    taxonomy.add([Concept("Spades", "Spades")], [("Garden > Tools", "Spades")]).write(out)
    before, after = cells(levels, "Katalog"), cells(out, "Katalog")
    assert {key: value for key, value in after.items() if before.get(key) != value} == {
        "A5": "Garden",
        "B5": "Tools",
        "C5": "Spades",
    }
    assert before.items() <= after.items()
    assert after["D2"] == 1001


def test_the_row_of_a_leaf_stays_where_something_is_put_below_it(levels: Path, tmp_path: Path) -> None:
    book = openpyxl.load_workbook(levels)
    book["Katalog"].delete_cols(4)  # nothing but paths: such a leaf needs no row once its children have theirs
    book.save(levels)
    out = tmp_path / "grown.xlsx"
    parent = "Kitchen > Cookware > Woks"
    Taxonomy.read(levels).add([Concept("Flat Woks", "Flat Woks")], [(parent, "Flat Woks")]).write(out)
    before, after = cells(levels, "Katalog"), cells(out, "Katalog")
    assert before.items() <= after.items()
    assert [after[f"{letter}5"] for letter in "ABCD"] == ["Kitchen", "Cookware", "Woks", "Flat Woks"]
    assert set(Taxonomy.read(out).edges()) >= {(parent, f"{parent} > Flat Woks")}
