"""Layouts that were met in real files: each small text has one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError

LINEAGES = """\
367\tk__Bacteria; p__Firmicutes; c__Clostridia; o__Clostridiales; f__; g__; s__
187\tk__Bacteria; p__Firmicutes; c__Bacilli; o__Lactobacillales; f__; g__; s__
836\tk__Bacteria; p__Firmicutes; c__Bacilli; o__Bacillales; f__; g__; s__
912\tk__Bacteria; p__Firmicutes; c__Clostridia; o__Halanaerobiales; f__; g__; s__
"""
SCHEMA = """\
id: https://example.org/schema
name: schema
imports: [linkml:types]
classes:
  Thing:
    description: anything
  Person:
    is_a: Thing
  Place:
    slots: [latitude]
  Date:
slots:
  latitude:
    range: float
"""
TAGGED = """\
Field,Product,Kind,Part,Tag
Sound,,,,S
Sound,Curtains,,,S-C
Sound,Curtains,Stage,,S-C-S
Sound,Curtains,Stage,Rail,S-C-S-R
Light,,,,L
Light,Lamps,,,L-L
Light,Lamps,Desk,,L-L-D
Light,Lamps,Floor,,L-L-F
"""
SKILLS = """\
Level 0 URI,Level 0 preferred term,Level 1 URI,Level 1 preferred term,Level 0 code,Level 1 code
http://x.y/K,knowledge,,,K,
http://x.y/K,knowledge,http://x.y/00,generic programmes,K,00
http://x.y/S,skills,,,S,
"""
QUOTES = 'id\tname\tparent\n1\tScreen 12"\t\n2\tScreen 5" wide\t1\n3\t"odd\t1\n'


def read(folder: Path, name: str, text: str) -> Taxonomy:
    (folder / name).write_text(text)
    return Taxonomy.read(folder / name)


def named_edges(taxonomy: Taxonomy) -> set[tuple[str, str]]:
    return {(taxonomy.names[parent], taxonomy.names[child]) for parent, child in taxonomy.edge_array.tolist()}


def test_ids_and_lineages_are_paths_and_a_rank_without_a_name_is_no_concept(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "x.txt", LINEAGES)
    lines = [line.split("\t")[1].split("; ") for line in LINEAGES.splitlines()]
    steps = [[step for step in line if not step.endswith("__")] for line in lines]
    paths = {tuple(path[:depth]) for path in steps for depth in range(1, len(path) + 1)}
    assert (len(taxonomy), len(taxonomy.edge_array)) == (len(paths), sum(len(path) > 1 for path in paths))
    assert set(taxonomy.names) == {path[-1] for path in paths}


def test_keywords_between_semicolons_are_no_lineages(tmp_path: Path) -> None:
    words = ["red; round; soft", "round; red; hard", "soft; red; round", "red; hard; flat", "hard; soft; red"]
    with pytest.raises(InputError, match="--nested"):
        read(tmp_path, "x.tsv", "".join(f"{number}\t{text}\n" for number, text in enumerate(words)))


def test_genes_and_their_classes_are_no_edges_from_gene_to_class(tmp_path: Path) -> None:
    text = "TP53\tsuppressor\nBRCA1\tsuppressor\nKRAS\toncogene\nMYC\toncogene\nEGFR\toncogene\n"
    with pytest.raises(InputError, match="--columns child,parent"):
        read(tmp_path, "x.txt", text)
    taxonomy = Taxonomy.read(tmp_path / "x.txt", columns=("child", "parent"))
    assert ("suppressor", "TP53") in named_edges(taxonomy)


def test_classes_of_a_schema_are_read_although_few_name_a_parent(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "x.yaml", SCHEMA)
    assert set(taxonomy.names) == {"Thing", "Person", "Place", "Date"}
    assert named_edges(taxonomy) == {("Thing", "Person")}


@pytest.mark.parametrize(
    "classes", ["  Place:\n    slots: [a]\n  Date:\n    slots: [b]\n", "  Place:\n    slots: [a]\n"]
)
def test_a_schema_in_which_no_class_has_a_parent_is_refused(tmp_path: Path, classes: str) -> None:
    with pytest.raises(InputError, match="'classes' hold objects that are not read"):
        read(tmp_path, "x.yaml", f"id: x\nname: schema\nimports: [types]\nclasses:\n{classes}")


def test_levels_before_a_column_of_tags_whatever_their_titles(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "x.csv", TAGGED)
    assert taxonomy.ids == tuple(line.rpartition(",")[2] for line in TAGGED.splitlines()[1:])
    assert ("Lamps", "Desk") in named_edges(taxonomy)
    assert len(taxonomy.edge_array) == 6


def test_levels_with_addresses_beside_preferred_terms_are_called_by_the_terms(tmp_path: Path) -> None:
    taxonomy = read(tmp_path, "x.csv", SKILLS)
    assert named_edges(taxonomy) == {("knowledge", "generic programmes")}
    assert set(taxonomy.ids) == {"http://x.y/K", "http://x.y/00", "http://x.y/S"}


def test_stray_quotation_marks_between_tabs_belong_to_the_text(tmp_path: Path) -> None:
    assert read(tmp_path, "x.csv", QUOTES).names == ('Screen 12"', 'Screen 5" wide', '"odd')


def test_a_lone_file_of_relationships_asks_for_its_folder(tmp_path: Path) -> None:
    titles = ["id", "effectiveTime", "active", "moduleId", "sourceId", "destinationId", "relationshipGroup", "typeId"]
    row = ["100022", "20020131", "1", "9000", "100000", "102272007", "0", "116680003"]
    with pytest.raises(InputError, match="give the folder"):
        read(tmp_path, "sct2_Relationship_Snapshot.txt", "\t".join(titles) + "\n" + "\t".join(row) + "\n")
