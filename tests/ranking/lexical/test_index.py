from __future__ import annotations

from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from taxosphere import Concept
from taxosphere.ranking.features.layout import SparseColumn
from taxosphere.ranking.lexical.index import (
    VERSION,
    Association,
    BagOfWords,
    ConceptTokens,
    LexicalIndex,
    StackedMatrix,
)
from taxosphere.ranking.lexical.mentions import definition_mentions, name_mentions
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.lexical.sparse_rows import SparseRows


def test_rare_words_weigh_more() -> None:
    bag = BagOfWords.build([["sea", "bird"], ["song", "bird"], ["bird"]])
    weight = {word: float(bag.weights[column]) for word, column in bag.columns.items()}
    np.testing.assert_allclose(weight["bird"], np.log(4 / 4) + 1e-3, atol=1e-6)
    np.testing.assert_allclose(weight["sea"], np.log(4 / 2) + 1e-3, atol=1e-6)


def test_unknown_words_lengthen_a_query_and_match_nothing() -> None:
    bag = BagOfWords.build([["sea", "bird"], ["stone"]])
    known, none_strange = bag.encode([["sea"]])
    mixed, strange = bag.encode([["sea", "qwerty", "asdf"]])
    assert none_strange.tolist() == [0]
    assert strange.tolist() == [2]
    alone = bag.unit(known, none_strange).matrix(bag.width).toarray()
    diluted = bag.unit(mixed, strange).matrix(bag.width).toarray()
    np.testing.assert_allclose(np.linalg.norm(alone), 1, rtol=1e-6)
    expected = bag.weights[bag.columns["sea"]] / np.sqrt(bag.weights[bag.columns["sea"]] ** 2 + 2 * bag.unknown**2)
    np.testing.assert_allclose(diluted.max(), expected, rtol=1e-5)


def test_shares_of_a_word_below_each_concept_by_hand() -> None:
    # Concepts 0 and 1 are parents; 2, 3 hang below 0 and 4 below 1. "red" is used by 2, 3 and 4.
    bag = BagOfWords.build([["a"], ["b"], ["red"], ["red"], ["red"]])
    children = sparse.csr_array((np.ones(3, np.float32), ([0, 0, 1], [2, 3, 4])), shape=(5, 5))
    association = Association.build(bag, children)
    red = bag.columns["red"]
    assert association.counts.toarray()[red].tolist() == [2, 1, 0, 0, 0]
    np.testing.assert_allclose(association.shares.toarray()[red], [2 / 4, 1 / 4, 0, 0, 0])


def _lexicon(*names: str) -> LexicalIndex:
    tokens = ConceptTokens.of(Concept(name, name) for name in names)
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
    stack = StackedMatrix.of({name: sparse.csr_array(part) for name, part in parts.items()})
    ones = {name: SparseRows.of_ones(np.flatnonzero(row).tolist() for row in rows) for name, rows in asked.items()}
    found = stack.ask(ones).toarray()
    np.testing.assert_allclose(found, np.concatenate([asked["b"] @ parts["b"], asked["a"] @ parts["a"]]))


_SEED = [
    Concept("a", "Sea birds", "birds that live by the sea", ("seafowl",)),
    Concept("b", "!", "a name of no words", ("mark",)),
    Concept("c", "duck", "duck is a water bird", ("sea birds", "ente")),
    Concept("d", "Vogel, großer", ""),
    Concept("e", "bird"),
]


def _same(one: ConceptTokens, other: ConceptTokens) -> None:
    for left, right in zip((*one.bags.values(), one.keys), (*other.bags.values(), other.keys), strict=True):
        assert list(left.columns.items()) == list(right.columns.items())
        assert left.unknown == right.unknown
        for mine, theirs in zip((left.weights, *left.rows), (right.weights, *right.rows), strict=True):
            np.testing.assert_array_equal(mine, theirs)
            assert mine.dtype == theirs.dtype
    assert one.lengths.tolist() == other.lengths.tolist()
    assert one.places() == other.places()
    assert one.shared().tolist() == other.shared().tolist()


@given(st.lists(st.integers(0, len(_SEED) - 1), unique=True))
def test_words_of_some_concepts_are_those_read_from_them_alone(kept: list[int]) -> None:
    _same(ConceptTokens.of(_SEED).take(np.array(kept, np.int64)), ConceptTokens.of(_SEED[i] for i in kept))


@pytest.mark.parametrize("seed", [_SEED, [Concept("x", "?")]])
def test_words_survive_as_arrays(seed: list[Concept]) -> None:
    words = ConceptTokens.of(seed)
    _same(ConceptTokens.from_arrays(words.to_arrays()), words)


def test_names_and_their_bearers() -> None:
    words = ConceptTokens.of(_SEED)
    assert words.places() == {
        "sea bird": [0, 2],
        "seafowl": [0],
        "mark": [1],
        "duck": [2],
        "ente": [2],
        "großer vogel": [3],
        "bird": [4],
    }
    assert words.shared().tolist() == [2, 1, 1, 1, 1]  # what has no words shares its name with nobody
    assert words.lengths.tolist() == [2, 0, 1, 2, 1]


def test_other_rules_for_words_have_another_version() -> None:
    """Stored words would not match those of a query: raise `VERSION` along with the digest."""
    arrays = ConceptTokens.of(_SEED).to_arrays()
    digest = sha256(b"".join(name.encode() + arrays[name].tobytes() for name in sorted(arrays))).hexdigest()
    assert (VERSION, digest[:16]) == (1, "9709f795bf1b4127")


def test_names_within_names() -> None:
    lexical_index = _lexicon("bird", "sea", "cost", "living", "sea bird")
    asked = [
        parse_concept(Concept("q", "arctic sea birds")),
        parse_concept(Concept("r", "cost of living")),
        parse_concept(Concept("s", "bird")),
    ]
    found = _rows(name_mentions(lexical_index, asked, 5), 3, 5)
    third = 1 / 3
    np.testing.assert_allclose(found["named inside"][0], [third, third, 0, 0, 2 * third], rtol=1e-6)
    np.testing.assert_allclose(found["named at the end"][0], [third, 0, 0, 0, 2 * third], rtol=1e-6)
    np.testing.assert_allclose(found["named as the head"][1], [0, 0, 1, 0, 0])
    np.testing.assert_allclose(found["named at the end"][1], [0, 0, 0, third, 0], rtol=1e-6)
    assert found["same name"][2].tolist() == [1, 0, 0, 0, 0]
    assert found["named inside"][2].tolist() == [0, 0, 0, 0, 0]


def test_names_within_definitions() -> None:
    lexical_index = _lexicon("bird", "water", "feather")
    asked = [parse_concept(Concept("q", "duck", "duck is a water bird with feathers, a bird"))]
    found = _rows(definition_mentions(lexical_index, asked, 3), 1, 3)
    # words: a water bird with feather a bird
    np.testing.assert_allclose(found["mentioned early"][0], [1 / 1.4, 1 / 1.2, 1 / 1.8], rtol=1e-6)
    assert found["in the first phrase"][0].tolist() == [1, 1, 0]
    assert found["ends the first phrase"][0].tolist() == [1, 0, 0]


def test_concepts_of_one_name_are_all_mentioned_and_counted() -> None:
    seed = [Concept("a", "break"), Concept("b", "break"), Concept("c", "cut")]
    lexical_index = LexicalIndex(ConceptTokens.of(seed), sparse.csr_array((3, 3), dtype=np.float32))
    assert lexical_index.shared.tolist() == [2, 2, 1]
    asked = [parse_concept(Concept("q", "snap", "snap is to break suddenly"))]
    found = _rows(definition_mentions(lexical_index, asked, 3), 1, 3)
    assert found["ends the first phrase"][0].tolist() == [0, 0, 0]
    assert found["in the first phrase"][0].tolist() == [1, 1, 0]


def test_a_concept_is_known_by_its_synonyms_as_by_its_name() -> None:
    seed = [Concept("a", "neoplasm", "", ("tumor", "tumour")), Concept("b", "eye")]
    lexical_index = LexicalIndex(ConceptTokens.of(seed), sparse.csr_array((2, 2), dtype=np.float32))
    asked = [
        parse_concept(Concept("q", "eye tumors", "a tumour of the eye")),
        parse_concept(Concept("r", "retinoblastoma", "", ("cancer of the retina", "tumor"))),
    ]
    names = _rows(name_mentions(lexical_index, asked, 2), 2, 2)
    assert names["named at the end"][0].tolist() == [0.5, 0]
    assert names["same name"].tolist() == [[0, 0], [1, 0]]
    assert _rows(definition_mentions(lexical_index, asked, 2), 2, 2)["ends the first phrase"][0].tolist() == [1, 0]
    texts = lexical_index.bags["text"]
    assert {word for word, column in texts.columns.items() if column in texts.rows.columns[: texts.rows.ends[1]]} == {
        "neoplasm",
        "tumor",
        "tumour",
    }


def test_synonyms_change_nothing_where_there_are_none() -> None:
    plain, repeated = Concept("a", "sea bird", "a bird"), Concept("a", "sea bird", "a bird", ("Sea Birds",))
    assert parse_concept(plain) == parse_concept(repeated)  # a synonym of the same words says nothing new
    assert parse_concept(plain).called == parse_concept(plain).name
