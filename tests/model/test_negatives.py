from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taxosphere import Taxonomy
from taxosphere.model.negatives import NONE, Lineage, Mix, sample, share

EVEN = Mix(0.25, 0.25, 0.25)


def random_dag(size: int, seed: int) -> Taxonomy:
    rng = np.random.default_rng(seed)
    pairs = {(int(rng.integers(child)), child) for child in range(1, size) if rng.random() > 0.1}
    pairs |= {(int(rng.integers(child)), int(child)) for child in np.flatnonzero(rng.random(size) < 0.4) if child}
    return Taxonomy.from_edges(
        [(str(a), str(b)) for a, b in sorted(pairs)], names={str(i): str(i) for i in range(size)}
    )


def graph_of(t: Taxonomy) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(t)))
    graph.add_edges_from(t.edge_array.tolist())
    return graph


@given(size=st.integers(1, 40), number=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_never_the_child_its_parents_or_anything_above(size: int, number: int) -> None:
    seed = random_dag(size, number)
    graph = graph_of(seed)
    children = np.arange(size)
    drawn = sample(seed, Lineage(seed), children, 6, EVEN, np.random.default_rng(number))
    assert drawn.shape == (size, 6)
    for child in children:
        above = nx.ancestors(graph, child) | {child}
        allowed = set(range(size)) - above
        assert set(drawn[child].tolist()) <= (allowed or {NONE})


@given(number=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_forbidden_agrees_with_the_graph(number: int) -> None:
    seed = random_dag(15, number)
    graph = graph_of(seed)
    child, other = (grid.ravel() for grid in np.meshgrid(np.arange(15), np.arange(15)))
    expected = [b == a or b in nx.ancestors(graph, a) for a, b in zip(child, other, strict=True)]
    np.testing.assert_array_equal(Lineage(seed).forbidden(child, other), expected)


@pytest.mark.parametrize(
    ("mix", "allowed"),
    [
        (Mix(1.0, 0.0, 0.0), {"e"}),  # the other child of b
        (Mix(0.0, 0.0, 1.0), {"c"}),  # the other child of a
        (Mix(0.0, 1.0, 0.0), {"e", "f", "g"}),  # children of b and c, without d itself
        (Mix(0.0, 0.0, 0.0), {"c", "e", "f", "g"}),  # everything that is not above d
    ],
)
def test_relatives_of_one_child_by_hand(mix: Mix, allowed: set[str]) -> None:
    seed = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("b", "e"), ("c", "f"), ("c", "g")])
    rng = np.random.default_rng(0)
    child = np.full(1, seed.position("d"))
    drawn = sample(seed, Lineage(seed), child, 4000, mix, rng).ravel()
    counts = {seed.ids[i]: n for i, n in zip(*np.unique(drawn, return_counts=True), strict=True)}
    # Where the draw is d or b itself, a random concept replaces it: those have to stay the smaller part.
    assert allowed <= set(counts) <= {"c", "e", "f", "g"}
    wanted = sum(counts[name] for name in allowed)
    assert wanted > 0.5 * 4000


def test_every_admissible_concept_is_drawn_at_random() -> None:
    seed = random_dag(30, 5)
    lineage = Lineage(seed)
    drawn = sample(seed, lineage, np.full(1, 29), 4000, Mix(0, 0, 0), np.random.default_rng(1)).ravel()
    allowed = np.setdiff1d(np.arange(30), [29, *seed.ancestor_csr.row(29)])
    counts = np.bincount(drawn, minlength=30)[allowed]
    assert counts.min() > 0.7 * 4000 / len(allowed)
    assert counts.max() < 1.3 * 4000 / len(allowed)


def test_the_bottom_of_a_chain_has_no_negative() -> None:
    seed = Taxonomy.from_edges([("a", "b"), ("b", "c")])
    drawn = sample(seed, Lineage(seed), np.array([0, 1, 2]), 5, EVEN, np.random.default_rng(0))
    assert set(drawn[0]) == {1, 2}
    assert set(drawn[1]) == {2}
    assert set(drawn[2]) == {NONE}


def test_the_same_generator_draws_the_same() -> None:
    seed = random_dag(50, 1)
    first, second = (sample(seed, Lineage(seed), np.arange(50), 7, EVEN, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@given(size=st.integers(2, 60), number=st.integers(0, 10_000), extra=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_shared_negatives_are_few_and_none_is_above_its_child(size: int, number: int, extra: int) -> None:
    seed = random_dag(size, number)
    graph, lineage, rng = graph_of(seed), Lineage(seed), np.random.default_rng(number)
    edges = rng.permutation(seed.edge_array.astype(np.int64))[:12]
    drawn = sample(seed, lineage, edges[:, 1], 5, EVEN, rng)
    before = drawn.copy()
    shared = share(lineage, edges, drawn, extra, rng)
    paired, others = set(edges.ravel().tolist()), set(shared.ravel().tolist()) - {NONE, *edges.ravel().tolist()}
    assert len(others) <= extra
    assert others <= set(before.ravel().tolist())
    for row, child in enumerate(edges[:, 1].tolist()):
        above = nx.ancestors(graph, child) | {child}
        assert not above & set(shared[row].tolist())
        # What was drawn from the concepts of the pairs stays where it was.
        inside = np.isin(before[row], list(paired))
        np.testing.assert_array_equal(shared[row][inside], before[row][inside])
        assert (shared[row] == NONE).all() or NONE not in shared[row]
        assert NONE not in shared[row] or paired <= above


def test_of_other_negatives_those_drawn_most_often_are_shared() -> None:
    seed = Taxonomy.from_edges([("root", name) for name in "abcdefg"])
    at = seed.position
    edges = np.array([(at("root"), at("a")), (at("root"), at("b"))])
    drawn = np.array([[at(name) for name in row] for row in ("cdb", "dcf")])
    shared = share(Lineage(seed), edges, drawn, 2, np.random.default_rng(0))
    assert [seed.ids[i] for i in shared[0]] == ["c", "d", "b"]
    assert [seed.ids[i] for i in shared[1, :2]] == ["d", "c"]
    assert seed.ids[shared[1, 2]] in {"a", "c", "d"}  # f was drawn once only
