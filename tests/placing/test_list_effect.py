from __future__ import annotations

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Concept, Polaris, PolarisConfig, Taxonomy
from taxosphere.decisions.review import ReviewRow
from taxosphere.placing.list_effect import LIKELY, choose, several_parents
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.ranking.calibration import Logistic
from taxosphere.ranking.parent_set import ONE_PARENT, ParentSet

QUICK = PolarisConfig().with_overrides(
    ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")
)
LIST = [
    ("insect", "an insect is a thing"),
    ("red insect", "an insect that is called red"),
    ("tiny green bird", "a green bird that is called tiny"),
    ("green bird", "a bird that is called green"),
    ("tall tree", "a tree that is called tall"),
    ("quick fish", "a fish that is called quick"),
]


def _suggestions(none: float, *ranked: tuple[str, float]) -> Suggestions:
    suggested = tuple(Suggestion(0, id, id, (id,), p, p, p, True, (), {}) for id, p in ranked)
    return Suggestions(Concept("eagle", "eagle"), none, suggested, suggested[:1], ())


SEED = Taxonomy.from_edges([("animal", "bird"), ("animal", "fish")])
BEST = {"raptor": "bird", "hunter": "animal"}


@pytest.mark.parametrize(("new", "changed"), [(LIKELY - 0.01, False), (LIKELY + 0.01, True), (0.6, True)])
def test_the_list_changes_an_answer_where_new_concepts_are_likely_parents(new: float, changed: bool) -> None:
    alone = _suggestions(0.1, ("bird", 0.9))
    answer = choose(alone, _suggestions(1 - new, ("raptor", new)), SEED, ONE_PARENT, BEST, several=0.0)
    assert bool(answer.list_effect) == changed
    expected = {"bird": 0.9 * (1 - new), "raptor": new} if changed else {"bird": 0.9}
    assert {s.id: s.probability for s in answer} == pytest.approx(expected)
    assert answer.none_probability == pytest.approx(0.1 * (1 - new) if changed else 0.1)
    assert [s.id for s in answer.parents] == [max(expected, key=lambda id: expected[id])]


def test_what_the_list_changed_is_said_with_both_probabilities() -> None:
    def effect(existing: float, new: float) -> str:
        alone = _suggestions(1 - existing, ("bird", existing))
        return choose(alone, _suggestions(1 - new, ("raptor", new)), SEED, ONE_PARENT, BEST, several=0.0).list_effect

    assert effect(0.55, 0.72) == "its best parent 'raptor' (72%) is new too; without the list: 'bird' (55%)"
    assert effect(0.85, 0.3) == (
        "'raptor' of the list may be its parent (30%), 'bird' has 59%; without the list: 'bird' (85%)"
    )


def test_parents_on_one_path_are_not_taken_together() -> None:
    every = ParentSet(Logistic(np.zeros(8), np.ones(8), np.array([*np.zeros(8), 5.0])))
    alone = _suggestions(0.0, ("bird", 0.6), ("fish", 0.3), ("animal", 0.1))
    answer = choose(alone, _suggestions(0.4, ("raptor", 0.5), ("hunter", 0.1)), SEED, every, BEST, several=0.0)
    assert [s.id for s in answer.parents] == ["raptor", "fish"]


def test_beside_a_new_parent_existing_ones_are_as_likely_as_concepts_with_several_parents_are_common() -> None:
    probable = ParentSet(Logistic(np.zeros(8), np.ones(8), np.array([0, 0, 0, 0, 0, 0, 20.0, 0, -5.0])))
    alone = _suggestions(0.1, ("bird", 0.5), ("fish", 0.4))
    new = _suggestions(0.3, ("raptor", 0.7))

    def parents(several: float) -> list[str]:
        return [s.id for s in choose(alone, new, SEED, probable, BEST, several=several).parents]

    assert parents(0.0) == ["raptor"]  # fish: 0.4 · 0.3, and one quarter is needed
    assert parents(0.5) == ["raptor", "fish"]  # 0.4 · (0.3 + 0.7 · 0.5); bird is above raptor


def test_the_share_of_concepts_with_several_parents_leaves_out_roots() -> None:
    edges = [("animal", "bird"), ("animal", "fish"), ("pet", "fish")]
    assert several_parents(Taxonomy.from_edges(edges)) == 0.5
    assert several_parents(Taxonomy.from_edges([])) == 0


def test_suggest_and_expand_agree_wherever_the_list_is_not_said_to_change_the_answer() -> None:
    model = Polaris(QUICK).fit(meadow(), encoder=GramEncoder())
    placements = model.expand(LIST, accept=1.0).placements
    for placement, concept in zip(placements, LIST, strict=True):
        alone = model.suggest(*concept)
        same = [s.id for s in alone] == [s.id for s in placement.suggestions]
        assert same == (not placement.suggestions.list_effect)
        if same:
            expected = [s.probability for s in alone]
            assert [s.probability for s in placement.suggestions] == pytest.approx(expected, abs=1e-5)
        assert placement.suggestions.list_effect in ReviewRow.of(placement).why
        assert placement.as_dict()["list_effect"] == placement.suggestions.list_effect
