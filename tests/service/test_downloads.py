"""What is downloaded from the service."""

from __future__ import annotations

import io
import zipfile

from taxosphere.service import exports
from taxosphere.service.workbench import Workbench


def test_a_folder_comes_as_an_archive_without_times(bench: Workbench) -> None:
    name, content = exports.made(bench, "taxonomy")
    assert name.endswith(".zip")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist()
        assert {item.date_time for item in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert archive.testzip() is None
