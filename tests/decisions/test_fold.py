from __future__ import annotations

from dataclasses import replace

import networkx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.hierarchies import dags
from taxosphere import Taxonomy
from taxosphere.decisions.events import Event, Snapshot, digest, from_record, to_record
from taxosphere.decisions.fold import Conflict, Fold, fold
from taxosphere.decisions.kinds import KINDS
from taxosphere.errors import InputError
from taxosphere.taxonomy import Concept

NEW = tuple(f"n{i}" for i in range(4))


def event(kind: str, item: str, *parents: str, id: str = "", **more: object) -> Event:
    concept = None if kind in ("undo", "comment") else Concept(item, f"new {item}")
    fields: dict[str, object] = {"concept": concept, "parents": parents, "note": "why"} | more
    return Event(id=id or f"{kind}-{item}", kind=kind, item=item, **fields)  # type: ignore[arg-type]


def shape(taxonomy: Taxonomy) -> tuple[object, ...]:
    return taxonomy.ids, taxonomy.names, taxonomy.descriptions, taxonomy.synonyms, list(taxonomy.edges())


# -- five concepts, worked out on paper -------------------------------------------------------------------------------
#
#   food ─┬─ fruit ─┬─ apple        events: 1 accept 'berry' below fruit       → fruit ─ berry
#         │         └─ cherry               2 insert 'berry' above cherry      → fruit ─ berry ─ cherry
#         └─ drink                          3 accept 'sweet cherry' below cherry
#                                           4 same 'beverage' as drink         → drink gets a synonym
#                                           5 reject 'car'
#                                           6 top 'tool'


@pytest.fixture
def food() -> Taxonomy:
    return Taxonomy.from_edges([("food", "fruit"), ("fruit", "apple"), ("fruit", "cherry"), ("food", "drink")])


EVENTS = (
    Event(id="1", kind="accept", item="berry", parents=("fruit",), concept=Concept("berry", "berry")),
    Event(id="2", kind="insert", item="berry", children=("cherry",)),
    Event(
        id="3", kind="accept", item="sweet", parents=("cherry",), concept=Concept("sweet", "sweet cherry"), by="Anna"
    ),
    Event(id="4", kind="same", item="beverage", parents=("drink",), concept=Concept("beverage", "beverage")),
    Event(id="5", kind="reject", item="car", concept=Concept("car", "car")),
    Event(id="6", kind="top", item="tool", concept=Concept("tool", "tool")),
)


def test_five_concepts_by_hand(food: Taxonomy) -> None:
    done = fold(food, EVENTS)
    assert done.refused == ()
    assert done.taxonomy.ids == ("food", "fruit", "apple", "cherry", "drink", "berry", "sweet", "tool")
    assert list(done.taxonomy.edges()) == [
        ("food", "fruit"),
        ("fruit", "apple"),
        ("food", "drink"),
        ("fruit", "berry"),
        ("cherry", "sweet"),
        ("berry", "cherry"),
    ]
    assert done.taxonomy.synonyms[4] == ("beverage",)
    assert done.taxonomy.names[6] == "sweet cherry"
    assert done.surviving == EVENTS


def test_undo_of_any_event_unless_a_later_one_depends_on_it(food: Taxonomy) -> None:
    folding = Fold(food)
    for one in EVENTS:
        folding.apply(one)
    with pytest.raises(Conflict, match=r"undo first: 'insert' of 'berry' \(2\)"):
        folding.apply(Event(id="7", kind="undo", item="berry", undoes="1"))
    assert len(folding.taxonomy()) == 8
    done = folding.apply(Event(id="8", kind="undo", item="berry", undoes="2"))  # not the last one
    assert folding.taxonomy().parents("cherry") == ("fruit",)
    assert (done.before, done.after) == (Snapshot("accepted", ("fruit",)), Snapshot("accepted", ("fruit",)))
    done = folding.apply(Event(id="9", kind="undo", item="berry", undoes="1"))
    assert (done.before, done.after) == (Snapshot("accepted", ("fruit",)), Snapshot())
    assert folding.taxonomy().parents("sweet") == ("cherry",)
    assert "berry" not in folding.taxonomy()
    for number, one in enumerate(EVENTS[:1:-1], 10):
        folding.apply(Event(id=str(number), kind="undo", item=one.item, undoes=one.id))
    assert shape(folding.taxonomy()) == shape(food)


def test_a_parent_that_is_new_must_have_a_place(food: Taxonomy) -> None:
    first, second = event("accept", "n0", "fruit"), event("accept", "n1", "n0")
    assert [one.code for one in fold(food, [second]).refused] == ["gone"]
    assert fold(food, [first, second]).taxonomy.parents("n1") == ("n0",)
    folding = Fold(food)
    folding.apply(first)
    folding.apply(second)
    with pytest.raises(Conflict, match="'accept' of 'new n1'"):
        folding.apply(event("undo", "n0", undoes="accept-n0"))
    with pytest.raises(Conflict, match="'new n1' hangs below 'new n0'; move it first"):
        folding.apply(event("reject", "n0"))


def test_a_new_decision_takes_the_place_of_the_former_one(food: Taxonomy) -> None:
    kinds = [("reject", ()), ("accept", ("fruit",)), ("move", ("drink",)), ("same", ("apple",)), ("later", ())]
    folding = Fold(food)
    for number, (kind, parents) in enumerate((*kinds, ("top", ()))):
        folding.apply(event(kind, "n0", *parents, id=str(number)))
    assert folding.taxonomy().parents("n0") == ()
    assert not any(folding.taxonomy().synonyms)
    for number, state in ((5, "later"), (4, "same"), (3, "accepted"), (2, "accepted"), (1, "rejected"), (0, "open")):
        assert folding.apply(event("undo", "n0", undoes=str(number), id=f"u{number}")).after.state == state  # type: ignore[union-attr]


def test_an_edit_changes_the_text_before_and_after_the_decision(food: Taxonomy) -> None:
    edit = event("edit", "n0", concept=Concept("n0", "plum", "a stone fruit", ("prune",)))
    accept = event("accept", "n0", "fruit")
    for events in ((edit, accept), (accept, edit)):
        grown = fold(food, events).taxonomy
        assert grown.concept(5) == Concept("n0", "plum", "a stone fruit", ("prune",))
        undone = fold(food, (*events, event("undo", "n0", undoes="edit-n0")))
        assert undone.refused == ()
        assert undone.taxonomy.names[5] == "new n0"


def test_an_undo_cannot_be_undone_and_nothing_is_undone_twice(food: Taxonomy) -> None:
    events = [event("accept", "n0", "fruit"), event("undo", "n0", undoes="accept-n0", id="u")]
    again = [event("undo", "n0", undoes=name, id=f"u{i}") for i, name in enumerate(("u", "accept-n0", "nothing"))]
    assert [one.code for one in fold(food, events + again).refused] == ["no such event"] * 3


@pytest.mark.parametrize(
    ("events", "code"),
    [
        ([event("accept", "n0", "nowhere")], "gone"),
        ([event("accept", "apple", "drink")], "taken"),
        ([event("accept", "n0", "fruit"), event("accept", "n0", "fruit", id="again")], "repeated"),
        ([event("accept", "n0", "fruit"), event("reject", "n1", id="accept-n0")], "repeated"),
        ([event("accept", "n0", "n0")], "gone"),
        ([event("accept", "n0", "fruit"), event("move", "n0", "n0")], "cycle"),
        ([event("same", "n0", "n0")], "gone"),
        ([event("insert", "n0", "fruit", children=("drink",))], "no sibling"),
        ([event("insert", "n0", "fruit", "apple", children=("apple",))], "cycle"),
        ([event("insert", "n0", children=("apple",))], "no sibling"),
        ([event("accept", "n0")], "parents"),
        ([event("top", "n0", "fruit")], "parents"),
        ([event("accept", "n0", "fruit", children=("apple",))], "children"),
        ([event("insert", "n0", "fruit")], "children"),
        ([event("accept", "n0", "fruit", concept=Concept("n1", "other"))], "item"),
        ([event("accept", "n0", "fruit", concept=None)], "no text"),
        ([event("accept", "n0", "fruit", concept=Concept("n0", " "))], "no text"),
        ([event("comment", "n0", note=" ")], "no text"),
        ([event("edit", "fruit")], "taken"),
        ([event("same", "n0", "fruit"), event("same", "n0", "fruit", id="again")], "repeated"),
        ([event("later", "n0"), event("later", "n0", id="again")], "repeated"),
    ],
)
def test_what_cannot_be_carried_out_is_refused_with_a_reason(food: Taxonomy, events: list[Event], code: str) -> None:
    done = fold(food, events)
    assert [(one.event, one.code) for one in done.refused] == [(events[-1], code)]
    assert shape(done.taxonomy) == shape(fold(food, events[:-1]).taxonomy)


def test_a_kind_that_does_not_exist_is_an_error(food: Taxonomy) -> None:
    with pytest.raises(InputError, match="no kind of decision is called 'agree'"):
        fold(food, [event("agree", "n0")])


def test_what_an_undo_would_restore_must_still_make_sense(food: Taxonomy) -> None:
    folding = Fold(food)
    for one in (
        event("accept", "n0", "fruit"),
        event("accept", "n1", "n0"),
        event("move", "n1", "drink"),  # n0 has no child any more
        event("reject", "n0"),
    ):
        folding.apply(one)
    with pytest.raises(Conflict, match="'reject' of 'new n0'"):
        folding.apply(event("undo", "n1", undoes="move-n1"))  # it would hang below a concept that is gone


def test_an_undo_never_closes_a_cycle(food: Taxonomy) -> None:
    folding = Fold(food)
    for one in (
        event("insert", "n0", "fruit", children=("cherry",)),  # fruit ─ n0 ─ cherry
        event("insert", "n1", "n0", children=("cherry",)),  # fruit ─ n0 ─ n1 ─ cherry
        event("move", "n1", "drink"),  # drink ─ n1 ─ cherry
        event("move", "n0", "cherry"),  # drink ─ n1 ─ cherry ─ n0
    ):
        folding.apply(one)
    with pytest.raises(Conflict, match="'move' of 'new n0'"):
        folding.apply(event("undo", "n1", undoes="move-n1"))  # n1 below n0 below cherry below n1
    with pytest.raises(Conflict, match="'new n0' hangs below 'new n1' itself"):
        folding.apply(event("move", "n1", "n0", id="back"))


def test_the_order_of_new_concepts_does_not_depend_on_what_was_undone(food: Taxonomy) -> None:
    first, second = event("accept", "n0", "fruit"), event("accept", "n1", "fruit")
    undone = (first, event("reject", "n0"), second, event("undo", "n0", undoes="reject-n0"))
    assert shape(fold(food, undone).taxonomy) == shape(fold(food, (first, second)).taxonomy)


# -- a base that has moved on -----------------------------------------------------------------------------------------


def decided(food: Taxonomy, **more: object) -> Event:
    names = (("fruit", "fruit"),)
    return event("accept", "n0", "fruit", base=digest(food), names=names, **more)


def with_names(taxonomy: Taxonomy, **names: str) -> Taxonomy:
    return replace(taxonomy, names=tuple(names.get(id, name) for id, name in zip(taxonomy.ids, taxonomy.names)))


def test_a_renamed_parent_is_recognised_by_its_id(food: Taxonomy) -> None:
    done = fold(with_names(food, fruit="fruits"), [decided(food)])
    assert done.taxonomy.parents("n0") == ("fruit",)
    assert [text for _, text in done.notices] == ["'fruit' (fruit) is called 'fruits' now"]


def test_a_parent_with_another_id_is_recognised_by_its_name(food: Taxonomy) -> None:
    moved = Taxonomy.from_edges([("food", "F1"), ("food", "drink")], names={"F1": "fruit"})
    done = fold(moved, [decided(food)])
    assert done.taxonomy.parents("n0") == ("F1",)
    assert [text for _, text in done.notices] == ["'fruit' has the id F1 now, not fruit"]


def test_a_parent_that_is_gone_is_a_conflict(food: Taxonomy) -> None:
    done = fold(Taxonomy.from_edges([("food", "drink")]), [decided(food)])
    assert [one.reason for one in done.refused] == ["the concept 'fruit' is not in the taxonomy"]


def test_what_the_base_has_meanwhile_is_left_as_it_is(food: Taxonomy) -> None:
    grown = fold(food, [decided(food)]).taxonomy
    below = event("accept", "n1", "n0", base=digest(food))
    for base, id in ((grown, "n0"), (food.add([Concept("P", "New N0")], [("fruit", "P")]), "P")):
        done = fold(base, [decided(food), below])
        assert done.refused == ()
        assert done.taxonomy.ids == (*base.ids, "n1")
        assert done.taxonomy.parents("n1") == (id,)
    other = food.add([Concept("n0", "something else")], [("food", "n0")])
    assert [one.code for one in fold(other, [decided(food)]).refused] == ["taken"]


def test_the_digest_does_not_depend_on_order(food: Taxonomy) -> None:
    other = Taxonomy.from_edges([("food", "drink"), ("fruit", "cherry"), ("food", "fruit"), ("fruit", "apple")])
    assert digest(other) == digest(food)
    assert digest(with_names(food, apple="apples")) != digest(food)
    assert digest(Taxonomy.from_edges([*list(food.edges())[:3], ("fruit", "drink")])) != digest(food)


# -- any sequence -----------------------------------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn) -> tuple[Taxonomy, list[Event]]:
    """A base and events most of which can be carried out: what exists so far is drawn from more often."""
    base = draw(dags(most=6))
    folding, events = Fold(base), list[Event]()
    for number in range(draw(st.integers(1, 16))):
        kind = draw(st.sampled_from((*KINDS, "undo", "undo", "undo", "accept", "insert", "move", "move", "reject")))
        grown = folding.taxonomy()
        there = [id for id in NEW if id in grown]
        item = draw(st.sampled_from(there if there and kind in ("move", "insert", "reject") else NEW))
        ids = st.sampled_from(grown.ids if draw(st.integers(0, 5)) else (*base.ids, *NEW))
        fewest, most = KINDS[kind].parents
        parents = draw(st.lists(ids, min_size=fewest, max_size=min(most, 2))) if kind != "insert" else []
        more: dict[str, tuple[str, ...] | str] = {}
        if kind == "insert":
            siblings = [child for parent in folding.snapshot(item).parents for child in grown.children(parent)]
            more = {"children": tuple(draw(st.lists(st.sampled_from(siblings or grown.ids), min_size=1, max_size=2)))}
        if kind == "undo" and folding.surviving:
            target = draw(st.sampled_from(folding.surviving))
            item, more = target.item, {"undoes": target.id}
        concept = Concept(item, draw(st.sampled_from(("red", "green", "blue"))), synonyms=("x",) * (number % 2))
        one = Event(id=str(number), kind=kind, item=item, parents=tuple(parents), note="n", concept=concept, **more)  # type: ignore[arg-type]
        folding.add(one)
        events.append(one)
    return base, events


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(histories())
def test_any_sequence_folds_to_what_the_surviving_events_give_alone(case: tuple[Taxonomy, list[Event]]) -> None:
    base, events = case
    done = fold(base, events)
    alone = fold(base, done.surviving)
    assert shape(alone.taxonomy) == shape(done.taxonomy)
    assert alone.refused == ()
    assert not {one.kind for one in done.surviving} & {"undo"}


@settings(max_examples=150, deadline=None)
@given(histories())
def test_no_fold_makes_a_cycle_a_duplicate_id_or_an_orphan(case: tuple[Taxonomy, list[Event]]) -> None:
    base, events = case
    done = fold(base, events)
    grown = done.taxonomy
    graph = networkx.DiGraph(grown.edges())
    assert networkx.is_directed_acyclic_graph(graph)
    assert len(set(grown.ids)) == len(grown)
    assert len(set(grown.edges())) == len(grown.edge_array)
    assert set(base.ids) <= set(grown.ids)
    tops = {one.item for one in done.surviving if one.kind == "top"}
    for id in grown.ids:
        assert grown.parents(id) or (id in base and not base.parents(id)) or id in tops
    for parent, child in base.edges():  # what was inserted lies between a child and its former parent, or was moved
        assert grown.parents(child) or (parent, child) in set(grown.edges())


@settings(max_examples=100, deadline=None)
@given(histories())
def test_everything_can_be_undone_from_the_end(case: tuple[Taxonomy, list[Event]]) -> None:
    base, events = case
    folding = Fold(base)
    for one in events:
        folding.add(one)
    for one in reversed(folding.surviving):
        folding.apply(Event(id=f"undo {one.id}", kind="undo", item=one.item, undoes=one.id))
    assert shape(folding.taxonomy()) == shape(base)


@settings(max_examples=100, deadline=None)
@given(histories())
def test_an_event_is_its_record(case: tuple[Taxonomy, list[Event]]) -> None:
    folding = Fold(case[0])
    for one in case[1]:
        try:
            done = folding.apply(one)
        except Conflict:
            continue
        assert from_record(to_record(done)) == done
        assert done.content_id() == one.content_id()


@pytest.mark.parametrize(
    "record",
    [
        [],
        {},
        {"id": "1", "kind": "accept"},
        {"id": "1", "kind": "accept", "item": "x", "color": "red"},
        {"id": "1", "kind": "accept", "item": "x", "parents": "fruit"},
        {"id": "1", "kind": "accept", "item": "x", "parents": [1]},
        {"id": "1", "kind": "accept", "item": "x", "probability": 10**400},
        {"id": "1", "kind": "accept", "item": "x", "probability": float("nan")},
        {"id": "1", "kind": "accept", "item": "x", "probability": True},
        {"id": "1", "kind": "accept", "item": "x", "concept": []},
        {"id": "1", "kind": "accept", "item": "x", "concept": {"extras": [["a"]]}},
        {"id": "1", "kind": "accept", "item": "x", "names": []},
        {"id": "1", "kind": "accept", "item": "x", "before": 1},
        {"id": "1", "kind": "accept", "item": "x", "note": "\udce4"},
        {"id": "1", "kind": "accept", "item": "x", "note": "\0"},
    ],
)
def test_what_is_no_event_is_refused(record: object) -> None:
    with pytest.raises(InputError):
        from_record(record)
