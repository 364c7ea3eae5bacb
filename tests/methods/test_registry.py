from __future__ import annotations

import sys
from pathlib import Path

import pytest

from taxosphere.errors import InputError
from taxosphere.methods import registry as methods

CONTRACT = """polaris polaris-cosine polaris-paper transe rotate hake bert-mlp hyperexpan cone entailment-cones box
gumbel-box arborist tmn taxoexpan steam clip-zero-shot clip-1 clip-2 tfidf tfidf-internal encoder-cosine sibling-vote"""


def test_every_promised_name_is_there() -> None:
    assert methods.names() == CONTRACT.split()
    assert methods.names("image") == ["clip-zero-shot", "clip-1", "clip-2"]


def test_references_are_text_methods() -> None:
    assert set(methods.REFERENCES) <= set(methods.names("text"))


def test_an_unknown_name_lists_what_exists() -> None:
    with pytest.raises(InputError, match=r"no method 'polar'; choose one of: polaris, .*sibling-vote"):
        methods.get("polar")


def test_a_package_brings_its_own_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed distribution is a folder on the path with metadata; nothing here is simulated."""
    (tmp_path / "their_method.py").write_text('class Theirs:\n    """Guesses the root."""\n')
    info = tmp_path / "their_method-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-method\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[taxosphere.methods]\nroot-guess = their_method:Theirs\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert methods.names()[-1] == "root-guess"
    assert methods.describe("root-guess") == ("text", "Guesses the root.")
    assert type(methods.create("root-guess")).__name__ == "Theirs"
    monkeypatch.delitem(sys.modules, "their_method")
