from __future__ import annotations

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.placing.duplicates import NameIndex, fold, namespace, new_id


@pytest.fixture(scope="module")
def index() -> NameIndex:
    concepts = [
        Concept("1", "Sea Bird", synonyms=("marine bird",)),
        Concept("2", "puffin", synonyms=("Atlantic puffin",)),
        Concept("3", "glass"),
    ]
    return NameIndex(Taxonomy.from_concepts(concepts, [("1", "2")]))


@pytest.mark.parametrize(
    ("concept", "position", "how"),
    [
        (Concept("x", "sea bird"), 0, "same name"),
        (Concept("x", "Sea-birds"), 0, "same name, spelled differently"),
        (Concept("x", "bird, sea"), 0, "same name, spelled differently"),
        (Concept("x", "Marine Birds"), 0, "its name is a synonym there"),
        (Concept("x", "Fratercula", synonyms=("puffins",)), 1, "its synonym is the name there"),
        (Concept("x", "Fratercula", synonyms=("atlantic PUFFIN",)), 1, "they share a synonym"),
    ],
)
def test_finds_the_same_concept_under_other_spellings(
    index: NameIndex, concept: Concept, position: int, how: str
) -> None:
    matches = index.find(concept)
    assert [(m.position, m.how) for m in matches] == [(position, how)]


@pytest.mark.parametrize("name", ["bird", "sea", "glas", "—", "seabirds"])
def test_leaves_different_names_alone(index: NameIndex, name: str) -> None:
    assert index.find(Concept("x", name)) == ()


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
    ("ids", "name", "expected"),
    [
        (("animal", "bird"), "sea eagle", "sea eagle"),
        (("http://x.org/tax#b1", "http://x.org/tax#b2"), "sea eagle", "http://x.org/tax#sea_eagle"),
        (("GO:0001", "GO:0002"), "sea eagle", "GO:sea_eagle"),
        (("CHEBI:0001", "MY:1", "MY:2"), "sea eagle", "MY:sea_eagle"),
        (("CHEBI:0001", *(f"MY:{i}" for i in range(5000))), "sea eagle", "MY:sea_eagle"),
        (("http://x.org/b1", "bird", "duck"), "sea eagle", "sea eagle"),
        ((), "sea eagle", "sea eagle"),
    ],
)
def test_new_ids_follow_the_style_that_is_there(ids: tuple[str, ...], name: str, expected: str) -> None:
    space = namespace(ids)
    assert new_id(space, set(ids).__contains__, name) == expected
    assert new_id(space, {*ids, expected}.__contains__, name) == f"{expected}_2"


@pytest.mark.parametrize(
    "names",
    ["C++ C C#", "A+ A-", "CD4+ CD4-", "<18 >18", "1.5 5.1", "F♯ F♭", "दान दिन", "กิน กัน", "かぎ かき", "мой мои"],
)
def test_what_only_looks_like_spelling_tells_names_apart(names: str) -> None:
    folded = [fold(name) for name in names.split()]
    assert len(set(folded)) == len(folded)


def test_an_id_keeps_the_vowel_signs_of_a_name() -> None:
    assert new_id("X:", set().__contains__, "दिन और रात") == "X:दिन_और_रात"
