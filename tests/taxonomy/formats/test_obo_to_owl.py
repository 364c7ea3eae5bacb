"""OBO written as OWL: the statements that ROBOT makes of the same file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry

pyoxigraph = pytest.importorskip("pyoxigraph")

SOURCE = r"""format-version: 1.2
data-version: releases/2026-01-01
default-namespace: zoo
ontology: zoo
import: other
remark: made up
subsetdef: slim "a subset"
synonymtypedef: ABBR "abbreviation" EXACT

[Term]
id: Z:0000001
name: animal
def: "Lives \"well\"." [PMID:1, X:a\,b "see [there]"] {comment="sure"}
subset: slim
synonym: "beast" NARROW ABBR [Q:1]
xref: W:1 "a page"
alt_id: Z:0000009

[Term]
id: Z:0000002
name: bird
namespace: birds
is_a: Z:0000001 {source="me"} ! animal
relationship: part_of Z:0000003 ! flock
intersection_of: Z:0000001
intersection_of: has_leg Z:0000003
property_value: dc:date "2020" xsd:string

[Term]
id: Z:0000003
name: flock
disjoint_from: Z:0000002
is_obsolete: true
replaced_by: Z:0000002
consider: Z:0000001

[Typedef]
id: part_of
name: part of
xref: BFO:0000050
is_transitive: true
inverse_of: has_part

[Typedef]
id: has_leg
name: has leg
is_a: part_of
transitive_over: part_of
"""
EXPECTED = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix zoo: <http://purl.obolibrary.org/obo/zoo#> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
<http://purl.obolibrary.org/obo/zoo.owl> a owl:Ontology ; oio:hasOBOFormatVersion "1.2" ;
  owl:versionIRI <http://purl.obolibrary.org/obo/zoo/releases/2026-01-01/zoo.owl> ; oio:default-namespace "zoo" ;
  owl:imports <http://purl.obolibrary.org/obo/other.owl> ; rdfs:comment "made up" .
zoo:slim a owl:AnnotationProperty ; rdfs:comment "a subset" ; rdfs:subPropertyOf oio:SubsetProperty .
zoo:ABBR a owl:AnnotationProperty ; rdfs:label "abbreviation" ; rdfs:subPropertyOf oio:SynonymTypeProperty ;
  oio:hasScope oio:hasExactSynonym .
obo:Z_0000001 a owl:Class ; oio:id "Z:0000001" ; rdfs:label "animal" ; obo:IAO_0000115 "Lives \\"well\\"." ;
  oio:inSubset zoo:slim ; oio:hasNarrowSynonym "beast" ; oio:hasDbXref "W:1" ; oio:hasAlternativeId "Z:0000009" ;
  oio:hasOBONamespace "zoo" .
[] a owl:Axiom ; owl:annotatedSource obo:Z_0000001 ; owl:annotatedProperty obo:IAO_0000115 ;
  owl:annotatedTarget "Lives \\"well\\"." ; oio:hasDbXref "PMID:1" , "X:a,b" ; rdfs:comment "sure" .
[] a owl:Axiom ; owl:annotatedSource obo:Z_0000001 ; owl:annotatedProperty oio:hasNarrowSynonym ;
  owl:annotatedTarget "beast" ; oio:hasDbXref "Q:1" ; oio:hasSynonymType zoo:ABBR .
[] a owl:Axiom ; owl:annotatedSource obo:Z_0000001 ; owl:annotatedProperty oio:hasDbXref ;
  owl:annotatedTarget "W:1" ; rdfs:label "a page" .
obo:Z_0000009 a owl:Class ; owl:deprecated true ; obo:IAO_0100001 obo:Z_0000001 ; obo:IAO_0000231 obo:IAO_0000227 .
obo:Z_0000002 a owl:Class ; oio:id "Z:0000002" ; rdfs:label "bird" ; oio:hasOBONamespace "birds" ;
  rdfs:subClassOf obo:Z_0000001 ,
    [ a owl:Restriction ; owl:onProperty obo:BFO_0000050 ; owl:someValuesFrom obo:Z_0000003 ] ;
  owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( obo:Z_0000001
    [ a owl:Restriction ; owl:onProperty zoo:has_leg ; owl:someValuesFrom obo:Z_0000003 ] ) ] ;
  <http://purl.org/dc/elements/1.1/date> "2020" .
[] a owl:Axiom ; owl:annotatedSource obo:Z_0000002 ; owl:annotatedProperty rdfs:subClassOf ;
  owl:annotatedTarget obo:Z_0000001 ; oio:source "me" .
obo:Z_0000003 a owl:Class ; oio:id "Z:0000003" ; rdfs:label "flock" ; oio:hasOBONamespace "zoo" ;
  owl:disjointWith obo:Z_0000002 ; owl:deprecated true ; obo:IAO_0100001 obo:Z_0000002 ; oio:consider obo:Z_0000001 .
obo:BFO_0000050 a owl:ObjectProperty , owl:TransitiveProperty ; oio:id "part_of" ; oio:shorthand "part_of" ;
  rdfs:label "part of" ; oio:hasDbXref "BFO:0000050" ; owl:inverseOf zoo:has_part ; oio:hasOBONamespace "zoo" .
zoo:has_leg a owl:ObjectProperty ; oio:id "has_leg" ; rdfs:label "has leg" ; oio:hasOBONamespace "zoo" ;
  rdfs:subPropertyOf obo:BFO_0000050 ; owl:propertyChainAxiom ( zoo:has_leg obo:BFO_0000050 ) .
"""


def statements(path: Path) -> Counter[tuple[str, str, str]]:
    """Every triple; anonymous nodes spelled as what is said of them."""
    by_subject: dict[object, list[object]] = {}
    syntax = pyoxigraph.RdfFormat.TURTLE if path.suffix == ".ttl" else pyoxigraph.RdfFormat.RDF_XML
    quads = list(pyoxigraph.parse(path=str(path), format=syntax))
    for quad in quads:
        by_subject.setdefault(quad.subject, []).append(quad)

    def spelled(term: object) -> str:
        if not isinstance(term, pyoxigraph.BlankNode):
            return str(term)
        return "[" + ";".join(sorted(f"{q.predicate} {spelled(q.object)}" for q in by_subject.get(term, ()))) + "]"

    return Counter((spelled(q.subject), str(q.predicate), spelled(q.object)) for q in quads)


def without_declarations(found: Counter[tuple[str, str, str]]) -> Counter[tuple[str, str, str]]:
    """Without the annotation properties that the format itself brings."""
    usual = (
        "<http://www.geneontology.org",
        "<http://purl.obolibrary.org/obo/IAO_",
        "<http://www.w3.org",
        "<http://purl.org",
    )
    return Counter({triple: n for triple, n in found.items() if not triple[0].startswith(usual)})


def test_every_clause_becomes_what_the_format_says(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(SOURCE, encoding="utf-8")
    (tmp_path / "expected.ttl").write_text(EXPECTED, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "x.obo")
    assert not registry.unsupported_content(taxonomy, tmp_path / "x.owl")
    taxonomy.write(tmp_path / "x.owl")
    found, expected = statements(tmp_path / "x.owl"), statements(tmp_path / "expected.ttl")
    assert without_declarations(found) == expected
    declared = {s for s, p, o in found if p.endswith("#type>") and o.endswith("#AnnotationProperty>")}
    used = {p for _, p, _ in found if "oboInOwl#" in p or "IAO_" in p}
    assert used <= declared


def test_a_new_term_is_translated_with_the_others(tmp_path: Path) -> None:
    (tmp_path / "x.obo").write_text(SOURCE, encoding="utf-8")
    new = Concept(
        "Z:0000010", "duck", "quacks", ("drake",), (), (("def", "[X:1]"), ("relationship", "part_of Z:0000001"))
    )
    Taxonomy.read(tmp_path / "x.obo").add([new], [("Z:0000002", new.id)]).write(tmp_path / "x.owl")
    again = Taxonomy.read(tmp_path / "x.owl")
    concept = again.concept(again.position(new.id))
    assert (concept.name, concept.description, concept.synonyms) == ("duck", "quacks", ("drake",))
    assert {("def", "[X:1]"), ("relationship", "part_of Z:0000001")} <= set(concept.extras)
    assert again.parents(new.id) == ("Z:0000002",)


@pytest.mark.slow
def test_the_pair_that_robot_made(real_files: Path, tmp_path: Path) -> None:
    Taxonomy.read(real_files / "so.obo").write(tmp_path / "so.owl")
    assert statements(tmp_path / "so.owl") == statements(real_files / "so.owl")
