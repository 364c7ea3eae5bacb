from __future__ import annotations

import sys
from pathlib import Path

import pytest

from taxosphere.errors import InputError
from taxosphere.methods import registry as methods

CONTRACT = """polaris polaris-cosine polaris-paper polaris-paper-frozen polaris-text polaris-both transe rotate hake
bert-mlp hyperexpan cone entailment-cones box
gumbel-box arborist tmn taxoexpan steam clip-zero-shot clip-1 clip-2 tfidf tfidf-internal encoder-cosine sibling-vote"""


def test_every_promised_name_is_there() -> None:
    assert methods.names() == CONTRACT.split()
    assert methods.names("unseen") == ["polaris", "polaris-text", "polaris-both", "sibling-vote"]


def test_references_are_text_methods() -> None:
    assert set(methods.REFERENCES) <= set(methods.names("parents"))


def test_every_row_can_be_imported_and_says_its_kind() -> None:
    for name, row in methods.TABLE.items():
        assert row.tasks
        for task in row.tasks:
            assert callable(methods.get(name, task))
    kinds = {name: methods.describe(name)[0] for name in ("polaris", "polaris-both", "clip-1", "tmn")}
    assert kinds == {"polaris": "text, image", "polaris-both": "image", "clip-1": "image", "tmn": "text"}


def test_a_name_for_another_task_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match=r"'polaris-both' does not find parents by text; use --split unseen"):
        methods.create("polaris-both")
    with pytest.raises(InputError, match=r"'clip-1' does not find parents by text; use --split images"):
        methods.create("clip-1")
    with pytest.raises(
        InputError, match=r"'polaris-both' does not name images; choose one of: polaris, polaris-paper, transe"
    ):
        methods.create_for_labels("polaris-both")
    with pytest.raises(InputError, match=r"choose one of: polaris, polaris-text, polaris-both, sibling-vote"):
        methods.create_for_unseen("clip-1")


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
