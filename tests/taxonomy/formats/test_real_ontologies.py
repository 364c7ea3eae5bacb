"""Real ontology files: the counts of independent readers, and the same bytes written back."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy

pytestmark = pytest.mark.slow  # large files

pytest.importorskip("pyoxigraph")

FILES = ["so.obo", "so.owl", "so.json", "eco-edit.owl", "schemaorg-current-https.nq", "unescothes.ttl", "pizza.owl"]


@pytest.mark.parametrize("name", FILES)
def test_counts_and_bytes(real_files: Path, tmp_path: Path, name: str) -> None:
    with (real_files / "expected.tsv").open(encoding="utf-8", newline="") as handle:
        row = next(row for row in csv.DictReader(handle, delimiter="\t") if row["file"] == name)
    taxonomy = Taxonomy.read(real_files / name)
    assert (len(taxonomy), len(taxonomy.edge_array)) == (int(row["concepts"]), int(row["edges"]))
    taxonomy.write(tmp_path / name)
    before = (real_files / name).read_bytes()
    assert (tmp_path / name).read_bytes() == before
    new = Concept("http://example.org/new", "a new concept")
    taxonomy.add([new], [(taxonomy.ids[0], new.id)]).write(tmp_path / name)
    old, now = before.decode().split("\n"), (tmp_path / name).read_text(encoding="utf-8").split("\n")
    assert len(Taxonomy.read(tmp_path / name)) == len(taxonomy) + 1
    lost = set(old) - set(now)
    assert not {line for line in lost if line.strip()}


def test_three_syntaxes_of_one_ontology_agree(real_files: Path) -> None:
    obo, owl, graphs = (Taxonomy.read(real_files / name) for name in ("so.obo", "so.owl", "so.json"))
    for other in (owl, graphs):
        assert set(other.ids) == set(obo.ids)
        assert set(other.edges()) == set(obo.edges())
        for position, id in enumerate(obo.ids):
            concept, again = obo.concept(position), other.concept(other.position(id))
            assert (again.name, again.description) == (concept.name, concept.description)
            assert set(again.synonyms) == set(concept.synonyms)
