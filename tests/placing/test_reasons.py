from __future__ import annotations

import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Polaris, PolarisConfig
from taxosphere.placing.reasons import explain

QUICK = PolarisConfig().with_overrides(
    ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")
)


@pytest.fixture(scope="module")
def model() -> Polaris:
    return Polaris(QUICK).fit(meadow(), encoder=GramEncoder())


def test_sentences_name_their_evidence(model: Polaris) -> None:
    suggestions = model.suggest("green bird", "a bird that is called green")
    first, *others = explain(model.fitted, suggestions)
    assert suggestions[0].name == "bird"
    texts = [reason.text for reason in first if reason.supports]
    assert any(text == "its name contains 'bird'" or "nearest neighbours" in text for text in texts)
    assert len(others) == 4


def test_neighbours_are_counted(model: Polaris) -> None:
    """Every neighbour that is named is a child of the parent, and there are as many as the sentence says."""
    suggestions = model.suggest("green bird", "a bird that is called green")
    for suggestion, reasons in zip(suggestions, explain(model.fitted, suggestions, most=10)):
        for reason in reasons:
            if "nearest neighbours are below" in reason.text:
                count, named = int(reason.text.split()[0]), reason.text.split(": ")[1].removesuffix(", …").split(", ")
                assert set(named) <= {
                    model.taxonomy.names[model.taxonomy.position(c)] for c in model.taxonomy.children(suggestion.id)
                }
                assert len(named) == min(count, 3)


def test_reasons_for_come_before_reasons_against_and_none_is_negative(model: Polaris) -> None:
    suggestions = model.suggest("paddle boat", "a boat that is called paddle")
    for reasons in explain(model.fitted, suggestions, most=10):
        sides = [reason.supports for reason in reasons]
        assert sides == sorted(sides, reverse=True)
        assert all(reason.weight >= 0 for reason in reasons)
        assert all("+" not in reason.text and "-0" not in reason.text for reason in reasons)


def test_a_definition_that_is_not_there_is_not_spoken_of(model: Polaris) -> None:
    for reasons in explain(model.fitted, model.suggest("green bird")):
        assert not any("definition mentions" in reason.text for reason in reasons)
