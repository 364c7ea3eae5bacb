from __future__ import annotations

import pickle
from itertools import pairwise

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hierarchies import as_networkx, dags, digraphs, numbered
from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import CycleError


def test_the_animals_by_hand(animals: Taxonomy) -> None:
    assert len(animals) == 8
    assert animals.parents("duck") == ("bird", "farm animal")
    assert animals.children("animal") == ("bird", "mammal", "farm animal")
    assert animals.depth("duck") == 2
    assert animals.path("duck") == ("animal", "bird", "duck")
    assert [animals.ids[i] for i in animals.roots] == ["animal", "mineral"]
    assert [animals.ids[i] for i in animals.leaves] == ["sparrow", "duck", "dog", "mineral"]
    assert [animals.ids[i] for i in animals.isolated] == ["mineral"]
    assert animals.concept(animals.position("duck")).text == "duck: a waterbird that quacks"
    assert "duck" in animals
    assert "drake" not in animals
    assert repr(animals) == "Taxonomy(8 concepts, 7 edges)"


def test_an_unknown_id_is_named(animals: Taxonomy) -> None:
    with pytest.raises(InputError, match="'drake'"):
        animals.parents("drake")


@given(dags(), st.data())
def test_a_path_is_a_shortest_way_from_a_root(t: Taxonomy, data: st.DataObject) -> None:
    concept = data.draw(st.sampled_from(t.ids))
    path = t.path(concept)
    assert path[-1] == concept
    assert not t.parents(path[0])
    assert all(above in t.parents(below) for above, below in pairwise(path))
    graph = as_networkx(t)
    lengths = [
        networkx.shortest_path_length(graph, root, t.position(concept))
        for root in t.roots.tolist()
        if networkx.has_path(graph, root, t.position(concept))
    ]
    assert len(path) - 1 == t.depth(concept) == min(lengths)


@given(digraphs(), st.data())
def test_with_cycles_a_path_is_found_or_refused_but_never_wrong(t: Taxonomy, data: st.DataObject) -> None:
    i = data.draw(st.integers(0, len(t) - 1))
    graph = as_networkx(t)
    reachable = any(networkx.has_path(graph, root, i) for root in t.roots.tolist())
    if reachable:
        assert t.path(t.ids[i])[-1] == t.ids[i]
    else:
        with pytest.raises(CycleError):
            t.path(t.ids[i])


def test_adding_leaves_the_old_one_alone(animals: Taxonomy) -> None:
    bigger = animals.add([Concept("drake", "drake", synonyms=("male duck",))], [("duck", "drake")])
    assert len(animals) == 8
    assert len(bigger) == 9
    assert bigger.parents("drake") == ("duck",)
    assert bigger.concept(8).synonyms == ("male duck",)
    assert bigger.depth("drake") == 3
    assert bigger.names[0] is animals.names[0]


@pytest.mark.parametrize(
    ("concepts", "edges", "word"),
    [
        ([Concept("duck", "duck")], [], "share the id 'duck'"),
        ([Concept("x", "x"), Concept("x", "y")], [], "share the id 'x'"),
        ([], [("bird", "drake")], "'drake'"),
        ([], [("bird", "bird")], "its own parent"),
    ],
)
def test_adding_nonsense_is_refused(
    animals: Taxonomy, concepts: list[Concept], edges: list[tuple[str, str]], word: str
) -> None:
    with pytest.raises(InputError, match=word):
        animals.add(concepts, edges)


def test_an_edge_is_never_doubled(animals: Taxonomy) -> None:
    assert len(animals.add([], [("bird", "duck"), ("mammal", "duck")]).edge_array) == 8
    assert len(animals.with_edges(np.concatenate([animals.edge_array] * 2)).edge_array) == 7


def test_keeping_takes_masks_and_positions(animals: Taxonomy) -> None:
    wanted = [animals.position(id) for id in ("duck", "animal", "bird")]
    mask = np.zeros(len(animals), bool)
    mask[wanted] = True
    for part in (animals.keep(np.array(wanted)), animals.keep(mask)):
        assert part.ids == ("animal", "bird", "duck")
        assert list(part.edges()) == [("animal", "bird"), ("bird", "duck")]


def test_concepts_may_share_a_name() -> None:
    t = Taxonomy.from_concepts([Concept("1", "mercury"), Concept("2", "mercury")], [("1", "2")])
    assert t.parents("2") == ("1",)
    assert t.names == ("mercury", "mercury")


def test_nothing_can_be_changed_in_place(animals: Taxonomy) -> None:
    with pytest.raises(ValueError):
        animals.edge_array[0, 0] = 3
    with pytest.raises(TypeError):
        animals.meta["format"] = "other"  # type: ignore[index]
    with pytest.raises(AttributeError):
        animals.names = ()  # type: ignore[misc]


def test_columns_of_different_lengths_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="one entry per concept"):
        Taxonomy(("a", "b"), ("a",), ("", ""), np.zeros((0, 2), np.int32))


def test_a_taxonomy_travels_to_other_processes(animals: Taxonomy) -> None:
    copy = pickle.loads(pickle.dumps(animals))
    assert list(copy.concepts()) == list(animals.concepts())
    assert list(copy.edges()) == list(animals.edges())
    assert copy.meta == animals.meta


def test_a_cycle_is_shown_where_order_is_needed() -> None:
    t = numbered(4, [(0, 1), (1, 2), (2, 3), (3, 1)])
    with pytest.raises(CycleError, match="'c3' → 'c1' → 'c2' → 'c3'"):
        _ = t.descendants
    with pytest.raises(CycleError):
        _ = t.ancestor_csr
    assert t.depth("c3") == 3


def test_numbers_are_ids_and_none_says_nothing() -> None:
    made = Taxonomy.from_edges([(1, np.int64(2))], names={2: "two", 1: None}, descriptions={1: None, "3": "three"})
    assert (made.ids, made.names, made.descriptions) == (("1", "2", "3"), ("1", "two", "3"), ("", "", "three"))
    assert list(made.edges()) == [("1", "2")]


@pytest.mark.parametrize("odd", [None, 1.5, float("nan"), True])
def test_what_is_no_id_is_refused(odd: object) -> None:
    with pytest.raises(InputError, match="a text or a whole number"):
        Taxonomy.from_edges([("a", odd)])  # type: ignore[list-item]
