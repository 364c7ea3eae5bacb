from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import pytest

from support.tiny_encoder import build_tiny_encoder
from taxosphere import Taxonomy
from taxosphere.cli import main
from taxosphere.cli.commands import demo
from taxosphere.taxonomy.split import leaves


def test_the_demo_puts_topics_back_and_leaves_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build_tiny_encoder(tmp_path / "encoder")
    quick = (f"encoder.name={tmp_path / 'encoder'}", "training.epochs=3", "ranking.nets=1", "ranking.epochs=4")
    whole, _ = demo.hidden_edam(0)
    taxonomy = whole.keep(np.array(["topic_" in id for id in whole.ids]))
    split = leaves(taxonomy, 0.1, 0)
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(demo, "QUICK", (*demo.QUICK, *quick))
    monkeypatch.setattr(demo, "hidden_edam", lambda seed: (taxonomy, split))
    assert main(["demo", "--out", str(tmp_path / "out"), "--accept", "0.3"]) == 0
    told = capsys.readouterr().out
    expanded = Taxonomy.read(tmp_path / "out" / "edam-expanded.obo")
    with (tmp_path / "out" / "review.tsv").open(encoding="utf-8", newline="") as file:
        left = {row["name"] for row in csv.DictReader(file, delimiter="\t")}
    hidden = {query.name for query in split.queries}
    attached = hidden - left
    assert set(expanded.names) == set(taxonomy.names) - left
    true = {
        query.name: {split.seed.ids[p] for p in gold} for query, gold in zip(split.queries, split.gold, strict=True)
    }
    put = {name: set(expanded.parents(expanded.ids[expanded.names.index(name)])) for name in attached}
    right = sum(put[name] <= true[name] for name in attached)
    assert f"placed as one list, attached at 30% or surer: {len(attached)}, with all parents right: {right}\n" in told
    alone = re.search(r"asked one by one, 30% or surer: (\d+), of which right: (\d+)\n", told)
    assert alone is not None
    assert 0 < int(alone[2]) < int(alone[1]) < len(hidden)
    assert 0 < right < len(attached)
    assert "right at first place:" in told
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert all(name in page for name in hidden)
    assert page.index("How good are the answers?") < page.index("Candidates around a new concept")
    assert page.index("Candidates around a new concept") < page.index("Every hidden concept")
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in page
