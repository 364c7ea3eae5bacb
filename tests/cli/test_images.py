"""Pictures from the command line, end to end: convert, fit, suggest, expand, evaluate, bench, with a tiny CLIP."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.tiny_clip import SIDE, build_tiny_clip
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Polaris, Taxonomy
from taxosphere.cli import main

QUICK = ("training.epochs=2", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4")
HUES = {"warm": (220, 60, 40), "cold": (40, 80, 220), "green": (40, 200, 60), "dark": (25, 25, 25)}


def paint(path: Path, colour: tuple[int, ...], rng: np.random.Generator) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = rng.normal(0, 12, (SIDE, SIDE, 3))
    Image.fromarray(np.clip(np.array(colour) + noise, 0, 255).astype(np.uint8)).save(path)
    return path


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four kinds of six shades each, three pictures a shade."""
    folder = tmp_path_factory.mktemp("pictures")
    build_tiny_encoder(folder / "encoder")
    build_tiny_clip(folder / "clip")
    rng = np.random.default_rng(0)
    for kind, hue in HUES.items():
        for shade in range(6):
            own = np.array(hue) + rng.normal(0, 12, 3)
            for number in range(3):
                paint(folder / "paints" / kind / f"{kind} {shade}" / f"{number}.png", tuple(own), rng)
        paint(folder / "new" / f"{kind}.png", hue, rng)
    (folder / "new" / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    return folder


@pytest.fixture(autouse=True)
def _own_cache(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(workplace / "cache"))


def fit(folder: Path, source: str, target: str, *more: str) -> int:
    settings = [part for setting in QUICK for part in ("--set", setting)]
    encoders = ["--encoder", str(folder / "encoder"), "--image-encoder", str(folder / "clip")]
    return main(["fit", str(folder / source), "-o", str(folder / target), *encoders, *settings, *more])


@pytest.fixture(scope="module")
def model(workplace: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXOSPHERE_CACHE", str(workplace / "cache"))
        assert main(["convert", str(workplace / "paints"), str(workplace / "native")]) == 0
        assert fit(workplace, "native", "model") == 0
    return workplace / "model"


def suggest(model: Path, capsys: pytest.CaptureFixture[str], *args: str) -> dict:
    capsys.readouterr()
    assert main(["suggest", str(model), *args, "--json"]) == 0
    found: dict = json.loads(capsys.readouterr().out)
    return found


def test_a_picture_finds_its_branch(model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right = 0
    for kind in HUES:
        found = suggest(model, capsys, "--image", str(workplace / "new" / f"{kind}.png"))
        best = found["suggestions"][0]
        right += kind in best["path"]
        total = found["none_probability"] + sum(s["probability"] for s in found["suggestions"])
        assert 0 < total <= 1 + 1e-5
        assert found["query"]["images"] == [str(workplace / "new" / f"{kind}.png")]
    assert right >= 3  # random weights tell these colours apart


def test_several_pictures_and_words(model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (str(workplace / "paints" / "warm" / "warm 0" / f"{i}.png") for i in range(2))
    both = suggest(model, capsys, "--image", one, "--image", two)
    named = suggest(model, capsys, "warm 9", "--image", one, "--image", two)
    words = suggest(model, capsys, "warm 9")
    assert any("image" in reason for s in named["suggestions"] for reason in s["reasons"])
    assert not any("image" in reason for s in words["suggestions"] for reason in s["reasons"])
    assert "images" not in words["query"]
    assert "warm" in both["suggestions"][0]["path"]
    assert main(["suggest", str(model), "--image", one]) == 0
    assert "0.png" in capsys.readouterr().out


def test_a_fresh_process_gives_the_same_scores(model: Path, workplace: Path) -> None:
    picture = str(workplace / "new" / "cold.png")
    code = (
        "import sys, json\n"
        "from taxosphere import Polaris\n"
        "from taxosphere.taxonomy import Concept\n"
        f"model = Polaris.load({str(model)!r})\n"
        f"asked = [Concept('x', '', images=({picture!r},)), Concept('y', 'cold 7', images=({picture!r},))]\n"
        "print(json.dumps(model.score(asked).tolist()))\n"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)]
    first, second = (np.array(json.loads(run.stdout), np.float32) for run in runs)
    np.testing.assert_array_equal(first, second)
    here = Polaris.load(model)
    again = here.suggest(images=[Path(picture)], k=3)
    assert here.suggest(images=picture, k=3)[0] == again[0]
    order = np.argsort(-first[0], kind="stable")[:3]
    assert [s.id for s in again] == [here.taxonomy.ids[i] for i in order]


def test_a_list_with_pictures_is_expanded(model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = workplace / "list.tsv"
    listed.write_text("name\timage\nwarm 8\tnew/warm.png\n\tnew/cold.png\ngreen 9\t\n")
    out = workplace / "grown"
    assert main(["expand", str(model), str(listed), "-o", str(out), "--accept", "0"]) == 0
    grown = Taxonomy.read(out)
    names = {name: i for i, name in enumerate(grown.names)}
    assert grown.images[names["warm 8"]] == (str(workplace / "new" / "warm.png"),)
    assert grown.images[names["cold"]] == (str(workplace / "new" / "cold.png"),)  # called after its file
    fresh = Polaris.load(model).adopt(grown)
    assert fresh.image_model is not None
    assert fresh.image_model.index.has_images[names["warm 8"]]
    assert "attached 3 of 3" in capsys.readouterr().err


def test_broken_pictures_are_refused_or_skipped(
    model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = str(workplace / "new" / "broken.png")
    assert main(["suggest", str(model), "--image", broken]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "broken.png" in message
    found = suggest(model, capsys, "warm 9", "--image", broken, "--skip-broken")
    assert found["query"].get("images", []) == []
    assert main(["suggest", str(model), "--image", broken, "--skip-broken"]) == 2
    assert "no usable image" in capsys.readouterr().err


def test_fit_refuses_or_skips_broken_pictures(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    for kind, hue in HUES.items():
        paint(workplace / "few" / kind / "a.png", hue, rng)
    (workplace / "few" / "warm" / "b.png").write_bytes(b"nothing")
    assert fit(workplace, "few", "few-model") == 2
    assert "b.png" in capsys.readouterr().err
    assert not (workplace / "few-model").exists()
    assert fit(workplace, "few", "few-model", "--skip-broken") == 0
    assert capsys.readouterr().err.count("b.png") == 1
    options = ["--runs", "1", "--image-encoder", str(workplace / "clip"), "--encoder", str(workplace / "encoder")]
    main(["evaluate", str(workplace / "few"), *options])
    assert capsys.readouterr().err.count("b.png") == 1


def test_a_model_without_pictures_says_so(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fit(workplace, "native", "blind", "--image-encoder", "none") == 0
    assert main(["suggest", str(workplace / "blind"), "--image", str(workplace / "new" / "warm.png")]) == 2
    assert "without images" in capsys.readouterr().err


def test_an_unreachable_encoder_is_one_sentence(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert fit(workplace, "native", "nowhere", "--image-encoder", "nobody/nothing-clip") == 2
    assert "nobody/nothing-clip" in capsys.readouterr().err.splitlines()[-1]


def test_evaluate_on_images(workplace: Path, capsys: pytest.CaptureFixture[str], model: Path) -> None:
    options = ["--runs", "1", "--image-encoder", str(workplace / "clip"), "--encoder", str(workplace / "encoder")]
    capsys.readouterr()
    assert main(["evaluate", str(workplace / "native"), "--classes", "5", *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["split"], found["candidates"]) == ("images", 5)
    assert found["metrics"]["hit@1"]["mean"] >= 60  # three of five; by chance one
    assert main(["evaluate", str(workplace / "native"), "--split", "unseen", *options]) == 0
    assert "sibling-vote" in capsys.readouterr().out
    # A method that only places unseen concepts chooses that split by itself.
    assert main(["evaluate", str(workplace / "native"), "--method", "polaris-both", *options, "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert (both["method"], both["split"], list(both["references"])) == ("polaris-both", "unseen", ["sibling-vote"])
    assert main(["evaluate", str(workplace / "native"), "--method", "polaris-both", "--split", "images", *options]) == 2
    assert "'polaris-both' does not name images; choose one of: polaris" in capsys.readouterr().err
    paper = ["evaluate", str(workplace / "native"), "--method", "polaris-paper", "--protocol", "paper", *options]
    assert main([*paper, "--split", "images", "--classes", "5", "--json"]) == 0
    captured = capsys.readouterr()
    assert "not honest" in captured.err
    assert {"warning", "metrics", "honest"} <= json.loads(captured.out).keys()
    assert main([*paper, "--split", "unseen"]) == 2
    assert "--protocol" in capsys.readouterr().err
