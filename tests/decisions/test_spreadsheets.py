from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

from taxosphere.decisions import spreadsheets
from taxosphere.errors import InputError


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_workbook_that_declares_entities_is_refused(tmp_path: Path, encoding: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(["decision", "name"])
    book.save(tmp_path / "plain.xlsx")
    assert b"sheetData" in spreadsheets._sheet_xml(tmp_path / "plain.xlsx", "Sheet")
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(tmp_path / "bomb.xlsx", "w") as bomb:
        for name in plain.namelist():
            text = plain.read(name)
            if name == "xl/workbook.xml":
                body = text.decode().split("?>", 1)[-1]
                head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE workbook [<!ENTITY a "aaaa">]>'
                text = (head + body).encode(encoding)
            bomb.writestr(name, text)
    with pytest.raises(InputError, match="damaged workbook"):
        spreadsheets._sheet_xml(tmp_path / "bomb.xlsx", "Sheet")


def _is_review(titles: Sequence[str]) -> bool:
    return "decision" in titles


def test_the_sheet_and_the_row_of_the_titles_are_found(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["what I think of it", "decision later"])
    sheet = book.create_sheet("review")
    for row in (["please fill in", None], [None, None], ["decision", "name"], ["accept", "owl"], ["reject", "=1+1"]):
        sheet.append(row)
    book.save(tmp_path / "r.xlsx")
    header, rows = spreadsheets.read(tmp_path / "r.xlsx", _is_review)
    assert header == (3, ["decision", "name"])
    assert [number for number, _ in rows] == [4, 5]
    with pytest.raises(InputError, match=r"r\.xlsx:5: a formula in the column 'name'"):
        spreadsheets.read(tmp_path / "r.xlsx", _is_review, ["name"])
    (tmp_path / "r.csv").write_text("please fill in;\ndecision;name\naccept;owl\n", encoding="utf-8")
    assert spreadsheets.read(tmp_path / "r.csv", _is_review) == ((2, ["decision", "name"]), [(3, ["accept", "owl"])])
    with pytest.raises(InputError, match="2 cells where the header has 1 titles"):
        spreadsheets.read(tmp_path / "r.csv", lambda _: False)


def test_a_table_saved_in_the_encoding_of_windows_is_read_and_it_is_said(tmp_path: Path) -> None:
    told: list[str] = []
    (tmp_path / "r.csv").write_bytes("decision;name\r\naccept;Käuze\r\n".encode("cp1252"))
    table = spreadsheets.read(tmp_path / "r.csv", _is_review, warn=told.append)
    assert table[1] == [(2, ["accept", "Käuze"])]
    assert [line.rpartition(": ")[2] for line in told] == ["read as Windows-1252, for line 2 is not UTF-8"]


def test_probabilities_are_numbers_in_a_workbook_and_texts_elsewhere(tmp_path: Path) -> None:
    rows = [["owl", "0.9300", "7"], ["bat", "", "0012"]]
    for name in ("r.xlsx", "r.csv"):
        spreadsheets.write(tmp_path / name, ["name", "sure", "sku"], rows, numbers=["sure"])
    book = list(openpyxl.load_workbook(tmp_path / "r.xlsx").active.iter_rows(values_only=True))
    assert book[1:] == [("owl", 0.93, "7"), ("bat", None, "0012")]
    assert spreadsheets.read(tmp_path / "r.csv")[1] == [(2, rows[0]), (3, rows[1])]
