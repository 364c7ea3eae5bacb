from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Polaris, Taxonomy
from taxosphere.cli import main
from taxosphere.fitting import with_absolute_paths
from taxosphere.model.config import PolarisConfig

QUICK = ("training.epochs=3", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4")


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    build_tiny_encoder(folder / "encoder")
    meadow().write(folder / "meadow.obo")
    (folder / "new.tsv").write_text(
        "name\tdescription\ngreen bird\ta bird that is called green\ntiny green bird\ta green bird\nred bird\tagain\n"
    )
    return folder


def _fit(folder: Path, *more: str, source: str = "meadow.obo") -> int:
    settings = [part for setting in QUICK for part in ("--set", setting)]
    encoder = str(folder / "encoder")
    return main(["fit", str(folder / source), "-o", str(folder / "model"), "--encoder", encoder, *settings, *more])


@pytest.fixture(scope="module")
def model(workplace: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXOSPHERE_CACHE", str(workplace / "cache"))
        assert _fit(workplace) == 0
    return workplace / "model"


@pytest.fixture(autouse=True)
def _own_cache(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(workplace / "cache"))


def test_a_fit_leaves_a_model_and_no_checkpoints(model: Path, workplace: Path) -> None:
    assert (model / "manifest.json").is_file()
    assert [p.name for p in workplace.iterdir() if p.name.startswith(".")] == []


def test_resuming_a_finished_fit_says_so(model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = (model / "manifest.json").stat().st_mtime_ns
    assert _fit(workplace, "--resume") == 0
    assert "finished already" in capsys.readouterr().err
    assert (model / "manifest.json").stat().st_mtime_ns == before


def test_a_finished_fit_that_began_elsewhere_is_another_one(
    model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warm = ("-o", str(workplace / "warm"), "--from", str(model), "--resume")
    for more, word in ((warm[:2], "wrote"), (warm, "wrote"), (warm, "finished already")):
        assert _fit(workplace, *more) == 0
        assert word in capsys.readouterr().err


def test_a_fit_learns_from_decisions_of_a_database(
    model: Path, workplace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    review = tmp_path / "review.tsv"
    review.write_text("decision\tparent\tname\tdescription\nmove\tbird\tgreen bird\ta bird that is called green\n")
    source, db = str(workplace / "meadow.obo"), str(tmp_path / "decisions.db")
    assert _fit(workplace, "-o", str(tmp_path / "warm"), "--from", str(model), "--db", db) == 2
    assert "there is no database" in capsys.readouterr().err
    assert main(["apply", source, str(review), "-o", str(tmp_path / "grown.obo"), "--db", db]) == 0
    assert _fit(workplace, "-o", str(tmp_path / "warm"), "--from", str(model), "--db", db) == 0
    assert "1 concept that was decided on" in capsys.readouterr().err
    learned = Polaris.load(tmp_path / "warm").taxonomy
    assert learned.ids == Taxonomy.read(tmp_path / "grown.obo").ids


def test_fine_tuning_says_how_long_it_takes(
    workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taxosphere.cli.costs._LONG", 0.0)
    more = ("--set", "training.encoder_epochs=1", "-o", str(workplace / "tuned"))
    assert _fit(workplace, "--fine-tune", *more) == 0
    told = capsys.readouterr().err
    assert "fine-tuning will take about" in told
    assert "the encoder" in told
    assert json.loads((workplace / "tuned" / "manifest.json").read_text())["config"]["training"]["fine_tune"]


def test_fine_tuning_is_proposed_where_leaves_can_be_spared(
    workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With 12 of its 64 leaves asked, the ranker leaves more than a third; with all of them asked it leaves none."""
    proposed = {}
    for examples in ("12", "2400"):
        assert _fit(workplace, "--set", f"ranking.examples={examples}", "-o", str(workplace / examples)) == 0
        proposed[examples] = "may rank better with --fine-tune" in capsys.readouterr().err
    assert proposed == {"12": True, "2400": False}


def test_vectors_without_an_encoder_cannot_be_fine_tuned(workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(workplace / "v.npy", np.eye(1, 4))
    (workplace / "v.txt").write_text("cat\n")
    assert _fit(workplace, "--fine-tune", "--encoder", str(workplace / "v.npy"), "-o", str(workplace / "none")) == 2
    assert "no weights to fine-tune" in capsys.readouterr().err


def test_suggest_prints_one_json_document(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", str(model), "green bird", "-d", "a bird that is called green", "-k", "3", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["query"]["name"] == "green bird"
    assert len(document["suggestions"]) == 3


def test_suggest_for_a_list_and_as_a_table(model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", str(model), "--file", str(workplace / "new.tsv"), "--json"]) == 0
    assert [d["query"]["name"] for d in json.loads(capsys.readouterr().out)] == [
        "green bird",
        "tiny green bird",
        "red bird",
    ]
    assert main(["suggest", str(model), "Red Bird"]) == 0
    output = capsys.readouterr()
    assert "is probably there already as 'red bird' (same name; 99%)" in output.err
    assert "none of these" in output.out


def test_expand_writes_the_grown_taxonomy_and_the_review(
    model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, review = workplace / "grown.obo", workplace / "review.tsv"
    arguments = ["expand", str(model), str(workplace / "new.tsv"), "-o", str(out), "--accept", "0", "--review"]
    assert main([*arguments, str(review)]) == 0
    grown = Taxonomy.read(out)
    assert set(meadow().edges()) <= set(grown.edges())
    assert {"green bird", "tiny green bird"} <= set(grown.names)
    rows = review.read_text(encoding="utf-8").splitlines()
    assert len(rows) == 2
    assert "already there as 'red bird'" in rows[1]
    assert "attached 2 of 3, 1 for review" in capsys.readouterr().err


def test_a_catalogue_grows_and_stays_a_catalogue(workplace: Path) -> None:
    rows = ["SKU,ID,Name,Parent ID", "A1,1,bird,", "A2,2,red bird,1", "A3,3,boat,", "A4,4,red boat,3"]
    (workplace / "catalogue.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    model, out = str(workplace / "catalogue"), workplace / "grown.csv"
    assert _fit(workplace, "-o", model, source="catalogue.csv") == 0
    assert main(["expand", model, str(workplace / "new.tsv"), "-o", str(out), "--accept", "0"]) == 0
    grown = out.read_text(encoding="utf-8").splitlines()
    assert grown[: len(rows)] == ["SKU,ID,Name,Parent ID,description", *rows[1:]]  # untouched lines stay as they were
    assert [row.split(",")[2] for row in grown[len(rows) :]] == ["green bird", "tiny green bird"]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["suggest", "nowhere", "x"], "no model folder"),
        (["suggest", "MODEL"], "name one new concept"),
        (["suggest", "MODEL", "x", "--file", "new.tsv"], "name one new concept"),
        (["suggest", "MODEL", "--file", "new.tsv", "-d", "x"], "--description is for one"),
        (["suggest", "MODEL", "k\udce4se"], "half a character"),
        (["expand", "MODEL", "missing.tsv", "-o", "out.obo"], "missing.tsv"),
        (
            ["expand", "MODEL", "new.tsv", "-o", "out.obo", "--review", "none/r.tsv"],
            "none/r.tsv: its folder does not exist",
        ),
        (["expand", "MODEL", "new.tsv", "-o", "encoder/../new.tsv"], "is the list of new concepts"),
        (["expand", "MODEL", "new.tsv", "-o", "out.taxo"], "out.taxo: the suffix '.taxo' names no format to write"),
        (["expand", "MODEL", "new.tsv", "-o", "out.doc"], "out.doc: the suffix '.doc' names no format to write"),
        (["expand", "MODEL", "new.tsv", "-o", "encoder"], "encoder: the folder holds other files"),
        (["expand", "MODEL", "new.tsv", "-o", "none/out"], "none/out: its folder does not exist"),
        (["expand", "MODEL", "new.tsv", "-o", "out.obo", "--review", "encoder"], "encoder: is a folder"),
        (["expand", "MODEL", "new.tsv", "-o", "same.tsv", "--review", "same.tsv"], "name two files"),
        (["expand", "MODEL", "new.tsv", "-o", "new.tsv"], "is the list of new concepts"),
        (["expand", "MODEL", "new.tsv", "-o", "model/seed"], "belongs to the model"),
        (["fit", "missing.obo", "-o", "m"], "missing.obo"),
        (["fit", "TAX", "-o", "m", "--preset", "nonsense"], "no preset 'nonsense'"),
        (["fit", "TAX", "-o", "m", "--set", "training.epoch=3"], "training.epochs"),
        (["fit", "TAX", "-o", "cache", "--encoder", "ENCODER"], "is no model"),
    ],
)
def test_bad_input_ends_in_one_line_and_exit_code_2(
    arguments: list[str],
    part: str,
    model: Path,
    workplace: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(workplace)
    names = {"MODEL": "model", "TAX": "meadow.obo", "ENCODER": "encoder"}
    before = sorted(p.name for p in workplace.iterdir())
    assert main([names.get(argument, argument) for argument in arguments]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert len(lines) == 1
    assert part in lines[0]
    assert sorted(p.name for p in workplace.iterdir()) == before


@pytest.mark.parametrize("more", [("-o", "out.taxo"), ("-o", "out.obo", "--review", "encoder")])
def test_places_are_looked_at_before_the_work(
    more: tuple[str, ...], workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workplace)
    monkeypatch.setattr("taxosphere.polaris.Polaris.load", lambda path: pytest.fail("the model was loaded first"))
    assert main(["expand", "model", "new.tsv", *more]) == 2


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX systems")
def test_a_locked_folder_is_said_with_the_name_of_the_model(
    workplace: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda place, *_, **__: Path(place) != workplace)
    assert _fit(workplace, "-o", str(workplace / "locked")) == 2
    assert f"{workplace / 'locked'}: no permission to write it" in capsys.readouterr().err


def test_a_model_finds_its_encoder_from_any_folder(
    workplace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Taxonomy.from_edges([("food", "fruit"), ("food", "tea"), ("fruit", "pear"), ("fruit", "lime")]).write(
        tmp_path / "t.tsv"
    )
    texts = ["food", "fruit", "tea", "pear", "lime", "lemon"]
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32))
    (tmp_path / "v.txt").write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    settings = [part for setting in QUICK for part in ("--set", setting)]
    command = ["fit", "t.tsv", "-o", "m", "--encoder", "v.npy", *settings]
    assert main(command) == 0
    assert main([*command, "--resume"]) == 0
    assert "finished already" in capsys.readouterr().err
    monkeypatch.chdir(workplace)
    assert main(["suggest", str(tmp_path / "m"), "lemon"]) == 0


def test_names_of_encoders_are_not_taken_for_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("minilm", "auto", "own"):
        (tmp_path / name).mkdir()
    assert with_absolute_paths(PolarisConfig()) == PolarisConfig()
    own = with_absolute_paths(PolarisConfig().with_overrides(["encoder.name=own", "images.encoder=own"]))
    assert (own.encoder.name, own.images.encoder) == (str(tmp_path / "own"),) * 2


def test_a_report_on_a_model_needs_no_fit_and_one_on_a_taxonomy_hides_leaves(
    model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = workplace / "report.html"
    assert main(["report", str(model), "-o", str(page)]) == 0
    assert "right at first place" in capsys.readouterr().err
    assert "How the model &#x27;model&#x27; answers" in page.read_text(encoding="utf-8")
    settings = [part for setting in QUICK for part in ("--set", setting)]
    source, encoder = str(workplace / "meadow.obo"), str(workplace / "encoder")
    assert main(["report", source, "-o", str(page), "--hide", "7", "--encoder", encoder, *settings, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    written = page.read_text(encoding="utf-8")
    assert "7 of " in written
    assert "Putting concepts back into meadow" in written


def test_a_report_refuses_what_does_not_go_together(
    model: Path, workplace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = workplace / "refused.html"
    assert main(["report", str(model), "-o", str(page.with_suffix(".pdf"))]) == 2
    assert main(["report", str(model), "-o", str(page), "--hide", "3"]) == 2
    assert "--hide is for a taxonomy" in capsys.readouterr().err
    assert main(["report", str(workplace / "nothing.obo"), "-o", str(page)]) == 2
    assert not page.exists()
