"""SemEval files in the task's own form and in those of the benchmarks made from it."""

from __future__ import annotations

from pathlib import Path

from taxosphere import Taxonomy


def write(folder: Path, **files: str) -> None:
    for suffix, text in files.items():
        (folder / f"zoo.{suffix}").write_text(text, encoding="utf-8")


def test_three_columns_of_terms(tmp_path: Path) -> None:
    write(tmp_path, taxo="0\tbird\tanimal\n1\tduck\tbird\n", terms="7\tanimal\n8\tbird\n9\tduck\n10\tstone\n")
    for name in ("zoo.taxo", "zoo.terms"):
        taxonomy = Taxonomy.read(tmp_path / name)
        assert taxonomy.ids == ("7", "8", "9", "10")
        assert taxonomy.names == ("animal", "bird", "duck", "stone")
        assert list(taxonomy.edges()) == [("7", "8"), ("8", "9")]


def test_two_columns_of_ids_senses_and_definitions(tmp_path: Path) -> None:
    write(
        tmp_path,
        taxo="run.v.01\tjog.v.01\nrun.v.01\trun.v.02\n",
        terms="run.v.01\trun||run.v.01\njog.v.01\tjog||jog.v.01\nrun.v.02\trun||run.v.02\n",
        desc="run.v.01\tto move fast\nqueryjog\tto run slowly\nrun.v.02\tto operate\n",
    )
    taxonomy = Taxonomy.read(tmp_path / "zoo.taxo")
    assert taxonomy.names == ("run", "jog", "run")
    assert taxonomy.descriptions == ("to move fast", "to run slowly", "to operate")
    assert list(taxonomy.edges()) == [("run.v.01", "jog.v.01"), ("run.v.01", "run.v.02")]


def test_edges_alone_in_either_order(tmp_path: Path) -> None:
    write(tmp_path, taxo="animal\tbird\nbird\tduck\n")
    assert list(Taxonomy.read(tmp_path / "zoo.taxo").edges()) == [("animal", "bird"), ("bird", "duck")]
    reverse = Taxonomy.read(tmp_path / "zoo.taxo", columns=("child", "parent"))
    assert list(reverse.edges()) == [("bird", "animal"), ("duck", "bird")]


def test_terms_that_are_not_listed_are_mentioned(tmp_path: Path) -> None:
    write(tmp_path, taxo="0\tbird\tanimal\n", terms="1\tbird\n", desc="stone\thard\n")
    taxonomy = Taxonomy.read(tmp_path / "zoo.taxo")
    assert taxonomy.names == ("bird", "animal")
    assert [note.text.split(" of ")[0] for note in taxonomy.reading] == ["1 term", "1 definition"]
