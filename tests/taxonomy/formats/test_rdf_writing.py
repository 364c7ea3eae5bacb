"""RDF written back, compared triple by triple with rdflib: nothing is lost, nothing made up, the text stays."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taxosphere import Concept, Taxonomy
from taxosphere.taxonomy.formats import registry
from taxosphere.taxonomy.formats.io.options import ReadOptions, WriteOptions

rdflib = pytest.importorskip("rdflib")
compare = pytest.importorskip("rdflib.compare")
pytest.importorskip("pyoxigraph")
pytestmark = [  # rdflib warns of its own parts
    pytest.mark.filterwarnings("ignore:Dataset:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:ConjunctiveGraph:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:NTSerializer:UserWarning"),
]

# Everything that earlier versions lost or made up: alternative labels in several languages, a concept without a label,
# edges in one direction only, other types, a repeated label, lists, annotated axioms.
THESAURUS = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix dct: <http://purl.org/dc/terms/> .
@prefix ex: <http://example.org/zoo/> .
@base <http://example.org/base/> .
# a comment
ex:scheme a skos:ConceptScheme ; dct:title "Zoo"@en ; skos:hasTopConcept ex:animal .

ex:animal a skos:Concept , ex:Kind ; skos:inScheme ex:scheme ; skos:topConceptOf ex:scheme ;
  skos:prefLabel "Tier"@de, "animal"@en ; skos:altLabel "beast"@en, "Getier"@de, "beast", "brute"@en-GB ;
  skos:hiddenLabel "beast"@en ; skos:definition "a living thing"@en ; skos:narrower ex:bird , ex:unnamed .
ex:bird a skos:Concept ; skos:prefLabel "bird"@en ; skos:altLabel "bird"@en ; skos:broader ex:animal ;
  skos:scopeNote [ dct:creator "someone" ; dct:subject ( ex:a "b" 1.5 ) ] ; dct:created "2020-01-01" .
ex:fish skos:broader ex:animal ; skos:prefLabel "fish"@en , "fish" .
ex:unnamed skos:related ex:fish .
ex:group a skos:Collection ; skos:prefLabel "pets"@en ; skos:member ex:bird , ex:fish .
<relative> a skos:Concept ; skos:prefLabel "relative"@en ; skos:broader ex:fish .
"""
ANIMAL, BIRD, FISH = (f"http://example.org/zoo/{name}" for name in ("animal", "bird", "fish"))
SUFFIXES = {".ttl": "turtle", ".nt": "nt", ".rdf": "xml", ".jsonld": "json-ld", ".nq": "nquads", ".trig": "trig"}


def graph_of(path: Path) -> rdflib.Graph:
    """Every triple as rdflib reads it, whatever graph it stands in; anonymous nodes canonical."""
    dataset = rdflib.Dataset()
    text = path.read_text(encoding="utf-8")
    dataset.parse(data=text, format=SUFFIXES[path.suffix], publicID="file:///in")
    graph = rdflib.Graph()
    for subject, predicate, value, _ in dataset.quads():
        graph.add((subject, predicate, value))
    return graph


def same(first: rdflib.Graph, second: rdflib.Graph) -> bool:
    return bool(compare.isomorphic(first, second))


@pytest.fixture(params=SUFFIXES)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The thesaurus in every syntax, written by rdflib."""
    path = tmp_path / f"in{request.param}"
    if request.param == ".ttl":
        path.write_text(THESAURUS, encoding="utf-8")
    else:
        graph = rdflib.Dataset() if request.param in (".nq", ".trig") else rdflib.Graph()
        part = graph.graph(rdflib.URIRef("http://example.org/g")) if request.param in (".nq", ".trig") else graph
        part.parse(data=THESAURUS, format="turtle")
        graph.serialize(path, format=SUFFIXES[request.param])
    return path


@pytest.mark.parametrize("detour", [False, True])
def test_nothing_changed_is_the_same_bytes(source: Path, detour: bool) -> None:
    taxonomy = Taxonomy.read(source)
    if detour:
        taxonomy.write(source.parent / "native")
        taxonomy = Taxonomy.read(source.parent / "native")
    out = source.with_stem("out")
    taxonomy.write(out)
    assert out.read_bytes() == source.read_bytes()


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_another_syntax_has_the_same_triples(source: Path, suffix: str) -> None:
    out = source.with_name(f"out{suffix}")
    Taxonomy.read(source).write(out)
    if suffix in (".nq", ".trig") and suffix != source.suffix:
        assert len(graph_of(out)) == len(graph_of(source))
    assert same(graph_of(out), graph_of(source))


def test_a_new_concept_adds_its_triples_and_nothing_else(source: Path) -> None:
    extras = (("created_by", "me"), ("creation_date", "2026-01-02"), ("confidence", "0.93"), ("change_note", "new"))
    new = Concept("http://example.org/zoo/duck", 'a "duck" & <co>', "quacks", ("drake",), (), extras)
    out = source.with_stem("out")
    Taxonomy.read(source).add([new], [(BIRD, new.id)]).write(out)
    before, after = graph_of(source), graph_of(out)
    expected = rdflib.Graph()
    expected += before
    expected.parse(
        data=f"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> . @prefix dct: <http://purl.org/dc/terms/> .
        <{new.id}> a skos:Concept ; skos:prefLabel "a \\"duck\\" & <co>"@en ; skos:definition "quacks"@en ;
          skos:altLabel "drake"@en ; skos:broader <{BIRD}> ; dct:creator "me" ;
          dct:created "2026-01-02"^^<http://www.w3.org/2001/XMLSchema#date> ;
          skos:changeNote "new" , "confidence 0.93" .""",
        format="turtle",
    )
    assert same(after, expected)
    again = Taxonomy.read(out)
    assert again.concept(again.position(new.id)) == replace(new, extras=again.extras[again.position(new.id)])
    assert sorted(again.extras[again.position(new.id)]) == sorted(extras)
    if source.suffix != ".jsonld":
        lines = list(difflib.ndiff(source.read_text("utf-8").split("\n"), out.read_text("utf-8").split("\n")))
        assert not [line for line in lines if line.startswith("- ")]


def with_row(taxonomy: Taxonomy, id: str, **columns: object) -> Taxonomy:
    row, changed = taxonomy.position(id), {}
    for name, value in columns.items():
        values = list(getattr(taxonomy, name))
        values[row] = value
        changed[name] = tuple(values)
    return replace(taxonomy, **changed)


def moved(taxonomy: Taxonomy) -> Taxonomy:
    edges = [edge for edge in taxonomy.edges() if edge != (ANIMAL, BIRD)]
    return Taxonomy.from_concepts(taxonomy.concepts(), [*edges, (FISH, BIRD)], taxonomy.meta)


SKOS = "http://www.w3.org/2004/02/skos/core#"
CHANGES: dict[str, tuple[Callable[[Taxonomy], Taxonomy], set[str], set[str]]] = {
    "a name": (
        lambda t: with_row(t, BIRD, names="birds"),
        {f'<{BIRD}> <{SKOS}prefLabel> "bird"@en'},
        {f'<{BIRD}> <{SKOS}prefLabel> "birds"@en'},
    ),
    "a definition": (
        lambda t: with_row(t, ANIMAL, descriptions="lives"),
        {f'<{ANIMAL}> <{SKOS}definition> "a living thing"@en'},
        {f'<{ANIMAL}> <{SKOS}definition> "lives"@en'},
    ),
    "a new definition": (
        lambda t: with_row(t, FISH, descriptions="swims"),
        set(),
        {f'<{FISH}> <{SKOS}definition> "swims"@en'},
    ),
    "a synonym more": (
        lambda t: with_row(t, FISH, synonyms=("carp",)),
        set(),
        {f'<{FISH}> <{SKOS}altLabel> "carp"@en'},
    ),
    "a synonym less": (
        lambda t: with_row(t, ANIMAL, synonyms=("beast", "brute")),
        {f'<{ANIMAL}> <{SKOS}altLabel> "Getier"@de'},
        set(),
    ),
    "a parent": (
        moved,
        {f"<{BIRD}> <{SKOS}broader> <{ANIMAL}>", f"<{ANIMAL}> <{SKOS}narrower> <{BIRD}>"},
        {f"<{BIRD}> <{SKOS}broader> <{FISH}>"},
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_changes_its_triples(source: Path, change: str) -> None:
    edit, gone, new = CHANGES[change]
    out = source.with_stem("out")
    edit(Taxonomy.read(source)).write(out)

    def lines(path: Path) -> set[str]:
        triples = (triple for triple in graph_of(path) if not any(isinstance(t, rdflib.BNode) for t in triple))
        return {" ".join(term.n3() for term in triple) for triple in triples}

    before, after = lines(source), lines(out)
    assert (before - after, after - before) == (gone, new)
    assert len(graph_of(out)) == len(graph_of(source)) - len(gone) + len(new)


def test_a_removed_concept_leaves_no_triple(source: Path) -> None:
    taxonomy = Taxonomy.read(source)
    out = source.with_stem("out")
    mask = np.array([id != BIRD for id in taxonomy.ids])
    taxonomy.keep(mask).write(out)
    node = rdflib.URIRef(BIRD)
    left = [triple for triple in graph_of(out) if node in triple]
    assert not left
    nodes = [t for triple in graph_of(out) for t in triple if isinstance(t, rdflib.BNode)]
    assert not nodes


def test_collections_are_parents_by_choice(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(THESAURUS, encoding="utf-8")
    plain = Taxonomy.read(tmp_path / "x.ttl")
    assert "1 collection not read as concepts; --relations member does so" in plain.reading_notes
    taxonomy = registry.read(tmp_path / "x.ttl", ReadOptions(relations=("member",)))
    assert set(taxonomy.children("http://example.org/zoo/group")) == {BIRD, FISH}
    taxonomy.write(tmp_path / "y.ttl")
    assert (tmp_path / "y.ttl").read_text("utf-8") == THESAURUS


def test_a_top_concept_is_a_concept(tmp_path: Path) -> None:
    text = f"<http://x/a> <{SKOS}topConceptOf> <http://x/s> .\n<http://x/s> <{SKOS}hasTopConcept> <http://x/b> .\n"
    (tmp_path / "x.nt").write_text(text, encoding="utf-8")
    assert set(Taxonomy.read(tmp_path / "x.nt").ids) == {"http://x/a", "http://x/b"}


@pytest.mark.parametrize(("language", "names"), [("de", {"Tier", "bird", "fish"}), ("DE", {"Tier", "bird", "fish"})])
def test_the_language_of_labels_by_choice(tmp_path: Path, language: str, names: set[str]) -> None:
    (tmp_path / "x.ttl").write_text(THESAURUS, encoding="utf-8")
    taxonomy = registry.read(tmp_path / "x.ttl", ReadOptions(language=language))
    assert names <= set(taxonomy.names)
    assert "labels in the language 'de'; others: en (4), none stated (1)" in taxonomy.reading_notes
    new = Concept("http://example.org/zoo/duck", "Ente")
    taxonomy.add([new], [(ANIMAL, new.id)]).write(tmp_path / "y.ttl")
    assert '"Ente"@de' in (tmp_path / "y.ttl").read_text("utf-8")


def test_a_language_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(THESAURUS, encoding="utf-8")
    with pytest.raises(registry.InputError, match=r"no label is in the language 'fr'; .*: en \(4\), de \(1\)"):
        registry.read(tmp_path / "x.ttl", ReadOptions(language="fr"))


def test_the_vocabulary_by_choice(tmp_path: Path) -> None:
    (tmp_path / "x.ttl").write_text(THESAURUS, encoding="utf-8")
    taxonomy = Taxonomy.read(tmp_path / "x.ttl")
    registry.write(taxonomy, tmp_path / "y.ttl", WriteOptions(as_="owl"))
    assert "rdfs:subClassOf" in (tmp_path / "y.ttl").read_text("utf-8")
    registry.write(taxonomy, tmp_path / "y.owl", WriteOptions(as_="skos"))
    assert "subClassOf" not in (tmp_path / "y.owl").read_text("utf-8")


names = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(str.strip)


@pytest.mark.slow
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=names, definition=names, synonym=names, suffix=st.sampled_from([".ttl", ".rdf", ".nq", ".trig", ".nt"]))
def test_any_text_is_added_soundly(tmp_path: Path, name: str, definition: str, synonym: str, suffix: str) -> None:
    path, out = tmp_path / f"x{suffix}", tmp_path / f"y{suffix}"
    graph = rdflib.Dataset() if suffix in (".nq", ".trig") else rdflib.Graph()
    (graph.default_graph if suffix in (".nq", ".trig") else graph).parse(data=THESAURUS, format="turtle")
    graph.serialize(path, format=SUFFIXES[suffix])
    new = Concept("http://example.org/zoo/duck", name, definition, (synonym,))
    Taxonomy.read(path).add([new], [(BIRD, new.id)]).write(out)
    assert len(graph_of(out)) == len(graph_of(path)) + 5
    again = Taxonomy.read(out)
    assert again.concept(again.position(new.id)) == new
