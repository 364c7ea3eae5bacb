"""The pool against sorting, and features of a pool against those of all concepts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import TextVectors, encode_text_vectors
from taxosphere.ranking.features import candidates, compression, gather
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import FAMILIES
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.gather import Retrieval
from taxosphere.ranking.features.pool import Pool
from taxosphere.ranking.features.shortlist import make_shortlist
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.queries import Queries, SpherePoints
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE, FirstStage

WORDS = "red green blue small large wild sea stone river winter night field".split()
FEW = Retrieval(whole=0, nearest=12, by_words=4, voters=31, compressed=60)
WHOLE = Retrieval(whole=10**9)


@pytest.fixture(scope="module")
def made_up() -> CandidateIndex:
    """400 concepts in a tree with a fan-out of five, names of three words, and points near their parents' points."""
    rng = np.random.default_rng(0)
    names = [" ".join(rng.choice(WORDS, 3, replace=False)) for _ in range(400)]
    concepts = [Concept(f"c{i}", name, f"a {names[(i - 1) // 5]} of some kind") for i, name in enumerate(names)]
    taxonomy = Taxonomy.from_concepts(concepts, [(f"c{(i - 1) // 5}", f"c{i}") for i in range(1, 400)])
    return CandidateIndex(taxonomy, _untied(encode_text_vectors(GramEncoder(), concepts)), _points(rng, 400))


def _untied(vectors: TextVectors) -> TextVectors:
    """The vectors, moved a little: names with as many letters in common are equally near, and ties are for rounding."""
    rng = np.random.default_rng(2)
    moved = [rows + 1e-3 * rng.normal(size=rows.shape).astype(np.float32) for rows in (vectors.full, vectors.name)]
    return TextVectors(*(rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in moved))


def _points(rng: np.random.Generator, count: int) -> SpherePoints:
    z, mu = (rng.normal(size=(count, 6)).astype(np.float32) for _ in range(2))
    z, mu = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (z, mu))
    return SpherePoints(z, mu, rng.uniform(5, 20, count).astype(np.float32))


@pytest.fixture(scope="module")
def queries() -> Queries:
    rng = np.random.default_rng(1)
    concepts = [Concept(f"q{i}", " ".join(rng.choice(WORDS, 2)), "a small red stone") for i in range(9)]
    points = _points(rng, len(concepts))
    return Queries([parse_concept(c) for c in concepts], encode_text_vectors(GramEncoder(), concepts), points)


def test_pairs_are_found_by_query_and_concept() -> None:
    pool = Pool.join([np.array([[7, 2], [13, 14]]), np.array([2, 10])], n_queries=3, size=5)
    assert pool.keys.tolist() == [2, 7, 10, 13, 14]
    assert pool.row.tolist() == [0, 1, 2, 2, 2]
    assert pool.positions.tolist() == [2, 2, 0, 3, 4]
    assert pool.slices() == [slice(0, 1), slice(1, 2), slice(2, 5)]
    place, present = pool.find(np.array([10, 11, 12, 2]))
    assert present.tolist() == [True, False, False, True]
    assert place[present].tolist() == [2, 0]
    assert pool.padded(np.arange(5, dtype=np.float32), -1).tolist() == [[0, -1, -1], [1, -1, -1], [2, 3, 4]]
    large = Pool(pool.keys << 20, n_queries=3, size=5 << 20)  # too large for a table of all pairs
    place, present = large.find(np.array([10, 11, 12, 2]) << 20)
    assert (place[present].tolist(), present.tolist()) == ([2, 0], [True, False, False, True])


def test_the_pool_holds_the_nearest_by_every_measure_and_the_parents_of_voters(
    made_up: CandidateIndex, queries: Queries
) -> None:
    pool = compute_features(made_up, queries, FAMILIES, retrieval=FEW).pool
    asked, known, parents = queries.text_vectors, made_up.text_vectors, made_up.taxonomy.parent_csr
    for row, part in enumerate(pool.slices()):
        held = set(pool.positions[part].tolist())
        assert len(held) < 0.8 * len(made_up.taxonomy)
        for query, rows in ((asked.full, known.full), (asked.name, known.name), (queries.points.z, made_up.points.z)):
            nearest = np.argsort(-(rows @ query[row]), kind="stable")
            assert held >= set(nearest[: FEW.nearest - 1].tolist())
            above = {p for near in nearest[: FEW.voters - 1] for p in parents.row(near).tolist()}
            assert held >= above | {p for near in above for p in parents.row(near).tolist()}


def test_features_of_a_pool_are_those_of_all_concepts(made_up: CandidateIndex, queries: Queries) -> None:
    """All but the most similar child, which may be outside the pool, and votes by words, where many concepts tie."""
    some = compute_features(made_up, queries, FAMILIES, retrieval=FEW)
    whole = compute_features(made_up, queries, FAMILIES, retrieval=WHOLE)
    assert len(whole.pool) == len(queries) * len(made_up.taxonomy)
    for name, values in some.columns.items():
        if "most similar child" not in name and not name.endswith(("by words", "by spelling")):
            np.testing.assert_allclose(values, whole.columns[name][some.pool.keys], atol=2e-6, err_msg=name)


def test_single_pairs_and_whole_products_agree(
    made_up: CandidateIndex, queries: Queries, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = replace(FEW, compressed=400)  # the search over compressed vectors leaves all
    products = compute_features(made_up, queries, FAMILIES, retrieval=how)
    monkeypatch.setattr(gather, "PRODUCTS", 0)
    pairs = compute_features(made_up, queries, FAMILIES, retrieval=how)
    assert pairs.pool.keys.tolist() == products.pool.keys.tolist()
    for name, values in products.columns.items():
        np.testing.assert_allclose(values, pairs.columns[name], atol=2e-6, err_msg=name)


def test_a_search_of_compressed_vectors_finds_what_the_exact_one_finds(
    made_up: CandidateIndex, queries: Queries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as many directions as the vectors have, nothing is lost by compressing."""
    monkeypatch.setattr(compression, "DIMENSIONS", 10_000)
    index = CandidateIndex(made_up.taxonomy, made_up.text_vectors, made_up.points)
    vectors = gather.VectorSimilarities(index, queries)
    joint = sum(vectors.whole(measure) for measure in gather.MEASURES)
    found = gather.search_compressed(index, vectors, 20)
    for row, part in zip(joint, found.slices(), strict=True):
        assert set(found.positions[part].tolist()) == set(np.argsort(-row)[:20].tolist())


def test_concepts_outside_the_pool_come_last(made_up: CandidateIndex, queries: Queries) -> None:
    found = make_shortlist(made_up, queries, FAMILIES, DEFAULT_FIRST_STAGE, length=5, all_scores=True, retrieval=FEW)
    pool = compute_features(made_up, queries, FAMILIES, retrieval=FEW).pool
    assert found.all_scores is not None
    assert np.isfinite(found.all_scores).all()
    for row, part in enumerate(pool.slices()):
        inside = np.zeros(pool.size, bool)
        inside[pool.positions[part]] = True
        scores = found.all_scores[row]
        assert scores[inside].min() > scores[~inside].max()
        assert len(np.unique(scores[~inside])) > 50  # they have an order of their own


def test_concepts_outside_the_pool_are_ordered_by_the_trained_weights_that_need_none(
    made_up: CandidateIndex, queries: Queries
) -> None:
    trained = FirstStage({"text similarity": 2.0, "children": 0.3, "word similarity": 5.0})
    found = make_shortlist(made_up, queries, FAMILIES, trained, length=5, all_scores=True, retrieval=FEW)
    pool = compute_features(made_up, queries, FAMILIES, retrieval=FEW).pool
    text = queries.text_vectors.full @ made_up.text_vectors.full.T
    expected = 2.0 * text + 0.3 * made_up.static_features["children"]
    assert found.all_scores is not None
    for row, part in enumerate(pool.slices()):
        outside = np.setdiff1d(np.arange(pool.size), pool.positions[part])
        differences = found.all_scores[row, outside] - expected[row, outside]
        np.testing.assert_allclose(differences, differences[0], atol=1e-4)


def test_a_list_is_full_where_most_near_concepts_are_obsolete(made_up: CandidateIndex, queries: Queries) -> None:
    gone = (("is_obsolete", "true"),)
    taxonomy = made_up.taxonomy
    concepts = [
        Concept(c.id, c.name, c.description, extras=gone) if i % 20 else c for i, c in enumerate(taxonomy.concepts())
    ]
    marked = Taxonomy.from_concepts(concepts, taxonomy.edges())
    index = CandidateIndex(marked, made_up.text_vectors, made_up.points)
    found = make_shortlist(index, queries, FAMILIES, DEFAULT_FIRST_STAGE, length=100, retrieval=FEW)
    assert found.positions.shape == (len(queries), 20)
    assert (found.positions % 20 == 0).all()


def test_a_stored_index_gives_the_same_features(made_up: CandidateIndex, queries: Queries) -> None:
    arrays = {key: values.copy() for key, values in made_up.to_arrays().items()}
    again = CandidateIndex.from_arrays(arrays, made_up.taxonomy, made_up.text_vectors, made_up.tokens)
    before = compute_features(made_up, queries, FAMILIES, retrieval=FEW)
    after = compute_features(again, queries, FAMILIES, retrieval=FEW)
    assert before.pool.keys.tolist() == after.pool.keys.tolist()
    for name, values in before.columns.items():
        np.testing.assert_array_equal(values, after.columns[name], err_msg=name)
    np.testing.assert_array_equal(before.orphan_features, after.orphan_features)
    first, second = (DEFAULT_FIRST_STAGE(index, before) for index in (made_up, again))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("retrieval", [FEW, WHOLE])
def test_a_part_that_shares_vectors_has_the_features_of_one_with_its_own(
    made_up: CandidateIndex, queries: Queries, monkeypatch: pytest.MonkeyPatch, retrieval: Retrieval
) -> None:
    for module in (candidates, gather):
        monkeypatch.setattr(module, "PRODUCTS", 100)
    kept = np.delete(np.arange(400), [3, 77, 250, 399])
    taxonomy = made_up.taxonomy.keep(kept)
    part = made_up.part(taxonomy, kept)
    assert part.text_vectors is made_up.text_vectors
    copied = CandidateIndex(taxonomy, made_up.text_vectors.take(kept), made_up.points.take(kept))
    vars(copied)["compressed"] = part.compressed
    shared, expected = (compute_features(index, queries, FAMILIES, retrieval=retrieval) for index in (part, copied))
    assert np.array_equal(shared.pool.keys, expected.pool.keys)
    assert list(shared.columns) == list(expected.columns)
    for name, values in expected.columns.items():
        np.testing.assert_allclose(shared.columns[name], values, atol=1e-6, err_msg=name)


def test_a_block_is_compared_with_all_concepts_as_each_of_its_queries_is(
    made_up: CandidateIndex, queries: Queries
) -> None:
    together = gather.VectorSimilarities(made_up, queries).compared
    for number in range(len(queries)):
        alone = gather.VectorSimilarities(made_up, queries.part(slice(number, number + 1))).compared
        np.testing.assert_allclose(together[:, number], alone[:, 0], rtol=1e-5, atol=1e-6)
    text = queries.text_vectors.full @ made_up.text_vectors.full.T
    np.testing.assert_allclose(together[0], text, rtol=1e-5, atol=1e-6)


def test_products_of_a_pool_are_those_of_the_whole_product(made_up: CandidateIndex, queries: Queries) -> None:
    pool = Pool.join([np.array([3, 399, 405, 8 * 400 + 7])], len(queries), 400)  # most queries have no pair
    asked = np.stack([queries.text_vectors.full, queries.text_vectors.name], axis=2)
    rows = made_up.text_vectors.full
    expected = [(vectors @ rows.T).take(pool.keys) for vectors in np.moveaxis(asked, 2, 0)]
    np.testing.assert_allclose(gather.pair_products(asked, rows, pool), expected, rtol=1e-5, atol=1e-6)
