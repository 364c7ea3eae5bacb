"""Arrow batches in, Arrow batches out."""

from __future__ import annotations

import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from taxosphere import Polaris
from taxosphere.errors import InputError
from taxosphere.scale import Placer


def test_a_batch_gets_the_answers_of_suggest(model: Path) -> None:
    columns = {"name": ["green bird", "winter cake"], "description": [None, "a cake"], "price": [1, 2]}
    batch = pa.RecordBatch.from_pydict(columns)
    placer = pickle.loads(pickle.dumps(Placer(model, k=3)))
    answers = placer(batch)
    assert answers.schema.names == [*columns, "none_probability", "parents", "already", "suggestions"]
    assert answers.column("price").to_pylist() == [1, 2]
    fitted = Polaris.load(model)
    for name, description, suggestions in zip(
        columns["name"], columns["description"], answers.column("suggestions").to_pylist(), strict=True
    ):
        expected = fitted.suggest((str(name), str(description or "")), k=3)
        assert [one["id"] for one in suggestions] == [one.id for one in expected]
        for one, other in zip(suggestions, expected, strict=True):
            assert one["probability"] == pytest.approx(other.probability, abs=1e-5)
            assert tuple(one["path"]) == other.path


def test_what_is_sent_to_a_worker_is_small(model: Path) -> None:
    placer = Placer(model)
    placer(pa.RecordBatch.from_pydict({"name": ["owl"]}))
    assert len(pickle.dumps(placer)) < 1000 + len(str(model))


def test_the_model_is_loaded_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Placer(model, k=2).model
    monkeypatch.setattr(Polaris, "load", lambda *_, **__: pytest.fail("loaded again"))
    assert Placer(model, k=5).model is first


@pytest.mark.parametrize(
    ("columns", "part"), [({"title": ["x"]}, "no column 'name'"), ({"parents": [1], "name": ["x"]}, "rename it")]
)
def test_batches_that_cannot_be_answered(model: Path, columns: dict[str, list[object]], part: str) -> None:
    with pytest.raises(InputError, match=part):
        Placer(model)(pa.RecordBatch.from_pydict(columns))


def test_an_empty_batch_stays_empty(model: Path) -> None:
    empty = pa.RecordBatch.from_pydict({"name": pa.array([], pa.string())})
    assert Placer(model)(empty).num_rows == 0
