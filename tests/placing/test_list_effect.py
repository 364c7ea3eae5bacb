from __future__ import annotations

import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Concept, Polaris, PolarisConfig
from taxosphere.decisions.review import ReviewRow
from taxosphere.placing.list_effect import LIKELY, choose
from taxosphere.placing.suggestions import Suggestion, Suggestions

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


def _suggestions(*ranked: tuple[str, float]) -> Suggestions:
    suggested = tuple(Suggestion(0, id, id, (id,), p, p, p, True, (), {}) for id, p in ranked)
    return Suggestions(Concept("eagle", "eagle"), 0.0, suggested, suggested[:1], ())


@pytest.mark.parametrize(("new", "changed"), [(LIKELY / 2, False), (LIKELY, True), (0.6, True)])
def test_the_list_changes_an_answer_where_new_concepts_are_likely_parents(new: float, changed: bool) -> None:
    alone, together = _suggestions(("bird", 0.9)), _suggestions(*sorted([("bird", 0.4), ("raptor", new)], key=_last))
    answer = choose(alone, together, {"bird"})
    assert answer.ranked == (together if changed else alone).ranked
    assert bool(answer.list_effect) == changed


def _last(pair: tuple[str, float]) -> float:
    return -pair[1]


def test_what_the_list_changed_is_said_with_both_probabilities() -> None:
    answer = choose(_suggestions(("bird", 0.55)), _suggestions(("raptor", 0.72), ("bird", 0.2)), {"bird"})
    assert answer.list_effect == "its best parent 'raptor' (72%) is new too; without the list: 'bird' (55%)"
    answer = choose(_suggestions(("bird", 0.85)), _suggestions(("bird", 0.6), ("raptor", 0.3)), {"bird"})
    assert answer.list_effect == (
        "'raptor' of the list may be its parent (30%), 'bird' has 60%; without the list: 'bird' (85%)"
    )


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
