"""Workbooks: what is read from a sheet, which sheet is read, and what a written one looks like."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import Any

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

CONCEPTS = [["ID", "Name", "Parent ID"], [1, "animal", None], [2, "bird", 1.0], [3, "duck", 2]]
EDGES = {("1", "2"), ("2", "3")}
ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="S">{}</table:table></office:spreadsheet></office:body></office:document-content>'
)
CELL = '<table:table-cell office:value-type="string"{}><text:p>{}</text:p></table:table-cell>'


def book(path: Path, merged: str = "", **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        page = made.create_sheet(title)
        for row in rows:
            page.append(row)
    if merged:
        made.worksheets[0].merge_cells(merged)
    made.save(path)
    return path


def ods(path: Path, rows: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", ODS.format(rows))
        archive.writestr("META-INF/manifest.xml", "<manifest:manifest xmlns:manifest='u'/>")
    return path


def test_numbers_are_ids_without_a_decimal_point(tmp_path: Path) -> None:
    taxonomy = Taxonomy.read(book(tmp_path / "x.xlsx", One=CONCEPTS))
    assert set(taxonomy.edges()) == EDGES
    assert taxonomy.names == ("animal", "bird", "duck")


def test_titles_above_the_table_and_merged_cells(tmp_path: Path) -> None:
    rows = [
        ["Our tree"],
        [],
        ["Level 1", "Level 2"],
        ["a", "b"],
        [None, "c"],
        [None, "d"],
        ["e", "f"],
        [],
        ["Total", 6],
    ]
    taxonomy = Taxonomy.read(book(tmp_path / "x.xlsx", merged="A4:A6", One=rows))
    assert {(p.rpartition(" > ")[2], c.rpartition(" > ")[2]) for p, c in taxonomy.edges()} == {
        *(("a", "b"), ("a", "c"), ("a", "d"), ("e", "f"))
    }


def test_the_likely_sheet_is_chosen_and_it_is_said(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", Readme=[["made by us"], ["in", "2026"]], Data=CONCEPTS, Other=[["a", 1]])
    taxonomy = Taxonomy.read(path)
    assert set(taxonomy.edges()) == EDGES
    assert taxonomy.reading_notes[0] == "sheet 'Data' read, not 'Readme', 'Other'; --sheet names another"
    with pytest.raises(InputError, match="there is no sheet 'Dada'; the workbook has 'Readme', 'Data', 'Other'"):
        Taxonomy.read(path, sheet="Dada")
    with pytest.raises(InputError, match=r"x\.xlsx"):
        Taxonomy.read(path, sheet="Readme")


def test_faults_name_the_row_of_the_sheet(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'9'") as caught:
        Taxonomy.read(book(tmp_path / "x.xlsx", One=[["title"], [], *CONCEPTS, [4, "x", 9]]))
    assert caught.value.line == 7


def test_dates_and_truth_values_are_texts(tmp_path: Path) -> None:
    rows = [["name", "parent", "since", "new"], ["a", None, datetime.date(2026, 1, 2), True], ["b", "a", 1.5, None]]
    taxonomy = Taxonomy.read(book(tmp_path / "x.xlsx", One=rows))
    assert taxonomy.extras == ((("since", "2026-01-02"), ("new", "TRUE")), (("since", "1.5"),))


def test_open_document_sheets(tmp_path: Path) -> None:
    rows = [("name", "parent"), ("a", ""), ("b", "a")]
    cells = "".join(f"<table:table-row>{''.join(CELL.format('', c) for c in row)}</table:table-row>" for row in rows)
    assert set(Taxonomy.read(ods(tmp_path / "x.ods", cells)).edges()) == {("a", "b")}


def test_a_written_workbook_has_a_frozen_header_and_texts_alone(tmp_path: Path) -> None:
    concepts = [Concept("007", "=SUM(A1)", "long " * 50), Concept("1.0", "-x", extras=(("own", "+1"),))]
    taxonomy = Taxonomy.from_concepts(concepts, [("007", "1.0")])
    taxonomy.write(tmp_path / "x.xlsx")
    page = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert page.freeze_panes == "A2"
    assert [cell.value for cell in page[2]][:2] == ["007", "=SUM(A1)"]
    assert all(cell.data_type in ("s", "n", "inlineStr") for row in page for cell in row)
    assert page["A1"].font.bold
    widths = {key: dimension.width for key, dimension in page.column_dimensions.items()}
    assert 5 < widths["A"] < 12
    assert max(widths.values()) <= 60
    again = Taxonomy.read(tmp_path / "x.xlsx")
    assert list(again.concepts()) == concepts


def test_damaged_and_endless_workbooks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(InputError, match="no workbook that can be read"):
        Taxonomy.read(tmp_path / "x.xlsx")
    (tmp_path / "x.xls").write_bytes(b"")
    with pytest.raises(InputError, match="empty"):
        Taxonomy.read(tmp_path / "x.xls")
    made = openpyxl.Workbook()
    made.active["A1"], made.active["XFD1048576"] = "name", "far"
    made.save(tmp_path / "far.xlsx")
    with pytest.raises(InputError, match="reaches to row 1,048,576 and column 16,384"):
        Taxonomy.read(tmp_path / "far.xlsx")
    cell = CELL.format(' table:number-columns-repeated="16384"', "x")
    row = f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'
    with pytest.raises(InputError, match="repeats cells"):
        Taxonomy.read(ods(tmp_path / "x.ods", row))
    with pytest.raises(InputError, match="--encoding is for text files"):
        Taxonomy.read(book(tmp_path / "y.xlsx", One=CONCEPTS), encoding="utf-8")
