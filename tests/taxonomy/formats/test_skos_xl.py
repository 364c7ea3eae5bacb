"""Labels of SKOS-XL: things of their own, whose literal forms are names and synonyms."""

from __future__ import annotations

from pathlib import Path

import pytest
import rdflib
import rdflib.compare

from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions

TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix x: <http://x.org/> .

x:food a skos:Concept ; xl:prefLabel x:l1 , x:l2 .
x:l1 a xl:Label ; xl:literalForm "food"@en .
x:l2 a xl:Label ; xl:literalForm "Essen"@de .
x:tea a skos:Concept ; skos:broader x:food ; xl:prefLabel [ a xl:Label ; xl:literalForm "tea"@en ] ;
    xl:altLabel [ a xl:Label ; xl:literalForm "cuppa"@en ] ; skos:prefLabel "tea"@en .
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "labels.ttl"
    path.write_text(TURTLE, encoding="utf-8")
    return path


def test_labels_are_names_and_synonyms(source: Path) -> None:
    taxonomy = Taxonomy.read(source)
    assert taxonomy.names == ("food", "tea")
    assert taxonomy.concept(1).synonyms == ("cuppa",)
    german = registry.read(source, ReadOptions(language="de"))
    assert german.names == ("Essen", "tea")
    assert list(taxonomy.edges()) == [("http://x.org/food", "http://x.org/tea")]


@pytest.mark.parametrize("suffix", [".ttl", ".rdf", ".nt"])
def test_no_triple_is_lost_or_invented(source: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"out{suffix}"
    Taxonomy.read(source).write(out)
    form = {".rdf": "xml"}.get(suffix, suffix[1:])
    before, after = rdflib.Graph().parse(source), rdflib.Graph().parse(out, format=form)
    assert rdflib.compare.isomorphic(before, after)


def test_new_concepts_beside_labels(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "grown.ttl"
    taxonomy = Taxonomy.read(source)
    taxonomy.add([Concept("http://x.org/mate", "mate")], [("http://x.org/food", "http://x.org/mate")]).write(out)
    again = Taxonomy.read(out)
    assert again.names == ("food", "tea", "mate")
    assert again.concept(1).synonyms == ("cuppa",)
    old = set(
        rdflib.Graph().parse(source).subject_objects(rdflib.URIRef("http://www.w3.org/2008/05/skos-xl#prefLabel"))
    )
    new = set(rdflib.Graph().parse(out).subject_objects(rdflib.URIRef("http://www.w3.org/2008/05/skos-xl#prefLabel")))
    assert len(old) == len(new) == 3
