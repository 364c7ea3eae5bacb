from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.cli import main
from taxosphere.methods import registry as methods

ANGLES = {
    "food": 0,
    "fruit": 20,
    "pear": 30,
    "citrus": 40,
    "lime": 50,
    "tool": 60,
    "drink": 70,
    "tea": 80,
    "bread": 100,
    "apple": 22,
    "lemon": 46,
    "lemonade": 76,
}
EDGES = """food fruit, food drink, food bread, fruit apple, fruit pear, fruit citrus, citrus lemon, citrus lime,
citrus lemonade, drink tea, drink lemonade"""


@pytest.fixture
def pantry(tmp_path: Path) -> Path:
    """Twelve concepts on a circle: the encoder looks their angles up, so every cosine is known."""
    pairs = [tuple(pair.split()) for pair in EDGES.split(",")]
    folder = tmp_path / "pantry"
    Taxonomy.from_edges(pairs, names={name: name for name in ANGLES}).write(folder)
    (folder / "split.tsv").write_text("id\tsplit\napple\ttest\nlemon\ttest\nlemonade\ttest\n")
    angles = np.deg2rad(list(ANGLES.values()))
    np.save(tmp_path / "circle.npy", np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32))
    (tmp_path / "circle.txt").write_text("".join(f"{name}\n" for name in ANGLES))
    return folder


def command(pantry: Path, *more: str) -> list[str]:
    encoder = str(pantry.parent / "circle.npy")
    return ["evaluate", str(pantry), "--encoder", encoder, "--method", "encoder-cosine", *more]


def test_twelve_concepts_worked_out_on_paper(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nine concepts stay: food 0°, fruit 20°, pear 30°, citrus 40°, lime 50°, tool 60°, drink 70°, tea 80°, bread 100°.
    Depths from 1: food 1; fruit, drink, bread 2; citrus, pear, tea 3; lime 4.

    apple 22°, gold fruit: fruit is 2° away and first. Wu&P 1.
    lemon 46°, gold citrus: lime 4°, citrus 6°: rank 2. Wu&P(lime, citrus), common ancestor citrus: 2·3/(4+3) = 6/7.
    lemonade 76°, gold drink and citrus: tea 4°, drink 6°, tool 16°, bread 24°, lime 26°, citrus 36°: ranks 2 and 6.
        Wu&P(tea, drink) = 2·2/(3+2) = 4/5, Wu&P(tea, citrus) = 2·1/(3+3) = 1/3; the best is 4/5.

    hit@1 1/3, hit@5 and hit@10 1; recall@1 1/3, recall@5 (1 + 1 + 1/2)/3 = 5/6, recall@10 1
    mr (1+2+2)/3 = 5/3, mrr (1 + 1/2 + 1/2)/3 = 2/3, wup (1 + 6/7 + 4/5)/3 = 31/35
    """
    assert main(command(pantry, "--json")) == 0
    got = json.loads(capsys.readouterr().out)
    expected = {
        "hit@1": 100 / 3,
        "hit@5": 100,
        "hit@10": 100,
        "recall@1": 100 / 3,
        "recall@5": 500 / 6,
        "recall@10": 100,
        "mr": 5 / 3,
        "mrr": 200 / 3,
        "wup": 3100 / 35,
    }
    assert {name: spread["mean"] for name, spread in got["metrics"].items()} == pytest.approx(expected)
    assert {spread["std"] for spread in got["metrics"].values()} == {0.0}
    wanted = "dataset method split runs candidates queries metrics seconds references protocol collapsed hit@1_interval"
    assert list(got) == wanted.split()
    facts = ("pantry", "encoder-cosine", "published", 5, 9, 3)
    assert tuple(got[key] for key in wanted.split()[:6]) == facts
    assert set(got["seconds"]) == {"fit", "per_query"}
    # Wilson, one of three: centre (1/3 + 3.8415/6) / (1 + 3.8415/3), half 1.96 √(2/27 + 3.8415/36) / (1 + 3.8415/3)
    assert got["hit@1_interval"] == pytest.approx([6.15, 79.23], abs=0.01)
    assert tuple(got["references"]) == methods.REFERENCES
    assert got["references"]["encoder-cosine"] == got["metrics"]


def test_the_references_stand_beside_a_model(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(pantry, "--split", "leaves", "--runs", "2")) == 0
    printed = capsys.readouterr().out
    assert "pantry, leaves split; queries: 1, candidates: 11, runs: 2" in printed
    assert all(name in printed for name in methods.REFERENCES)


def test_descriptions_can_be_left_unread(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taxonomy = Taxonomy.read(pantry)
    telling = {"apple": "a fruit", "lemon": "a citrus", "lemonade": "a drink"}
    words = tuple(telling.get(name, "") for name in taxonomy.names)
    replace(taxonomy, descriptions=words).write(pantry)
    found = []
    for more in ([], ["--without-descriptions"]):
        assert main(["evaluate", str(pantry), "--method", "tfidf", "--json", *more]) == 0
        found.append(json.loads(capsys.readouterr().out)["metrics"]["hit@1"]["mean"])
    assert found[0] == 100
    assert found[1] < 50


def test_each_run_leaves_its_record(pantry: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(command(pantry, "--runs", "2", "--seed", "4", "--out", str(tmp_path / "kept"))) == 0
    files = sorted(path.relative_to(tmp_path / "kept").as_posix() for path in tmp_path.glob("kept/**/record.json"))
    assert files == [f"pantry/encoder-cosine/seed-{seed}/record.json" for seed in (4, 5)]
    entry = json.loads((tmp_path / "kept" / files[0]).read_text())
    assert entry["metrics"]["mrr"] == pytest.approx(200 / 3)
    assert entry["ranks"] == [1.0, 2.0, 2.0]


def test_a_cycle_is_refused_with_one_line(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (pantry / "edges.tsv").open("a") as edges:
        edges.write("pear\tfruit\n")
    assert main(command(pantry)) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err.startswith("error: ")
    assert "--repair" in caught.err
    assert main(command(pantry, "--repair", "--runs", "1")) == 0
    assert "repaired" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--method", "guess"], "no method 'guess'"),
        (["--set", "epochs"], "must look like"),
        (["--split", "leaves", "--queries", "all"], "nothing to add"),
        (["--runs", "0"], "'--runs'"),
        (["--seed", "-1"], "'--seed'"),
        (["--method", "polaris", "--set", "encoder.name=other"], "'encoder.name' is no setting of a method"),
        (["--classes", "3"], "for questions about images alone: --classes;"),
        (["--image-encoder", "none"], "for questions about images alone: --image-encoder;"),
        (
            ["--split", "unseen", "--repair", "--without-descriptions", "--columns", "parent,child"],
            "for questions about texts alone: --without-descriptions, --repair, --columns;",
        ),
    ],
)
def test_bad_input_ends_in_one_line(
    pantry: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    assert main(command(pantry, *more)) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert said in caught.err.splitlines()[-1]


def test_methods_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == methods.names()
    assert main(["methods"]) == 0
    assert "sibling-vote" in capsys.readouterr().out


def test_records_that_cannot_be_kept_are_refused_before_the_work(
    pantry: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(pantry, "--out", str(pantry / "nodes.tsv" / "runs"))) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"runs: {pantry / 'nodes.tsv'} is no folder" in err


def test_results_are_shown_even_when_their_records_are_lost(
    pantry: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "record.json")

    monkeypatch.setattr("taxosphere.evaluation.records.folder", full)
    assert main(command(pantry, "--out", str(pantry.parent / "runs"))) == 1
    assert "encoder-cosine" in capsys.readouterr().out


def test_the_papers_protocol_is_loud_in_every_output(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--set", "steps=4", "--runs", "2", "--method", "transe")
    assert main([*command(pantry, *few, "--protocol", "paper"), "--json"]) == 0
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert document["protocol"] == "paper"
    assert document["warning"].startswith("not honest: ")
    assert set(document["honest"]) == set(document["metrics"])
    assert "warning: not honest" in printed.err
    assert main([*command(pantry, *few), "--json"]) == 0
    honest = json.loads(capsys.readouterr().out)
    assert honest["protocol"] == "honest"
    assert "warning" not in honest
    assert honest["metrics"] == document["honest"]  # measuring twice does not change the honest figures
    out = pantry.parent / "kept"
    assert main(command(pantry, *few, "--protocol", "paper", "--out", str(out))) == 0
    shown = capsys.readouterr().out
    assert "transe (not honest)" in shown
    assert "\nnot honest: " in shown
    kept = {path.parent.parent.name: json.loads(path.read_text()) for path in out.rglob("seed-0/record.json")}
    assert {name: record["protocol"] for name, record in kept.items()} == {
        "transe (not honest)": "paper",
        "transe": "honest",
    }


def test_the_papers_protocol_needs_something_to_pick(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(pantry, "--protocol", "paper")) == 2
    assert "leave --protocol paper out" in capsys.readouterr().err


def test_fine_tuning_is_a_setting_of_methods_that_have_it(pantry: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command(pantry, "--fine-tune", "--method", "polaris-cosine")]) == 2
    assert "keeps the encoder frozen" in capsys.readouterr().err
    assert main([*command(pantry, "--fine-tune", "--method", "polaris-paper")]) == 2
    assert "no weights to fine-tune" in capsys.readouterr().err  # vectors made elsewhere have none
