"""Encoders side by side: the cosine is the mean of theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.tiny_encoder import build_static_encoder, build_tiny_encoder
from taxosphere import Polaris, Taxonomy
from taxosphere.encoders.text import registry
from taxosphere.encoders.text.registry import load
from taxosphere.errors import InputError

TEXTS = ["cat", "dog", "a long text", "cat"]


@pytest.fixture
def names(tmp_path: Path) -> tuple[str, str]:
    return str(build_tiny_encoder(tmp_path / "tiny")), str(build_static_encoder(tmp_path / "static"))


def test_cosines_are_the_mean_of_the_parts(names: tuple[str, str]) -> None:
    vectors = load("+".join(names), cache=None).encode(TEXTS)
    parts = [load(name, cache=None).encode(TEXTS) for name in names]
    np.testing.assert_allclose(vectors @ vectors.T, sum(part @ part.T for part in parts) / 2, atol=1e-6)


def test_progress_ends_at_its_total(names: tuple[str, str]) -> None:
    calls: list[tuple[int, int]] = []
    load("+".join(names), cache=None).encode(TEXTS, progress=lambda *call: calls.append(call))
    assert calls == [(3, 6), (6, 6)]  # three distinct texts, twice


@pytest.mark.parametrize("name", ["minilm+", "+minilm", "minilm+minilm"])
def test_a_name_that_names_no_two_encoders(name: str) -> None:
    with pytest.raises(InputError, match="minilm\\+mpnet"):
        load(name)


def test_a_folder_with_a_plus_in_its_name_is_a_folder(tmp_path: Path) -> None:
    folder = build_static_encoder(tmp_path / "one+two")
    assert load(str(folder)).dim == 8


def test_the_part_with_weights_can_be_fine_tuned(names: tuple[str, str]) -> None:
    both = load("+".join(reversed(names)), cache=None)
    assert registry.trainable(both) is both.parts[1]
    first = next(iter(registry.trainable(both).upper(1)))
    shape = registry.trainable(both).upper(1)[first].shape
    tuned = registry.with_tuned(both, {first: np.ones(shape, np.float32)})
    before, after = both.encode(["a cat"]), tuned.encode(["a cat"])
    np.testing.assert_array_equal(before[:, : both.parts[0].dim], after[:, : both.parts[0].dim])
    assert not np.allclose(before, after)
    np.testing.assert_array_equal(registry.untuned(tuned).encode(["a cat"]), before)
    assert registry.untuned(both) is both


def test_encoders_without_weights_cannot_be_fine_tuned(names: tuple[str, str], tmp_path: Path) -> None:
    static = build_static_encoder(tmp_path / "other")
    with pytest.raises(InputError, match="no weights to fine-tune"):
        registry.trainable(load(f"{names[1]}+{static}", cache=None))


def test_a_model_with_two_encoders_is_saved_and_loaded(
    names: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    edges = [("animal", "cat"), ("animal", "dog"), ("plant", "tree"), ("thing", "animal"), ("thing", "plant")]
    monkeypatch.chdir(tmp_path)
    model = Polaris(encoder="tiny+static").fit(Taxonomy.from_edges(edges))
    model.save(tmp_path / "model")
    monkeypatch.chdir("/")  # folders are remembered with their full paths
    again = Polaris.load(tmp_path / "model")
    assert again.fitted.encoder.name == "+".join(names)
    assert repr(again.suggest("fox")) == repr(model.suggest("fox"))
