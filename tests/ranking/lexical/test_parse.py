from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxosphere import Concept
from taxosphere.ranking.lexical.parse import (
    definition_of,
    first_phrase_of,
    in_natural_order,
    parse_concept,
    stem,
    stems,
)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("birds", "bird"),
        ("berries", "berry"),
        ("boxes", "box"),
        ("churches", "church"),
        ("leaves", "leaf"),
        ("mice", "mouse"),
        ("glass", "glass"),
        ("virus", "virus"),
        ("analysis", "analysis"),
        ("gas", "gas"),
    ],
)
def test_a_plural_becomes_its_singular_and_other_words_stay(word: str, expected: str) -> None:
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bone diseases, developmental", "developmental bone diseases"),
        ("rna, transfer, leu", "leu transfer rna"),
        ("sea bird", "sea bird"),
        ("one, two, three, four", "one, two, three, four"),
        ("trailing,", "trailing,"),
    ],
)
def test_inverted_headings_are_put_in_natural_order(name: str, expected: str) -> None:
    assert in_natural_order(name) == expected


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("duck", "duck is a waterbird", "a waterbird"),
        ("duck", "the common duck is a waterbird", "a waterbird"),
        ("duck", "a waterbird that quacks", "a waterbird that quacks"),
        ("duck", "a waterbird with feathers that often quacks and is heard far", None),
        ("duck", "", ""),
    ],
)
def test_the_definition_follows_the_copula(name: str, description: str, expected: str | None) -> None:
    found = definition_of(name, description).strip()
    assert found == (description if expected is None else expected)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a large bird of prey", ("large", "bird")),
        ("any of several kinds of waterbirds that dive", ("waterbird",)),
        ("to draw air into the lungs", ("draw", "air")),
        ("the branch of biology that studies birds", ("biology",)),
        ("", ()),
        ("of the", ()),
    ],
)
def test_the_first_phrase_ends_before_a_preposition_or_a_relative(body: str, expected: tuple[str, ...]) -> None:
    assert first_phrase_of(body) == expected


def test_the_head_of_a_name_stands_before_its_preposition() -> None:
    parsed = parse_concept(Concept("x", "Costs of Living", "costs of living are expenses for daily needs"))
    assert parsed.name == ("cost", "of", "living")
    assert (parsed.name_head, parsed.name_start) == ("cost", "cost")
    assert (parsed.first_phrase, parsed.phrase_head, parsed.phrase_start) == (("expense",), "expense", "expense")
    assert parse_concept(Concept("y", "sea bird")).name_head == "bird"


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_can_be_parsed(name: str, description: str) -> None:
    parsed = parse_concept(Concept("x", name or "x", description))
    assert 0 <= parsed.names[0].head <= len(parsed.name)
    assert len(parsed.first_phrase) <= 8
    assert len(parsed.definition) <= 80


def test_vowel_signs_and_accents_that_stand_apart_belong_to_the_word() -> None:
    assert stems("दिन_रात") == ("दिन", "रात")
    assert stems("cafe\u0301 noir") == ("cafe\u0301", "noir")
