"""What every text encoder promises, whatever makes its vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from support.tiny_encoder import build_static_encoder, build_tiny_encoder, build_tiny_language_model
from taxosphere.encoders.text import registry as module
from taxosphere.encoders.text.precomputed import PrecomputedEncoder
from taxosphere.encoders.text.registry import TextEncoder, load

TEXTS = ["cat", "dog: it barks", "a much longer text about nothing in particular", "cat", "ünïcode – 日本", ""]

MEMBERS: dict[str, Callable[[Path], TextEncoder]] = {
    "packaged": lambda folder: load("minilm", cache=None),
    "cached": lambda folder: load("minilm", cache=folder / "cache"),
    "folder": lambda folder: load(str(build_tiny_encoder(folder / "tiny")), cache=None),
    "language model": lambda folder: load(str(build_tiny_language_model(folder / "tiny-lm")), cache=None),
    "static": lambda folder: load(str(build_static_encoder(folder / "static")), cache=None),
    "combined": lambda folder: load(
        f"minilm+{build_static_encoder(folder / 'static')}+{build_tiny_encoder(folder / 'tiny')}", cache=None
    ),
    "precomputed": lambda folder: PrecomputedEncoder(
        sorted(set(TEXTS)), np.random.default_rng(0).normal(size=(5, 7)).astype(np.float32)
    ),
}


@pytest.fixture(scope="module", params=MEMBERS)
def encoder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> TextEncoder:
    return MEMBERS[request.param](tmp_path_factory.mktemp(request.param))


def test_one_unit_float32_row_per_text(encoder: TextEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), encoder.dim)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_rows_follow_the_order_of_the_texts(encoder: TextEncoder) -> None:
    vectors = encoder.encode(TEXTS)
    np.testing.assert_array_equal(encoder.encode(TEXTS[::-1]), vectors[::-1])
    np.testing.assert_array_equal(vectors[0], vectors[3])
    assert not np.allclose(vectors[0], vectors[1], atol=1e-3)


def test_no_text_gives_no_row(encoder: TextEncoder) -> None:
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_the_result_is_the_callers_to_change(encoder: TextEncoder) -> None:
    before = encoder.encode(["cat"])
    encoder.encode(["cat"])[:] = 0
    np.testing.assert_array_equal(encoder.encode(["cat"]), before)


def test_it_has_a_name(encoder: TextEncoder) -> None:
    assert encoder.name


def test_no_member_is_left_out(tmp_path: Path) -> None:
    made = {type(make(tmp_path / name)) for name, make in MEMBERS.items()}
    assert made == set(get_args(module.TextEncoders))
