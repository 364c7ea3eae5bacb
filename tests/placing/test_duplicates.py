from __future__ import annotations

import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.placing.duplicates import NameIndex, fold


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
    "names",
    ["C++ C C#", "A+ A-", "CD4+ CD4-", "<18 >18", "1.5 5.1", "F♯ F♭", "दान दिन", "กิน กัน", "かぎ かき", "мой мои"],
)
def test_what_only_looks_like_spelling_tells_names_apart(names: str) -> None:
    folded = [fold(name) for name in names.split()]
    assert len(set(folded)) == len(folded)
