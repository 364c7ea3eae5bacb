from __future__ import annotations

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.placing.near_duplicates import HOW, LEAST, NearDuplicates, letters_shared, misspelt

WORDS = "lantern kettle hammer violin basket ladder mirror saddle pillow carpet bottle candle helmet".split()


def _near(names: list[list[str]]) -> NearDuplicates:
    """A parent for each list of names."""
    parents = [f"group {i}" for i in range(len(names))]
    edges = [(parent, name) for parent, row in zip(parents, names, strict=True) for name in row]
    taxonomy = Taxonomy.from_edges(edges)
    encoder = GramEncoder()
    return NearDuplicates(taxonomy, encode_text_vectors(encoder, list(taxonomy.concepts())), encoder)


def _probability(near: NearDuplicates, name: str, group: int) -> dict[str, float]:
    query = Concept("x", name)
    asked = encode_text_vectors(GramEncoder(), [query])
    position = near._taxonomy.position(f"group {group}")
    matches = near.find([query], asked, np.array([position]))[0]
    assert all(match.how == HOW and match.probability >= LEAST for match in matches)
    return {match.id: match.probability for match in matches}


def test_a_misspelt_name_is_found_where_siblings_differ_and_not_where_they_look_misspelt() -> None:
    """The same query and the same name: in one taxonomy siblings are other words, in the other variants of one word."""
    apart = [[f"{one} {other}" for one in WORDS if one != other] for other in WORDS]
    alike = [[f"{word[:i]}x{word[i:]} {word}" for i in range(len(word))] for word in WORDS]
    query = "lantern ketlte"
    assert _probability(_near(apart), query, WORDS.index("kettle")).get("lantern kettle", 0.0) > 0.5
    alike[1].append("lantern kettle")
    assert _probability(_near(alike), query, 1).get("lantern kettle", 0.0) < 0.5


def test_a_broader_or_narrower_name_is_no_duplicate() -> None:
    apart = [[f"{one} {other}" for one in WORDS if one != other] for other in WORDS]
    assert "lantern kettle" not in _probability(_near(apart), "old lantern kettle", WORDS.index("kettle"))


def test_a_small_taxonomy_takes_the_usual_model() -> None:
    near = _near([["lantern", "kettle"], ["hammer", "violin"]])
    assert near.different()
    assert near.same() == []
    assert _probability(near, "something else", 0) == {}


def test_letters_are_compared_with_the_nearest_name() -> None:
    assert letters_shared("gull", ["Gull", "owl"]) == 1.0
    assert letters_shared("gull", ["owl"]) < 0.3
    assert letters_shared("abc", ["abd"]) == pytest.approx(2 * 2 / (4 + 4))


def test_a_misspelt_name_has_the_same_letters_in_another_order() -> None:
    assert misspelt("sea eagle") == "sea egale"
    assert sorted(misspelt("protein structure")) == sorted("protein structure")
    assert np.count_nonzero([a != b for a, b in zip(misspelt("violin"), "violin", strict=True)]) == 2
