from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy
from taxosphere.errors import InputError
from taxosphere.evaluation import scenario_figures
from taxosphere.evaluation.scenario_figures import Answers
from taxosphere.evaluation.scenarios import SHARES, Scenarios, build, foreign_concepts, respellings

QUICK = PolarisConfig().with_overrides(
    ("training.epochs=3", "ranking.folds=2", "ranking.nets=1", "ranking.epochs=4", "ranking.prior=false")
)


def orchard() -> Taxonomy:
    """plant → 6 kinds → 5 sorts each → 4 leaves each; every sort has a synonym."""
    concepts, edges = [Concept("plant", "plant")], []
    for kind in ("apple", "pear", "plum", "cherry", "quince", "peach"):
        concepts.append(Concept(kind, f"{kind} tree", f"a plant that bears {kind}s"))
        edges.append(("plant", kind))
        for sort in ("early", "late", "red", "green", "small"):
            id = f"{sort} {kind}"
            concepts.append(Concept(id, f"{sort} {kind}", f"a {kind} tree that is {sort}", (f"{kind} of sort {sort}",)))
            edges.append((kind, id))
            for place in ("hill", "valley", "garden", "wall"):
                concepts.append(Concept(f"{id} {place}", f"{place} {sort} {kind}", f"a {sort} {kind} of the {place}"))
                edges.append((id, f"{id} {place}"))
    return Taxonomy.from_concepts(concepts, edges)


FOREIGN = [Concept(str(i), f"algorithm {i}", "a procedure") for i in range(30)] + [
    Concept("x", "PLANT", "the same name")
]


@pytest.fixture(scope="module")
def scenarios() -> Scenarios:
    return build(orchard(), FOREIGN, random_state=3)


def test_every_scenario_has_queries(scenarios: Scenarios) -> None:
    assert set(scenarios.queries) == set(SHARES)
    assert all(part.queries for part in scenarios.queries.values())
    assert len({query.id for part in scenarios.queries.values() for query in part.queries}) == sum(
        len(part.queries) for part in scenarios.queries.values()
    )


def test_nothing_hidden_is_in_the_seed(scenarios: Scenarios) -> None:
    hidden = [q for name in ("leaf", "inner", "branch", "missing") for q in scenarios.queries[name].queries]
    text = "\n".join([*scenarios.seed.ids, *scenarios.seed.names, *scenarios.seed.descriptions])
    assert not [query.id for query in hidden if query.id in scenarios.seed]
    assert not [query.name for query in hidden if f"\n{query.name}\n" in f"\n{text}\n"]


def test_gold_parents_are_those_of_the_whole_taxonomy(scenarios: Scenarios) -> None:
    whole = orchard()
    for name in ("leaf", "inner"):
        part = scenarios.queries[name]
        for query, gold in zip(part.queries, part.gold, strict=True):
            assert {scenarios.seed.ids[i] for i in gold} == set(whole.parents(query.id))


def test_a_missing_parent_is_gone_with_all_below_it(scenarios: Scenarios) -> None:
    whole = orchard()
    part = scenarios.queries["missing"]
    for query, gold in zip(part.queries, part.gold, strict=True):
        (parent,) = whole.parents(query.id)
        assert parent not in scenarios.seed
        assert not [child for child in whole.children(parent) if child in scenarios.seed]
        assert {scenarios.seed.ids[i] for i in gold} == set(whole.parents(parent))


def test_children_of_an_inner_concept_hang_from_its_parents(scenarios: Scenarios) -> None:
    whole = orchard()
    for query, children in zip(scenarios.queries["inner"].queries, scenarios.children, strict=True):
        assert {scenarios.seed.ids[i] for i in children} == set(whole.children(query.id))
        for child in whole.children(query.id):
            assert scenarios.seed.parents(child) == whole.parents(query.id)


def test_branches_are_whole(scenarios: Scenarios) -> None:
    whole = orchard()
    for branch in scenarios.branches:
        ids = {concept.id for concept in branch.concepts}
        assert 2 <= len(ids) <= 20
        assert {child for id in ids for child in whole.children(id)} <= ids
        assert {edge for edge in whole.edges() if edge[1] in ids} == set(branch.edges)


def test_known_queries_are_other_spellings_that_nobody_uses(scenarios: Scenarios) -> None:
    names = {name.casefold() for name in scenarios.seed.names}
    used = names | {synonym.casefold() for row in scenarios.seed.synonyms for synonym in row}
    part = scenarios.queries["known"]
    spelled = [query.name.casefold() for query in part.queries]
    assert not [name for name in spelled if name in used - names]
    synonyms = [q for q, i in zip(part.queries, scenarios.same_as) if " of sort " in q.name]
    assert synonyms
    for query, position in zip(part.queries, scenarios.same_as, strict=True):
        assert query.name not in scenarios.seed.synonyms[position]


def test_foreign_names_that_are_used_here_are_left_out(scenarios: Scenarios) -> None:
    assert len(scenarios.queries["foreign"].queries) == 30
    assert (
        foreign_concepts([orchard()], random_state=0, most=5)[0]
        == foreign_concepts([orchard()], random_state=0, most=5)[0]
    )


def test_another_random_state_hides_others() -> None:
    def leaves(state: int) -> set[str]:
        return {query.id for query in build(orchard(), FOREIGN, random_state=state).queries["leaf"].queries}

    assert leaves(0) == leaves(0)
    assert leaves(0) != leaves(1)


def test_a_taxonomy_without_leaves_is_refused() -> None:
    with pytest.raises(InputError, match="no leaf with a parent"):
        build(Taxonomy.from_edges([], names={"a": "a", "b": "b"}), FOREIGN, random_state=0)


def test_respellings_of_names() -> None:
    assert respellings("sea bird") == ["sea birds", "sea-bird", "SEA BIRD", "bird, sea"]
    assert respellings("berries") == ["berry", "BERRIES"]
    assert respellings("CD4+ T cell")[0] == "CD4+ T cells"
    assert respellings("3") == []


def test_the_mixture_by_hand() -> None:
    """Two leaves of which one is right at 0.9 and one wrong at 0.7; a foreign one attached at 0.8."""
    leaf = Answers(np.array([0.9, 0.7]), np.array([True, False]), np.array([0.1, 0.1]), (frozenset(), frozenset()))
    foreign = Answers(np.array([0.8]), np.array([False]), np.array([0.2]), (frozenset(),))
    mixed = scenario_figures.mixture({"leaf": leaf, "foreign": foreign})
    total = 0.60 + 0.05
    assert mixed["at_0.8"]["coverage"] == pytest.approx((0.30 + 0.05) / total)
    assert mixed["at_0.8"]["precision"] == pytest.approx(0.30 / 0.35)
    assert mixed["at_0.9"] == {"precision": 1.0, "coverage": pytest.approx(0.30 / total)}
    assert mixed["ece"] == pytest.approx((0.30 * 0.1 + 0.30 * 0.7 + 0.05 * 0.8) / total)


def test_concepts_of_a_list_count_as_they_are_attached_at_each_line() -> None:
    """A sure one that waits for its new parent is not attached; the answer without a line counts for calibration."""
    sure, yes, no = np.array([0.95, 0.95]), np.array([True, True]), np.array([False, True])
    branch = Answers(sure, yes, np.zeros(2), (frozenset(), frozenset()), listed={0.8: (no, yes), 0.9: (yes, no)})
    mixed = scenario_figures.mixture({"branch": branch})
    assert mixed["at_0.8"] == {"precision": 1.0, "coverage": pytest.approx(0.5)}
    assert mixed["at_0.9"] == {"precision": 0.5, "coverage": pytest.approx(1.0)}
    assert mixed["ece"] == pytest.approx(0.05)


def test_the_calibration_error_by_chance_is_that_of_drawn_answers() -> None:
    rng = np.random.default_rng(0)
    probability = rng.random(400)
    none, nothing = np.zeros(400), (frozenset[str](),) * 400

    def mixed() -> dict[str, Any]:
        return scenario_figures.mixture({"leaf": Answers(probability, rng.random(400) < probability, none, nothing)})

    runs = [mixed() for _ in range(200)]
    expected = scenario_figures.error_by_chance([runs[0]["variances"]])
    assert np.mean([run["ece"] for run in runs]) == pytest.approx(expected, rel=0.05)
    of_four = scenario_figures.error_by_chance([run["variances"] for run in runs[:4]])
    assert of_four == pytest.approx(expected / 2)


def test_what_is_here_too_is_not_asked_as_foreign_or_under_a_name_that_two_concepts_have() -> None:
    names = [f"kind {i}" for i in range(40)]
    taxonomy = Taxonomy.from_edges([("root", name) for name in names])
    shared = ("shared alias", "shared aliases", "Shared-Alias")
    synonyms = tuple((f"alias {i}", shared[i % 3]) if name != "root" else () for i, name in enumerate(taxonomy.names))
    taxonomy = replace(taxonomy, synonyms=synonyms)
    foreign = [Concept("a", "ALIAS 3"), Concept("b", "Kinds 7"), Concept("c", "galaxy")]
    cut = build(taxonomy, foreign, random_state=0)
    assert [query.name for query in cut.queries["foreign"].queries] == ["galaxy"]
    assert not set(shared) & {query.name for query in cut.queries["known"].queries}


def test_none_is_the_first_answer_where_it_is_more_probable_than_the_best_parent() -> None:
    nobody: tuple[frozenset[str], ...] = (frozenset(),) * 3
    asked = Answers(np.array([0.3, 0.6, np.nan]), np.zeros(3, bool), np.array([0.4, 0.4, 0.9]), nobody)
    assert asked.none_first.tolist() == [True, False, False]  # the last is said to be there already


def test_a_warning_of_a_concept_with_a_common_name_is_counted_apart() -> None:
    taxonomy = Taxonomy.from_edges([("root", f"kind {i}") for i in range(40)])
    taxonomy = replace(
        taxonomy, synonyms=tuple(("common", f"own {i}") if i in (1, 2) else () for i in range(len(taxonomy)))
    )
    seeds = (build(taxonomy, [Concept("f", "galaxy")], random_state=state) for state in range(50))
    shared = [taxonomy.ids[i] for i in (1, 2)]

    def staying(cut: Scenarios) -> list[str]:
        asked = {query.id for query in cut.queries["leaf"].queries}
        named = [id for id, names in zip(cut.seed.ids, cut.seed.synonyms, strict=True) if "common" in names]
        return named if asked & set(shared) else []

    cut = next(cut for cut in seeds if staying(cut))
    (other,) = staying(cut)
    said = {
        name: Answers(
            np.zeros(len(part.queries)),
            np.zeros(len(part.queries), bool),
            np.zeros(len(part.queries)),
            tuple(frozenset({other} if query.id in shared else ()) for query in part.queries),
        )
        for name, part in cut.queries.items()
    }
    first = cut.seed.ids[cut.same_as[0]]
    right = (frozenset({first}), *said["known"].same_as[1:])
    known = scenario_figures.recognised(said | {"known": replace(said["known"], same_as=right)}, cut)
    assert known["precision"] == pytest.approx(50)
    assert known["precision_unshared"] == pytest.approx(100)


def test_what_is_there_already_counts_as_no_answer() -> None:
    known = Answers(np.array([np.nan, 0.9]), np.array([False, False]), np.zeros(2), (frozenset({"a"}), frozenset()))
    mixed = scenario_figures.mixture({"known": known})
    assert mixed["at_0.9"] == {"precision": 0.0, "coverage": pytest.approx(0.5)}


def test_all_figures_of_a_small_model(scenarios: Scenarios) -> None:
    model = Polaris(QUICK).fit(scenarios.seed, encoder=GramEncoder())
    document = scenario_figures.measure(model, scenarios)
    assert list(document["scenarios"]) == list(SHARES)
    assert document["scenarios"]["leaf"]["hit@1"] > 50  # names contain the parent's
    assert document["scenarios"]["known"]["recall"] > 50
    assert document["scenarios"]["missing"]["right"] >= document["scenarios"]["missing"]["hit@1"]
    assert 0 <= document["mixture"]["ece"] <= 1
    assert 0 <= document["scenarios"]["foreign"]["none_auroc"] <= 1


@pytest.mark.parametrize("proposed", [False, True])
def test_children_that_are_not_proposed_are_not_wrong_ones(
    scenarios: Scenarios, monkeypatch: pytest.MonkeyPatch, proposed: bool
) -> None:
    wrong = SimpleNamespace(child="nothing of the kind", parent="", proposed=proposed)
    monkeypatch.setattr(scenario_figures, "_proposals", lambda _, queries: ([wrong] for _ in queries))
    figures = scenario_figures.children(Polaris(), scenarios)
    assert figures["child_recall"] == 0
    wanted = {"child_precision": 0.0, "child_precision_among_leaves": 0.0} if proposed else {}
    assert {name: value for name, value in figures.items() if "precision" in name} == wanted
