"""The way without a server: expand, a person fills in the table, apply, and the next list asks nothing twice."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Taxonomy
from taxosphere.cli import main
from taxosphere.decisions import spreadsheets
from taxosphere.decisions.events import AUTOMATIC
from taxosphere.decisions.review import COLUMNS
from taxosphere.service import store_events, store_items
from taxosphere.service.store import Store

QUICK = ("training.epochs=3", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4")
LIST = """Name;description;Lieferant
green bird;a bird that is called green;Müller
blue boat;a boat;=1+1
red bird;again;
purple thing;;x
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    build_tiny_encoder(folder / "encoder")
    meadow().write(folder / "meadow.obo")
    settings = [part for setting in QUICK for part in ("--set", setting)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXOSPHERE_CACHE", str(folder / "cache"))
        arguments = [
            "fit",
            str(folder / "meadow.obo"),
            "-o",
            str(folder / "model"),
            "--encoder",
            str(folder / "encoder"),
        ]
        assert main([*arguments, *settings]) == 0
    return folder / "model"


@pytest.fixture
def place(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(model.parent / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text(LIST, encoding="utf-8-sig")
    return tmp_path


def fill_in(path: Path, decisions: dict[str, tuple[str, str]]) -> None:
    (_, header), rows = spreadsheets.read(path)
    table = [dict(zip(header, cells)) for _, cells in rows]
    for row in table:
        row["decision"], row["parent"] = decisions.get(row["name"], (row["decision"], row["parent"]))
    spreadsheets.write(path, header, [list(row.values()) for row in table])


@pytest.mark.parametrize("suffix", ["csv", "xlsx", "tsv"])
def test_from_a_list_to_the_grown_taxonomy_and_back(
    place: Path, model: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    review = place / f"review.{suffix}"
    base = ["expand", str(model), "new.csv", "--accept", "1", "--by", "Anna", "--db", "d.db", "--json"]
    assert main([*base, "-o", "one.obo", "--review", str(review)]) == 0
    (_, header), rows = spreadsheets.read(review)
    assert header == [*COLUMNS, "Lieferant"]
    table = {row[header.index("name")]: dict(zip(header, row)) for _, row in rows}
    assert set(table) == {"green bird", "blue boat", "red bird", "purple thing"}
    assert table["red bird"]["already_there_as"] == "red bird"
    assert "already there as 'red bird'" in table["red bird"]["why"]
    assert table["blue boat"]["Lieferant"] == "=1+1"
    assert 0 <= float(table["blue boat"]["parent_1_probability"]) <= 1
    assert table["blue boat"]["parent_1_path"].split(" > ")[-1] == table["blue boat"]["parent_1"].split(" (")[0]
    if suffix == "csv":
        data = review.read_bytes()
        assert data.startswith(b"\xef\xbb\xbfdecision,parent") or data.startswith(b"\xef\xbb\xbfdecision;parent")
        assert b"'=1+1" in data
        assert b"decision;parent" in data  # as the list has it
    with Store("d.db") as store, store.reading() as connection:
        assert store_items.counts(connection) == {"open": 4}

    filled = {
        "green bird": ("accept", ""),
        "red bird": ("same", ""),
        "purple thing": ("reject", ""),
        "blue boat": ("Later", ""),
    }
    fill_in(review, filled)
    assert main(["apply", "one.obo", str(review), "-o", "two.obo", "--db", "d.db", "--by", "Bert"]) == 0
    grown = Taxonomy.read("two.obo")
    parent = grown.parents(grown.ids[grown.names.index("green bird")])[0]
    assert grown.names[grown.position(parent)] == table["green bird"]["parent_1"].split(" (")[0]
    concept = grown.concept(grown.names.index("green bird"))
    assert dict(concept.extras)["Lieferant"] == "Müller"
    assert dict(concept.extras)["created_by"] == "Bert"
    with Store("d.db") as store, store.reading() as connection:
        assert store_items.counts(connection) == {"accepted": 1, "same": 1, "rejected": 1, "later": 1}
        assert [recorded.event.by for recorded in store_events.read(connection)] == ["Bert"] * 4

    shorter = LIST.replace("blue boat;a boat;=1+1", "Blue Boat;;")  # the same concept, without its definition
    (place / "new.csv").write_text(shorter + "bird of gold;;\n", encoding="utf-8-sig")
    capsys.readouterr()
    assert main([*base, "-o", "three.obo", "--review", str(review)]) == 0
    told = capsys.readouterr()
    assert "3 were decided before, 1 of them rejected" in told.err
    assert [placement["query"]["name"] for placement in json.loads(told.out)["placements"]] == [
        "Blue Boat",
        "bird of gold",
    ]
    again = Taxonomy.read("three.obo")
    assert "green bird" in again.names  # what was accepted is in the output
    (_, header), rows = spreadsheets.read(review)
    shown = {row[header.index("name")]: dict(zip(header, row)) for _, row in rows}
    assert shown["purple thing"]["decision"] == "reject"
    assert shown["purple thing"]["why"].startswith("rejected by Bert on 20")
    assert shown["Blue Boat"]["decision"] == ""
    assert shown["Blue Boat"]["id"] == table["blue boat"]["id"]
    assert "green bird" not in shown


def test_what_is_attached_at_once_is_recorded_as_nobodys_decision(place: Path, model: Path) -> None:
    arguments = ["expand", str(model), "new.csv", "--accept", "0", "--db", "d.db"]
    assert main([*arguments, "-o", "one.obo", "--ids", "M:{4}"]) == 0
    grown = Taxonomy.read("one.obo")
    with Store("d.db") as store:
        events = store_events.all_events(store)
    assert {event.by for event in events} == {AUTOMATIC}
    assert all(event.probability is not None and event.model for event in events if event.kind == "accept")
    new = {id for id in grown.ids if id.startswith("M:")}
    assert {event.item for event in events} == new
    assert new
    assert main(["export", "d.db", "-o", "two.obo"]) == 0
    assert set(Taxonomy.read("two.obo").edges()) == set(grown.edges())
    assert main([*arguments, "-o", "three.obo"]) == 0
    assert set(Taxonomy.read("three.obo").edges()) == set(grown.edges())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--review", "r.doc"], "a table of decisions is a .csv, .tsv or .xlsx file"),
        (["--ids", "nothing"], "no ids can be made"),
        (["--db", "new.csv"], "is no database of decisions"),
    ],
)
def test_faults_are_said_in_one_line(
    place: Path, model: Path, arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["expand", str(model), "new.csv", "-o", "x.obo", *arguments]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert len(lines) == 1
    assert part in lines[0]
    assert not (place / "x.obo").exists()
