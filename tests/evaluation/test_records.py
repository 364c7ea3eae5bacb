from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.evaluation import protocol, records
from taxosphere.evaluation.protocol import Plan
from taxosphere.methods import registry as methods


@pytest.fixture
def line(animals: Taxonomy, letters: object) -> records.Record:
    part = protocol.make_split(animals, None, Plan("leaves"), 0)
    run = protocol.run(methods.create("tfidf"), part, letters, 3)
    return records.record("zoo", "tfidf", "leaves", run, ["a → b: dropped"])


def test_a_record_is_json_and_says_what_ran(line: records.Record) -> None:
    again = json.loads(json.dumps(line, allow_nan=False))
    assert records.key(again) == ("zoo", "tfidf", 3)
    assert len(again["ranks"]) == again["queries"] == 1
    assert len(again["seed_hash"]) == 64
    assert {"taxosphere", "numpy"} <= set(again["versions"])
    assert again["repairs"] == ["a → b: dropped"]
    assert again["config"]["encoder"]["name"] == "letters"
    assert again["config"]["seed"] == 3


def test_lines_survive_a_kill_in_the_middle_of_the_last(tmp_path: Path, line: records.Record) -> None:
    file = tmp_path / "runs.jsonl"
    records.append(file, line)
    records.append(file, line | {"seed": 4})
    whole = file.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 30, len(whole) // 2 + 5):
        file.write_bytes(whole[:cut])
        # A line without its end is not trusted even where it happens to be complete JSON.
        assert [entry["seed"] for entry in records.read(file)] == [3]
        records.append(file, line | {"seed": 5})
        assert [entry["seed"] for entry in records.read(file)] == [3, 5]


def test_the_latest_of_equal_cells_counts(tmp_path: Path, line: records.Record) -> None:
    file = tmp_path / "runs.jsonl"
    records.append(file, line)
    records.append(file, line | {"queries": 99})
    assert [entry["queries"] for entry in records.read(file)] == [99]


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path, line: records.Record) -> None:
    file = tmp_path / "runs.jsonl"
    records.append(file, line)
    file.write_bytes(b"{oops}\n" + file.read_bytes())
    with pytest.raises(InputError, match=r"runs\.jsonl:1: is no record"):
        records.read(file)


def test_a_loss_that_got_lost_is_an_empty_cell(tmp_path: Path, animals: Taxonomy, letters: object) -> None:
    part = protocol.make_split(animals, None, Plan("leaves"), 0)
    run = replace(protocol.run(methods.create("tfidf"), part, letters, 3), history={"loss": [1.0, float("nan")]})
    line = records.record("zoo", "tfidf", "leaves", run)
    records.append(tmp_path / "runs.jsonl", line)
    assert records.read(tmp_path / "runs.jsonl")[0]["history"] == {"loss": [1.0, None]}
    place = records.folder(tmp_path, line)
    assert (place / "history.tsv").read_text() == "epoch\tloss\n1\t1\n2\t\n"


def test_a_run_has_a_folder_with_its_loss_curves(tmp_path: Path, line: records.Record) -> None:
    place = records.folder(tmp_path, line | {"history": {"loss": [3.0, 2.5], "validation": [0.25]}})
    assert place == tmp_path / "zoo" / "tfidf" / "seed-3"
    assert (place / "history.tsv").read_text() == "epoch\tloss\tvalidation\n1\t3\t0.25\n2\t2.5\t\n"
    assert json.loads((place / "record.json").read_text())["seed_hash"] == line["seed_hash"]
