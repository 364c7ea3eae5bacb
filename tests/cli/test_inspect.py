from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support import malformed
from taxosphere import Taxonomy
from taxosphere.cli import main

Capture = pytest.CaptureFixture[str]
TREE = "parent\tchild\nanimal\tbird\nanimal\tdog\nbird\tduck\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    path = tmp_path / "tree.tsv"
    path.write_text(TREE, encoding="utf-8")
    return path


def inspected(capsys: Capture, *args: str) -> dict[str, Any]:
    main(["inspect", "--json", *args])
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_a_sound_taxonomy(tree: Path, capsys: Capture) -> None:
    assert main(["inspect", str(tree)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    rows = dict(line.rsplit(maxsplit=1) for line in out.splitlines()[1:] if line and line[-1].isdigit())
    assert rows["concepts"] == "4"
    assert rows["depth"] == "2"
    assert "no problems found" in out


def test_json_is_one_document_and_nothing_else(tree: Path, capsys: Capture) -> None:
    found = inspected(capsys, str(tree))
    assert (found["concepts"], found["edges"], found["roots"], found["leaves"]) == (4, 3, 1, 2)
    assert (found["depth"], found["most_descendants"], found["format"]) == (2, 3, "tsv")
    assert found["problems"] == found["cycles"] == []
    assert found["problem_counts"] == {}
    assert "dropped" not in found


def test_columns_turn_an_edge_list_around(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "bare.tsv"
    path.write_text("bird\tanimal\ndog\tanimal\n", encoding="utf-8")
    assert inspected(capsys, str(path))["roots"] == 2
    assert inspected(capsys, str(path), "--columns", "child,parent")["roots"] == 1
    assert main(["inspect", str(path), "--columns", "left,right"]) == 2
    assert "parent,child" in capsys.readouterr().err


def test_a_cycle_is_shown_as_a_path_and_repair_says_what_it_drops(tmp_path: Path, capsys: Capture) -> None:
    path = malformed.cyclic(tmp_path)
    found = inspected(capsys, str(path))
    assert found["cycles"] == [["duck", "animal", "bird", "duck"]]
    assert found["problem_counts"] == {"cycle": 1}
    assert found["problems"][0]["where"] == f"{path}:5"
    assert found["most_descendants"] is None
    mended = inspected(capsys, str(path), "--repair")
    assert mended["edges"] == found["edges"] - 1
    assert mended["most_descendants"] == 3
    (dropped,) = mended["dropped"]
    assert "'duck' → 'animal' leads 2 levels back" in dropped["text"]
    assert main(["inspect", str(path), "--repair"]) == 0
    assert "edges dropped to break the cycles: 1" in capsys.readouterr().out


def test_many_problems_are_counted_and_shown_on_demand(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "names.tsv"
    pairs = "".join(f"root\tname {i}\nroot\tName {i}\n" for i in range(25))
    path.write_text("parent\tchild\n" + pairs, encoding="utf-8")
    main(["inspect", str(path)])
    out = capsys.readouterr().out
    assert "case variant: 25" in out
    assert "… and 15 more (--all shows them)" in out
    assert out.count("differs only in case") == 10
    main(["inspect", str(path), "--all"])
    assert capsys.readouterr().out.count("differs only in case") == 25
    assert len(inspected(capsys, str(path))["problems"]) == 25


def test_faults_of_the_file_are_listed_and_fail(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "faulty"
    folder.mkdir()
    nodes = "id\tname\tdescription\na\tanimal\t\nb\tbird\t\nb\tbee\t\n"
    (folder / "nodes.tsv").write_text(nodes, encoding="utf-8")
    (folder / "edges.tsv").write_text("parent_id\tchild_id\na\tb\na\tz\nb\tb\n", encoding="utf-8")
    assert main(["inspect", "--json", str(folder)]) == 2
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert found["problem_counts"] == {"duplicate id": 1, "dangling edge": 1, "self loop": 1}
    assert {problem["where"] for problem in found["problems"]} == {
        f"{folder}/nodes.tsv:4",
        f"{folder}/edges.tsv:3",
        f"{folder}/edges.tsv:4",
    }
    assert err.startswith(f"error: {folder}/nodes.tsv:4: ")
    assert err.endswith("(and 2 more faults)\n")


@pytest.mark.parametrize("name", ["mesh", "wordnet_bansal"])
def test_benchmarks(shared_data: Path, capsys: Capture, name: str) -> None:
    found = inspected(capsys, str(shared_data / name))
    assert found["concepts"] == len(Taxonomy.read(shared_data / name))
    assert (found["roots"] == 761) == (name == "wordnet_bansal")
    assert len(found["cycles"]) == (2 if name == "mesh" else 0)


def test_how_a_table_was_understood_is_said(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.csv"
    path.write_text("Tier 1,Tier 2\na,b\na,c\n", encoding="utf-8")
    assert main(["inspect", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("columns 'Tier 1' … 'Tier 2' read as levels\n3 concepts, 2 edges\n")
    assert inspected(capsys, str(path))["reading"] == ["columns 'Tier 1' … 'Tier 2' read as levels"]
