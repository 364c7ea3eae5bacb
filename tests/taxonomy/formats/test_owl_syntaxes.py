"""OWL in functional, Manchester and XML syntax: the triples of the OWL 2 mapping, whatever the suffix."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions
from taxosphere.taxonomy.formats.io.rdf_syntax import Document, syntax_of

pyoxigraph = pytest.importorskip("pyoxigraph")

TURTLE = """@prefix : <http://x.y/zoo#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
<http://x.y/zoo> a owl:Ontology ; owl:imports <http://x.y/other> ; rdfs:comment "a zoo"@en .
:animal a owl:Class ; rdfs:label "animal"@en .
:bird a owl:Class ; rdfs:label "a \\"bird\\""@en ; rdfs:subClassOf :animal ,
  [ a owl:Restriction ; owl:onProperty :part_of ; owl:someValuesFrom :flock ] ,
  [ a owl:Restriction ; owl:onProperty :legs ;
    owl:qualifiedCardinality "2"^^xsd:nonNegativeInteger ; owl:onClass :leg ] .
[] a owl:Axiom ; owl:annotatedSource :bird ; owl:annotatedProperty rdfs:subClassOf ; owl:annotatedTarget :animal ;
  rdfs:comment "sure" .
:flock a owl:Class ; owl:disjointWith :animal .
:leg a owl:Class .
:duck a owl:Class ; owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( :bird
  [ a owl:Restriction ; owl:onProperty :part_of ;
    owl:allValuesFrom [ a owl:Class ; owl:unionOf ( :flock :leg ) ] ] ) ] .
:dodo a owl:Class ; owl:deprecated true .
:part_of a owl:ObjectProperty , owl:TransitiveProperty ; rdfs:label "part of" ; rdfs:domain :animal .
:legs a owl:ObjectProperty .
:age a owl:DatatypeProperty ; rdfs:range xsd:integer .
:donald a owl:NamedIndividual , :duck ; :age 90 .
"""
FUNCTIONAL = """Prefix(:=<http://x.y/zoo#>)
Prefix(owl:=<http://www.w3.org/2002/07/owl#>)
Prefix(xsd:=<http://www.w3.org/2001/XMLSchema#>)
# a comment (with a bracket
Ontology(<http://x.y/zoo>
Import(<http://x.y/other>)
Annotation(rdfs:comment "a zoo"@en)
Declaration(Class(:animal)) Declaration(Class(:bird)) Declaration(Class(:flock)) Declaration(Class(:leg))
Declaration(Class(:duck)) Declaration(Class(:dodo)) Declaration(ObjectProperty(:part_of))
Declaration(ObjectProperty(:legs)) Declaration(DataProperty(:age)) Declaration(NamedIndividual(:donald))
AnnotationAssertion(rdfs:label :animal "animal"@en)
AnnotationAssertion(rdfs:label :bird "a \\"bird\\""@en)
AnnotationAssertion(rdfs:label :part_of "part of")
AnnotationAssertion(owl:deprecated :dodo "true"^^xsd:boolean)
SubClassOf(Annotation(rdfs:comment "sure") :bird :animal)
SubClassOf(:bird ObjectSomeValuesFrom(:part_of :flock))
SubClassOf(:bird ObjectExactCardinality(2 :legs :leg))
DisjointClasses(:flock :animal)
EquivalentClasses(:duck ObjectIntersectionOf(:bird ObjectAllValuesFrom(:part_of ObjectUnionOf(:flock :leg))))
TransitiveObjectProperty(:part_of)
ObjectPropertyDomain(:part_of :animal)
DataPropertyRange(:age xsd:integer)
ClassAssertion(:duck :donald)
DataPropertyAssertion(:age :donald "90"^^xsd:integer)
)
"""
MANCHESTER = """Prefix: : <http://x.y/zoo#>
Prefix: owl: <http://www.w3.org/2002/07/owl#>
Prefix: rdfs: <http://www.w3.org/2000/01/rdf-schema#>
Prefix: xsd: <http://www.w3.org/2001/XMLSchema#>
Ontology: <http://x.y/zoo>
Import: <http://x.y/other>
Annotations: rdfs:comment "a zoo"@en
# a comment
ObjectProperty: part_of
    Annotations: rdfs:label "part of"
    Characteristics: Transitive
    Domain: animal
ObjectProperty: :legs
DataProperty: age
    Range: xsd:integer
Class: animal
    Annotations: rdfs:label "animal"@en
Class: bird
    Annotations: rdfs:label "a \\"bird\\""@en
    SubClassOf: Annotations: rdfs:comment "sure" animal, part_of some flock,
        legs exactly 2 leg
Class: flock
    DisjointWith: animal
Class: leg
Class: duck
    EquivalentTo: bird and (part_of only (flock or leg))
Class: dodo
    Annotations: owl:deprecated "true"^^xsd:boolean
Individual: donald
    Types: duck
    Facts: age 90
"""
OWL_XML = """<?xml version="1.0"?>
<Ontology xmlns="http://www.w3.org/2002/07/owl#" xml:base="http://x.y/zoo" ontologyIRI="http://x.y/zoo">
<Prefix name="rdfs" IRI="http://www.w3.org/2000/01/rdf-schema#"/>
<Import>http://x.y/other</Import>
<Annotation><AnnotationProperty abbreviatedIRI="rdfs:comment"/><Literal xml:lang="en">a zoo</Literal></Annotation>
<Declaration><Class IRI="#animal"/></Declaration><Declaration><Class IRI="#bird"/></Declaration>
<Declaration><Class IRI="#flock"/></Declaration><Declaration><Class IRI="#leg"/></Declaration>
<Declaration><Class IRI="#duck"/></Declaration><Declaration><Class IRI="#dodo"/></Declaration>
<Declaration><ObjectProperty IRI="#part_of"/></Declaration><Declaration><ObjectProperty IRI="#legs"/></Declaration>
<Declaration><DataProperty IRI="#age"/></Declaration><Declaration><NamedIndividual IRI="#donald"/></Declaration>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#animal</IRI>
  <Literal xml:lang="en">animal</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#bird</IRI>
  <Literal xml:lang="en">a "bird"</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty abbreviatedIRI="rdfs:label"/><IRI>#part_of</IRI>
  <Literal>part of</Literal></AnnotationAssertion>
<AnnotationAssertion><AnnotationProperty IRI="http://www.w3.org/2002/07/owl#deprecated"/><IRI>#dodo</IRI>
  <Literal datatypeIRI="http://www.w3.org/2001/XMLSchema#boolean">true</Literal></AnnotationAssertion>
<SubClassOf><Annotation><AnnotationProperty abbreviatedIRI="rdfs:comment"/><Literal>sure</Literal></Annotation>
  <Class IRI="#bird"/><Class IRI="#animal"/></SubClassOf>
<SubClassOf><Class IRI="#bird"/><ObjectSomeValuesFrom><ObjectProperty IRI="#part_of"/><Class IRI="#flock"/>
  </ObjectSomeValuesFrom></SubClassOf>
<SubClassOf><Class IRI="#bird"/><ObjectExactCardinality cardinality="2"><ObjectProperty IRI="#legs"/><Class IRI="#leg"/>
  </ObjectExactCardinality></SubClassOf>
<DisjointClasses><Class IRI="#flock"/><Class IRI="#animal"/></DisjointClasses>
<EquivalentClasses><Class IRI="#duck"/><ObjectIntersectionOf><Class IRI="#bird"/><ObjectAllValuesFrom>
  <ObjectProperty IRI="#part_of"/><ObjectUnionOf><Class IRI="#flock"/><Class IRI="#leg"/></ObjectUnionOf>
  </ObjectAllValuesFrom></ObjectIntersectionOf></EquivalentClasses>
<TransitiveObjectProperty><ObjectProperty IRI="#part_of"/></TransitiveObjectProperty>
<ObjectPropertyDomain><ObjectProperty IRI="#part_of"/><Class IRI="#animal"/></ObjectPropertyDomain>
<DataPropertyRange><DataProperty IRI="#age"/><Datatype IRI="http://www.w3.org/2001/XMLSchema#integer"/></DataPropertyRange>
<ClassAssertion><Class IRI="#duck"/><NamedIndividual IRI="#donald"/></ClassAssertion>
<DataPropertyAssertion><DataProperty IRI="#age"/><NamedIndividual IRI="#donald"/>
  <Literal datatypeIRI="http://www.w3.org/2001/XMLSchema#integer">90</Literal></DataPropertyAssertion>
</Ontology>
"""
SYNTAXES = {"FUNCTIONAL": FUNCTIONAL, "MANCHESTER": MANCHESTER, "OWL_XML": OWL_XML}


def statements(text: str, syntax: str) -> set[str]:
    """Every triple, anonymous nodes told apart by what is said of them."""
    triples = Document(text, syntax, "x.owl", Path("x.owl")).statements()
    dataset = pyoxigraph.Dataset(pyoxigraph.Quad(t.subject, t.predicate, t.object) for t in triples)
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_the_same_triples_as_turtle(syntax: str) -> None:
    assert statements(SYNTAXES[syntax], syntax) == statements(TURTLE, "TURTLE")


@pytest.mark.parametrize("syntax", SYNTAXES)
@pytest.mark.parametrize("suffix", [".owl", ".ofn", ".omn", ".owx", ".rdf"])
def test_recognised_by_content_whatever_the_suffix(syntax: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text(SYNTAXES[syntax], encoding="utf-8")
    assert syntax_of(path, SYNTAXES[syntax].encode()) == syntax
    taxonomy = Taxonomy.read(path)
    assert {id.partition("#")[2] for id in taxonomy.ids} == {"animal", "bird", "flock", "leg", "duck"}
    assert list(taxonomy.edges()) == [("http://x.y/zoo#animal", "http://x.y/zoo#bird")]
    assert "1 obsolete concept outside the hierarchy set aside (kept for writing)" in [p.text for p in taxonomy.reading]


@pytest.mark.parametrize("syntax", ["TURTLE", *SYNTAXES])
@pytest.mark.parametrize(
    ("options", "edges"),
    [
        (ReadOptions(), {("animal", "bird")}),
        (ReadOptions(relations=("part of",)), {("animal", "bird"), ("flock", "bird")}),
        (ReadOptions(equivalents=True), {("animal", "bird"), ("bird", "duck")}),
    ],
)
def test_relations_and_equivalents_by_choice(
    syntax: str, options: ReadOptions, edges: set[tuple[str, str]], tmp_path: Path
) -> None:
    path = tmp_path / "x.owl"
    path.write_text({**SYNTAXES, "TURTLE": TURTLE}[syntax], encoding="utf-8")
    taxonomy = registry.read(path, options)
    assert {(a.partition("#")[2], b.partition("#")[2]) for a, b in taxonomy.edges()} == edges
    taxonomy.write(tmp_path / "y.owl")
    assert (tmp_path / "y.owl").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("syntax", SYNTAXES)
def test_a_new_class_is_added_to_the_text(syntax: str, tmp_path: Path) -> None:
    path = tmp_path / "x.owl"
    path.write_text(SYNTAXES[syntax], encoding="utf-8")
    synonym = ("synonym", '"drakes & <co>" EXACT [X:1]')
    new = Concept("http://x.y/zoo#gull", 'a "gull"', "cries \\ loudly", ("drakes & <co>",), (), (synonym,))
    Taxonomy.read(path).add([new], [("http://x.y/zoo#bird", new.id)]).write(tmp_path / "y.owl")
    text = (tmp_path / "y.owl").read_text(encoding="utf-8")
    before, after = SYNTAXES[syntax].splitlines(), text.splitlines()
    assert [line for line in after if line in before] == before
    old, now = (
        Counter(re.sub(r"_:\w+", "_:", line) for line in statements(t, syntax)) for t in (SYNTAXES[syntax], text)
    )
    assert not old - now
    assert sum("zoo#gull" in line for line in now - old) == 6
    again = Taxonomy.read(tmp_path / "y.owl")
    concept = again.concept(again.position(new.id))
    assert (concept.name, concept.description, concept.synonyms) == (new.name, new.description, new.synonyms)
    assert synonym in concept.extras


def test_a_moved_class_changes_one_axiom_of_functional_syntax(tmp_path: Path) -> None:
    path = tmp_path / "x.owl"
    path.write_text(FUNCTIONAL, encoding="utf-8")
    taxonomy = Taxonomy.read(path)
    moved = [("http://x.y/zoo#flock", "http://x.y/zoo#bird")]
    Taxonomy.from_concepts(taxonomy.concepts(), moved, taxonomy.meta).write(tmp_path / "y.owl")
    before, after = FUNCTIONAL.splitlines(), (tmp_path / "y.owl").read_text(encoding="utf-8").splitlines()
    assert [line for line in before if line not in after] == [
        'SubClassOf(Annotation(rdfs:comment "sure") :bird :animal)'
    ]
    assert [line for line in after if line not in before] == ["SubClassOf(:bird :flock)"]


@pytest.mark.parametrize("syntax", ["MANCHESTER", "OWL_XML"])
def test_a_change_the_text_does_not_allow_needs_another_suffix(syntax: str, tmp_path: Path) -> None:
    path = tmp_path / "x.owx"
    path.write_text(SYNTAXES[syntax], encoding="utf-8")
    taxonomy = Taxonomy.read(path)
    moved = Taxonomy.from_concepts(taxonomy.concepts(), [], taxonomy.meta)
    with pytest.raises(registry.InputError, match=r"write \.owl or \.ttl"):
        moved.write(tmp_path / "y.owx")
    moved.write(tmp_path / "y.ttl")
    assert not list(Taxonomy.read(tmp_path / "y.ttl").edges())


MORE_MANCHESTER = """Prefix: : <http://x.y/>
Ontology: <http://x.y/o> <http://x.y/o/1>
ObjectProperty: p
    SubPropertyOf: q
    SubPropertyChain: p o inverse q
    InverseOf: r
    Range: not a
Class: a
    SubClassOf: p some {i, j}, p value i, p Self, p min 1, p max 3 b, d some integer[>= 5, < 9], inverse p some b
    EquivalentTo: b that p some c
    DisjointUnionOf: b, c
    HasKey: p d
DataProperty: d
    Characteristics: Functional
Individual: i
    Facts: p j, not p i, d "x"@en
    SameAs: j
    DifferentFrom: k
DisjointClasses: a, b, c
EquivalentProperties: p, q
"""
MORE_FUNCTIONAL = """Prefix(:=<http://x.y/>)
Ontology(<http://x.y/o> <http://x.y/o/1>
Declaration(ObjectProperty(:p)) SubObjectPropertyOf(:p :q)
SubObjectPropertyOf(ObjectPropertyChain(:p ObjectInverseOf(:q)) :p) InverseObjectProperties(:p :r)
ObjectPropertyRange(:p ObjectComplementOf(:a)) Declaration(Class(:a))
SubClassOf(:a ObjectSomeValuesFrom(:p ObjectOneOf(:i :j))) SubClassOf(:a ObjectHasValue(:p :i))
SubClassOf(:a ObjectHasSelf(:p)) SubClassOf(:a ObjectMinCardinality(1 :p)) SubClassOf(:a ObjectMaxCardinality(3 :p :b))
SubClassOf(:a DataSomeValuesFrom(:d DatatypeRestriction(xsd:integer
  xsd:minInclusive "5"^^xsd:integer xsd:maxExclusive "9"^^xsd:integer)))
SubClassOf(:a ObjectSomeValuesFrom(ObjectInverseOf(:p) :b))
EquivalentClasses(:a ObjectIntersectionOf(:b ObjectSomeValuesFrom(:p :c)))
DisjointUnion(:a :b :c) HasKey(:a (:p) (:d)) Declaration(DataProperty(:d)) FunctionalDataProperty(:d)
Declaration(NamedIndividual(:i)) ObjectPropertyAssertion(:p :i :j) NegativeObjectPropertyAssertion(:p :i :i)
DataPropertyAssertion(:d :i "x"@en) SameIndividual(:i :j) DifferentIndividuals(:i :k)
DisjointClasses(:a :b :c) EquivalentObjectProperties(:p :q))
"""


def test_further_constructs_say_the_same_in_two_syntaxes() -> None:
    assert statements(MORE_MANCHESTER, "MANCHESTER") == statements(MORE_FUNCTIONAL, "FUNCTIONAL")


def test_imports_are_stated_and_never_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket", None)
    (tmp_path / "x.owl").write_text(FUNCTIONAL, encoding="utf-8")
    assert len(Taxonomy.read(tmp_path / "x.owl")) == 5
