from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept, Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import (
    CachedEncoder,
    TextEncoder,
    check_encoder,
    description,
    encode_text_vectors,
    load,
    trainable,
    untuned,
)
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.evaluation import protocol

TEXTS = [f"text number {n}" for n in range(40)]


def test_a_known_text_needs_no_weights(tiny_folder: Path, tmp_path: Path) -> None:
    first = load(str(tiny_folder), cache=tmp_path).encode(TEXTS)
    again = load(str(tiny_folder), cache=tmp_path)
    assert isinstance(again, CachedEncoder)
    np.testing.assert_array_equal(again.encode(TEXTS[::-1]), first[::-1])
    assert again.inner._reader is None


def test_a_half_filled_cache_does_not_change_the_result(tiny_folder: Path, tmp_path: Path) -> None:
    fresh = load(str(tiny_folder), cache=None).encode(TEXTS)
    load(str(tiny_folder), cache=tmp_path).encode(TEXTS[::3])
    np.testing.assert_array_equal(load(str(tiny_folder), cache=tmp_path).encode(TEXTS), fresh)


def test_settings_that_change_vectors_do_not_share_them(tiny_folder: Path, tmp_path: Path) -> None:
    long, short = (load(str(tiny_folder), cache=tmp_path, max_tokens=n).encode(TEXTS) for n in (32, 6))
    assert not np.allclose(long, short)


def test_fine_tuned_weights_do_not_share_vectors(tiny_folder: Path, tmp_path: Path) -> None:
    plain = load(str(tiny_folder), cache=tmp_path)
    assert isinstance(plain, CachedEncoder)
    before = plain.encode(TEXTS)
    weights = {name: value.detach().numpy() + 0.1 for name, value in plain.inner.upper(1).items()}
    tuned = plain.with_weights(weights)
    moved = tuned.encode(TEXTS)
    assert not np.allclose(moved, before)
    np.testing.assert_array_equal(load(str(tiny_folder), cache=tmp_path).encode(TEXTS), before)
    again = plain.with_weights(weights)
    np.testing.assert_array_equal(again.encode(TEXTS), moved)
    assert again.inner._reader is None  # it knew these weights by their values
    np.testing.assert_array_equal(untuned(tuned).encode(TEXTS), before)
    assert untuned(plain) is plain


def test_only_encoders_with_weights_can_be_fine_tuned(tiny_folder: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(2))
    (tmp_path / "v.txt").write_text("cat\ndog\n")
    with pytest.raises(InputError, match="no weights to fine-tune"):
        trainable(load(str(tmp_path / "v.npy")))
    encoder = load(str(tiny_folder), cache=None)
    assert trainable(encoder) is encoder


def test_weights_of_another_encoder_are_refused(tiny_folder: Path) -> None:
    encoder = load(str(tiny_folder), cache=None)
    assert isinstance(encoder, TransformerEncoder)
    for wrong in ({"nonsense": np.zeros(3, np.float32)}, {next(iter(encoder.upper(1))): np.zeros((1, 2), np.float32)}):
        with pytest.raises(TaxosphereError, match="another encoder"):
            encoder.with_weights(wrong).encode(["cat"])


def test_progress_counts_what_the_cache_already_knew(tiny_folder: Path, tmp_path: Path) -> None:
    load(str(tiny_folder), cache=tmp_path).encode(TEXTS[:10])
    seen: list[tuple[int, int]] = []
    encoder = load(str(tiny_folder), cache=tmp_path)
    assert isinstance(encoder, CachedEncoder)
    encoder.encode(TEXTS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (40, 40)
    assert all(done > 10 for done, _ in seen)


def test_the_cache_folder_is_that_of_the_environment(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "here"))
    load(str(tiny_folder)).encode(TEXTS)
    assert (tmp_path / "here" / "vectors.sqlite").exists()
    assert isinstance(load(str(tiny_folder), cache=None), TransformerEncoder)


def test_a_npy_file_is_precomputed_vectors(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(2))
    (tmp_path / "v.txt").write_text("cat\ndog\n")
    np.testing.assert_array_equal(load(str(tmp_path / "v.npy")).encode(["dog"]), [[0, 1]])
    with pytest.raises(InputError, match="no precomputed vector for 'cow'"):
        load(str(tmp_path / "v.npy")).encode(["dog", "cow"])


class Custom:
    """A caller's encoder that returns whatever it is told to."""

    name, dim = "custom", 3

    def __init__(self, result: object = None) -> None:
        self.result = result

    def encode(self, texts: list[str]) -> object:
        return np.eye(3, dtype=np.float32)[: len(texts)] if self.result is None else self.result


def without(member: str, value: object) -> object:
    return type("Broken", (Custom,), {member: value})()


@pytest.mark.parametrize(
    ("encoder", "sentence"),
    [
        (object(), "an encoder has a method encode"),
        (without("encode", "no method"), "an encoder has a method encode"),
        (without("name", None), "an encoder has a name, .* is None"),
        (without("name", ""), "an encoder has a name"),
        (without("dim", 3.0), r"an encoder has a whole number dim, .* is 3\.0"),
        (without("dim", 0), "an encoder has a whole number dim"),
    ],
)
def test_an_object_that_is_no_encoder_is_refused(encoder: object, sentence: str) -> None:
    with pytest.raises(TypeError, match=sentence):
        check_encoder(encoder)


@pytest.mark.parametrize(
    ("result", "kind", "sentence"),
    [
        ([[1.0, 0, 0], [0, 1, 0]], TypeError, "'custom' returned a list"),
        (np.eye(3, dtype=int)[:2], TypeError, "returned an array of int64"),
        (np.eye(3)[:1], InputError, r"shape \(1, 3\) for 2 texts, not \(2, 3\)"),
        (np.eye(4)[:2], InputError, r"shape \(2, 4\)"),
        (np.array([[1.0, 0, 0], [0, np.nan, 0]]), InputError, "not finite for 'dog'"),
        (np.array([[0.0, 0, 0], [0, 1, 0]]), InputError, "zero vector for 'cat'"),
    ],
)
def test_results_that_are_no_vectors_are_refused_in_one_sentence(
    result: object, kind: type[Exception], sentence: str
) -> None:
    with pytest.raises(kind, match=sentence):
        check_encoder(Custom(result)).encode(["cat", "dog"])


def test_vectors_of_another_length_or_precision_are_converted() -> None:
    vectors = check_encoder(Custom(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 1.0]]))).encode(["cat", "dog"])
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8, 0], [0, 0, 1]], atol=1e-7)


def test_unit_vectors_keep_their_bits_and_the_encoder_its_description() -> None:
    rows = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    checked = check_encoder(Custom(rows))
    np.testing.assert_array_equal(checked.encode(["cat", "dog"]), rows)
    assert description(checked) == {"name": "custom", "dim": 3}
    assert check_encoder(checked) is checked


def test_encoders_of_ours_are_not_checked_again(tiny_folder: Path) -> None:
    encoder: TextEncoder = load(str(tiny_folder), cache=None)
    assert check_encoder(encoder) is encoder


def test_fit_and_evaluate_check_the_encoder() -> None:
    taxonomy = Taxonomy.from_edges([("thing", f"thing {n}") for n in range(12)])
    with pytest.raises(TypeError, match="an encoder has a name"):
        Polaris().fit(taxonomy, encoder=without("name", None))
    with pytest.raises(TypeError, match="an encoder has a name"):
        protocol.evaluate(taxonomy, "encoder-cosine", protocol.Plan("leaves", runs=1), encoder=without("name", None))


def test_a_text_that_was_just_encoded_is_not_encoded_again(
    tiny_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query is encoded for its ranking and asked for again by its reasons."""
    encoder = load(str(tiny_folder), cache=tmp_path)
    assert isinstance(encoder, CachedEncoder)
    asked: list[str] = []
    encode = encoder.inner.encode
    monkeypatch.setattr(encoder.inner, "encode", lambda texts, **more: asked.extend(texts) or encode(texts, **more))
    first = encoder.encode(["a red fish", "a boat"])
    again = encoder.encode(["a boat", "a stone", "a red fish"])
    assert asked == ["a boat", "a red fish", "a stone"]
    assert (again[[2, 0]] == first).all()
    for number in range(600):
        encoder.encode([f"{number}"])
    assert len(encoder._recent) < 300, "memory is bounded"


CONCEPTS = [Concept("a", "oak", "a tree"), Concept("b", "elm"), Concept("c", "oak", "a wood")]


def test_encoding_tells_how_many_distinct_texts_are_done(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    encoder = text_encoders.load(str(build_tiny_encoder(tmp_path)), cache=None)
    views = encode_text_vectors(encoder, CONCEPTS, lambda done, total: told.append((done, total)))
    assert told[-1] == (4, 4)  # "oak: a tree", "elm", "oak: a wood", "oak"
    np.testing.assert_array_equal(views.full[1], views.name[1])
    np.testing.assert_array_equal(views.name[0], views.name[2])


def test_an_encoder_of_ones_own_need_not_tell() -> None:
    told: list[tuple[int, int]] = []
    views = encode_text_vectors(GramEncoder(), CONCEPTS, lambda done, total: told.append((done, total)))
    assert views.full.shape == views.name.shape == (3, GramEncoder().dim)
    assert not told
