"""A few kills of those that `benchmarks/faults/kill_decisions.py` does by the hundred."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

PROGRAM = Path(__file__).resolve().parents[2] / "benchmarks" / "faults" / "kill_decisions.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("kill_decisions", PROGRAM)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["kill_decisions"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_what_was_acknowledged_survives_kills(url: str, tmp_path: Path, program: ModuleType) -> None:
    folder = tmp_path / "acknowledged"
    folder.mkdir()
    result = program.run(url, 5, folder)
    assert result["acknowledged"] >= 10
    assert (result["lost"], result["twice"], result["chain"]) == (0, 0, "whole")
    assert result["recorded"] - result["acknowledged"] <= 5 + program.WRITERS  # one in flight per process
