"""Class tables of ontology portals, and EDAM on a tour through the formats."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from taxosphere import Taxonomy
from taxosphere.taxonomy.checks import obsolete

OWL = "http://www.w3.org/2002/07/owl#"
XREF = "http://www.geneontology.org/formats/oboInOwl#hasDbXref"
ROWS = [
    ["Class ID", "Preferred Label", "Synonyms", "Definitions", "Obsolete", "Parents", "Source", XREF],
    ["a", "animal", "beast|creature|beast", "A living thing.|It moves.", "FALSE", OWL + "Thing", "book|web", "X:1|X:2"],
    ["b", "bird", "", '"said ""to fly"""', "FALSE", "a", "", ""],
    ["c", "dodo", "", "gone", "TRUE", OWL + "DeprecatedClass", "", ""],
    [OWL + "DeprecatedClass", "DeprecatedClass", "", "", "FALSE", OWL + "Thing", "", ""],
]


def test_columns_and_cells_with_several_values(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("\n".join(map("\t".join, ROWS)), encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "x.tsv")
    assert taxonomy.ids == ("a", "b")
    assert taxonomy.descriptions == ("A living thing.", 'said "to fly"')
    assert taxonomy.synonyms[0] == ("beast", "creature")
    extras = (("comment", "It moves."), ("Source", "book|web"), ("xref", "X:1"), ("xref", "X:2"))
    assert taxonomy.extras[0] == extras
    assert list(taxonomy.edges()) == [("a", "b")]
    assert [note.text for note in taxonomy.reading] == [
        "1 obsolete concept outside the hierarchy set aside (kept for writing)"
    ]
    taxonomy.write(tmp_path / "x.obo")
    assert 'name: dodo\ndef: "gone" []\nis_obsolete: true' in (tmp_path / "x.obo").read_text(encoding="utf-8")


def test_an_obsolete_class_with_a_place_is_known_as_one(tmp_path: Path) -> None:
    rows = [*ROWS[:3], ["c", "dodo", "", "gone", "TRUE", "a", "", ""]]
    (tmp_path / "x.tsv").write_text("\n".join(map("\t".join, rows)), encoding="utf-8")
    assert obsolete(Taxonomy.read(tmp_path / "x.tsv")) == [2]


@pytest.mark.slow
def test_edam_through_native_obo_and_skos(tmp_path: Path) -> None:
    pytest.importorskip("pyoxigraph")
    pytest.importorskip("edam_ontology")
    edam = Taxonomy.read(Path(str(files("edam_ontology") / "EDAM.tsv")))
    assert len(edam) > 2000
    assert all(edam.descriptions)
    before = edam
    for name in ("first", "edam.obo", "edam.ttl", "last"):
        before.write(tmp_path / name)
        after = Taxonomy.read(tmp_path / name)
        assert after.ids == edam.ids
        assert after.names == edam.names
        assert after.descriptions == edam.descriptions
        assert after.synonyms == edam.synonyms
        assert [sorted(extras) for extras in after.extras] == [sorted(extras) for extras in edam.extras]
        assert sorted(after.edges()) == sorted(edam.edges())
        before = after
