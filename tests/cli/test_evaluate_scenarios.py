from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.cli import main
from taxosphere.evaluation.scenario_protocol import mean
from taxosphere.evaluation.scenarios import SHARES

QUICK = [f"--set={name}" for name in ("training.epochs=2", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=2")]


@pytest.fixture
def orchard(tmp_path: Path) -> Path:
    """plant → 5 kinds → 4 sorts each → 3 leaves each."""
    concepts, edges = [Concept("plant", "plant")], []
    for kind in ("apple", "pear", "plum", "cherry", "quince"):
        concepts.append(Concept(kind, f"{kind} tree"))
        edges.append(("plant", kind))
        for sort in ("early", "late", "red", "green"):
            concepts.append(Concept(f"{sort} {kind}", f"{sort} {kind}", f"a {kind} tree that is {sort}"))
            edges.append((kind, f"{sort} {kind}"))
            for place in ("hill", "valley", "garden"):
                concepts.append(Concept(f"{place} {sort} {kind}", f"{place} {sort} {kind}", f"a {sort} {kind}"))
                edges.append((f"{sort} {kind}", f"{place} {sort} {kind}"))
    Taxonomy.from_concepts(concepts, edges).write(tmp_path / "orchard")
    return tmp_path / "orchard"


def test_scenarios_are_one_document(orchard: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = tmp_path / "words.tsv"
    words.write_text("parent\tchild\nalgorithm\tsorting\nalgorithm\tsearch\nalgorithm\thashing\n")
    command = ["evaluate", str(orchard), "--split", "scenarios", "--foreign", str(words), "--runs", "1", *QUICK]
    assert main([*command, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["split"] == "scenarios"
    assert list(document["scenarios"]) == list(SHARES)
    assert document["scenarios"]["foreign"]["queries"] == 4
    assert set(document["mixture"]) == {"ece", "at_0.8", "at_0.9"}
    assert set(document["mixture"]["at_0.8"]) == {"precision", "coverage"}
    assert document["metrics"]["hit@1"]["mean"] == document["scenarios"]["leaf"]["hit@1"]
    assert main([*command[: -len(QUICK)], "--method", "tfidf"]) == 2
    assert "only the method 'polaris'" in capsys.readouterr().err


def test_means_over_runs_leave_absent_figures_out() -> None:
    assert mean([{"a": 1.0, "b": {"c": float("nan")}}, {"a": 3.0, "b": {"c": 5.0}}]) == {"a": 2.0, "b": {"c": 5.0}}
