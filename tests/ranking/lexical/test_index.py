from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxosphere import Concept
from taxosphere.ranking.features.pool import Pool, SparseColumn, SparseRows
from taxosphere.ranking.lexical.index import (
    VERSION,
    BagOfWords,
    LexicalIndex,
    StackedMatrix,
    count_feature,
    share_feature,
)
from taxosphere.ranking.lexical.matching import LexicalScores, definition_mentions, name_mentions
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.lexical.tokens import BagBuilder, ConceptTokens


def bag_of(bags: list[list[str]]) -> BagOfWords:
    builder = BagBuilder()
    builder.extend(bags)
    return builder.build()


def test_rare_words_weigh_more() -> None:
    bag = bag_of([["sea", "bird"], ["song", "bird"], ["bird"]])
    weight = {word: float(bag.weights[column]) for word, column in bag.columns.items()}
    np.testing.assert_allclose(weight["bird"], np.log(4 / 4) + 1e-3, atol=1e-6)
    np.testing.assert_allclose(weight["sea"], np.log(4 / 2) + 1e-3, atol=1e-6)


def test_unknown_words_lengthen_a_query_and_match_nothing() -> None:
    bag = bag_of([["sea", "bird"], ["stone"]])
    known = bag.encode([["sea"]])
    mixed = bag.encode([["sea", "qwerty", "asdf"]])
    assert known.n_unknown.tolist() == [0]
    assert mixed.n_unknown.tolist() == [2]
    alone = bag.unit_rows(*known).matrix(bag.width).toarray()
    diluted = bag.unit_rows(*mixed).matrix(bag.width).toarray()
    np.testing.assert_allclose(np.linalg.norm(alone), 1, rtol=1e-6)
    expected = bag.weights[bag.columns["sea"]] / np.sqrt(
        bag.weights[bag.columns["sea"]] ** 2 + 2 * bag.unknown_weight**2
    )
    np.testing.assert_allclose(diluted.max(), expected, rtol=1e-5)


def test_shares_of_a_word_below_each_concept_by_hand() -> None:
    # Concepts 0 and 1 are parents; 2 and 3 are children of 0, 4 is one of 1. "red" is the head of 2, 3 and 4.
    tokens = ConceptTokens.parse(Concept(name, name) for name in ("a", "b", "dark red", "light red", "pale red"))
    children = sparse.csr_array((np.ones(3, np.float32), ([0, 0, 1], [2, 3, 4])), shape=(5, 5))
    index = LexicalIndex(tokens, children)
    bags = {name: bag.encode([["red"]]) for name, bag in index.bags.items()}
    found = LexicalScores(index, bags).at(Pool.whole(1, 5))
    np.testing.assert_allclose(found[share_feature("name head")], [2 / 4, 1 / 4, 0, 0, 0])
    np.testing.assert_allclose(found[count_feature("name head")], np.log1p([2, 1, 0, 0, 0]), rtol=1e-6)


def _index(*names: str) -> LexicalIndex:
    tokens = ConceptTokens.parse(Concept(name, name) for name in names)
    return LexicalIndex(tokens, sparse.csr_array((len(names), len(names)), dtype=np.float32))


def _rows(found: dict[str, SparseColumn], count: int, size: int) -> dict[str, np.ndarray]:
    whole = {name: np.zeros(count * size, np.float32) for name in found}
    for name, few in found.items():
        whole[name][few.keys] = few.values
    return {name: values.reshape(count, size) for name, values in whole.items()}


def test_one_product_with_a_stack_is_the_product_with_each_part() -> None:
    rng = np.random.default_rng(0)
    parts = {name: rng.integers(0, 3, (height, 5)).astype(np.float32) for name, height in (("a", 4), ("b", 7))}
    asked = {name: rng.integers(0, 2, (3, height)).astype(np.float32) for name, height in (("b", 7), ("a", 4))}
    stack = StackedMatrix.stack({name: sparse.csr_array(part) for name, part in parts.items()})
    ones = {name: SparseRows.of_ones(np.flatnonzero(row).tolist() for row in rows) for name, rows in asked.items()}
    found = (stack.arrange(ones).matrix(11) @ stack.matrix).toarray()
    expected = np.stack([asked["b"] @ parts["b"], asked["a"] @ parts["a"]], axis=1)  # (queries, names, 5)
    np.testing.assert_allclose(found.reshape(3, 2, 5), expected)


_SEED = [
    Concept("a", "Sea birds", "birds that live by the sea", ("seafowl",)),
    Concept("b", "!", "a name of no words", ("mark",)),
    Concept("c", "duck", "duck is a water bird", ("sea birds", "ente")),
    Concept("d", "Vogel, großer", ""),
    Concept("e", "bird"),
]


def _same(one: ConceptTokens, other: ConceptTokens) -> None:
    for left, right in zip((*one.bags.values(), one.name_keys), (*other.bags.values(), other.name_keys), strict=True):
        assert list(left.columns.items()) == list(right.columns.items())
        assert left.unknown_weight == right.unknown_weight
        for mine, theirs in zip((left.weights, *left.rows), (right.weights, *right.rows), strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
    assert one.name_lengths.tolist() == other.name_lengths.tolist()
    assert one.positions_by_name() == other.positions_by_name()
    assert one.name_counts().tolist() == other.name_counts().tolist()


@given(st.lists(st.integers(0, len(_SEED) - 1), unique=True))
def test_words_of_some_concepts_are_those_read_from_them_alone(kept: list[int]) -> None:
    _same(ConceptTokens.parse(_SEED).take(np.array(kept, np.int64)), ConceptTokens.parse(_SEED[i] for i in kept))


@pytest.mark.parametrize("seed", [_SEED, [Concept("x", "?")]])
def test_words_survive_as_arrays(seed: list[Concept]) -> None:
    words = ConceptTokens.parse(seed)
    _same(ConceptTokens.from_arrays(words.to_arrays()), words)


def test_concepts_by_name() -> None:
    words = ConceptTokens.parse(_SEED)
    assert words.positions_by_name() == {
        "sea bird": [0, 2],
        "seafowl": [0],
        "mark": [1],
        "duck": [2],
        "ente": [2],
        "großer vogel": [3],
        "bird": [4],
    }
    assert words.name_counts().tolist() == [2, 1, 1, 1, 1]  # what has no words shares its name with nobody
    assert words.name_lengths.tolist() == [2, 0, 1, 2, 1]


def test_other_rules_for_words_have_another_version() -> None:
    """Stored words would not match those of a query: raise `VERSION` along with the digest."""
    arrays = ConceptTokens.parse(_SEED).to_arrays()
    digest = sha256(b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))).hexdigest()
    assert (VERSION, digest[:16]) == (2, "939e7a88753248f9")


def test_names_within_names() -> None:
    lexical_index = _index("bird", "sea", "cost", "living", "sea bird")
    asked = [
        parse_concept(Concept("q", "arctic sea birds")),
        parse_concept(Concept("r", "cost of living")),
        parse_concept(Concept("s", "bird")),
    ]
    found = _rows(name_mentions(lexical_index, asked, 5), 3, 5)
    third = 1 / 3
    np.testing.assert_allclose(found["contained in the query's name"][0], [third, third, 0, 0, 2 * third], rtol=1e-6)
    np.testing.assert_allclose(found["at the end of the query's name"][0], [third, 0, 0, 0, 2 * third], rtol=1e-6)
    np.testing.assert_allclose(found["head of the query's name"][1], [0, 0, 1, 0, 0])
    np.testing.assert_allclose(found["at the end of the query's name"][1], [0, 0, 0, third, 0], rtol=1e-6)
    assert found["same name"][2].tolist() == [1, 0, 0, 0, 0]
    assert found["contained in the query's name"][2].tolist() == [0, 0, 0, 0, 0]


def test_names_within_definitions() -> None:
    lexical_index = _index("bird", "water", "feather")
    asked = [parse_concept(Concept("q", "duck", "duck is a water bird with feathers, a bird"))]
    found = _rows(definition_mentions(lexical_index, asked, 3), 1, 3)
    # words: a water bird with feather a bird
    np.testing.assert_allclose(found["early in the query's definition"][0], [1 / 1.4, 1 / 1.2, 1 / 1.8], rtol=1e-6)
    assert found["in the definition's first phrase"][0].tolist() == [1, 1, 0]
    assert found["end of the definition's first phrase"][0].tolist() == [1, 0, 0]


def test_concepts_of_one_name_are_all_mentioned_and_counted() -> None:
    seed = [Concept("a", "break"), Concept("b", "break"), Concept("c", "cut")]
    lexical_index = LexicalIndex(ConceptTokens.parse(seed), sparse.csr_array((3, 3), dtype=np.float32))
    assert lexical_index.name_counts.tolist() == [2, 2, 1]
    asked = [parse_concept(Concept("q", "snap", "snap is to break suddenly"))]
    found = _rows(definition_mentions(lexical_index, asked, 3), 1, 3)
    assert found["end of the definition's first phrase"][0].tolist() == [0, 0, 0]
    assert found["in the definition's first phrase"][0].tolist() == [1, 1, 0]


def test_a_concept_is_known_by_its_synonyms_as_by_its_name() -> None:
    seed = [Concept("a", "neoplasm", "", ("tumor", "tumour")), Concept("b", "eye")]
    lexical_index = LexicalIndex(ConceptTokens.parse(seed), sparse.csr_array((2, 2), dtype=np.float32))
    asked = [
        parse_concept(Concept("q", "eye tumors", "a tumour of the eye")),
        parse_concept(Concept("r", "retinoblastoma", "", ("cancer of the retina", "tumor"))),
    ]
    names = _rows(name_mentions(lexical_index, asked, 2), 2, 2)
    assert names["at the end of the query's name"][0].tolist() == [0.5, 0]
    assert names["same name"].tolist() == [[0, 0], [1, 0]]
    assert _rows(definition_mentions(lexical_index, asked, 2), 2, 2)["end of the definition's first phrase"][
        0
    ].tolist() == [1, 0]
    texts = lexical_index.bags["words"]
    assert {word for word, column in texts.columns.items() if column in texts.rows.columns[: texts.rows.ends[1]]} == {
        "neoplasm",
        "tumor",
        "tumour",
    }


def test_synonyms_change_nothing_where_there_are_none() -> None:
    plain, repeated = Concept("a", "sea bird", "a bird"), Concept("a", "sea bird", "a bird", ("Sea Birds",))
    assert parse_concept(plain) == parse_concept(repeated)  # a synonym of the same words says nothing new
    assert parse_concept(plain).name_words == parse_concept(plain).name
