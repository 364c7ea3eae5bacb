"""Real trees and graphs: the counts of independent readers, and the same taxonomy after writing it back."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from taxosphere import Taxonomy

pytestmark = pytest.mark.slow  # large files

COUNTED = ["audioset_ontology.json", "UAT_list.json", "engineering_blogs.opml", "shopify_furniture.yml"]


def expected(folder: Path, name: str) -> tuple[int, int]:
    rows = [line.split("\t") for line in (folder / "expected.tsv").read_text(encoding="utf-8").splitlines()]
    return next((int(row[1]), int(row[2])) for row in rows if row[0] == name)


def counts(taxonomy: Taxonomy) -> tuple[int, int]:
    return len(taxonomy), len(taxonomy.edge_array)


@pytest.mark.parametrize("name", COUNTED)
def test_the_counts_of_an_independent_reader(real_files: Path, name: str) -> None:
    assert counts(Taxonomy.read(real_files / name)) == expected(real_files, name)


@pytest.mark.parametrize("name", COUNTED)
@pytest.mark.parametrize("suffix", [".json", ".yaml", ".opml", ".graphml", ".parquet", ".jsonl"])
def test_nothing_is_lost_on_the_way_through_another_format(
    real_files: Path, name: str, suffix: str, tmp_path: Path
) -> None:
    taxonomy = Taxonomy.read(real_files / name)
    taxonomy.write(tmp_path / f"x{suffix}")
    again = Taxonomy.read(tmp_path / f"x{suffix}")
    assert {concept.id: concept.name for concept in again.concepts()} == dict(
        zip(taxonomy.ids, taxonomy.names, strict=True)
    )
    assert set(again.edges()) == set(taxonomy.edges())
    assert sorted(again.descriptions) == sorted(taxonomy.descriptions)


def test_the_edges_of_audioset(real_files: Path) -> None:
    records = json.loads((real_files / "audioset_ontology.json").read_text(encoding="utf-8"))
    edges = {(record["id"], child) for record in records for child in record["child_ids"]}
    assert set(Taxonomy.read(real_files / "audioset_ontology.json").edges()) == edges


def test_the_edges_of_the_astronomy_thesaurus(real_files: Path) -> None:
    records = json.loads((real_files / "UAT_list.json").read_text(encoding="utf-8"))
    edges = {(above["uri"], record["uri"]) for record in records for above in record.get("broader") or ()}
    taxonomy = Taxonomy.read(real_files / "UAT_list.json")
    assert set(taxonomy.edges()) == edges
    assert sum(map(len, taxonomy.synonyms)) == sum(len(record.get("altNames") or ()) for record in records)


def test_the_outlines_of_the_blogs(real_files: Path) -> None:
    outlines = list(ET.parse(real_files / "engineering_blogs.opml").iter("outline"))
    names = [outline.get("text") for outline in outlines]
    assert sorted(Taxonomy.read(real_files / "engineering_blogs.opml").names) == sorted(map(str, names))


def test_the_categories_of_shopify(real_files: Path) -> None:
    yaml = pytest.importorskip("yaml")
    records = yaml.safe_load((real_files / "shopify_furniture.yml").read_text(encoding="utf-8"))
    edges = {(record["id"], child) for record in records for child in record["children"]}
    assert set(Taxonomy.read(real_files / "shopify_furniture.yml").edges()) == edges


def test_the_tree_of_ruggiero(real_files: Path) -> None:
    """Labels in quotes hold brackets and commas there: 41 of them would be counted as nodes by who overlooks that."""
    phylo = pytest.importorskip("Bio.Phylo")
    taxonomy = Taxonomy.read(real_files / "ruggiero.tre")
    clades = list(phylo.read(real_files / "ruggiero.tre", "newick").find_clades())
    assert counts(taxonomy) == (len(clades), len(clades) - 1)
    text = (real_files / "ruggiero.tre").read_text(encoding="utf-8")
    unquoted = re.sub(r"'[^']*'", "label", text)
    assert len(taxonomy) == unquoted.count("(") + unquoted.count(",") + 1
    assert expected(real_files, "ruggiero.tre")[0] == text.count("(") + text.count(",") + 1
