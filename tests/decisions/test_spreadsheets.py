from __future__ import annotations

import zipfile
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
    assert b"sheetData" in spreadsheets._first_sheet(tmp_path / "plain.xlsx")
    with zipfile.ZipFile(tmp_path / "plain.xlsx") as plain, zipfile.ZipFile(tmp_path / "bomb.xlsx", "w") as bomb:
        for name in plain.namelist():
            text = plain.read(name)
            if name == "xl/workbook.xml":
                body = text.decode().split("?>", 1)[-1]
                head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE workbook [<!ENTITY a "aaaa">]>'
                text = (head + body).encode(encoding)
            bomb.writestr(name, text)
    with pytest.raises(InputError, match="damaged workbook"):
        spreadsheets._first_sheet(tmp_path / "bomb.xlsx")
