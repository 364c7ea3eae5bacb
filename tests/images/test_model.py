"""Images and texts through one head, from a folder to an answer: a tiny CLIP that was taught its colours' names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.tiny_clip import SIDE, build_tiny_clip, teach
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept, Polaris, Taxonomy, artifact
from taxosphere.cli import main
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.images.model import ImageModel

QUICK = ("training.epochs=2", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4")
KINDS = {
    "warm": ((200, 70, 60), ("red", "rust", "rose", "ruby", "coral", "brick")),
    "cold": ((60, 90, 200), ("blue", "azure", "navy", "sky", "cobalt", "ice")),
    "green": ((70, 190, 70), ("lime", "fern", "moss", "jade", "olive", "mint")),
    "dark": ((60, 40, 60), ("coal", "ink", "soot", "night", "umber", "plum")),
}
WITHOUT_IMAGES = [shades[-1] for _, shades in KINDS.values()]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four kinds of six colours; five of each have eight images, the last has a name alone. `new` shows them all."""
    folder, rng = tmp_path_factory.mktemp("colours"), np.random.default_rng(0)
    nodes, edges = ["top\tcolour\t\t"], []
    names, colours = [], []
    for kind, (hue, shades) in KINDS.items():
        nodes.append(f"{kind}\t{kind}\t\t")
        edges.append(f"top\t{kind}")
        for shade in shades:
            own = np.clip(np.array(hue) + rng.normal(0, 35, 3), 10, 245)
            for path in [folder / "new" / f"{shade}.png", *(folder / "seed" / shade / f"{i}.png" for i in range(8))]:
                path.parent.mkdir(parents=True, exist_ok=True)
                noisy = own + rng.normal(0, 12, (SIDE, SIDE, 3))
                Image.fromarray(np.clip(noisy, 0, 255).astype(np.uint8)).save(path)
            nodes.append(f"{shade}\t{shade}\t\t{'' if shade in WITHOUT_IMAGES else f'{shade}/*.png'}")
            edges.append(f"{kind}\t{shade}")
            names.append(f"A label of {shade}")
            colours.append(own)
    (folder / "seed" / "nodes.tsv").write_text("id\tname\tdescription\timage\n" + "\n".join(nodes) + "\n")
    (folder / "seed" / "edges.tsv").write_text("parent_id\tchild_id\n" + "\n".join(edges) + "\n")
    build_tiny_encoder(folder / "encoder")
    teach(build_tiny_clip(folder / "clip"), names, np.array(colours))
    return folder


@pytest.fixture(autouse=True)
def _own_cache(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(place / "cache"))


@pytest.fixture(scope="module")
def model(place: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXOSPHERE_CACHE", str(place / "cache"))
        settings = [part for setting in QUICK for part in ("--set", setting)]
        encoders = ["--encoder", str(place / "encoder"), "--image-encoder", str(place / "clip")]
        assert main(["fit", str(place / "seed"), "-o", str(place / "model"), *encoders, *settings]) == 0
    return place / "model"


def look_at(image_model: ImageModel, place: Path, shade: str) -> np.ndarray:
    found = image_encoders.gallery(image_model.encoder, [[str(place / "new" / f"{shade}.png")]])
    assert image_model.recogniser is not None
    return image_model.recogniser.probabilities(found.vectors, [np.array([0])])[0]


def test_a_model_keeps_one_head_for_both(model: Path) -> None:
    loaded = Polaris.load(model)
    image_model = loaded.image_model
    assert image_model is not None
    assert image_model.index.text_whitening is not None
    assert image_model.index.texts_match
    np.testing.assert_array_equal(image_model.index.text_whitening.matrix, image_model.index.whitening.matrix)
    assert image_model.recogniser is not None
    assert image_model.recogniser.towers.text_directions is not None
    leaves = {loaded.taxonomy.ids[i] for i in image_model.recogniser.labels}
    assert leaves == {shade for _, shades in KINDS.values() for shade in shades}


def test_a_folder_from_before_there_was_one_head_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = artifact.load(model, "polaris")
    del stored.tensors["images"]["text_centre"]
    artifact.save(tmp_path / "old", "polaris", stored.manifest, stored.tensors, stored.taxonomy)
    assert main(["suggest", str(tmp_path / "old"), "teal"]) == 2
    assert "another version" in capsys.readouterr().err


def test_colours_are_named_and_those_without_images_come_close(model: Path, place: Path) -> None:
    loaded = Polaris.load(model)
    image_model = loaded.image_model
    assert image_model is not None
    assert image_model.recogniser is not None
    names = [loaded.taxonomy.names[i] for i in image_model.recogniser.labels]
    ranks = {
        shade: int((found > found[names.index(shade)]).sum()) + 1
        for shade in names
        for found in [look_at(image_model, place, shade)]
    }
    assert np.mean([rank == 1 for shade, rank in ranks.items() if shade not in WITHOUT_IMAGES]) > 0.9
    assert np.median([ranks[shade] for shade in WITHOUT_IMAGES]) <= 3  # of 24; without their texts they would be last


def test_a_colour_without_images_finds_its_kind(model: Path, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = 0
    for kind, (_, shades) in KINDS.items():
        capsys.readouterr()
        assert main(["suggest", str(model), "--image", str(place / "new" / f"{shades[-1]}.png"), "--json"]) == 0
        right += kind in json.loads(capsys.readouterr().out)["suggestions"][0]["path"]
    assert right >= 3


def test_adopted_images_that_cannot_be_used_are_named(model: Path, place: Path) -> None:
    loaded = Polaris.load(model)
    shown, gone = str(place / "new" / "red.png"), [str(place / "nowhere" / f"{i}.png") for i in range(2)]
    shown_once = Concept("vermilion", "vermilion", images=(shown, gone[0]))
    blank = Concept("scarlet", "scarlet", images=(gone[1],))
    edges = [(loaded.taxonomy.ids[p], loaded.taxonomy.ids[c]) for p, c in loaded.taxonomy.edge_array]
    grown = Taxonomy.from_concepts(
        [*loaded.taxonomy.concepts(), shown_once, blank], [*edges, ("warm", "vermilion"), ("warm", "scarlet")]
    )
    image_model = loaded.adopt(grown).image_model
    assert image_model is not None
    assert image_model.index.has_images[grown.position("vermilion")]
    assert not image_model.index.has_images[grown.position("scarlet")]
    assert [fault.path for fault in image_model.faults] == gone
    again = loaded.adopt(grown).image_model
    assert again is not None
    assert again.faults == image_model.faults


def test_evaluate_reads_labels_by_the_same_encoder(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--runs", "1", "--image-encoder", str(place / "clip"), "--json"]
    for split, least in (("images", 90), ("unseen", 50)):
        capsys.readouterr()
        assert main(["evaluate", str(place / "seed"), "--split", split, *options]) == 0
        assert json.loads(capsys.readouterr().out)["metrics"]["hit@1"]["mean"] >= least
