"""Models of earlier formats load for ever, and answer as they did when they were written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Polaris, artifact
from taxosphere.errors import InputError
from taxosphere.model.config import PolarisConfig
from taxosphere.persistence import stored_settings

GOLDEN = Path(__file__).parent / "golden"
FORMATS = sorted(int(place.name.removeprefix("model-")) for place in GOLDEN.glob("model-*"))


def test_the_present_format_has_a_golden_model() -> None:
    assert artifact.FORMAT in FORMATS


@pytest.mark.parametrize("number", FORMATS)
def test_a_model_of_each_format_answers_as_before(number: int) -> None:
    model = Polaris.load(GOLDEN / f"model-{number}", encoder=GramEncoder())
    for before in json.loads((GOLDEN / f"answers-{number}.json").read_text(encoding="utf-8")):
        query = before["query"]
        now = model.suggest(Concept(query["id"], query["name"], query["description"]), k=5)
        assert [s.id for s in now] == [entry["id"] for entry in before["suggestions"]]
        assert now.none_probability == pytest.approx(before["none_probability"], abs=1e-4)
        for suggestion, entry in zip(now, before["suggestions"], strict=True):
            assert suggestion.probability == pytest.approx(entry["probability"], abs=1e-4)


def test_settings_of_training_that_are_gone_do_not_keep_a_model_from_loading() -> None:
    values = PolarisConfig().model_dump(mode="json", exclude_none=True)
    values["training"] |= {"mined": 0.0, "tuned_mined": 0.5}
    assert stored_settings(values, "model") == PolarisConfig()
    with pytest.raises(InputError, match=r"training\.mined"):
        PolarisConfig.from_mapping(values)
