"""The calls that the architecture page lists are those that happen."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.parametrize("action", ["suggest", "fit"])
def test_the_page_lists_the_calls(action: str) -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "trace_calls.py"), action], capture_output=True, text=True, check=True
    )
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    listed = re.search(rf"<!-- {action} -->\n```\n(.*?)\n```\n<!-- end -->", page, re.S)
    assert listed is not None
    assert listed[1] == run.stdout.rstrip(), "run: python scripts/trace_calls.py write"
    if action == "suggest":
        modules, changes = map(int, re.findall(r"\d+", run.stdout.splitlines()[-1]))
        assert modules <= 35
        assert changes <= 30
