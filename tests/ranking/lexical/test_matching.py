from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from taxosphere import Concept
from taxosphere.ranking.features import pool as pool_module
from taxosphere.ranking.features.pool import Pool
from taxosphere.ranking.lexical import matching
from taxosphere.ranking.lexical.index import BAGS, EncodedBags, LexicalIndex
from taxosphere.ranking.lexical.matching import LexicalScores
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.lexical.tokens import ConceptTokens

COLOURS, THINGS = ("red", "green", "blue", "pale"), ("stone", "leaf", "river", "hill", "stream")


@pytest.fixture(scope="module")
def index() -> LexicalIndex:
    names = [f"{colour} {thing}" for colour in COLOURS for thing in THINGS]
    concepts = [Concept(name, name, f"a {name.split()[1]} that is {name.split()[0]}") for name in names]
    parent, child = np.repeat(np.arange(4), 4), np.arange(4, 20)
    children = sparse.csr_array((np.ones(16, np.float32), (parent, child)), shape=(20, 20))
    return LexicalIndex(ConceptTokens.parse(concepts), children)


def encoded(index: LexicalIndex) -> dict[str, EncodedBags]:
    asked = [Concept("1", "red stone hill", "a hill of stone"), Concept("2", "stream", ""), Concept("3", "xyz", "")]
    parsed = list(map(parse_concept, asked))
    return {name: bag.encode([BAGS[name](query) for query in parsed]) for name, bag in index.bags.items()}


@pytest.mark.parametrize("most", [0, 5, 20, 1000])
def test_values_of_pairs_count_all_words_however_few_are_read(
    index: LexicalIndex, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "_FEW", 3)
    monkeypatch.setattr(pool_module, "_TABLE", 25)  # a query at a time
    bags = encoded(index)
    pool = Pool(np.sort(np.random.default_rng(0).choice(60, 35, replace=False)), 3, 20)
    exact, some = LexicalScores(index, bags), LexicalScores(index, bags, most)
    expected, found = exact.at(pool), some.at(pool)
    assert expected.keys() == found.keys()
    names = exact.product.names
    whole = exact.product.values.toarray().reshape(3, len(names), 20)
    for number, name in enumerate(names):
        np.testing.assert_allclose(expected[name], whole[pool.row, number, pool.positions], atol=1e-6)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, atol=1e-6)


def test_the_rarest_words_are_read_first(index: LexicalIndex) -> None:
    bags = {name: bag.encode([["stone", "red", "that"]]) for name, bag in index.bags.items()}
    rows = index.matrices.arrange({"words": bags["words"].rows})
    uses = np.diff(index.matrices.matrix.indptr)[rows.columns]
    for most in range(int(uses.sum()) + 2):
        read = index.matrices.rarest(rows, np.array([most]))
        assert uses[read].sum() <= most
        assert not read.any() or uses[read].max() <= uses[~read].min(initial=99)


@pytest.mark.parametrize("long", [2, 1 << 14])
def test_the_largest_values_of_every_part(index: LexicalIndex, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_LONG", long)
    scores = LexicalScores(index, encoded(index))
    names = scores.product.names
    table = scores.product.values.toarray().reshape(3, len(names), 20)
    for number, name in enumerate(names):
        values = table[:, number]
        query, position = np.divmod(scores.largest(3, (name,)), 20)
        found = np.bincount(query, values[query, position], 3)
        np.testing.assert_allclose(found, np.sort(values, axis=1)[:, -3:].sum(1), rtol=1e-5)
        assert np.bincount(query, minlength=3).max() <= 3
