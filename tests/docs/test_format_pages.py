"""The examples of the format pages are read, with the counts that the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from taxosphere import Taxonomy

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "formats"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?(?: options="([^"]*)")?\n(.*?)^```$', re.M | re.S)
COUNTS = re.compile(r"^([\d,]+) concepts?, ([\d,]+) edges?\.$", re.M)
PAGES = [path for path in sorted(FOLDER.glob("*.md")) if COUNTS.search(path.read_text(encoding="utf-8"))]


def examples(text: str) -> list[tuple[list[tuple[str, str, str, str]], tuple[int, int]]]:
    """The blocks before each line of counts, with the counts."""
    parts = []
    start = 0
    for match in COUNTS.finditer(text):
        blocks = [block.groups() for block in BLOCK.finditer(text, start, match.start())]
        parts.append((blocks, (int(match[1].replace(",", "")), int(match[2].replace(",", "")))))
        start = match.end()
    return parts


def mapping(options: str) -> dict[str, object]:
    stated: dict[str, object] = {}
    for word in shlex.split(options or ""):
        if word.startswith("--"):
            name = {"map": "mapping"}.get(word[2:], word[2:])
            stated[name] = True
        else:
            stated[name] = dict(pair.split("=") for pair in word.split(",")) if name == "mapping" else word
    return stated


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_examples_are_read_with_these_counts(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for blocks, counts in examples(page.read_text(encoding="utf-8")):
        named = [block for block in blocks if block[1]]
        if not named:  # code that makes the file
            pytest.importorskip("pyarrow")
            names: dict[str, object] = {}
            exec(compile(blocks[-1][3], page.name, "exec"), names)
            taxonomy = names["taxonomy"]
            assert isinstance(taxonomy, Taxonomy)
        else:
            for _, name, _, content in named:
                (tmp_path / name).parent.mkdir(exist_ok=True)
                (tmp_path / name).write_text(content, encoding="utf-8")
            first = Path(named[0][1])
            taxonomy = Taxonomy.read(first.parent if first.parent.name else first, **mapping(named[0][2]))  # type: ignore[arg-type]
        assert (len(taxonomy), len(taxonomy.edge_array)) == counts, page.name


def test_there_are_pages() -> None:
    assert len(PAGES) >= 12
