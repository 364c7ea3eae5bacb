from __future__ import annotations

import numpy as np

from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import TextVectors
from taxosphere.placing.insertion import (
    AIM,
    CUT,
    INSERTION_FEATURES,
    Insertion,
    below,
    insertion_features,
    precise_cut,
)
from taxosphere.ranking.calibration import shift_odds
from taxosphere.ranking.out_of_fold import SuggestedParents


def _alike(vectors: np.ndarray) -> TextVectors:
    """The same vectors for texts and for names."""
    return TextVectors(vectors, vectors)


def _row(vectors: TextVectors, position: int) -> TextVectors:
    return vectors.take(np.array([position]))


def _families(count: int) -> tuple[Taxonomy, TextVectors]:
    """Under one root, groups "k-th group" with children "red … k-th group"; vectors cluster by group."""
    rng = np.random.default_rng(0)
    names = ["root"]
    edges: list[tuple[str, str]] = []
    centres = rng.normal(size=(count, 16))
    vectors = [rng.normal(size=16)]
    for k in range(count):
        group = f"group{k}"
        names.append(group)
        edges.append(("root", group))
        vectors.append(centres[k] + 0.3 * rng.normal(size=16))
        for colour in ("red", "blue", "green"):
            names.append(f"{colour} {group}")
            edges.append((group, names[-1]))
            vectors.append(centres[k] + 0.3 * rng.normal(size=16))
    unit = np.array(vectors, np.float32)
    return Taxonomy.from_edges(edges), _alike(unit / np.linalg.norm(unit, axis=1, keepdims=True))


def test_signals_of_one_child_by_hand() -> None:
    taxonomy = Taxonomy.from_edges([("animal", "sea bird"), ("animal", "dog")], descriptions={"dog": "not a bird"})
    texts, names = np.eye(3, dtype=np.float32), 0.5 * np.eye(3, dtype=np.float32)
    vectors = TextVectors(texts, names)
    bird = Concept("bird", "bird")
    found = insertion_features(taxonomy, vectors, np.array([1, 2]), 0, bird, _row(vectors, 1))
    assert len(INSERTION_FEATURES) == found.shape[1]
    by_name = dict(zip(INSERTION_FEATURES, found.T.tolist(), strict=True))
    assert found[:, :6].tolist() == [[1, 1, 1, 0.5, 0, 1], [0, 0, 0, 0, 1, 0]]
    assert by_name["child's name ends with it as a word"] == [1, 0]
    assert by_name["closer to the child than its siblings are"] == [1, 0]
    assert by_name["nearer than most siblings to the child"] == [1, 0.5]
    assert by_name["share of the children that end with its name"] == [0.5, 0.5]
    assert by_name["mean similarity to the children"] == [0.5, 0.5]
    assert by_name["words in its name"] == [1, 1]
    assert by_name["names alike"] == [0.25, 0]
    assert by_name["its name fits the child's text"] == by_name["the child's name fits its text"] == [0.5, 0]
    assert by_name["largest share of siblings that a child is farther from"] == [1, 1]
    assert by_name["share of the children that are closer to it than to their siblings"] == [0.5, 0.5]
    assert by_name["similarity to the three nearest children"] == [0.5, 0.5]


def test_a_group_taken_out_gets_its_children_back() -> None:
    taxonomy, vectors = _families(30)
    out = taxonomy.position("group3")
    children = taxonomy.children("group3")
    keep = np.arange(len(taxonomy)) != out
    edges = [pair for pair in taxonomy.edges() if "group3" not in pair] + [("root", c) for c in children]
    seed = Taxonomy.from_edges(edges)
    order = [taxonomy.position(id) for id in seed.ids]
    assert len(order) == keep.sum()
    left = vectors.take(np.array(order))
    model = Insertion.fit(seed, left, random_state=0)
    assert model is not None
    below, probability = model.probabilities(
        seed, left, seed.position("root"), taxonomy.concept(out), _row(vectors, out)
    )
    taken = {seed.ids[i] for i, p in zip(below, probability) if p >= model.cut}
    assert taken == set(children)


def test_too_few_inner_concepts_mean_no_proposals(animals: Taxonomy) -> None:
    assert Insertion.fit(animals, _alike(np.eye(len(animals), dtype=np.float32)), random_state=0) is None


def test_a_part_is_told_from_a_kind() -> None:
    taxonomy = Taxonomy.from_edges(
        [("thing", "nucleus"), ("thing", "neuron")],
        descriptions={"nucleus": "a part of the cell that holds its genes", "neuron": "a cell that carries signals"},
    )
    vectors = _alike(np.eye(3, dtype=np.float32))
    features = insertion_features(taxonomy, vectors, np.array([1, 2]), 0, Concept("cell", "cell"), _row(vectors, 0))
    column = INSERTION_FEATURES.index("named as a whole of which the child is a part")
    assert features[:, column].tolist() == [1, 0]


def _children(count: int, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Stated probabilities, and whether right as often as `slope` times their log odds says."""
    rng = np.random.default_rng(0)
    stated = rng.uniform(0.03, 0.99, count)
    return stated, rng.random(count) < shift_odds(stated, slope, 0.0)


def test_the_cut_is_where_the_proposals_above_it_are_right_as_often_as_aimed_at() -> None:
    stated, right = _children(40_000, 0.5)
    slope, constant, cut = precise_cut(stated, right, np.ones(len(stated)))
    assert abs(slope - 0.5) < 0.05
    assert abs(constant) < 0.05
    proposed = shift_odds(stated, slope, constant) >= cut
    assert abs(right[proposed].mean() - AIM) < 0.02


def test_what_leaves_would_wrongly_get_raises_the_cut() -> None:
    stated, right = _children(40_000, 1.0)
    alone = precise_cut(stated, right, np.ones(len(stated)))
    rng = np.random.default_rng(1)
    both = np.append(stated, rng.uniform(0.03, 0.6, 4000)), np.append(right, np.zeros(4000, bool))
    mixed = precise_cut(*both, np.append(np.ones(len(stated)), np.full(4000, 9.0)))
    taken = [shift_odds(stated, slope, constant) >= cut for slope, constant, cut in (alone, mixed)]
    assert taken[1].sum() < taken[0].sum()


def test_nothing_is_proposed_where_too_few_proposals_would_be_right() -> None:
    probability = np.linspace(0.9, 0.1, 100)
    for right in (
        np.arange(100) < 9,  # too few to tell
        np.arange(100) % 2 == 1,
        np.zeros(100, bool),
    ):
        assert precise_cut(probability, right, np.ones(100))[2] == np.inf


def test_a_child_is_surer_the_surer_its_parent_is() -> None:
    assert below(np.array([0.8]), 1.0).tolist() == [0.8]
    assert below(np.array([0.8]), 0.25).tolist() == [0.4]


def test_probabilities_are_measured_below_the_suggested_parents() -> None:
    taxonomy, vectors = _families(60)
    inner = np.array([taxonomy.position(f"group{k}") for k in range(60)])
    leaves = np.array([taxonomy.position(f"red group{k}") for k in range(60)])
    above = np.zeros(60, np.int64)  # the root, which is the parent of every group
    concepts = np.concatenate([inner, leaves])

    def fit(parents_of_groups: np.ndarray, sure: float) -> Insertion:
        parents = np.concatenate([parents_of_groups, inner])
        model = Insertion.fit(taxonomy, vectors, 0, SuggestedParents(concepts, parents, np.full(120, sure, np.float32)))
        assert model is not None
        return model

    right = fit(above, 0.9)
    assert right.cut < 1
    wrong = fit(np.roll(inner, 1), 0.9)  # below another group nothing belongs below it
    assert wrong.cut == np.inf
    without = Insertion.fit(taxonomy, vectors, 0)
    assert without is not None
    assert (without.cut, without.slope, without.constant) == (CUT, 1.0, 0.0)


def test_what_was_learned_survives_arrays() -> None:
    taxonomy, vectors = _families(30)
    model = Insertion.fit(taxonomy, vectors, random_state=0)
    assert model is not None
    again = Insertion.from_arrays(model.to_arrays())
    assert (again.cut, again.slope, again.constant) == (model.cut, model.slope, model.constant)
    shifted = Insertion(model.model, 0.6, 1.5, -0.25)
    restored = Insertion.from_arrays(shifted.to_arrays())
    assert (restored.cut, restored.slope, restored.constant) == (0.6, 1.5, -0.25)
    np.testing.assert_array_equal(again.model.weights, model.model.weights)
    earlier = {key: value for key, value in model.to_arrays().items() if key != "cut"}
    assert Insertion.from_arrays(earlier).cut == 0.5


def test_a_leaf_takes_no_children() -> None:
    taxonomy, vectors = _families(30)
    model = Insertion.fit(taxonomy, vectors, random_state=0)
    assert model is not None
    leaf = taxonomy.position("red group4")
    below, probability = model.probabilities(
        taxonomy, vectors, taxonomy.position("group4"), taxonomy.concept(leaf), _row(vectors, leaf)
    )
    assert (probability[below != leaf] < model.cut).all()
