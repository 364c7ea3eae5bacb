"""The page about faults and damaged inputs is what its records say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_page_of_faults_follows_from_its_records() -> None:
    script = ROOT / "benchmarks" / "faults" / "draw.py"
    spec = importlib.util.spec_from_file_location("draw_faults", script)
    assert spec is not None
    assert spec.loader is not None
    draw = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(draw)
    drawn = draw.page(ROOT / "docs" / "results")
    assert (ROOT / "docs" / "results" / "faults.md").read_text(encoding="utf-8") == drawn
