"""Features against loops over pairs, and against a tree small enough to work out on paper."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.vectors import encode_text_vectors
from taxosphere.ranking.features.candidates import CandidateIndex, Points
from taxosphere.ranking.features.compute import FAMILIES, Queries, best_child, signs, similarities, votes
from taxosphere.ranking.features.layout import FeatureColumns
from taxosphere.ranking.features.shortlist import blocks, derived, origin, shortlist
from taxosphere.ranking.lexical.index import BAGS
from taxosphere.ranking.lexical.parse import parse_concept
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE


def _points(rng: np.random.Generator, count: int) -> Points:
    z, mu = (rng.normal(size=(count, 6)).astype(np.float32) for _ in range(2))
    z, mu = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (z, mu))
    return Points(z, mu, rng.uniform(5, 20, count).astype(np.float32))


def _context(taxonomy: Taxonomy, evidence: int | None = None) -> CandidateIndex:
    views = encode_text_vectors(GramEncoder(), list(taxonomy.concepts()))
    points = _points(np.random.default_rng(0), len(taxonomy))
    return CandidateIndex(taxonomy, views, points, len(taxonomy) if evidence is None else evidence)


def _queries(concepts: list[Concept], seed: int = 1) -> Queries:
    points = _points(np.random.default_rng(seed), len(concepts))
    return Queries([parse_concept(c) for c in concepts], encode_text_vectors(GramEncoder(), concepts), points)


def _whole(found: FeatureColumns) -> dict[str, np.ndarray]:
    """Every sign of every candidate."""
    count, size = found.shape
    return found.at(np.tile(np.arange(size), (count, 1)))


def test_what_the_structure_of_the_animals_says(animals: Taxonomy) -> None:
    static = _context(animals).candidate_features
    at = animals.position
    assert static["children"][at("animal")] == pytest.approx(np.log1p(3))
    assert static["descendants"][at("animal")] == pytest.approx(np.log1p(6))
    assert static["is leaf"][at("duck")] == 1
    assert static["is leaf"][at("bird")] == 0
    assert static["leaf children"][at("bird")] == pytest.approx(np.log1p(2))
    assert static["leaf children"][at("animal")] == 0
    assert static["share of leaf children"][at("mammal")] == 1
    assert static["stands alone"].nonzero()[0].tolist() == [at("mineral")]
    assert sorted(static["is root"].nonzero()[0].tolist()) == sorted([at("animal"), at("mineral")])
    # Duck's parents have two and one children.
    assert static["siblings"][at("duck")] == pytest.approx((np.log1p(2) + np.log1p(1)) / 2)


def test_votes_are_a_softmax_over_the_nearest() -> None:
    similarity = np.random.default_rng(0).uniform(-1, 1, (5, 12)).astype(np.float32)
    found = votes(similarity, 4, 7.0).matrix(12).toarray()
    for row, weights in zip(similarity, found, strict=True):
        nearest = np.argsort(-row)[:4]
        expected = np.zeros(12)
        expected[nearest] = np.exp(7 * row[nearest]) / np.exp(7 * row[nearest]).sum()
        np.testing.assert_allclose(weights, expected, rtol=1e-4, atol=1e-7)


def test_a_seed_smaller_than_the_number_of_votes_votes_as_a_whole() -> None:
    found = votes(np.full((2, 3), 0.5, np.float32), 10, 20.0).matrix(3).toarray()
    np.testing.assert_allclose(found, 1 / 3, rtol=1e-6)


def test_who_has_nothing_in_common_with_the_query_does_not_vote() -> None:
    found = votes(np.array([[0, 0.5, 0, 0.5, 0], [0, 0, 0, 0, 0]], np.float32), 4, 20.0).matrix(5).toarray()
    assert found.tolist() == [[0, 0.5, 0, 0.5, 0], [0, 0, 0, 0, 0]]


def test_the_most_similar_child_against_a_loop(animals: Taxonomy) -> None:
    context = _context(animals)
    similarity = np.random.default_rng(3).uniform(-1, 1, (4, len(animals))).astype(np.float32)
    found = best_child(context, similarity)
    for q in range(4):
        for c in range(len(animals)):
            children = animals.child_csr.row(c)
            expected = similarity[q, children].max() if len(children) else similarity[q].min()
            assert found[q, c] == pytest.approx(float(expected))


def test_sphere_signs_against_the_definitions(animals: Taxonomy) -> None:
    import torch

    from taxosphere.sphere import vmf

    context, queries = _context(animals), _queries([Concept("q", "goose"), Concept("r", "cat")])
    found = _whole(signs(context, queries, ("sphere",)))
    np.testing.assert_allclose(found["sphere"], queries.points.z @ context.points.z.T, rtol=1e-5)
    kappa = torch.from_numpy(context.points.kappa)
    constant = vmf.log_normalizer(6, kappa).numpy()
    expected = context.points.kappa * (queries.points.z @ context.points.mu.T) + constant
    np.testing.assert_allclose(found["sphere likelihood"], expected, rtol=1e-4)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / max(float(np.linalg.norm(rows)), 1e-6)


def test_signs_of_children_and_votes_against_loops(animals: Taxonomy) -> None:
    concepts = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "stone"), Concept("s", "farm dog")]
    context, queries = _context(animals), _queries(concepts)
    found = _whole(signs(context, queries, FAMILIES))
    asked, known = queries.views, context.views
    np.testing.assert_allclose(found["encoder"], asked.full @ known.full.T, atol=1e-6)
    np.testing.assert_allclose(found["encoder, names"], asked.name @ known.name.T, atol=1e-6)
    np.testing.assert_allclose(found["encoder, text to name"], asked.full @ known.name.T, atol=1e-6)
    np.testing.assert_allclose(found["encoder, name to text"], asked.name @ known.full.T, atol=1e-6)
    ballots = votes(asked.full @ known.full.T, 10, 20.0).matrix(len(animals)).toarray()
    wide = asked.full @ known.full.T + asked.name @ known.name.T + queries.points.z @ context.points.z.T
    many = votes(wide, 30, 6.0).matrix(len(animals)).toarray()
    for c in range(len(animals)):
        children = animals.child_csr.row(c)
        for name, query, vectors in (
            ("sphere, children", queries.points.z, context.points.z),
            ("encoder, children", asked.full, known.full),
            ("encoder, children's names", asked.name, known.name),
        ):
            expected = query @ _unit(vectors[children].sum(0)) if len(children) else np.zeros(len(concepts))
            np.testing.assert_allclose(found[name][:, c], expected, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(found["votes, full"][:, c], ballots[:, children].sum(1), atol=1e-5)
        grandchildren = [g for child in children for g in animals.child_csr.row(child)]
        np.testing.assert_allclose(found["votes one up, full"][:, c], ballots[:, grandchildren].sum(1), atol=1e-5)
        below = [
            (v, p) for v in range(len(animals)) for p in animals.parent_csr.row(v) if c in animals.ancestor_csr.row(p)
        ]
        np.testing.assert_allclose(found["votes below"][:, c], many[:, [v for v, _ in below]].sum(1), atol=1e-5)


def test_what_is_loose_around_a_query_against_a_loop(animals: Taxonomy) -> None:
    """A deleted parent leaves its children behind, near the query that misses it too."""
    described = Taxonomy.from_edges(
        animals.edges(),
        names={"mineral": "mineral"},
        descriptions={"sparrow": "a brown bird", "dog": "an animal that barks"},
    )
    torn = described.keep(np.delete(np.arange(len(animals)), described.position("bird")))
    context, queries = _context(torn), _queries([Concept("owl", "owl", "a small bird")])
    by_hand = {"sparrow": 1.0, "mineral": 1.0, "animal": 1 / (1 + np.log(5))}
    assert dict(zip(torn.ids, context.loose.tolist(), strict=True)) == pytest.approx(
        {id: by_hand.get(id, 0.0) for id in torn.ids}
    )
    used = {
        name: bag.encode([BAGS[name](r) for r in queries.parsed]) for name, bag in context.lexical_index.bags.items()
    }
    similar = similarities(context, queries, used)
    found = signs(context, queries, FAMILIES).loose[0]
    for column, source in enumerate((similar["full"], similar["full"] + similar["text"])):
        weights = [np.exp(6 * (value - source.max())) for value in source[0]]
        share = sum(weight * by_hand.get(id, 0.0) for weight, id in zip(weights, torn.ids, strict=True)) / sum(weights)
        assert found[column] == pytest.approx(share, rel=1e-5)
    usual = sum(by_hand.values()) / len(torn)
    assert found[2] == pytest.approx((usual + 1) / 2)  # its first phrase ends in bird, as the sparrow's
    assert found[3] == pytest.approx(usual)  # nothing else is called small first


def test_loose_ends_follow_the_families(animals: Taxonomy) -> None:
    context, queries = _context(animals), _queries([Concept("owl", "owl", "an animal like a sparrow")])
    everything = signs(context, queries, FAMILIES).loose[0]
    assert everything.all()
    for family, silent in {"votes": [0, 1], "descriptions": [1, 2, 3], "names": []}.items():
        found = signs(context, queries, [other for other in FAMILIES if other != family]).loose[0]
        np.testing.assert_array_equal(found, np.where(np.isin(np.arange(4), silent), 0, everything))


def test_words_below_a_candidate_against_a_loop(animals: Taxonomy) -> None:
    concepts = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "duck"), Concept("s", "farm dog duck")]
    context, queries = _context(animals), _queries(concepts)
    found = _whole(signs(context, queries, FAMILIES))
    parsed = [parse_concept(c) for c in animals.concepts()]
    bag = context.lexical_index.bags["name words"]
    for q, asked in enumerate(queries.parsed):
        heads = [r.head_word == asked.head_word for r in parsed]
        uses = sum(int(heads[child]) for c in range(len(animals)) for child in animals.child_csr.row(c))
        weights = {w: float(bag.weights[bag.columns[w]]) if w in bag.columns else bag.unknown for w in asked.name}
        for c in range(len(animals)):
            children = animals.child_csr.row(c)
            here = sum(int(heads[child]) for child in children)
            assert found["name head below, count"][q, c] == pytest.approx(np.log1p(here))
            assert found["name head below, share"][q, c] == pytest.approx(here / (uses + 1))
            share = 0.0
            for word, weight in weights.items():
                everywhere = sum(word in parsed[b].name for a in range(len(animals)) for b in animals.child_csr.row(a))
                share += weight * sum(word in parsed[b].name for b in children) / (everywhere + 1)
            assert found["name words below, share"][q, c] == pytest.approx(share / sum(weights.values()), abs=1e-6)


def test_a_family_left_out_leaves_no_sign(animals: Taxonomy) -> None:
    context, queries = _context(animals), _queries([Concept("q", "sea bird", "a bird of the sea")])
    everything = set(shortlist(context, queries, FAMILIES, DEFAULT_FIRST_STAGE).names)
    for family in FAMILIES:
        less = set(shortlist(context, queries, tuple(f for f in FAMILIES if f != family), DEFAULT_FIRST_STAGE).names)
        assert less < everything, family
    lexical = shortlist(context, queries, ("sphere", "encoder", "votes", "structure"), DEFAULT_FIRST_STAGE).names
    assert not [name for name in lexical if "name head" in name or "phrase" in name or "mentioned" in name]


def test_features_of_a_query_do_not_depend_on_the_others_asked(animals: Taxonomy) -> None:
    context = _context(animals)
    concepts = [Concept("q", "sea bird", "a bird of the sea"), Concept("r", "stone"), Concept("s", "farm dog")]
    together = _whole(signs(context, _queries(concepts), FAMILIES))
    renamed = [concepts[0], Concept("other", "qwerty", "anything else"), Concept("s", "bird")]
    points = _queries(concepts).points
    other = Queries([parse_concept(c) for c in renamed], encode_text_vectors(GramEncoder(), renamed), points)
    again = _whole(signs(context, other, FAMILIES))
    for name, values in together.items():
        np.testing.assert_allclose(values[0], again[name][0], atol=1e-6, err_msg=name)


def test_asking_changes_nothing_of_the_context(animals: Taxonomy) -> None:
    asked, untouched = _context(animals), _context(animals)
    signs(asked, _queries([Concept("q", "animal"), Concept("r", "new words entirely")]), FAMILIES)
    for name, values in untouched.candidate_features.items():
        np.testing.assert_array_equal(values, asked.candidate_features[name])
    assert asked.lexical_index.bags["text"].columns == untouched.lexical_index.bags["text"].columns


def test_concepts_beyond_the_evidence_are_candidates_that_do_not_vote(animals: Taxonomy) -> None:
    grown = animals.add([Concept("goose", "goose")], [("mineral", "goose")])
    queries = _queries([Concept("q", "goose")])
    found = _whole(signs(_context(grown, len(animals)), queries, FAMILIES))
    mineral, goose = grown.position("mineral"), grown.position("goose")
    for source in ("full", "name", "text", "grams", "sphere"):
        assert found[f"votes, {source}"][0, mineral] == 0
    assert found["same name"][0, goose] == 1
    speaking = _whole(signs(_context(grown), queries, FAMILIES))
    assert speaking["votes, full"][0, mineral] > 0


def test_a_guessed_place_changes_nothing_that_is_said_of_the_place(animals: Taxonomy) -> None:
    seed = _context(animals)
    leaf = animals.position("mineral")
    assert seed.candidate_features["is leaf"][leaf]
    grown = animals.add([Concept("goose", "goose")], [("mineral", "goose")])
    guessing = _context(grown, len(animals))
    assert guessing.delta[:-1].tolist() == seed.delta.tolist()
    for name, values in seed.candidate_features.items():
        assert guessing.candidate_features[name][:-1].tolist() == values.tolist(), name
    assert guessing.candidate_features["depth"][-1] > 0
    assert guessing.candidate_features["is leaf"][-1]
    assert _context(grown).candidate_features["children"][leaf] > 0


def test_the_shortlist_is_ordered_and_leaves_the_excluded_one_out(animals: Taxonomy) -> None:
    context, queries = _context(animals), _queries([Concept("q", "bird"), Concept("r", "dog")])
    banned = np.array([animals.position("bird"), animals.position("dog")])
    found = shortlist(context, queries, FAMILIES, DEFAULT_FIRST_STAGE, exclude=banned)
    assert found.positions.shape == (2, len(animals) - 1)
    for row, out in zip(found.positions, banned, strict=True):
        assert out not in row
        assert len(set(row.tolist())) == len(row)
    guess = np.take_along_axis(found.guess, found.positions, 1)
    assert (np.diff(guess, axis=1) <= 0).all()


def test_a_cut_shortlist_holds_the_best_guesses(animals: Taxonomy) -> None:
    context, queries = _context(animals), _queries([Concept("q", "bird of the sea", "a bird")])
    found = shortlist(context, queries, FAMILIES, DEFAULT_FIRST_STAGE, length=3)
    assert set(found.positions[0].tolist()) == set(np.argsort(-found.guess[0])[:3].tolist())


def test_relative_columns_against_a_loop() -> None:
    table = np.random.default_rng(0).normal(size=(3, 5, 2)).astype(np.float32)
    names, full = derived(("encoder", "depth"), table)
    assert names == ["encoder", "depth", "encoder, to the best", "encoder, rank"]
    for q in range(3):
        values = table[q, :, 0]
        np.testing.assert_allclose(full[q, :, 2], values - values.max(), rtol=1e-6)
        ranks = [int((values > v).sum()) for v in values]
        np.testing.assert_allclose(full[q, :, 3], -np.log1p(ranks), rtol=1e-6)
    assert {origin(name) for name in names} == {"encoder", "depth"}


def test_blocks_cover_every_query_once() -> None:
    for count, candidates in ((0, 10), (1, 5_000_000), (1000, 7), (513, 10_000)):
        seen = [i for block in blocks(count, candidates) for i in range(count)[block]]
        assert seen == list(range(count))


def test_nothing_is_placed_below_an_obsolete_concept(animals: Taxonomy) -> None:
    gone = (("is_obsolete", "true"),)
    marked = [replace(c, extras=gone) if c.id == "bird" else c for c in animals.concepts()]
    context = _context(Taxonomy.from_concepts(marked, animals.edges()))
    queries = _queries([Concept("q", "sea bird", "a bird of the sea")])
    whole = shortlist(_context(animals), queries, FAMILIES, DEFAULT_FIRST_STAGE)
    found = shortlist(context, queries, FAMILIES, DEFAULT_FIRST_STAGE)
    bird = animals.position("bird")
    assert bird in whole.positions
    assert sorted([*found.positions[0], bird]) == list(range(len(animals)))
    assert found.guess.max() == 0
    everything = Taxonomy.from_concepts([replace(c, extras=gone) for c in animals.concepts()], animals.edges())
    assert (
        shortlist(_context(everything), queries, FAMILIES, DEFAULT_FIRST_STAGE).positions.shape == whole.positions.shape
    )
