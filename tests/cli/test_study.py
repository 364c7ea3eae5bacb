from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.cli import main
from taxosphere.evaluation import studies


def test_studies_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "--list", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(studies.MODULES)


@pytest.mark.parametrize(("args", "said"), [([], "which study?"), (["nothing"], "no study 'nothing'")])
def test_bad_input_ends_in_one_line(args: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", *args]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("name", ["anchor", "angles"])
def test_a_study_on_ones_own_taxonomy(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [("all", f"group{i}") for i in range(4)] + [
        (f"group{i}", f"member{i}-{j}") for i in range(4) for j in range(8)
    ]
    taxonomy = Taxonomy.from_edges(pairs)
    taxonomy.write(tmp_path / "own")
    vectors = np.random.default_rng(0).normal(size=(len(taxonomy), 12)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", vectors)
    (tmp_path / "vectors.txt").write_text("".join(f"{text}\n" for text in taxonomy.names))
    out = tmp_path / "out"
    command = ["study", name, "--datasets", str(tmp_path / "own"), "--encoder", str(tmp_path / "vectors.npy")]
    assert main([*command, "--out", str(out), "--runs", "1", "--workers", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [row["variant"] for row in document["rows"]] == [v.label for v in studies.get(name).variants]
    assert document["verdict"].startswith("The paper's claim that")
    assert document["verdict"] in (out / "study.md").read_text()
    assert "<svg" in (out / "study.html").read_text()
    assert list(out.glob("*.svg"))
    assert (out / "runs.jsonl").read_text().count("\n") == len(document["rows"])
