"""Features against loops over pairs, and against a tree small enough to work out on paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import FAMILIES, GAP, RANK, feature_of
from taxosphere.ranking.features.compute import (
    compute_features,
    most_similar_child_dense,
    vote_weights,
)
from taxosphere.ranking.features.pool import FeatureColumns
from taxosphere.ranking.features.shortlist import add_relative_columns, make_shortlist, query_blocks
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.queries import Queries, SpherePoints
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE


def _points(rng: np.random.Generator, count: int) -> SpherePoints:
    z, mu = (rng.normal(size=(count, 6)).astype(np.float32) for _ in range(2))
    z, mu = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (z, mu))
    return SpherePoints(z, mu, rng.uniform(5, 20, count).astype(np.float32))


def _index(taxonomy: Taxonomy) -> CandidateIndex:
    views = encode_text_vectors(GramEncoder(), list(taxonomy.concepts()))
    points = _points(np.random.default_rng(0), len(taxonomy))
    return CandidateIndex(taxonomy, views, points)


def _queries(concepts: list[Concept], seed: int = 1) -> Queries:
    points = _points(np.random.default_rng(seed), len(concepts))
    return Queries([parse_concept(c) for c in concepts], encode_text_vectors(GramEncoder(), concepts), points)


def _whole(found: FeatureColumns) -> dict[str, np.ndarray]:
    """Every feature of every candidate."""
    assert len(found.pool) == found.pool.n_queries * found.pool.size
    return {name: values.reshape(found.pool.n_queries, -1) for name, values in found.columns.items()}


def test_what_the_structure_of_the_animals_says(animals: Taxonomy) -> None:
    static = _index(animals).static_features
    at = animals.position
    assert static["children"][at("animal")] == pytest.approx(np.log1p(3))
    assert static["descendants"][at("animal")] == pytest.approx(np.log1p(6))
    assert static["is leaf"][at("duck")] == 1
    assert static["is leaf"][at("bird")] == 0
    assert static["leaf children"][at("bird")] == pytest.approx(np.log1p(2))
    assert static["leaf children"][at("animal")] == 0
    assert static["share of leaf children"][at("mammal")] == 1
    assert static["is isolated"].nonzero()[0].tolist() == [at("mineral")]
    assert sorted(static["is root"].nonzero()[0].tolist()) == sorted([at("animal"), at("mineral")])
    # Duck's parents have two and one children.
    assert static["siblings"][at("duck")] == pytest.approx((np.log1p(2) + np.log1p(1)) / 2)


def test_votes_are_a_softmax_over_the_nearest() -> None:
    similarity = np.random.default_rng(0).uniform(-1, 1, (5, 12)).astype(np.float32)
    found = vote_weights(similarity, 4, 7.0).matrix(12).toarray()
    for row, weights in zip(similarity, found, strict=True):
        nearest = np.argsort(-row)[:4]
        expected = np.zeros(12)
        expected[nearest] = np.exp(7 * row[nearest]) / np.exp(7 * row[nearest]).sum()
        np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-7)


def test_a_seed_smaller_than_the_number_of_votes_votes_as_a_whole() -> None:
    found = vote_weights(np.full((2, 3), 0.5, np.float32), 10, 20.0).matrix(3).toarray()
    np.testing.assert_allclose(found, 1 / 3, rtol=1e-6)


def test_who_has_nothing_in_common_with_the_query_does_not_vote() -> None:
    found = vote_weights(np.array([[0, 0.5, 0, 0.5, 0], [0, 0, 0, 0, 0]], np.float32), 4, 20.0).matrix(5).toarray()
    assert found.tolist() == [[0, 0.5, 0, 0.5, 0], [0, 0, 0, 0, 0]]


def test_the_most_similar_child_against_a_loop(animals: Taxonomy) -> None:
    index = _index(animals)
    similarity = np.random.default_rng(3).uniform(-1, 1, (4, len(animals))).astype(np.float32)
    found = most_similar_child_dense(index, similarity)
    for q in range(4):
        for c in range(len(animals)):
            children = animals.child_csr.row(c)
            expected = similarity[q, children].max() if len(children) else similarity[q].min()
            assert found[q, c] == pytest.approx(float(expected))


def test_sphere_features_against_the_definitions(animals: Taxonomy) -> None:
    import torch

    from taxosphere.sphere import vmf

    index, queries = _index(animals), _queries([Concept("q", "goose"), Concept("r", "cat")])
    found = _whole(compute_features(index, queries, ("sphere",)))
    np.testing.assert_allclose(found["sphere similarity"], queries.points.z @ index.points.z.T, rtol=1e-5)
    kappa = torch.from_numpy(index.points.kappa)
    constant = vmf.log_normalizer(6, kappa).numpy()
    expected = index.points.kappa * (queries.points.z @ index.points.mu.T) + constant
    np.testing.assert_allclose(found["sphere likelihood"], expected, rtol=1e-4)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / max(float(np.linalg.norm(rows)), 1e-6)


def test_features_of_children_and_votes_against_loops(animals: Taxonomy) -> None:
    concepts = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "stone"), Concept("s", "farm dog")]
    index, queries = _index(animals), _queries(concepts)
    found = _whole(compute_features(index, queries, FAMILIES))
    asked, known = queries.text_vectors, index.text_vectors
    np.testing.assert_allclose(found["text similarity"], asked.full @ known.full.T, atol=1e-6)
    np.testing.assert_allclose(found["name similarity"], asked.name @ known.name.T, atol=1e-6)
    np.testing.assert_allclose(found["text to name similarity"], asked.full @ known.name.T, atol=1e-6)
    np.testing.assert_allclose(found["name to text similarity"], asked.name @ known.full.T, atol=1e-6)
    ballots = vote_weights(asked.full @ known.full.T, 10, 20.0).matrix(len(animals)).toarray()
    wide = asked.full @ known.full.T + asked.name @ known.name.T + queries.points.z @ index.points.z.T
    many = vote_weights(wide, 30, 6.0).matrix(len(animals)).toarray()
    for c in range(len(animals)):
        children = animals.child_csr.row(c)
        for name, query, vectors in (
            ("sphere similarity to children", queries.points.z, index.points.z),
            ("text similarity to children", asked.full, known.full),
            ("name similarity to children", asked.name, known.name),
        ):
            expected = query @ _unit(vectors[children].sum(0)) if len(children) else np.zeros(len(concepts))
            np.testing.assert_allclose(found[name][:, c], expected, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(
            found["parent of similar concepts, by text"][:, c], ballots[:, children].sum(1), atol=1e-5
        )
        grandchildren = [g for child in children for g in animals.child_csr.row(child)]
        np.testing.assert_allclose(
            found["grandparent of similar concepts, by text"][:, c], ballots[:, grandchildren].sum(1), atol=1e-5
        )
        below = [
            (v, p) for v in range(len(animals)) for p in animals.parent_csr.row(v) if c in animals.ancestor_csr.row(p)
        ]
        np.testing.assert_allclose(
            found["ancestor of the 30 most similar"][:, c], many[:, [v for v, _ in below]].sum(1), atol=1e-5
        )


def test_orphans_around_a_query_against_a_loop(animals: Taxonomy) -> None:
    """A deleted parent leaves its children behind, near the query that misses it too."""
    described = Taxonomy.from_edges(
        animals.edges(),
        names={"mineral": "mineral"},
        descriptions={"sparrow": "a brown bird", "dog": "an animal that barks"},
    )
    torn = described.keep(np.delete(np.arange(len(animals)), described.position("bird")))
    index, queries = _index(torn), _queries([Concept("owl", "owl", "a small bird")])
    by_hand = {"sparrow": 1.0, "mineral": 1.0, "animal": 1 / (1 + np.log(5))}
    assert dict(zip(torn.ids, index.orphan_scores.tolist(), strict=True)) == pytest.approx(
        {id: by_hand.get(id, 0.0) for id in torn.ids}
    )
    features = compute_features(index, queries, FAMILIES)
    found, similar = features.orphan_features[0], _whole(features)
    text = similar["text similarity"]
    for column, source in enumerate((text, text + similar["word similarity"])):
        weights = [np.exp(6 * (value - source.max())) for value in source[0]]
        share = sum(weight * by_hand.get(id, 0.0) for weight, id in zip(weights, torn.ids, strict=True)) / sum(weights)
        assert found[column] == pytest.approx(share, rel=1e-5)
    usual = sum(by_hand.values()) / len(torn)
    assert found[2] == pytest.approx((usual + 1) / 2)  # its first phrase ends in bird, as the sparrow's
    assert found[3] == pytest.approx(usual)  # nothing else is called small first


def test_orphan_features_follow_the_families(animals: Taxonomy) -> None:
    index, queries = _index(animals), _queries([Concept("owl", "owl", "an animal like a sparrow")])
    everything = compute_features(index, queries, FAMILIES).orphan_features[0]
    assert everything.all()
    for family, silent in {"votes": [0, 1], "descriptions": [1, 2, 3], "names": []}.items():
        found = compute_features(index, queries, [other for other in FAMILIES if other != family]).orphan_features[0]
        np.testing.assert_array_equal(found, np.where(np.isin(np.arange(4), silent), 0, everything))


def test_words_below_a_candidate_against_a_loop(animals: Taxonomy) -> None:
    concepts = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "duck"), Concept("s", "farm dog duck")]
    index, queries = _index(animals), _queries(concepts)
    found = _whole(compute_features(index, queries, FAMILIES))
    parsed = [parse_concept(c) for c in animals.concepts()]
    bag = index.lexical_index.bags["name words"]
    for q, asked in enumerate(queries.parsed):
        heads = [r.name_head == asked.name_head for r in parsed]
        uses = sum(int(heads[child]) for c in range(len(animals)) for child in animals.child_csr.row(c))
        weights = {
            w: float(bag.weights[bag.columns[w]]) if w in bag.columns else bag.unknown_weight for w in asked.name
        }
        for c in range(len(animals)):
            children = animals.child_csr.row(c)
            here = sum(int(heads[child]) for child in children)
            assert found["children with the same name head, count"][q, c] == pytest.approx(np.log1p(here))
            assert found["children with the same name head, share"][q, c] == pytest.approx(here / (uses + 1))
            share = 0.0
            for word, weight in weights.items():
                everywhere = sum(word in parsed[b].name for a in range(len(animals)) for b in animals.child_csr.row(a))
                share += weight * sum(word in parsed[b].name for b in children) / (everywhere + 1)
            assert found["children with the same name words, share"][q, c] == pytest.approx(
                share / sum(weights.values()), abs=1e-6
            )


def test_a_family_left_out_leaves_no_feature(animals: Taxonomy) -> None:
    index, queries = _index(animals), _queries([Concept("q", "sea bird", "a bird of the sea")])
    everything = set(make_shortlist(index, queries, FAMILIES, DEFAULT_FIRST_STAGE).feature_names)
    for family in FAMILIES:
        less = set(
            make_shortlist(index, queries, tuple(f for f in FAMILIES if f != family), DEFAULT_FIRST_STAGE).feature_names
        )
        assert less < everything, family
    lexical = make_shortlist(
        index, queries, ("sphere", "encoder", "votes", "structure"), DEFAULT_FIRST_STAGE
    ).feature_names
    assert not [name for name in lexical if "name head" in name or "phrase" in name or "definition" in name]


def test_features_of_a_query_do_not_depend_on_the_others_asked(animals: Taxonomy) -> None:
    index = _index(animals)
    concepts = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "stone"), Concept("s", "farm dog")]
    together = _whole(compute_features(index, _queries(concepts), FAMILIES))
    renamed = [concepts[0], Concept("other", "qwerty", "anything else"), Concept("s", "bird")]
    points = _queries(concepts).points
    other = Queries([parse_concept(c) for c in renamed], encode_text_vectors(GramEncoder(), renamed), points)
    again = _whole(compute_features(index, other, FAMILIES))
    for name, values in together.items():
        np.testing.assert_allclose(values[0], again[name][0], atol=1e-6, err_msg=name)


def test_computing_features_changes_nothing_of_the_index(animals: Taxonomy) -> None:
    asked, untouched = _index(animals), _index(animals)
    compute_features(asked, _queries([Concept("q", "animal"), Concept("r", "new words entirely")]), FAMILIES)
    for name, values in untouched.static_features.items():
        np.testing.assert_array_equal(values, asked.static_features[name])
    assert asked.lexical_index.bags["words"].columns == untouched.lexical_index.bags["words"].columns


def test_the_shortlist_holds_every_candidate_once_in_order(animals: Taxonomy) -> None:
    index, queries = _index(animals), _queries([Concept("q", "bird"), Concept("r", "dog")])
    found = make_shortlist(index, queries, FAMILIES, DEFAULT_FIRST_STAGE)
    assert np.sort(found.positions, axis=1).tolist() == [list(range(len(animals)))] * 2
    assert (np.diff(found.scores, axis=1) <= 0).all()


def test_a_cut_shortlist_holds_the_best_of_the_first_stage(animals: Taxonomy) -> None:
    index, queries = _index(animals), _queries([Concept("q", "bird of the sea", "a bird")])
    found = make_shortlist(index, queries, FAMILIES, DEFAULT_FIRST_STAGE, length=3, all_scores=True)
    assert found.all_scores is not None
    assert set(found.positions[0].tolist()) == set(np.argsort(-found.all_scores[0])[:3].tolist())


def test_relative_columns_against_a_loop() -> None:
    table = np.random.default_rng(0).normal(size=(3, 5, 2)).astype(np.float32)
    names, full = add_relative_columns(("text similarity", "depth"), table)
    assert names == ["text similarity", "depth", "text similarity, gap to the best", "text similarity, rank"]
    for q in range(3):
        values = table[q, :, 0]
        np.testing.assert_allclose(full[q, :, 2], values - values.max(), rtol=1e-6)
        ranks = [int((values > v).sum()) for v in values]
        np.testing.assert_allclose(full[q, :, 3], -np.log1p(ranks), rtol=1e-6)
    assert {feature_of(name).name for name in names} == {"text similarity", "depth"}


def test_blocks_cover_every_query_once() -> None:
    for count, candidates in ((0, 10), (1, 5_000_000), (1000, 7), (513, 10_000)):
        seen = [i for block in query_blocks(count, candidates) for i in range(count)[block]]
        assert seen == list(range(count))


def test_nothing_is_placed_below_an_obsolete_concept(animals: Taxonomy) -> None:
    gone = (("is_obsolete", "true"),)
    marked = [replace(c, extras=gone) if c.id == "bird" else c for c in animals.concepts()]
    index = _index(Taxonomy.from_concepts(marked, animals.edges()))
    queries = _queries([Concept("q", "sea bird", "a bird of the sea")])
    whole = make_shortlist(_index(animals), queries, FAMILIES, DEFAULT_FIRST_STAGE)
    found = make_shortlist(index, queries, FAMILIES, DEFAULT_FIRST_STAGE)
    bird = animals.position("bird")
    assert bird in whole.positions
    assert sorted([*found.positions[0], bird]) == list(range(len(animals)))
    assert found.scores.max() == 0
    everything = Taxonomy.from_concepts([replace(c, extras=gone) for c in animals.concepts()], animals.edges())
    assert (
        make_shortlist(_index(everything), queries, FAMILIES, DEFAULT_FIRST_STAGE).positions.shape
        == whole.positions.shape
    )


def test_relative_columns_do_not_depend_on_how_the_features_lie_in_memory() -> None:
    names = ("text similarity", "depth", "name similarity")
    by_list = np.random.default_rng(3).integers(0, 4, (40, 7, 3)).astype(np.float32)  # more lists than a block, ties
    by_feature = np.moveaxis(np.ascontiguousarray(np.moveaxis(by_list, -1, 0)), 0, -1)
    assert by_feature.strides != by_list.strides
    columns, expected = add_relative_columns(names, by_list)
    assert columns[3:] == [name + kind for kind in (GAP, RANK) for name in ("text similarity", "name similarity")]
    np.testing.assert_array_equal(expected[..., :3], by_list)
    np.testing.assert_array_equal(add_relative_columns(names, by_feature)[1], expected)
    larger = (by_list[:, :, None, 0] < by_list[:, None, :, 0]).sum(2)
    np.testing.assert_allclose(expected[..., 5], -np.log1p(larger), rtol=1e-6)
