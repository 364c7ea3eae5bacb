"""Expanding through executors: the same taxonomy with and without workers, and after a stop."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from support.meadow import KINDS, WORDS
from taxosphere import Polaris
from taxosphere.cli import main
from taxosphere.placing import groups
from taxosphere.placing.place_list import Group, LocalPasses
from taxosphere.placing.suggestions import Suggestions
from taxosphere.scale import Placer
from taxosphere.scale.passes import StoredPasses


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "GROUP", 256)


@pytest.fixture(scope="module")
def listed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = [f"{word} {kind} {number}" for number in range(10) for word in WORDS for kind in KINDS]
    path = tmp_path_factory.mktemp("lists") / "new.txt"
    path.write_text("\n".join([*names, "bird 1", "big bird 1"]) + "\n", encoding="utf-8")
    return path


def _expand(model: Path, listed: Path, out: Path, *more: str) -> list[str]:
    arguments = ["expand", str(model), str(listed), "-o", str(out), "--accept", "0.2", "-q", *more]
    assert main(arguments) == 0
    return out.read_text(encoding="utf-8").splitlines()


@pytest.mark.slow
def test_a_list_in_groups_is_placed_alike_by_workers(model: Path, listed: Path, tmp_path: Path) -> None:
    alone, workers = (
        [line for line in _expand(model, listed, tmp_path / name, *more) if not line.startswith("creation_date")]
        for name, more in (("one.obo", ()), ("two.obo", ("--workers", "2")))
    )
    assert workers == alone
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_stopped_expansion_goes_on(
    model: Path, listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("taxosphere.decisions.events.now", lambda: "2026-01-01T00:00:00Z")
    whole = _expand(model, listed, tmp_path / "whole.obo")
    ranked: list[int] = []
    among = Placer.among

    def stop(self: Placer, group: Group) -> list[dict[str, object]]:
        if ranked:
            raise KeyboardInterrupt
        ranked.append(len(group.queries))
        return among(self, group)

    monkeypatch.setattr(Placer, "among", stop)
    out = tmp_path / "stopped.obo"
    arguments = ["expand", str(model), str(listed), "-o", str(out), "--accept", "0.2"]
    assert main(arguments) == 130
    assert "--resume goes on from here" in capsys.readouterr().err
    assert not out.exists()
    asked: list[int] = []
    documents = Placer.documents

    def count(self: Placer, concepts: Sequence[object]) -> list[dict[str, object]]:
        asked.append(len(concepts))
        return documents(self, concepts)  # type: ignore[arg-type]

    monkeypatch.setattr("taxosphere.decisions.events.now", lambda: "2026-02-02T00:00:00Z")
    monkeypatch.setattr(Placer, "among", among)
    monkeypatch.setattr(Placer, "documents", count)
    assert _expand(model, listed, out, "--resume") == whole
    assert sum(asked) == 0  # the first pass was whole


def test_suggestions_come_back_from_json(model: Path) -> None:
    fitted = Polaris.load(model)
    suggestions = fitted.suggest(("green bird", "a bird"))
    values = json.loads(json.dumps(suggestions.as_dict()))
    assert Suggestions.from_dict(values, suggestions.query, fitted.taxonomy) == suggestions


def test_both_kinds_of_passes_agree() -> None:
    shared = {name for name in vars(LocalPasses) if not name.startswith("_")}
    assert shared <= set(vars(StoredPasses))
