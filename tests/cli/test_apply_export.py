from __future__ import annotations

import json
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.cli import main
from taxosphere.service import store_events
from taxosphere.service.store import Store

TABLE = """decision;parent;name;description;note;id;Lieferant
accept;bird;owl;hunts at night;;;Müller
move;mammal|farm animal;horse;;;;
same;duck;mallard;;;;
reject;;car;;not alive;;
;;undecided;;;;
top;;plant;;;;
ACCEPT;owl;snowy owl;;;;
"""


@pytest.fixture
def place(tmp_path: Path, animals: Taxonomy, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    animals.write(tmp_path / "animals.obo")
    (tmp_path / "r.csv").write_text(TABLE, encoding="utf-8-sig")
    return tmp_path


def test_a_review_table_becomes_the_grown_taxonomy(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "animals.obo", "r.csv", "-o", "grown.obo", "--by", "Anna", "--json"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["applied"] == {"accept": 2, "move": 1, "same": 1, "reject": 1, "top": 1}
    grown = Taxonomy.read("grown.obo")
    assert grown.parents("snowy owl") == ("owl",)
    assert set(grown.parents("horse")) == {"mammal", "farm animal"}
    assert grown.concept(grown.position("duck")).synonyms == ("mallard",)
    owl = dict(grown.concept(grown.position("owl")).extras)
    assert (owl["Lieferant"], owl["created_by"]) == ("Müller", "Anna")
    assert owl["creation_date"].startswith("20")
    assert "car" not in grown
    before = (place / "animals.obo").read_text(encoding="utf-8").splitlines()
    after = (place / "grown.obo").read_text(encoding="utf-8").splitlines()
    assert [line for line in before if line not in after] == []


def test_decisions_are_remembered_and_not_made_twice(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one.obo", "two.obo"):
        assert main(["apply", "animals.obo", "r.csv", "-o", name, "--db", "d.db"]) == 0
    assert (place / "one.obo").read_bytes() == (place / "two.obo").read_bytes()
    assert "6 had been decided before" in capsys.readouterr().err
    assert main(["apply", "one.obo", "r.csv", "-o", "three.obo", "--db", "d.db"]) == 0
    assert (place / "one.obo").read_bytes() == (place / "three.obo").read_bytes()
    with Store("d.db") as store:
        assert len(store_events.all_events(store)) == 6
    (place / "again.csv").write_text("decision,parent,name\naccept,mammal,car\nreject,,horse\n", encoding="utf-8")
    assert main(["apply", "animals.obo", "again.csv", "-o", "four.obo", "--db", "d.db"]) == 0  # a change of mind
    grown = Taxonomy.read("four.obo")
    assert "horse" not in grown
    assert grown.parents("car") == ("mammal",)
    assert "owl" in grown


def test_the_patch_is_against_the_file_that_was_named_last(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from taxosphere.service import store_bases

    with Store("d.db") as store:
        store_bases.put(store, Taxonomy.read("animals.obo"))  # as 'expand' does, which knows no file
    assert main(["apply", "animals.obo", "r.csv", "-o", "grown.obo", "--db", "d.db"]) == 0
    assert main(["export", "d.db", "-o", "p.patch", "--as", "patch"]) == 0
    patch = (place / "p.patch").read_text(encoding="utf-8")
    assert patch.startswith("--- a/animals.obo\n+++ b/animals.obo\n")
    assert patch.count("\n+id: ") == 4
    assert main(["apply", "grown.obo", "r.csv", "-o", "again.obo", "--db", "d.db"]) == 0
    with Store("d.db") as store, store.reading() as connection:
        assert store_bases.number(connection) == 3
    capsys.readouterr()
    assert main(["export", "d.db", "-o", "k.kgcl", "--as", "kgcl"]) == 0
    assert "4 decided concepts are in grown.obo already" in capsys.readouterr().err


def test_exports_of_a_database(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "animals.obo", "r.csv", "-o", "grown.obo", "--db", "d.db", "--by", "Anna"]) == 0
    targets = {"taxonomy": "t.obo", "decisions": "d.jsonl", "kgcl": "k.kgcl", "sssom": "s.tsv", "robot": "r.tsv"}
    for kind, name in (targets | {"patch": "p.patch"}).items():
        assert main(["export", "d.db", "-o", name, "--as", kind]) == 0
        assert (place / name).stat().st_size > 0
    assert (place / "t.obo").read_bytes() == (place / "grown.obo").read_bytes()
    assert main(["apply", "animals.obo", "d.jsonl", "-o", "again.obo", "--by", "Anna"]) == 0
    assert (place / "again.obo").read_bytes() == (place / "grown.obo").read_bytes()
    assert "6 of 6 decisions stand" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["tsv", "csv", "ttl", "json", "jsonl", "owl", ""])
def test_the_format_stays_what_it_was(place: Path, animals: Taxonomy, form: str) -> None:
    name = f"animals.{form}" if form else "folder"
    animals.write(name)
    out = f"grown.{form}" if form else "grown"
    assert main(["apply", name, "r.csv", "-o", out, "--by", "Anna", "--ids", "{name}"]) == 0
    base, grown = Taxonomy.read(name), Taxonomy.read(out)
    names = set(grown.names) - set(base.names)
    assert names == {"owl", "horse", "plant", "snowy owl"}
    assert set(base.ids) <= set(grown.ids)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["apply", "animals.obo", "bad.csv", "-o", "x.obo"], "bad.csv:3: 'perhaps' is no decision"),
        (["apply", "animals.obo", "bad.csv", "-o", "x.obo", "--db", "new.db"], "bad.csv:3: 'perhaps' is no decision"),
        (["apply", "animals.obo", "r.csv", "-o", "r.csv"], "is the table of decisions"),
        (["apply", "animals.obo", "r.csv", "-o", "x.doc"], "names no format"),
        (["apply", "animals.obo", "animals.obo", "-o", "x.obo"], "decisions are read from"),
        (["apply", "animals.obo", "r.csv", "-o", "x.obo", "--ids", "GO"], "no ids can be made in the pattern 'GO'"),
        (["apply", "animals.obo", "r.csv", "-o", "x.obo", "--new-rows", "top"], "end or siblings"),
        (["apply", "animals.obo", "r.csv", "-o", "x.obo", "--db", "animals.obo"], "is no database"),
        (["apply", "animals.obo", "r.csv", "-o", "x.obo", "--db", "none/x.db"], "its folder does not exist"),
        (["apply", "animals.obo", "e.jsonl", "-o", "x.obo"], "e.jsonl:1: a decision needs the field 'kind'"),
        (["export", "missing.db", "-o", "x.obo"], "no such database"),
        (["export", "missing.db", "-o", "x.obo", "--as", "kgcl"], "an export as kgcl is a .kgcl"),
        (["export", "missing.db", "-o", "x.obo", "--as", "poem"], "no export is called 'poem'"),
    ],
)
def test_bad_input_ends_in_one_line_and_nothing_is_written(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], part: str
) -> None:
    (place / "bad.csv").write_text("decision,name,parent\naccept,owl,bird\nperhaps,horse,mammal\n", encoding="utf-8")
    (place / "e.jsonl").write_text('{"id":"1"}\n', encoding="utf-8")
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    assert main(arguments) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert part in lines[0]
    after = {path.name: path.read_bytes() for path in place.iterdir()}
    assert after == before


def test_a_changed_history_is_not_exported(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["apply", "animals.obo", "r.csv", "-o", "grown.obo", "--db", "d.db"]) == 0
    with Store("d.db") as store, store.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER events_no_update")
        connection.exec_driver_sql("UPDATE events SET body = replace(body, 'owl', 'elk') WHERE seq = 1")
    assert main(["export", "d.db", "-o", "x.obo"]) == 1
    assert "the history was changed: decision 1" in capsys.readouterr().err
    assert not (place / "x.obo").exists()
