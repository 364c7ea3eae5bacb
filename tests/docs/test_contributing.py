"""The files that CONTRIBUTING sends people to are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILES = sorted(set(re.findall(r"`([\w./-]+(?:\.py|\.md|\.toml|/))`", TEXT)))
SCRIPTS = sorted(set(re.findall(r"python (scripts/\w+\.py)", TEXT)))
RUN = sorted(set(re.findall(r"\./run (\w+)", TEXT)))


def test_it_names_files() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("file", [file for file in FILES + SCRIPTS if "NAME" not in file and file != "dist/"])
def test_the_file_is_there(file: str) -> None:
    assert any((folder / file).exists() for folder in (ROOT, ROOT / "src" / "taxosphere"))


@pytest.mark.parametrize("word", RUN)
def test_run_knows_the_word(word: str) -> None:
    assert re.search(rf"^  [\w|]*\b{word}\b[\w|]*\)", (ROOT / "run").read_text(encoding="utf-8"), re.M)
