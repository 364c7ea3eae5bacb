from __future__ import annotations

from pathlib import Path

import numpy as np

from support.gram_encoder import GramEncoder
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.vectors import encode_text_vectors

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
