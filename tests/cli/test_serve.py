"""taxosphere serve: what it does before it listens."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the service's packages are not installed")

from taxosphere.cli import main
from taxosphere.cli.commands import serve


def test_a_demonstration_of_an_earlier_build_is_tried_before_it_is_served(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    assert not serve._is_tried(folder)
    (tmp_path / "demo.build").write_text("of another build")
    assert not serve._is_tried(folder)
    (tmp_path / "demo.build").write_text(serve._build())
    assert serve._is_tried(folder)
    folder.rmdir()
    assert not serve._is_tried(folder)


def test_a_demonstration_that_cannot_be_loaded_is_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "manifest.json").write_text('{"format": 4, "method": "polaris", "files": {"of": "another build"}}')
    assert serve._loaded(folder) is None
    assert not folder.exists(), "it would be in the way of the new one"
    assert "the model of an earlier build cannot be used" in capsys.readouterr().err
    assert serve._loaded(tmp_path / "nothing") is None


def test_what_is_no_model_leaves_nothing_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path / "nothing")]) == 2
    assert "nothing: is no model folder" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
