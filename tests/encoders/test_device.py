"""Another device than the processor is taken along everywhere.

No machine that runs these tests need have a graphics card. Two stand-ins take its place: the name "cpu:0", which is no
"cpu" to the code and so goes every way a card goes; and torch's meta device, where an operation between tensors of two
devices fails as it does on a card.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from support.tiny_clip import build_tiny_clip
from support.tiny_encoder import build_tiny_encoder
from taxosphere.encoders import weights
from taxosphere.encoders.device import check_device
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.errors import InputError

TEXTS = ["a green bird", "fish", "a very long name of a tree that stands alone"]
CARD = "cpu:0"


@pytest.mark.parametrize("name", [None, "cpu", "cpu:0", torch.device("cpu")])
def test_the_processor_has_one_name(name: object) -> None:
    assert check_device(name) == "cpu"


@pytest.mark.parametrize("name", ["nowhere", "", "meta", "cuda:99", "cpu:x", 7])
def test_an_unknown_device_is_refused_in_one_sentence(name: object) -> None:
    with pytest.raises(InputError, match=r"^this machine has no device '.*'; torch can use: cpu[a-z, ]*$"):
        check_device(name)


def test_texts_are_encoded_there_and_cached_apart(tmp_path: Path) -> None:
    folder = str(build_tiny_encoder(tmp_path / "tiny"))
    here = text_encoders.load(folder, cache=tmp_path / "cache")
    there = text_encoders.load(folder, cache=tmp_path / "cache", device=CARD)
    np.testing.assert_allclose(there.encode(TEXTS), here.encode(TEXTS), atol=1e-5)
    inner = text_encoders.bare(text_encoders.trainable(there))
    assert "model" in vars(inner), "our own forward pass is for processors"
    assert inner.identity != text_encoders.bare(text_encoders.trainable(here)).identity


@pytest.mark.parametrize("pooling", ["mean", "mean_sqrt", "cls", "last", "max"])
def test_what_is_ours_of_a_forward_pass_mixes_no_devices(tmp_path: Path, pooling: str) -> None:
    encoder = TransformerEncoder(weights.locate(str(build_tiny_encoder(tmp_path / "tiny"))), device="meta")
    encoder.recipe = replace(encoder.recipe, pooling=pooling)
    ids, mask = encoder._pad(encoder.tokenize(TEXTS))
    hidden = torch.empty(*ids.shape, encoder.dim, device=ids.device)
    vectors = encoder._unit(hidden, mask)
    assert (vectors.device.type, tuple(vectors.shape)) == ("meta", (len(TEXTS), encoder.dim))
    assert encoder.with_weights({}).device == "meta"


@pytest.mark.parametrize("name", ["efficientnet-lite0", "clip"])
def test_images_are_encoded_there(tmp_path: Path, name: str) -> None:
    if name == "clip":
        name = str(build_tiny_clip(tmp_path / "clip"))
    path = tmp_path / "red.png"
    Image.new("RGB", (40, 30), "red").save(path)
    here, there = (image_encoders.load(name, cache=None, device=device) for device in ("cpu", CARD))
    np.testing.assert_allclose(there.encode([str(path)]).vectors, here.encode([str(path)]).vectors, atol=1e-5)
    towers = [image_encoders.text_tower(encoder) for encoder in (here, there)]
    if towers[0] is not None and towers[1] is not None:
        np.testing.assert_allclose(towers[1].encode(TEXTS), towers[0].encode(TEXTS), atol=1e-5)
