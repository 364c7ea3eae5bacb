from __future__ import annotations

from itertools import product

import networkx
import numpy as np
import pytest
from hypothesis import given

from support.hierarchies import as_networkx, dags, digraphs, numbered, trees
from taxosphere import Taxonomy
from taxosphere.taxonomy import structure


@given(dags())
def test_depth_is_the_shortest_way_from_a_root(t: Taxonomy) -> None:
    layers = enumerate(networkx.bfs_layers(as_networkx(t), t.roots.tolist()))
    expected = {i: depth for depth, layer in layers for i in layer}
    assert t.levels.tolist() == [expected[i] for i in range(len(t))]


@given(dags())
def test_longest_depth_is_the_topological_generation(t: Taxonomy) -> None:
    generations = enumerate(networkx.topological_generations(as_networkx(t)))
    expected = {i: depth for depth, layer in generations for i in layer}
    assert t.longest.tolist() == [expected[i] for i in range(len(t))]


@given(dags())
def test_descendants_and_ancestors_are_distinct_concepts(t: Taxonomy) -> None:
    graph = as_networkx(t)
    assert t.descendants.tolist() == [len(networkx.descendants(graph, i)) for i in range(len(t))]
    assert t.ancestors.tolist() == [len(networkx.ancestors(graph, i)) for i in range(len(t))]


@given(dags())
def test_ancestor_rows_list_every_ancestor_once_in_order(t: Taxonomy) -> None:
    graph = as_networkx(t)
    for i in range(len(t)):
        assert t.ancestor_csr.row(i).tolist() == sorted(networkx.ancestors(graph, i))
    some = np.arange(len(t))[::-2]
    rows = structure.ancestor_rows(t.parent_csr, some)
    assert [rows.row(k).tolist() for k in range(len(some))] == [sorted(networkx.ancestors(graph, i)) for i in some]


@given(dags())
def test_small_blocks_give_the_same_counts(t: Taxonomy) -> None:
    expected = t.descendants.tolist(), t.ancestors.tolist()
    level = t.longest
    blocks = [structure._ancestor_pairs(t.parent_csr, level, np.array([i])) for i in range(len(t))]
    assert [len(above) for _, above in blocks] == expected[1]
    below = np.bincount(np.concatenate([above for _, above in blocks]), minlength=len(t))
    assert below.tolist() == expected[0]


def common(t: Taxonomy, a: int, b: int) -> set[int]:
    graph = as_networkx(t)
    return (networkx.ancestors(graph, a) | {a}) & (networkx.ancestors(graph, b) | {b})


@given(trees())
def test_deepest_common_ancestor_of_a_tree_is_its_lowest(t: Taxonomy) -> None:
    graph = as_networkx(t)
    pairs = np.array(list(product(range(len(t)), repeat=2)))
    found = structure.deepest_common(t.parent_csr, t.levels, pairs[:, 0], pairs[:, 1])
    assert found.tolist() == [networkx.lowest_common_ancestor(graph, a, b) for a, b in pairs.tolist()]


@given(dags())
def test_deepest_common_ancestor_of_a_graph(t: Taxonomy) -> None:
    pairs = np.array(list(product(range(len(t)), repeat=2)))
    found = structure.deepest_common(t.parent_csr, t.levels, pairs[:, 0], pairs[:, 1])
    for (a, b), best in zip(pairs.tolist(), found.tolist(), strict=True):
        shared = common(t, a, b)
        if best < 0:
            assert not shared
        else:
            assert best in shared
            assert t.levels[best] == max(t.levels[i] for i in shared)


@given(dags())
def test_wu_palmer_takes_the_best_common_ancestor_and_stays_within_bounds(t: Taxonomy) -> None:
    pairs = np.array(list(product(range(len(t)), repeat=2)))
    found = structure.wu_palmer(t.parent_csr, t.levels, pairs[:, 0], pairs[:, 1])
    depth = (t.levels + 1).tolist()
    for (a, b), value in zip(pairs.tolist(), found.tolist(), strict=True):
        best = max((min(depth[i], depth[a], depth[b]) for i in common(t, a, b)), default=0)
        assert value == pytest.approx(2 * best / (depth[a] + depth[b]))
        assert 0 <= value <= 1
    assert (found[pairs[:, 0] == pairs[:, 1]] == 1).all()


def test_wu_palmer_by_hand(animals: Taxonomy) -> None:
    table = {
        ("sparrow", "duck"): 2 * 2 / (3 + 3),  # bird, depth 2 from 1
        ("dog", "duck"): 2 * 1 / (3 + 3),  # only animal
        ("duck", "farm animal"): 2 * 2 / (3 + 2),
        ("animal", "animal"): 1.0,
        ("mineral", "dog"): 0.0,  # two trees: the virtual root does not count
    }
    left, right = (np.array([animals.position(pair[side]) for pair in table]) for side in (0, 1))
    found = structure.wu_palmer(animals.parent_csr, animals.levels, left, right)
    assert found.tolist() == pytest.approx(list(table.values()))


def test_five_concepts_by_hand() -> None:
    # 0 → 1 → 2 → 4 and 0 → 3 → 4, 0 → 2: concept 2 has a shortcut, concept 4 two parents
    t = numbered(5, [(0, 1), (1, 2), (2, 4), (0, 3), (3, 4), (0, 2)])
    assert t.levels.tolist() == [0, 1, 1, 1, 2]
    assert t.longest.tolist() == [0, 1, 2, 1, 3]
    assert t.descendants.tolist() == [4, 2, 1, 1, 0]
    assert t.ancestors.tolist() == [0, 1, 2, 1, 4]
    assert [part.tolist() for part in t.order] == [[0], [1, 3], [2], [4]]
    assert t.roots.tolist() == [0]
    assert t.leaves.tolist() == [4]


@given(digraphs())
def test_strong_components_agree_with_networkx(t: Taxonomy) -> None:
    labels = structure.strong_components(t.parent_csr)
    ours = {frozenset(np.flatnonzero(labels == label).tolist()) for label in labels}
    assert ours == set(map(frozenset, networkx.strongly_connected_components(as_networkx(t))))
    expected = networkx.number_weakly_connected_components(as_networkx(t))
    assert structure.component_count(t.parent_csr) == expected


@given(digraphs())
def test_concepts_on_or_below_a_cycle_have_no_level(t: Taxonomy) -> None:
    graph = as_networkx(t)
    circular = {i for part in networkx.strongly_connected_components(graph) if len(part) > 1 for i in part}
    below = circular.union(*(networkx.descendants(graph, i) for i in circular))
    slices = structure.levels(t.parent_csr, t.child_csr)
    assert {int(i) for part in slices for i in part} == set(range(len(t))) - below


def test_a_cycle_has_no_ancestor_rows() -> None:
    t = numbered(3, [(0, 1), (1, 2), (2, 1)])
    with pytest.raises(ValueError, match="cyclic"):
        structure.ancestor_rows(t.parent_csr)


def test_nothing_breaks_on_an_empty_graph() -> None:
    t = numbered(0, [])
    none = np.zeros(0, np.int64)
    assert len(t.levels) == len(t.longest) == len(t.descendants) == len(t.ancestor_csr.indices) == 0
    assert structure.component_count(t.parent_csr) == 0
    assert len(structure.wu_palmer(t.parent_csr, t.levels, none, none)) == 0


@pytest.mark.slow
def test_a_deep_chain_with_shortcuts() -> None:
    size = 20_000
    chain = np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)
    shortcuts = np.array([[0, size - 1], [5, size // 2], [size // 2, size - 2]])
    t = numbered(size, np.concatenate([chain, shortcuts]).tolist())
    assert (t.longest == np.arange(size)).all()
    assert (t.ancestors == np.arange(size)).all()
    assert (t.descendants == np.arange(size)[::-1]).all()
    assert t.path("c19999") == ("c0", "c19999")
    assert t.path("c10001") == ("c0", "c1", "c2", "c3", "c4", "c5", "c10000", "c10001")
    assert t.depth("c9999") == 9_999
    assert len(t.path("c9999")) == 10_000


@given(dags())
def test_transposing_twice_changes_nothing(t: Taxonomy) -> None:
    once = structure.transpose(t.parent_csr)
    for i in range(len(t)):
        assert sorted(once.row(i)) == sorted(t.child_csr.row(i))
        assert sorted(structure.transpose(once).row(i)) == sorted(t.parent_csr.row(i))
