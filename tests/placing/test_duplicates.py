from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.placing.duplicates import SURE, Match, NameIndex, weigh_place
from taxosphere.placing.name_keys import fold

OBO = """format-version: 1.2

[Term]
id: X:1
name: cellular anatomical entity

[Term]
id: X:2
name: mitochondrion
is_a: X:1

[Term]
id: X:3
name: obsolete cell
is_obsolete: true
replaced_by: X:1

[Term]
id: X:4
name: obsolete powerhouse
is_obsolete: true
consider: X:2

[Term]
id: X:5
name: obsolete ether
is_obsolete: true
"""


@pytest.fixture(scope="module")
def index() -> NameIndex:
    concepts = [
        Concept("1", "Sea Bird", synonyms=("marine bird",)),
        Concept("2", "puffin", synonyms=("Atlantic puffin",)),
        Concept("3", "glass"),
        Concept("4", "mitochondrion"),
        Concept("5", "magnetic resonance imaging (MRI)"),
        Concept("79", "Improper Neutralization of Input During Web Page Generation ('Cross-site Scripting')"),
        Concept("7", "nuclear magnetic resonance"),
        Concept("8", "nursing homes"),
    ]
    return NameIndex(Taxonomy.from_concepts(concepts, [("1", "2")]))


@pytest.mark.parametrize(
    ("concept", "id", "how"),
    [
        (Concept("x", "sea bird"), "1", "same name"),
        (Concept("x", "Sea-birds"), "1", "same name, spelled differently"),
        (Concept("x", "bird, sea"), "1", "same name, spelled differently"),
        (Concept("x", "seabirds"), "1", "same name, spelled differently"),
        (Concept("x", "mitochondria"), "4", "same name, spelled differently"),
        (Concept("x", "Marine Birds"), "1", "its name is a synonym there"),
        (Concept("x", "Fratercula", synonyms=("puffins",)), "2", "its synonym is the name there"),
        (Concept("x", "MRI"), "5", "same name but for the brackets"),
        (Concept("x", "Magnetic-resonance imaging"), "5", "same name but for the brackets"),
        (Concept("x", "nuclear magnetic resonance (NMR)"), "7", "same name but for the brackets"),
        (Concept("x", "NMR (nuclear magnetic resonance)"), "7", "same name but for the brackets"),
        (Concept("x", "Cross Site Scripting"), "79", "same name but for the brackets"),
        (Concept("x", "Cross-Site Scripting (XSS)"), "79", "same name but for the brackets"),
        (Concept("x", "home nursing"), "8", "same words in another order"),
    ],
)
def test_finds_the_same_concept_under_other_spellings(index: NameIndex, concept: Concept, id: str, how: str) -> None:
    (match,) = index.find(concept)
    assert (match.id, match.how) == (id, how)
    assert match.probability > SURE


@pytest.mark.parametrize(
    ("concept", "id", "how"),
    [
        (Concept("x", "Fratercula", synonyms=("atlantic PUFFIN",)), "2", "they share a synonym"),
        (Concept("x", "mitochondrian"), "4", "same name but for a letter"),
    ],
)
def test_what_different_concepts_may_share_too_is_a_hint(index: NameIndex, concept: Concept, id: str, how: str) -> None:
    (match,) = index.find(concept)
    assert (match.id, match.how) == (id, how)
    assert 0.1 < match.probability < SURE


@pytest.mark.parametrize("name", ["bird", "sea", "glas", "—", "magnetic imaging", "puffin (toy)"])
def test_leaves_different_names_alone(index: NameIndex, name: str) -> None:
    assert index.find(Concept("x", name)) == ()


def test_an_obsolete_concept_leads_to_what_replaced_it(tmp_path: Path) -> None:
    path = tmp_path / "cells.obo"
    path.write_text(OBO)
    index = NameIndex(Taxonomy.read(path))
    found = {name: index.find(Concept("x", name)) for name in ("Cells", "powerhouse", "ether")}
    assert [(m.id, m.how) for m in found["Cells"]] == [("X:1", "replaces the obsolete 'cell'")]
    assert [(m.id, m.how) for m in found["powerhouse"]] == [
        ("X:2", "to be considered instead of the obsolete 'powerhouse'")
    ]
    assert [(m.id, m.how) for m in found["ether"]] == [("X:5", "obsolete, and nothing is said to replace it")]


def test_ways_that_often_mislead_in_a_taxonomy_are_worth_less_there() -> None:
    """Every synonym belongs to two concepts in one taxonomy, to one in the other."""
    apart = [Concept(str(i), f"name {i}", synonyms=(f"other {i}",)) for i in range(200)]
    shared = [Concept(str(i), f"name {i}", synonyms=(f"other {i // 2}",)) for i in range(200)]
    sure, unsure = (
        NameIndex(Taxonomy.from_concepts(concepts, [])).find(Concept("x", "x", synonyms=("other 7",)))
        for concepts in (apart, shared)
    )
    assert len(sure) == 1
    assert sure[0].probability > 0.5
    assert len(unsure) == 2
    assert unsure[0].probability < 0.1


def test_a_match_that_stands_elsewhere_is_less_sure() -> None:
    taxonomy = Taxonomy.from_edges([("root", "data"), ("root", "operation"), ("data", "alignment")])
    match = Match("alignment", "alignment", "same name", 0.8)
    assert weigh_place([match], taxonomy, {"data"}) == (match,)
    assert weigh_place([match], taxonomy, {"alignment", "operation"}) == (match,)
    (elsewhere,) = weigh_place([match], taxonomy, {"operation"})
    assert elsewhere.probability < SURE


def test_an_index_answers_alike_in_another_process() -> None:
    index = NameIndex(Taxonomy.from_edges([("thing", "red bird")]))
    expected = index.find(Concept("x", "Red birds"))
    assert [match.id for match in expected] == ["red bird"]
    assert pickle.loads(pickle.dumps(index)).find(Concept("x", "Red birds")) == expected


def test_fold_keeps_words_that_only_look_plural() -> None:
    assert fold("glass") == "glass"
    assert fold("virus") == "virus"
    assert fold("analysis") == "analysis"
    assert fold("Cafés, open") == fold("open cafe")
    assert fold("Boxes of leaves") == fold("box of leaf")


def test_repeating_names_are_noticed() -> None:
    senses = Taxonomy.from_concepts([Concept(str(i), "run") for i in range(3)], [])
    assert NameIndex(senses).names_repeat
    other = [Concept(str(i), f"thing {i}") for i in range(94)] + [Concept(f"o{i}", "other") for i in range(6)]
    assert not NameIndex(Taxonomy.from_concepts(other, [])).names_repeat  # one name often is not many names
    assert not NameIndex(Taxonomy.from_concepts([Concept("a", "walk"), Concept("b", "run")], [])).names_repeat


@pytest.mark.parametrize(
    "names",
    ["C++ C C#", "A+ A-", "CD4+ CD4-", "<18 >18", "1.5 5.1", "F♯ F♭", "दान दिन", "กิน กัน", "かぎ かき", "мой мои"],
)
def test_what_only_looks_like_spelling_tells_names_apart(names: str) -> None:
    folded = [fold(name) for name in names.split()]
    assert len(set(folded)) == len(folded)


def test_a_stored_index_finds_the_same(index: NameIndex) -> None:
    arrays = {key: values.copy() for key, values in index.to_arrays().items()}
    again = NameIndex.from_arrays(arrays, index._taxonomy)
    for name in ("Sea-birds", "Marine Birds", "MRI", "home nursing", "nothing like it"):
        assert again.find(Concept("x", name)) == index.find(Concept("x", name))
        assert again.is_common(name) == index.is_common(name)


def test_all_concepts_of_one_name_are_found_in_their_order() -> None:
    concepts = [Concept(f"c{i}", name) for i, name in enumerate(["cold", "heat", "Cold", "cold", "draught"])]
    index = NameIndex(Taxonomy.from_concepts(concepts, []))
    assert [match.id for match in index.find(Concept("new", "cold"))] == ["c0", "c2", "c3"]
    assert index.find(Concept("new", "warmth")) == ()
