from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.images import collection
from taxosphere.taxonomy.checks import repair


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodes.tsv").write_text("id\tname\tdescription\timage\na\ta\t\t\nb\tb\t\tpics/b*.png|/far/b.png\n")
    (tmp_path / "edges.tsv").write_text("parent_id\tchild_id\na\tb\n")
    return tmp_path


def test_relative_pictures_start_where_the_taxonomy_was_read(folder: Path) -> None:
    found, encoder = collection.locate(Taxonomy.read(folder))
    assert encoder == "efficientnet-lite0"
    assert found.images == ((), (str(folder / "pics/b*.png"), "/far/b.png"))
    assert collection.locate(found)[0].images == found.images  # a second time changes nothing


def test_another_encoder_or_none(folder: Path) -> None:
    assert collection.locate(Taxonomy.read(folder), "some/clip")[1] == "some/clip"
    found, encoder = collection.locate(Taxonomy.read(folder), "none")
    assert encoder == ""
    assert not any(found.images)


def test_vectors_beside_the_tables_say_which_pictures_there_are(folder: Path) -> None:
    (folder / "images.tsv").write_text("path\tconcept\nx/1.jpg\ta\nx/2.jpg\ta\n")
    np.save(folder / "v.npy", np.ones((2, 3)))
    found, encoder = collection.locate(Taxonomy.read(folder))
    assert encoder == str(folder / "v.npy")
    assert found.images == (("x/1.jpg", "x/2.jpg"), ())
    assert collection.locate(Taxonomy.read(folder), "efficientnet-lite0")[0].images[0] == ()


def test_other_edges_leave_the_pictures_where_they_are(folder: Path) -> None:
    (folder / "images.tsv").write_text("path\tconcept\nx/1.jpg\ta\n")
    np.save(folder / "v.npy", np.ones((1, 3)))
    (folder / "edges.tsv").write_text("parent_id\tchild_id\na\tb\nb\ta\n")
    repaired, dropped = repair(Taxonomy.read(folder))
    assert len(dropped) == 1
    assert collection.locate(repaired)[1] == str(folder / "v.npy")


def test_what_was_not_read_takes_no_pictures_from_the_working_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "images.tsv").write_text("path\tconcept\nx/1.jpg\ta\n")
    np.save(folder / "v.npy", np.ones((1, 3)))
    monkeypatch.chdir(folder)
    plain = Taxonomy.from_edges([("a", "b")])
    assert collection.locate(plain) == (plain, "")


def test_words_alone() -> None:
    plain = Taxonomy.from_edges([("a", "b")])
    assert collection.locate(plain) == (plain, "")
