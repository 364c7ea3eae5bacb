from __future__ import annotations

import re

import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy
from taxosphere.placing.reasons import MOST_AGAINST, MOST_FOR, _part_of_compound, explain

QUICK = PolarisConfig().with_overrides(
    ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")
)


@pytest.fixture(scope="module")
def model() -> Polaris:
    return Polaris(QUICK).fit(meadow(), encoder=GramEncoder())


def test_sentences_name_their_evidence(model: Polaris) -> None:
    suggestions = model.suggest("green bird", "a bird that is called green")
    first, *others = explain(model.fitted, suggestions)
    assert suggestions[0].name == "bird"
    texts = [reason.text for reason in first if reason.supports]
    assert "its name contains 'bird'" in texts
    assert any("concepts most like it" in text for text in texts)
    assert len(others) == 4


def test_a_definition_is_quoted_where_it_names_the_parent(model: Polaris) -> None:
    suggestions = model.suggest("osprey", "a large bird that lives by the water and eats fish")
    reasons = dict(zip((s.name for s in suggestions), explain(model.fitted, suggestions, most=10)))
    assert "its definition begins with 'a large bird that lives by the …'" in [r.text for r in reasons["bird"]]
    assert "its definition mentions 'fish'" in [r.text for r in reasons["fish"]]


def test_endings_that_names_share_are_counted() -> None:
    """Half of the names below 'tools' end with 'hammer'; the parent's own name says nothing of it."""
    names = [f"{kind} {what}" for what in ("hammer", "saw") for kind in ("red", "big", "old", "tin", "toy", "odd")]
    edges = [("things", "tools"), ("things", "toys, games"), *(("tools", name) for name in names)]
    edges += [("toys, games", f"{kind} ball") for kind in ("red", "big", "old", "tin", "wet", "odd")]
    model = Polaris(QUICK).fit(Taxonomy.from_edges(edges), encoder=GramEncoder())
    suggestions = model.suggest("claw hammer", k=30)
    reasons = dict(zip((s.name for s in suggestions), explain(model.fitted, suggestions, most=30)))
    assert "its name ends with 'hammer', as 6 of 12 names below 'tools' do" in [r.text for r in reasons["tools"]]
    against = [r.text for r in reasons["toys, games"] if not r.supports]
    assert "its name shares no word with 'toys, games' or the names below it" in against


def test_a_synonym_inside_the_name_is_a_reason() -> None:
    concepts = [Concept("x", "X-ray diffraction", synonyms=("crystallography",)), Concept("s", "science")]
    concepts += [Concept(f"m{i}", f"method {i}") for i in range(8)]
    edges = [("s", "x"), *(("s", f"m{i}") for i in range(8))]
    model = Polaris(QUICK).fit(Taxonomy.from_concepts(concepts, edges), encoder=GramEncoder())
    suggestions = model.suggest("protein crystallography", k=10)
    reasons = dict(zip((s.id for s in suggestions), explain(model.fitted, suggestions, most=10)))
    assert "its name contains 'crystallography', a synonym of 'X-ray diffraction'" in [r.text for r in reasons["x"]]


def test_neighbours_are_counted(model: Polaris) -> None:
    """Every concept that is named is a child of the parent, and there are as many as the sentence says."""
    suggestions = model.suggest("green bird", "a bird that is called green")
    taxonomy, counted = model.taxonomy, 0
    for suggestion, reasons in zip(suggestions, explain(model.fitted, suggestions, most=10)):
        for text in (reason.text for reason in reasons if re.match(r"\d+ of the 10 concepts", reason.text)):
            names = re.findall(r"'([^']+)'", text.split("': ")[1])
            children = {taxonomy.names[taxonomy.position(child)] for child in taxonomy.children(suggestion.id)}
            assert set(names) <= children
            assert len(names) == min(int(text.split()[0]), 3)
            counted += 1
    assert counted


def test_reasons_for_come_before_reasons_against_and_none_is_negative(model: Polaris) -> None:
    suggestions = model.suggest("paddle boat", "a boat that is called paddle")
    for reasons in explain(model.fitted, suggestions, most=10):
        sides = [reason.supports for reason in reasons]
        assert sides == sorted(sides, reverse=True)
        assert all(reason.weight >= 0 for reason in reasons)
        assert all("+" not in reason.text and "-0" not in reason.text for reason in reasons)
        assert sum(sides) <= MOST_FOR
        assert len(sides) - sum(sides) <= MOST_AGAINST


def test_a_definition_that_is_not_there_is_not_spoken_of(model: Polaris) -> None:
    for reasons in explain(model.fitted, model.suggest("green bird")):
        assert not any("definition" in reason.text for reason in reasons)


def test_a_compound_word_is_read_by_its_last_part() -> None:
    """'Badteppich' is one word, and ends with what 'Teppiche' is called; 'shares no word' would be read as an error."""
    edges = [("Wohnen", group) for group in ("Teppiche", "Lampen", "Sofas")]
    edges += [("Teppiche", f"{kind}teppiche") for kind in ("Hochflor", "Kurzflor", "Kinder", "Woll", "Sisal")]
    edges += [("Lampen", f"{kind}lampen") for kind in ("Steh", "Tisch", "Decken", "Wand", "Garten")]
    edges += [("Sofas", f"{kind}sofas") for kind in ("Eck", "Schlaf", "Leder", "Stoff", "Kinder")]
    model = Polaris(QUICK).fit(Taxonomy.from_edges(edges), encoder=GramEncoder())
    suggestions = model.suggest("Badteppich", k=20)
    reasons = dict(zip((s.name for s in suggestions), explain(model.fitted, suggestions, most=20)))
    assert "its name contains 'teppich', like 'Teppiche'" in [r.text for r in reasons["Teppiche"] if r.supports]
    assert "its name shares no word with 'Lampen' or the names below it" in [r.text for r in reasons["Lampen"]]
    assert not any("shares no word" in r.text for r in reasons["Wohnen"])


@pytest.mark.parametrize(
    ("compound", "name", "part"),
    [
        ("Badteppich", "Teppiche", "teppich"),
        ("Seidenbettwäsche", "Bettwäsche", "bettwäsche"),
        ("Dining Armchairs", "chair", "chair"),
        ("carpet", "pet", ""),  # too short to mean anything
        ("Teppiche", "Teppich", ""),  # the same word, not a part of it
        ("Teppichreiniger", "Teppiche", ""),  # not at the end: a cleaner, not a carpet
        ("", "Teppiche", ""),
    ],
)
def test_parts_of_compound_words(compound: str, name: str, part: str) -> None:
    assert _part_of_compound(compound, name) == part
