from __future__ import annotations

import networkx
import numpy as np
import pytest
from hypothesis import given

from support.hierarchies import as_networkx, dags, digraphs, numbered
from taxosphere import Taxonomy
from taxosphere.taxonomy import checks, cycles


@given(digraphs())
def test_every_cycle_is_a_closed_path_and_its_last_word_is_the_dropped_edge(t: Taxonomy) -> None:
    edges = set(map(tuple, t.edge_array.tolist()))
    for cycle in t.cycles:
        assert cycle.path[0] == cycle.path[-1]
        assert len(set(cycle.path)) == len(cycle.path) - 1
        assert all(step in edges for step in zip(cycle.path, cycle.path[1:], strict=False))
        assert tuple(t.edge_array[cycle.edge].tolist()) == cycle.path[:2]


@given(digraphs())
def test_repair_makes_it_acyclic_and_drops_nothing_needlessly(t: Taxonomy) -> None:
    whole, dropped = checks.repair(t)
    graph = as_networkx(whole)
    assert networkx.is_directed_acyclic_graph(graph)
    assert len(dropped) == len(t.edge_array) - len(whole.edge_array)
    for cycle in t.cycles:  # putting any one back closes a cycle again
        graph.add_edge(*cycle.path[:2])
        assert not networkx.is_directed_acyclic_graph(graph)
        graph.remove_edge(*cycle.path[:2])


@given(digraphs())
def test_repair_leaves_nobody_without_a_parent_but_the_entries_of_rootless_knots(t: Taxonomy) -> None:
    whole, _ = checks.repair(t)
    condensed = networkx.condensation(as_networkx(t))
    rootless = [
        part for part, degree in condensed.in_degree if degree == 0 and len(condensed.nodes[part]["members"]) > 1
    ]
    assert len(whole.roots) == len(t.roots) + len(rootless)


@given(dags())
def test_an_acyclic_graph_is_left_as_it_is(t: Taxonomy) -> None:
    whole, dropped = checks.repair(t)
    assert whole is t
    assert not dropped


def test_the_edge_that_climbs_is_dropped() -> None:
    # root → a → b → c, and c → a climbs two levels
    t = numbered(4, [(3, 1), (0, 1), (1, 2), (2, 3)])
    assert [cycle.path for cycle in t.cycles] == [(3, 1, 2, 3)]
    assert t.cycles[0].climb == 2


def test_a_second_way_in_decides_by_depth_not_by_order() -> None:
    # both 1 ⇄ 2 edges exist; 1 hangs from the root itself, 2 only from 3, one level deeper
    t = numbered(4, [(2, 1), (1, 2), (0, 1), (0, 3), (3, 2)])
    whole, dropped = checks.repair(t)
    assert ("c2", "c1") not in set(whole.edges())
    assert ("c1", "c2") in set(whole.edges())
    assert len(dropped) == 1
    assert "1 level back" in dropped[0].text


def test_among_equals_the_later_edge_goes() -> None:
    t = numbered(3, [(0, 1), (0, 2), (1, 2), (2, 1)])
    assert list(checks.repair(t)[0].edges()) == [("c0", "c1"), ("c0", "c2"), ("c1", "c2")]


def test_a_knot_without_a_root_is_entered_where_most_children_are() -> None:
    t = numbered(4, [(0, 1), (1, 0), (1, 2), (1, 3)])
    whole, _ = checks.repair(t)
    assert [whole.ids[i] for i in whole.roots] == ["c1"]


def test_a_hopeless_knot_is_still_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    pairs = rng.integers(0, 60, (400, 2))
    t = numbered(60, pairs[pairs[:, 0] != pairs[:, 1]].tolist())
    t = t.with_edges(t.edge_array)
    monkeypatch.setattr(cycles, "_MOST_VISITS", 50)
    whole, dropped = checks.repair(t)
    assert dropped
    assert networkx.is_directed_acyclic_graph(as_networkx(whole))


def test_a_circle_that_was_not_searched_for_is_not_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    t = Taxonomy.from_edges([("r", "a"), ("a", "b"), ("a", "d"), ("b", "d"), ("d", "e"), ("e", "a")])
    monkeypatch.setattr(cycles, "_MOST_VISITS", 0)
    told = [problem.text for problem in (*checks.problems(t), *checks.repair(t)[1])]
    assert len(told) == 4
    assert all("too large to be searched" in text for text in told)
    assert not any("'d' → 'b'" in text for text in told)
