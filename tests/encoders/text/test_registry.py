from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from taxosphere.encoders.text.registry import CachedEncoder, load, trainable, untuned
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.errors import InputError, TaxosphereError

TEXTS = [f"text number {n}" for n in range(40)]


def test_a_known_text_needs_no_weights(tiny_folder: Path, tmp_path: Path) -> None:
    first = load(str(tiny_folder), cache=tmp_path).encode(TEXTS)
    again = load(str(tiny_folder), cache=tmp_path)
    assert isinstance(again, CachedEncoder)
    np.testing.assert_array_equal(again.encode(TEXTS[::-1]), first[::-1])
    assert "model" not in vars(again.inner)


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
    assert "model" not in vars(again.inner)  # it knew these weights by their values
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
