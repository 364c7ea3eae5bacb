"""Decisions written back into the file they are about change nothing else in it."""

from __future__ import annotations

import difflib
import random
from pathlib import Path

import pytest

from taxosphere.cli import main
from taxosphere.decisions.events import Event
from taxosphere.decisions.fold import Fold
from taxosphere.taxonomy import Concept
from taxosphere.taxonomy.formats import registry


def gene_ontology(terms: int) -> str:
    """A made-up ontology as GO writes its own, about eight lines a term."""
    source = random.Random(0)
    lines = ["format-version: 1.2", "data-version: x", 'subsetdef: slim "Slim"', "ontology: go", "remark: made up", ""]
    for i in range(1, terms + 1):
        lines += ["[Term]", f"id: GO:{i:07d}", f"name: component {i}", "namespace: cellular_component"]
        lines.append(f'def: "Part {i}, \\"quoted\\"; see: x." [GOC:x, PMID:{i}]')
        lines += [f'synonym: "part {i}" EXACT []', f"xref: Wiki:{i} ! odd"][: i % 3]
        lines += [f"is_a: GO:{source.randrange(1, i):07d} ! kept as it is"] if i > 1 else []
        lines += [f"relationship: part_of GO:{max(1, i - 3):07d} ! part"] if i % 7 == 0 else []
        lines.append("")
    lines += ["[Typedef]", "id: part_of", "name: part of", ""]
    return "\n".join(lines)


@pytest.mark.slow
def test_five_terms_change_their_stanzas_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = gene_ontology(4600)
    assert text.count("\n") > 35_000
    Path("go.obo").write_text(text, encoding="utf-8")
    assert main(["convert", "go.obo", "same.obo"]) == 0
    assert Path("same.obo").read_bytes() == Path("go.obo").read_bytes()
    rows = "".join(f"accept,component {i},new {i}\n" for i in (5, 500, 1500, 2500, 4600))
    Path("r.csv").write_text(f"decision,parent,name\n{rows}", encoding="utf-8")
    assert main(["apply", "go.obo", "r.csv", "-o", "grown.obo", "--by", "Anna"]) == 0
    removed, added = changed_lines(text, Path("grown.obo").read_text(encoding="utf-8"))
    assert removed == []
    assert [line for line in added if line.startswith("id:")] == [f"id: GO:{4600 + i:07d}" for i in range(1, 6)]
    kinds = {line.split(":")[0] for line in added}
    assert kinds == {"", "[Term]", "id", "name", "is_a", "created_by", "creation_date"}
    assert len(added) == 5 * 7


def test_an_insertion_changes_one_line_more(tmp_path: Path) -> None:
    text = gene_ontology(40)
    (tmp_path / "go.obo").write_text(text, encoding="utf-8")
    base = registry.read(tmp_path / "go.obo")
    child = base.children("GO:0000001")[0]
    concept = Concept("GO:0000041", "between")
    folding = Fold(base)
    folding.apply(
        Event(id="1", kind="insert", item=concept.id, concept=concept, parents=("GO:0000001",), children=(child,))
    )
    registry.write(folding.taxonomy(), tmp_path / "grown.obo")
    removed, added = changed_lines(text, (tmp_path / "grown.obo").read_text(encoding="utf-8"))
    assert removed == ["is_a: GO:0000001 ! kept as it is"]
    assert sorted(added) == sorted(
        [
            "",
            "[Term]",
            "id: GO:0000041",
            "name: between",
            "is_a: GO:0000001 ! component 1",
            "is_a: GO:0000041 ! between",
        ]
    )


CATALOGUE = "\r\n".join(
    (
        "\ufeffSKU;ID;Name;Parent ID;Lieferant",
        "A1;1;Möbel;;x",
        'A2;2;"Tisch; rund";1;"Müller ""& Co"""',
        "A3;3;Stuhl;1;",
        "",
    )
)


def test_an_excel_table_comes_back_with_new_rows_as_the_only_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("c.csv").write_bytes(CATALOGUE.encode())
    table = "decision;parent;name;Lieferant;SKU\naccept;Stuhl;Hocker;Huber;A9\nmove;1|Stuhl;Bank;;\n"
    Path("r.csv").write_text(table, encoding="utf-8-sig")
    assert main(["apply", "c.csv", "r.csv", "-o", "grown.csv"]) == 0
    grown = Path("grown.csv").read_bytes()
    assert grown.startswith(CATALOGUE.encode())
    rows = grown[len(CATALOGUE.encode()) :].decode().split("\r\n")
    assert rows[0] == "A9;4;Hocker;3;Huber"
    assert rows[1].startswith(";5;Bank;")


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    lines = list(difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=0))[2:]
    changed = [line for line in lines if not line.startswith("@@")]
    return [line[1:] for line in changed if line[0] == "-"], [line[1:] for line in changed if line[0] == "+"]
