"""SKOS and OWL: which statements are understood, which are kept, and that nothing said is lost."""

from __future__ import annotations

import gzip
import pickle
import sys
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError, MissingExtra
from taxosphere.taxonomy.formats import rdf_reader, registry
from taxosphere.taxonomy.formats.io import rdf_syntax, rdf_terms

pyoxigraph = pytest.importorskip("pyoxigraph")

THESAURUS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix ex: <http://example.org/zoo/> .
ex:scheme a skos:ConceptScheme ; dct:title "Zoo"@en ; skos:hasTopConcept ex:animal .
ex:animal a skos:Concept ; skos:inScheme ex:scheme ;
  skos:prefLabel "Tier"@de, "animal"@en, "animal"@la ; skos:altLabel "beast"@en, "Getier"@de ;
  skos:definition "a living thing"@en ; skos:narrower ex:bird ; skos:notation "A1" ; ex:weight 4.5 .
ex:bird a skos:Concept ; skos:prefLabel "bird"@en ; skos:broader ex:animal ;
  skos:exactMatch <http://x.y/b> ; skos:scopeNote [ dct:creator "someone" ] .
ex:fish a skos:Concept ; skos:prefLabel "Fisch"@de ; skos:hiddenLabel "fsh" ; skos:broader ex:animal .
"""
ONTOLOGY = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix obo: <http://purl.obolibrary.org/obo/> .
@prefix oio: <http://www.geneontology.org/formats/oboInOwl#> .
<http://x.y/zoo> a owl:Ontology .
obo:Z_0001 a owl:Class ; rdfs:label "animal" ; oio:id "Z:0001" ; obo:IAO_0000115 "a living thing" ;
  oio:hasExactSynonym "beast" ; oio:hasRelatedSynonym "creature" ; oio:hasDbXref "W:1" ; rdfs:subClassOf owl:Thing .
obo:Z_0002 a owl:Class ; rdfs:label "bird" ; oio:id "Z:0002" ; rdfs:comment "a remark" ;
  rdfs:subClassOf obo:Z_0001, [ a owl:Restriction ; owl:onProperty obo:part_of ; owl:someValuesFrom obo:Z_0003 ] .
obo:Z_0003 a owl:Class ; rdfs:label "flock" ; oio:id "Z:0003" .
obo:Z_0004 a owl:Class ; rdfs:label "dodo" ; owl:deprecated true .
obo:part_of a owl:ObjectProperty ; rdfs:label "part of" .
"""


def read(path: Path, text: str) -> Taxonomy:
    path.write_text(text, encoding="utf-8")
    return Taxonomy.read(path)


def statements(path: Path) -> set[str]:
    """Every statement of a Turtle file, anonymous nodes told apart by what is said of them."""
    dataset = pyoxigraph.Dataset(pyoxigraph.parse(path=str(path), format=pyoxigraph.RdfFormat.TURTLE))
    dataset.canonicalize(pyoxigraph.CanonicalizationAlgorithm.UNSTABLE)
    return {str(quad) for quad in dataset}


def test_a_thesaurus(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.ttl", THESAURUS)
    animal = taxonomy.concept(taxonomy.position("http://example.org/zoo/animal"))
    assert animal.name == "animal"
    assert animal.description == "a living thing"
    assert animal.synonyms == ("beast", "Getier")
    assert taxonomy.names == ("animal", "bird", "Fisch")  # English where it names as many as German
    assert set(taxonomy.edges()) == {
        ("http://example.org/zoo/animal", "http://example.org/zoo/bird"),
        ("http://example.org/zoo/animal", "http://example.org/zoo/fish"),
    }
    assert not taxonomy.reading


def test_an_ontology(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.ttl", ONTOLOGY)
    assert taxonomy.ids == ("Z:0001", "Z:0002", "Z:0003")
    assert taxonomy.names == ("animal", "bird", "flock")
    assert taxonomy.descriptions == ("a living thing", "", "")
    assert taxonomy.synonyms[0] == ("beast", "creature")
    assert ("xref", "W:1") in taxonomy.extras[0]
    assert list(taxonomy.edges()) == [("Z:0001", "Z:0002")]
    assert [note.text.split(" outside")[0] for note in taxonomy.reading] == ["1 obsolete concept"]


@pytest.mark.parametrize("detour", ["x.ttl", "native", "x.owl.rdf", "x.jsonld", "x.owl.nt"])
def test_an_ontology_comes_back_statement_by_statement(tmp_path: Path, detour: str) -> None:
    taxonomy = read(tmp_path / "in.ttl", ONTOLOGY)
    (tmp_path / "detour").mkdir()
    taxonomy.write(tmp_path / "detour" / detour)
    Taxonomy.read(tmp_path / "detour" / detour).write(tmp_path / "out.ttl")
    assert statements(tmp_path / "out.ttl") == statements(tmp_path / "in.ttl")


@pytest.mark.parametrize("detour", ["x.ttl", "native", "x.skos", "x.jsonld"])
def test_a_thesaurus_comes_back_statement_by_statement(tmp_path: Path, detour: str) -> None:
    taxonomy = read(tmp_path / "in.ttl", THESAURUS)
    (tmp_path / "detour").mkdir()
    taxonomy.write(tmp_path / "detour" / detour)
    Taxonomy.read(tmp_path / "detour" / detour).write(tmp_path / "out.ttl")
    added = statements(tmp_path / "out.ttl") - statements(tmp_path / "in.ttl")
    assert not statements(tmp_path / "in.ttl") - statements(tmp_path / "out.ttl")
    # A file that says `narrower` of some gets it for all, and `broader` for all.
    assert all("core#narrower" in line or "core#broader" in line for line in added)


def test_vocabulary_by_name_of_the_file(tmp_path: Path, animals: Taxonomy) -> None:
    animals.write(tmp_path / "x.owl.ttl")
    assert "subClassOf" in (tmp_path / "x.owl.ttl").read_text(encoding="utf-8")
    Taxonomy.read(tmp_path / "x.owl.ttl").write(tmp_path / "y.ttl")
    assert "subClassOf" in (tmp_path / "y.ttl").read_text(encoding="utf-8")
    Taxonomy.read(tmp_path / "y.ttl").write(tmp_path / "z.skos.ttl")
    text = (tmp_path / "z.skos.ttl").read_text(encoding="utf-8")
    assert "skos" in text
    assert "subClassOf" not in text


def test_turtle_under_the_name_of_owl_and_json_ld_under_the_name_of_json(tmp_path: Path) -> None:
    assert len(read(tmp_path / "x.owl", ONTOLOGY)) == 3
    Taxonomy.read(tmp_path / "x.owl").write(tmp_path / "x.jsonld")
    (tmp_path / "x.jsonld").rename(tmp_path / "x.json")
    assert len(Taxonomy.read(tmp_path / "x.json")) == 3


def test_relative_addresses_are_the_same_everywhere(tmp_path: Path) -> None:
    text = "<#a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <#b> ."
    assert list(read(tmp_path / "my zoo.ttl", text).edges()) == [("file:///my%20zoo.ttl#b", "file:///my%20zoo.ttl#a")]


def test_comments_define_where_nothing_else_does(tmp_path: Path) -> None:
    text = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <http://x.y/a> a rdfs:Class ; rdfs:label "a" ; rdfs:comment "first" .
    <http://x.y/b> rdfs:subClassOf <http://x.y/a> ; rdfs:comment "second" ."""
    taxonomy = read(tmp_path / "x.ttl", text)
    assert taxonomy.descriptions == ("first", "second")
    assert taxonomy.names == ("a", "b")
    more = taxonomy.add([Concept("http://x.y/c", "c", "third")], [("http://x.y/a", "http://x.y/c")])
    more.write(tmp_path / "y.ttl")
    assert Taxonomy.read(tmp_path / "y.ttl").descriptions == ("first", "second", "third")


@pytest.mark.parametrize("name", ["x.ttl", "x.owl.ttl", "x.jsonld"])
def test_a_comment_never_becomes_a_definition(tmp_path: Path, name: str) -> None:
    root, leaf = Concept("A:1", "x", extras=(("comment", "check with Bob"),)), Concept("A:2", "y")
    taxonomy = Taxonomy.from_concepts([root, leaf], [("A:1", "A:2")])
    for _ in range(3):
        taxonomy.write(tmp_path / name)
        taxonomy = Taxonomy.read(tmp_path / name)
        assert taxonomy.concept(0) == root
    assert not taxonomy.meta["rdf"]["comments"]


def test_a_comment_beside_comments_that_define(tmp_path: Path) -> None:
    text = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <http://x.y/a> a rdfs:Class ; rdfs:comment "first", "more" .
    <http://x.y/b> rdfs:subClassOf <http://x.y/a> ; <urn:taxosphere:extra> "[\\"comment\\", \\"check with Bob\\"]" ."""
    taxonomy = read(tmp_path / "x.ttl", text)
    for _ in range(3):
        assert taxonomy.descriptions == ("first", "")
        assert ("comment", "more") in taxonomy.extras[0]
        assert taxonomy.extras[1] == (("comment", "check with Bob"),)
        taxonomy.write(tmp_path / "y.ttl")
        taxonomy = Taxonomy.read(tmp_path / "y.ttl")


def test_a_new_concept_speaks_the_language_of_the_file(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.ttl", THESAURUS)
    new = Concept("http://example.org/zoo/duck", "duck", "quacks", ("drake",))
    taxonomy.add([new], [("http://example.org/zoo/bird", new.id)]).write(tmp_path / "y.ttl")
    said = {line for line in statements(tmp_path / "y.ttl") if line.startswith("<http://example.org/zoo/duck>")}
    assert {line.split("#")[-1] for line in said if "Label" in line} == {'prefLabel> "duck"@en', 'altLabel> "drake"@en'}


def test_plain_concepts_are_read_as_all_others_are(tmp_path: Path) -> None:
    """One loop reads the concepts of which little is said; it must agree with what reads the rest."""
    (tmp_path / "x.ttl").write_text(
        """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
        @prefix x: <http://x.y/> .
        x:scheme a skos:ConceptScheme .
        x:a a skos:Concept ; skos:prefLabel "a"@en .
        x:b a skos:Concept ; skos:prefLabel "b"@en ; skos:altLabel "bee"@en, "bees"@en ; skos:broader x:a .
        x:c a skos:Concept ; skos:prefLabel "c"@en ; skos:altLabel "sea"@de ; skos:broader x:a, x:b .
        x:d a skos:Concept ; skos:prefLabel "d"@de ; skos:broader x:a .
        x:e a skos:Concept ; skos:prefLabel "e"@en ; skos:broader x:a ; skos:notation "5" ; skos:inScheme x:scheme .
        x:f a skos:Concept, x:Kind ; skos:prefLabel "f"@en ; skos:definition "eff"@en ; skos:narrower x:g .
        x:g skos:broader [ a skos:Concept ] .
        """
    )
    path = tmp_path / "x.ttl"
    document = rdf_syntax.Document(text=path.read_text(), syntax="TURTLE", name=path.name, path=path)
    draft, reader = rdf_reader.read_document(document, registry.ReadOptions())
    rows = [reader._read_concept(iri, statements, texts) for iri, _, statements, texts in reader.graph.described]
    columns = (draft.names, draft.descriptions, draft.synonyms, draft.images, draft.extras)
    assert list(zip(*columns, strict=True)) == rows
    assert draft.synonyms[1] == ("bee", "bees")


def test_a_change_of_vocabulary_translates_nothing(tmp_path: Path) -> None:
    text = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    <http://x.y/a> a skos:Concept ; skos:prefLabel "animal"@en, "Tier"@de ; skos:definition "lives"@en, "lebt"@de .
    <http://x.y/b> a skos:Concept ; skos:prefLabel "Hund"@de, "dog"@en ; skos:broader <http://x.y/a> ."""
    taxonomy = read(tmp_path / "x.ttl", text)
    for name in ("y.owl", "y.skos.ttl", "y.owl.nt"):
        taxonomy.write(tmp_path / name)
        taxonomy = Taxonomy.read(tmp_path / name)
        assert taxonomy.names == ("animal", "dog")
        assert taxonomy.descriptions == ("lives", "")
        assert taxonomy.meta["rdf"]["language"] == "en"


def test_a_name_in_the_usual_language_goes_before_one_by_a_better_word(tmp_path: Path) -> None:
    text = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <http://x.y/a> a rdfs:Class ; skos:prefLabel "Tier"@de ; rdfs:label "animal"@en .
    <http://x.y/b> rdfs:subClassOf <http://x.y/a> ; rdfs:label "dog"@en, "hound" ; skos:prefLabel "Hund"@de .
    <http://x.y/c> rdfs:subClassOf <http://x.y/a> ; rdfs:label "cat" ; skos:prefLabel "Katze"@de .
    <http://x.y/d> rdfs:subClassOf <http://x.y/a> ; rdfs:label "cow"@en ; skos:prefLabel "cattle"@en ."""
    assert read(tmp_path / "x.ttl", text).names == ("animal", "dog", "cat", "cattle")


def test_a_definition_without_a_language_is_no_translation(tmp_path: Path) -> None:
    text = """@prefix dct: <http://purl.org/dc/terms/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    @prefix obo: <http://purl.obolibrary.org/obo/> .
    <http://x.y/a> a rdfs:Class ; rdfs:label "a"@en ; dct:description "about"@en ; obo:IAO_0000115 "defines" .
    <http://x.y/b> a rdfs:Class ; rdfs:label "b"@en ; dct:description "about"@en ; obo:IAO_0000115 "definiert"@de ."""
    taxonomy = read(tmp_path / "x.ttl", text)
    for name in ("y.skos.ttl", "y.owl", "y.jsonld"):
        assert taxonomy.descriptions == ("defines", "about")
        taxonomy.write(tmp_path / name)
        taxonomy = Taxonomy.read(tmp_path / name)


@pytest.mark.parametrize("language", ["@en", ""])
@pytest.mark.parametrize("ways", [("y.owl", "y.skos.ttl", "z.owl.nt"), ("y.owl.jsonld", "native", "y.skos")])
def test_of_two_texts_the_first_stays_the_first(tmp_path: Path, language: str, ways: tuple[str, ...]) -> None:
    text = f"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    <http://x.y/a> a skos:Concept ; skos:prefLabel "one"{language}, "another"{language}, <http://x.y/c> .
    <http://x.y/b> a skos:Concept ; skos:prefLabel "b"{language} ; skos:broader <http://x.y/a> ;
      skos:definition "what it is"{language}, "also"{language} ."""
    taxonomy = read(tmp_path / "x.ttl", text)
    for name in ways:
        taxonomy.write(tmp_path / name)
        taxonomy = Taxonomy.read(tmp_path / name)
        assert taxonomy.names == ("one", "b")
        assert taxonomy.descriptions == ("", "what it is")


def labelled(*languages: str) -> str:
    """A thesaurus with a concept per argument: `de en` has a name in either language, first the German one."""
    labels = [", ".join(f'"{tag}{i}"@{tag}' for tag in tags.split()) for i, tags in enumerate(languages)]
    words = "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
    return words + "\n".join(f"<http://x.y/{i}> a skos:Concept ; skos:prefLabel {t} ." for i, t in enumerate(labels))


def test_a_stray_translation_does_not_decide_the_language(tmp_path: Path) -> None:
    taxonomy = read(tmp_path / "x.ttl", labelled("de", "de", "de", "de en"))
    assert taxonomy.names == ("de0", "de1", "de2", "de3")
    taxonomy.add([Concept("http://x.y/new", "Pferd")], [("http://x.y/0", "http://x.y/new")]).write(tmp_path / "y.ttl")
    assert '"Pferd"@de' in (tmp_path / "y.ttl").read_text(encoding="utf-8")
    assert Taxonomy.read(tmp_path / "y.ttl").names == ("de0", "de1", "de2", "de3", "Pferd")


@pytest.mark.parametrize(
    ("languages", "usual"),
    [
        (["de en"] * 9 + ["de"], "en"),
        (["de en"] * 8 + ["de"] * 2, "de"),
        (["de en-GB"] * 9 + ["de en-US"], "en-gb"),
        (["fr de", "de fr"], "fr"),
        (["de fr", "fr de"], "de"),
        (["de en", "de", "en"], "en"),
    ],
)
def test_english_where_it_names_nearly_as_many(tmp_path: Path, languages: list[str], usual: str) -> None:
    assert read(tmp_path / "x.ttl", labelled(*languages)).meta["rdf"]["language"].lower() == usual


def test_a_concept_with_many_names_counts_once_and_blank_ones_do_not(tmp_path: Path) -> None:
    same = '; <http://www.w3.org/2000/01/rdf-schema#label> "x"@en, "y"@en, "z"@en .'
    text = labelled("de", "de", "de en").removesuffix(".") + same
    assert read(tmp_path / "x.ttl", text).names == ("de0", "de1", "de2")
    blank = read(tmp_path / "y.ttl", labelled("de", "de").replace("@de", '@de, " "@en'))
    assert blank.meta["rdf"]["language"] == "de"


def test_english_goes_before_other_foreign_languages(tmp_path: Path) -> None:
    assert read(tmp_path / "x.ttl", labelled("de", "de", "fr en")).names == ("de0", "de1", "en2")


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.obo", "x.json", "x.jsonl"])
def test_a_language_another_format_cannot_hold_is_told(tmp_path: Path, name: str) -> None:
    taxonomy = read(tmp_path / "in.ttl", labelled("de", "de en"))
    assert registry.unsupported_content(taxonomy, tmp_path / name) == [
        "the language 'de' of names, definitions and synonyms left out"
    ]
    taxonomy.write(tmp_path / name)
    assert registry.unsupported_content(Taxonomy.read(tmp_path / name), tmp_path / "out.csv") == []
    plain = read(tmp_path / "plain.ttl", labelled("de").replace("@de", ""))
    assert registry.unsupported_content(plain, tmp_path / name) == []


@pytest.mark.parametrize("name", ["x.ttl", "x.owl", "x.jsonld", "x.skos.nt", "native"])
def test_a_language_that_is_kept_is_no_loss(tmp_path: Path, name: str) -> None:
    taxonomy = read(tmp_path / "in.ttl", labelled("de", "de en"))
    assert registry.unsupported_content(taxonomy, tmp_path / name) == []
    taxonomy.write(tmp_path / name)
    assert Taxonomy.read(tmp_path / name).meta["rdf"]["language"] == "de"


@pytest.mark.parametrize("name", ["x.ttl", "x.ttl.gz"])
def test_concepts_and_edges_know_their_lines(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(gzip.compress(THESAURUS.encode()) if name.endswith("gz") else THESAURUS.encode())
    source = Taxonomy.read(tmp_path / name).source
    assert source is not None
    assert source.lines.tolist() == [5, 8, 10]
    assert source.edge_lines.tolist() == [7, 10]


def test_lines_stay_right_without_obsolete_concepts_and_with_other_edges(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix x: <http://x.y/> .\n\n"
        "x:gone a owl:Class ; owl:deprecated true .\nx:top a owl:Class .\n\n"
        "x:a a owl:Class ;\n  rdfs:subClassOf x:top .\n"
    )
    taxonomy = pickle.loads(pickle.dumps(Taxonomy.read(tmp_path / "x.ttl")))
    assert (len(taxonomy), taxonomy.source.lines.tolist(), taxonomy.source.edge_lines.tolist()) == (2, [6, 8], [9])
    changed = taxonomy.with_edges([[1, 0]])
    assert (changed.source.lines.tolist(), changed.source.edge_lines.tolist()) == ([6, 8], [0])


def test_xml_refuses_what_it_cannot_hold(tmp_path: Path) -> None:
    taxonomy = Taxonomy.from_concepts([Concept("a", "bell \x07")], [])
    with pytest.raises(InputError, match=r"XML cannot hold the character U\+0007"):
        taxonomy.write(tmp_path / "x.rdf")
    assert not list(tmp_path.iterdir())
    taxonomy.write(tmp_path / "x.ttl")
    assert Taxonomy.read(tmp_path / "x.ttl").names == ("bell \x07",)


def test_without_the_library_the_error_says_what_to_install(
    tmp_path: Path, animals: Taxonomy, monkeypatch: pytest.MonkeyPatch
) -> None:
    animals.write(tmp_path / "x.ttl")
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    rdf_terms.oxigraph.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"taxosphere\[rdf\]"):
            Taxonomy.read(tmp_path / "x.ttl")
        with pytest.raises(MissingExtra, match=r"taxosphere\[rdf\]"):
            animals.write(tmp_path / "y.ttl")
        animals.write(tmp_path / "x.obo")
        assert len(Taxonomy.read(tmp_path / "x.obo")) == len(animals)
    finally:
        rdf_terms.oxigraph.cache_clear()
    assert not (tmp_path / "y.ttl").exists()


@pytest.mark.parametrize("value", ['""', '"abc"', '"<http://x.y/z>"', "<http://x.y/z>", '"a"@en', '"\\"a\\""', '"a" b'])
def test_quotation_marks_of_a_foreign_value_stay(tmp_path: Path, value: str) -> None:
    given = Concept("http://x.org/1", "a", extras=(("http://x.org/says", value),))
    Taxonomy.from_concepts([given], []).write(tmp_path / "x.ttl")
    assert Taxonomy.read(tmp_path / "x.ttl").concept(0) == given


BROKEN = """<?xml version="1.0"?>
<!-- <a b="c
d"> -->
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
<rdfs:Class rdf:about="http://x/a" rdfs:label="one
two&#10;three\tfour > five"
  rdfs:isDefinedBy='six
  "seven"'><rdfs:comment>x
y</rdfs:comment><rdfs:seeAlso><![CDATA[<a b="c
d">]]></rdfs:seeAlso></rdfs:Class>
<rdfs:Class rdf:about="http://x/b"><rdfs:subClassOf rdf:resource="http://x/a"/></rdfs:Class>
</rdf:RDF>
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_line_ends_and_attributes_of_rdf_xml_are_what_xml_makes_of_them(tmp_path: Path, ends: str) -> None:
    rdflib = pytest.importorskip("rdflib")
    (tmp_path / "x.rdf").write_bytes(BROKEN.replace("\n", ends).encode())
    taxonomy = Taxonomy.read(tmp_path / "x.rdf")
    assert taxonomy.names[0] == "one two\nthree four > five"
    assert taxonomy.source is not None
    assert taxonomy.source.lines.tolist() == [8, 11]  # an element is met at the end of its first tag
    taxonomy.write(tmp_path / "x.nt")
    graphs = [rdflib.Graph().parse(str(tmp_path / name)) for name in ("x.rdf", "x.nt")]
    assert set(graphs[0]) == set(graphs[1])
