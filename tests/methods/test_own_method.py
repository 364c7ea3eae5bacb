"""The example of the documentation, installed the way a package would install it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.methods import registry as methods

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
PAGE = EXAMPLES.parent / "baselines.md"


def test_a_method_from_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, animals: Taxonomy) -> None:
    info = tmp_path / "two_towers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: two-towers\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[taxosphere.methods]\ntwo-towers = two_towers:TwoTowers\n")
    for folder in (tmp_path, EXAMPLES):
        monkeypatch.syspath_prepend(str(folder))
    assert methods.describe("two-towers") == ("text", "Dot product of two learned projections.")
    method = methods.create("two-towers", {"steps": "30", "negatives": "4"})
    scores = method.fit(animals, encoder=GramEncoder(), random_state=0).score([animals.concept(0)])
    assert scores.shape == (1, len(animals))
    with pytest.raises(InputError, match="two-towers: setting 'speed'"):
        methods.create("two-towers", {"speed": "1"})
    monkeypatch.delitem(sys.modules, "two_towers")


def test_the_page_shows_the_example_as_it_is() -> None:
    code = (EXAMPLES / "two_towers.py").read_text(encoding="utf-8")
    assert code.strip() in PAGE.read_text(encoding="utf-8")
    assert len([line for line in code.splitlines() if line.strip()]) <= 30
