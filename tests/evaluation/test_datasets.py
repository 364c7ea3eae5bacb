from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.evaluation import datasets


@pytest.fixture
def data(tmp_path: Path, animals: Taxonomy) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    animals.write(folder / "zoo")
    return folder


def test_a_name_is_looked_up_in_the_data_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert datasets.find("zoo", data).path == data / "zoo"
    monkeypatch.setenv(datasets.VARIABLE, str(data))
    found = datasets.find("zoo")
    assert len(found.read()[0]) == 8
    assert not found.has_split


def test_the_split_comes_along(data: Path) -> None:
    (data / "zoo" / "split.tsv").write_text("id\tsplit\nduck\ttest\n")
    assert datasets.find("zoo", data).read()[1] == {"duck": "test"}


def test_shared_data_beside_the_working_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shared" / "data").mkdir(parents=True)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.delenv(datasets.VARIABLE, raising=False)
    assert datasets.folders()[0] == tmp_path / "shared" / "data"


def test_any_path_is_a_dataset(data: Path) -> None:
    assert datasets.find(str(data / "zoo"), data).name == "zoo"


def test_an_unknown_name_lists_known_ones(data: Path) -> None:
    with pytest.raises(InputError, match="no taxonomy 'zo'; known names: zoo"):
        datasets.find("zo", data)
    with pytest.raises(InputError, match="does not exist"):
        datasets.find("zoo", data / "nowhere")
