"""What a second reader takes is known before it begins."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.chat_server import Server
from support.gram_encoder import GramEncoder
from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Polaris
from taxosphere.cli import main
from taxosphere.model.config import PolarisConfig
from taxosphere.ranking.crossfit import n_lists
from taxosphere.ranking.foreign import foreign_concepts
from taxosphere.readers import cost
from taxosphere.readers.cost import reading_cost
from taxosphere.readers.language_model import LanguageModelReader

QUICK = ("training.epochs=1", "ranking.folds=2", "ranking.examples=12", "ranking.nets=1", "ranking.epochs=1")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("TAXOSPHERE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TAXOSPHERE_READER_KEY", raising=False)
    running = Server(lambda _: '{"parents": [1]}')
    yield running
    running.close()


def test_an_endpoint_is_asked_one_question_to_know_its_time(server: Server) -> None:
    one, many = (reading_cost(f"{server.url}#any", meadow(), count, 5) for count in (10, 1000))
    assert one is not None
    assert many is not None
    assert len(server.requests) == 1
    assert (one.requests, many.requests) == (10, 1000)
    assert many.tokens == pytest.approx(100 * one.tokens, rel=0.1)
    listed = server.requests[0]["messages"][1]["content"]
    assert 10 * len(listed) / 8 < one.tokens < 10 * len(listed)  # tokens of four letters, and the task before them
    assert one.seconds > 0


def test_a_language_model_is_timed_on_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(LanguageModelReader):
        def __init__(self) -> None: ...

        def score(self, query: object, candidates: object) -> np.ndarray:
            ticks.append(2.0)
            return np.zeros(5, np.float32)

    ticks: list[float] = []
    monkeypatch.setattr(cost, "load_reader", lambda _: Slow())
    monkeypatch.setattr(cost.time, "perf_counter", lambda: sum(ticks))
    estimate = reading_cost("any", meadow(), 30, 5)
    assert estimate is not None
    assert estimate.seconds == 60.0
    assert str(estimate) == "30 requests, about 1 min"


def test_a_cross_encoder_is_not_timed() -> None:
    assert reading_cost("cross-encoder", meadow(), 10, 5) is None


def test_a_fit_asks_no_more_than_was_said(server: Server) -> None:
    settings = PolarisConfig().with_overrides((*QUICK, f"ranking.reader={server.url}#any", "ranking.reader_depth=3"))
    most = n_lists(meadow(), settings.ranking, len(foreign_concepts(GramEncoder())), 0)
    Polaris(settings).fit(meadow(), encoder=GramEncoder(), random_state=0)
    assert most / 2 < len(server.requests) <= most


def test_fit_and_evaluate_say_it_first(
    server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = build_tiny_encoder(tmp_path / "tiny")
    meadow().write(tmp_path / "meadow.tsv")
    changes = [part for change in QUICK for part in ("--set", change)]
    common = [str(tmp_path / "meadow.tsv"), "--encoder", str(encoder), "--reader", f"{server.url}#any", *changes]
    assert main(["fit", *common, "-o", str(tmp_path / "model")]) == 0
    said = capsys.readouterr().err
    assert "the second reader reads up to" in said
    assert said.index("the second reader") < said.index("wrote")
    assert main(["evaluate", *common, "--split", "leaves", "--runs", "1"]) == 0
    assert "the second reader reads up to" in capsys.readouterr().err
