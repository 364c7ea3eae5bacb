from __future__ import annotations

from dataclasses import replace

import numpy as np

from taxosphere import Concept, Taxonomy
from taxosphere.placing.duplicates import Match, NameIndex
from taxosphere.placing.expansion import Placement, decide, find_duplicates, grow
from taxosphere.placing.suggestions import Suggestion, Suggestions


def _suggestions(
    name: str, *ranked: tuple[str, float], none: float = 0.0, already: tuple[Match, ...] = ()
) -> Suggestions:
    found = tuple(Suggestion(0, id, id, (id,), p, p, p, True, (), {}) for id, p in ranked)
    return Suggestions(Concept(name, name), none, found, found[:1], already)


SEED = Taxonomy.from_edges([("animal", "bird")])


def _decide(
    *suggestions: Suggestions,
    alone: dict[str, Suggestions] | None = None,
    accept: float = 0.5,
    seed: Taxonomy = SEED,
) -> dict[str, Placement]:
    seed_only = [(alone or {}).get(s.query.id, s) for s in suggestions]
    duplicates = find_duplicates(suggestions, seed, NameIndex(seed))
    placed = decide(suggestions, seed_only, accept=accept, ids=set(seed.ids), duplicates=duplicates)
    return {p.concept.id: p for p in placed}


def _parents(placement: Placement) -> list[str]:
    return [p.id for p in placement.parents]


def test_what_is_sure_is_attached_and_the_rest_waits_for_a_person() -> None:
    placed = _decide(
        _suggestions("eagle", ("bird", 0.9), ("animal", 0.05)),
        _suggestions("stone", ("animal", 0.3), none=0.6),
        _suggestions("bat", ("bird", 0.45), ("animal", 0.4), none=0.1),
    )
    assert _parents(placed["eagle"]) == ["bird"]
    assert not placed["stone"].attached
    assert placed["stone"].why == "perhaps a new top-level concept"
    assert not placed["bat"].attached
    assert placed["bat"].why == "not sure enough"


def test_chains_of_new_concepts_form_in_any_order() -> None:
    chain = [
        _suggestions("harpy eagle", ("eagle", 0.95)),
        _suggestions("eagle", ("raptor", 0.8)),
        _suggestions("raptor", ("bird", 0.6)),
    ]
    for given in (chain, chain[::-1]):
        placed = _decide(*given)
        assert _parents(placed["harpy eagle"]) == ["eagle"]
        assert _parents(placed["eagle"]) == ["raptor"]
        assert _parents(placed["raptor"]) == ["bird"]


def test_of_new_concepts_that_claim_each_other_the_less_sure_goes_where_it_would_go_alone() -> None:
    claims = [_suggestions("goat", ("mountain goat", 0.97)), _suggestions("mountain goat", ("goat", 0.99))]
    hanging = _suggestions("old mountain goat", ("mountain goat", 0.6))
    alone = {
        "goat": _suggestions("goat", ("animal", 0.7)),
        "mountain goat": _suggestions("mountain goat", ("bird", 0.9)),
    }
    for given in ([*claims, hanging], [hanging, *claims[::-1]]):
        placed = _decide(*given, alone=alone)
        assert _parents(placed["goat"]) == ["animal"]
        assert _parents(placed["mountain goat"]) == ["goat"]
        assert _parents(placed["old mountain goat"]) == ["mountain goat"]
    unsure = _decide(*claims, hanging, alone=alone, accept=0.8)
    assert unsure["goat"].why == "not sure enough"
    assert unsure["mountain goat"].why == "its best parent is new and unsettled"


def test_a_child_of_a_concept_under_review_waits_too() -> None:
    placed = _decide(_suggestions("eagle", ("raptor", 0.9)), _suggestions("raptor", ("bird", 0.2)))
    assert not placed["raptor"].attached
    assert not placed["eagle"].attached
    assert placed["eagle"].why == "its best parent is new and unsettled"


def test_duplicates_are_not_placed_unless_names_repeat_by_design() -> None:
    twin = _suggestions("Bird", ("animal", 0.99), already=(Match("bird", "bird", "same name", 0.97),))
    assert _decide(twin)["Bird"].why == "already there as 'bird' (same name)"
    senses = Taxonomy.from_concepts(
        [Concept("animal", "animal"), Concept("bird", "bird"), Concept("toy", "bird", "a shuttlecock")], []
    )
    assert _parents(_decide(twin, seed=senses)["Bird"]) == ["animal"]
    same = replace(
        twin, query=replace(twin.query, description="a shuttlecock"), already=(Match("toy", "bird", "same name", 0.97),)
    )
    assert _decide(same, seed=senses)["Bird"].why == "already there as 'bird' (same name)"


def test_senses_of_a_word_are_told_apart_by_their_descriptions() -> None:
    senses = [Concept("run.1", "run", "move fast on foot"), Concept("run.2", "run", "flow, of a liquid")]
    words = Taxonomy.from_concepts([Concept("animal", "animal"), *senses], [("animal", "run.1"), ("animal", "run.2")])
    there = tuple(Match(sense.id, "run", "same name", 0.05) for sense in senses)
    query = _suggestions("x", ("animal", 0.9), already=there)
    described = {"": False, "flow, of a liquid": False, "be a candidate in an election": True}
    for description, attached in described.items():
        asked = replace(query, query=Concept("x", "run", description))
        assert _decide(asked, seed=words)["x"].attached == attached


def test_a_name_that_repeats_hides_no_duplicate_of_another() -> None:
    """A catalogue has "other" in every department: one more is welcome in a new one, but not twice in the same."""
    names = ["shoes", "hats", "toys", "boots", *(f"thing {i}" for i in range(20))]
    others = [Concept("o1", "other"), Concept("o2", "other")]
    shop = Taxonomy.from_concepts([*(Concept(n, n) for n in names), *others], [("shoes", "o1"), ("hats", "o2")])
    there = (Match("o1", "other", "same name", 0.97), Match("o2", "other", "same name", 0.97))
    toys = _suggestions("other", ("toys", 0.9), already=there)
    assert _parents(_decide(toys, seed=shop)["other"]) == ["toys"]
    shoes = _suggestions("other", ("shoes", 0.9), already=there)
    assert _decide(shoes, seed=shop)["other"].why == "already there as 'other' (same name)"
    boots = _suggestions(
        "Boot", ("shoes", 0.9), already=(Match("boots", "boots", "same name, spelled differently", 0.97),)
    )
    assert _decide(boots, seed=shop)["Boot"].why == "already there as 'boots' (same name, spelled differently)"


def test_the_second_of_two_in_the_list_is_left_to_a_person() -> None:
    same = [_suggestions(id, ("bird", 0.9)) for id in ("wren", "Wrens", "owl")]
    placed = _decide(*same)
    assert [placed[id].attached for id in ("wren", "Wrens", "owl")] == [True, False, True]
    assert placed["Wrens"].why == "'wren' stands before it in the list"


def test_the_second_of_two_may_be_told_by_a_synonym() -> None:
    couch, sofa = (_suggestions(name, ("bird", 0.9)) for name in ("couches", "sofas"))
    couch = replace(couch, query=replace(couch.query, synonyms=("Sofa",)))
    assert _decide(couch, sofa)["sofas"].why == "'couches' stands before it in the list"
    assert _decide(sofa, couch)["couches"].why == "'sofas' stands before it in the list"


def test_growing_keeps_the_seed_and_moves_children_only_when_asked() -> None:
    seed = Taxonomy.from_edges([("animal", "bird"), ("animal", "harpy eagle"), ("bird", "wren")])
    eagle = _suggestions("eagle", ("animal", 0.9))
    placed = Placement(eagle.query, eagle, eagle.parents, takes=(("harpy eagle", 0.8), ("bird", 0.1)))
    unsure = Placement(
        Concept("rock", "rock", 'a "hard"\tthing', ("stone", "boulder")), _suggestions("rock", ("animal", 0.2)), why="x"
    )

    kept = grow(seed, [placed, unsure], insert=None)
    assert set(kept.taxonomy.edges()) == {*seed.edges(), ("animal", "eagle")}
    assert kept.moved == ()
    assert kept.review == (unsure,)

    moved = grow(seed, [placed, unsure], insert=0.5)
    expected = {("animal", "bird"), ("bird", "wren"), ("animal", "eagle"), ("eagle", "harpy eagle")}
    assert set(moved.taxonomy.edges()) == expected
    assert moved.moved == (("harpy eagle", "animal", "eagle"),)


def test_a_child_is_not_moved_below_what_hangs_below_it() -> None:
    seed = Taxonomy.from_edges([("a", "c"), ("c", "d"), ("a", "e")])
    x, y = _suggestions("x", ("a", 0.9), ("y", 0.9)), _suggestions("y", ("d", 0.9))
    placements = [
        Placement(x.query, x, tuple(x), takes=(("c", 0.95), ("e", 0.95))),
        Placement(y.query, y, tuple(y)),
    ]
    grown = grow(seed, placements, insert=0.9)
    assert grown.moved == (("e", "a", "x"),)
    assert set(grown.taxonomy.edges()) == {("a", "c"), ("c", "d"), ("d", "y"), ("a", "x"), ("y", "x"), ("x", "e")}


def test_a_child_of_both_parents_is_moved_from_both() -> None:
    seed = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "x"), ("b", "x")])
    new = _suggestions("n", ("a", 0.9), ("b", 0.9))
    grown = grow(seed, [Placement(new.query, new, tuple(new), takes=(("x", 0.95),))], insert=0.8)
    assert set(grown.taxonomy.edges()) == {("r", "a"), ("r", "b"), ("a", "n"), ("b", "n"), ("n", "x")}
    assert grown.moved == (("x", "a", "n"), ("x", "b", "n"))


def _decide_pass_by_pass(
    suggestions: list[Suggestions], alone: list[Suggestions], accept: float, ids: set[str]
) -> dict[str, list[str]]:
    """The definition of `decide`: all that wait are looked at in every pass. Returns the parents of each concept."""
    settled, parents = set(ids), dict[int, list[str]]()
    number = {s.query.id: i for i, s in enumerate(suggestions)}
    waiting = sorted(
        range(len(suggestions)), key=lambda i: (-max((s.probability for s in suggestions[i]), default=0), i)
    )

    def settle(i: int, ranked: Suggestions, wait: bool) -> bool:
        sure = [s for s in ranked if s.probability >= accept]
        usable = sure if wait else [s for s in sure if s.id in settled]
        if sure and (not usable or usable[0].id not in settled):
            return False
        together = [s for s in ranked.parents if s.id in settled]
        parents[i] = [s.id for s in (together if usable[0] in together else usable[:1])] if sure else []
        if parents[i]:
            settled.add(ranked.query.id)
        return True

    while waiting:
        still = [i for i in waiting if not settle(i, suggestions[i], True)]
        if len(still) == len(waiting):
            best = {i: next(s for s in suggestions[i] if s.probability >= accept) for i in still}
            stuck = next((i for i in still if number[best[i].id] in parents), None)
            if stuck is not None:
                if not settle(stuck, suggestions[stuck], False):
                    parents[stuck] = []
            else:
                path = [still[0]]
                while number[best[path[-1]].id] not in path:
                    path.append(number[best[path[-1]].id])
                cycle = path[path.index(number[best[path[-1]].id]) :]
                stuck = min(cycle, key=lambda i: best[i].probability)
                settle(stuck, alone[stuck], False)
            still.remove(stuck)
        waiting = still
    return {suggestions[i].query.id: parents[i] for i in range(len(suggestions))}


def test_decisions_are_those_of_passes_over_all_that_wait() -> None:
    random = np.random.default_rng(0)
    seed = ["s0", "s1", "s2"]
    for _ in range(300):
        n = int(random.integers(1, 14))
        names = [f"n{i}" for i in range(n)]
        together, alone = [], []
        for name in names:
            others = [other for other in (*seed, *names) if other != name]
            chosen = random.permutation(others)[: int(random.integers(1, 5))]
            shares = np.sort(random.dirichlet(np.ones(len(chosen) + 1) / 2)[1:])[::-1].round(3)
            ranked = _suggestions(name, *zip(map(str, chosen), shares.tolist(), strict=True))
            together.append(replace(ranked, parents=ranked.ranked[: int(random.integers(1, 4))]))
            alone.append(_suggestions(name, (str(random.choice(seed)), float(random.uniform(0, 1)))))
        accept = float(random.choice([0.0, 0.1, 0.3, 0.6]))
        placed = decide(together, alone, accept=accept, ids=set(seed), duplicates={})
        assert {p.concept.id: _parents(p) for p in placed} == _decide_pass_by_pass(together, alone, accept, set(seed))
