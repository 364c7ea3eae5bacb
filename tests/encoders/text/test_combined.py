"""Encoders side by side: the cosine is the mean of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from support.tiny_encoder import build_static_encoder, build_tiny_encoder
from taxosphere import Concept, Polaris, Taxonomy, artifact, persistence
from taxosphere.encoders.text import registry
from taxosphere.encoders.text.combined import CombinedEncoder
from taxosphere.encoders.text.registry import load
from taxosphere.errors import InputError
from taxosphere.model.config import PolarisConfig
from taxosphere.ranking.features.catalogue import encoder_of, feature_of
from taxosphere.ranking.lexical import tokens
from taxosphere.ranking.queries import encode_queries

QUERIES = [Concept("a", "green fish"), Concept("b", "tall tree", "a tree that is called tall")]
SMALL = ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8")
TEXTS = ["cat", "dog", "a long text", "cat"]


class Letters(GramEncoder):
    """Counts of single letters, shorter than those of triples."""

    name, dim = "letters", 16

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.array([[1e-3 + sum(ord(c) % self.dim == n for c in text) for n in range(self.dim)] for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def both() -> CombinedEncoder:
    return CombinedEncoder([GramEncoder(), Letters()])


@pytest.fixture(scope="module")
def trained(both: CombinedEncoder) -> Polaris:
    return Polaris(PolarisConfig().with_overrides(SMALL)).fit(meadow(), encoder=both)


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


def test_each_encoder_has_features_of_its_own(trained: Polaris, both: CombinedEncoder) -> None:
    fitted = trained.fitted
    vectors = registry.encode_text_vectors(both, QUERIES)
    shortlist = fitted.ranker.shortlist(fitted.index, encode_queries(fitted.network, QUERIES, vectors))
    texts = [concept.text for concept in trained.taxonomy.concepts()]
    for number, part in enumerate(both.parts, 1):
        cosines = part.encode([query.text for query in QUERIES]) @ part.encode(texts).T
        column = shortlist.features[..., shortlist.feature_names.index(f"text similarity, encoder {number}")]
        np.testing.assert_allclose(column, np.take_along_axis(cosines, shortlist.positions, 1), atol=1e-5)


def test_each_encoder_has_nets_of_its_own(trained: Polaris) -> None:
    ranker = trained.fitted.ranker
    encoder = np.array([encoder_of(column)[1] for column in ranker.columns])
    assert {*encoder} == {0, 1, 2}
    read = [{*encoder[(net.into != 0).any(0).numpy()]} for net in ranker.nets.nets]
    assert read == [{0, 1}, {0, 1}, {0, 2}, {0, 2}]
    assert "text similarity" not in ranker.columns  # both have it by vectors of their own


def test_columns_of_an_encoder_belong_to_the_feature() -> None:
    column = "text similarity, encoder 2, rank"
    assert encoder_of(column) == ("text similarity, rank", 2)
    assert encoder_of("text similarity, rank") == ("text similarity, rank", 0)
    assert feature_of(column).name == "text similarity"


@pytest.mark.parametrize("mapped", [False, True])
def test_a_trained_model_with_two_encoders_scores_alike_when_loaded(
    trained: Polaris, both: CombinedEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mapped: bool
) -> None:
    if mapped:
        for module in (artifact, persistence, tokens):
            monkeypatch.setattr(module, "MAPPED", 10)
    trained.save(tmp_path / "model")
    loaded = Polaris.load(tmp_path / "model", encoder=both)
    assert np.array_equal(loaded.score(QUERIES), trained.score(QUERIES))
    ours, theirs = (list(m.suggest_many(QUERIES)) for m in (trained, loaded))
    assert [s.as_dict() for s in ours] == [s.as_dict() for s in theirs]
    assert all("encoder" not in reason for s in theirs[0] for reason in s.reasons)


def test_one_begins_where_an_earlier_model_ended(trained: Polaris, both: CombinedEncoder) -> None:
    settings = PolarisConfig().with_overrides((*SMALL, "training.learning_rate=1e-12"))
    network = Polaris(settings).fit(meadow(), encoder=both, start=trained).fitted.network
    for before, after in zip(trained.fitted.network.heads_of_parts, network.heads_of_parts, strict=True):
        np.testing.assert_allclose(before.layers[0].weight.detach(), after.layers[0].weight.detach(), atol=1e-6)
