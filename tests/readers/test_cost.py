"""What a second reader takes is known before it begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from support.chat_server import Server
from support.gram_encoder import GramEncoder
from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Polaris
from taxosphere.cli import main
from taxosphere.encoders.text.registry import load
from taxosphere.model.config import PolarisConfig
from taxosphere.ranking.crossfit import n_lists
from taxosphere.ranking.foreign import foreign_concepts
from taxosphere.readers import cost
from taxosphere.readers.cost import reading_cost, training_cost
from taxosphere.readers.cross_encoder import CrossEncoder, CrossEncoderSettings
from taxosphere.readers.language_model import LanguageModelReader
from taxosphere.readers.reader import Candidate
from taxosphere.readers.registry import transformer_of
from taxosphere.taxonomy import Concept

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


def test_a_cross_encoder_is_timed_learning_and_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every list that is learned from takes two seconds here, and every list that is read one."""

    class Slow(CrossEncoder):
        def loss(self, query: Concept, candidates: Sequence[Candidate]) -> torch.Tensor:
            learned.append(2.0)
            return super().loss(query, candidates)

        def score(self, query: Concept, candidates: Sequence[Candidate]) -> np.ndarray:
            read.append(1.0)
            assert len(candidates) == 5
            return super().score(query, candidates)

    learned: list[float] = []
    read: list[float] = []
    monkeypatch.setattr(cost, "CrossEncoder", Slow)
    monkeypatch.setattr(cost.time, "perf_counter", lambda: sum(learned) + sum(read))
    encoder = transformer_of(load(str(build_tiny_encoder(tmp_path / "tiny"))))
    estimate = training_cost(encoder, meadow(), 3, 40, 5)
    leaves = np.count_nonzero(meadow().hideable)
    assert estimate.seconds == 3 * CrossEncoderSettings().epochs * leaves * 2.0 + 40 * 1.0
    assert str(estimate).startswith("3 times and reads up to 40 lists, about ")


def test_a_fit_asks_no_more_than_was_said(server: Server) -> None:
    settings = PolarisConfig().with_overrides((*QUICK, f"ranking.reader={server.url}#any", "ranking.reader_depth=3"))
    most = n_lists(meadow(), settings.ranking, len(foreign_concepts(GramEncoder())), 0)
    Polaris(settings).fit(meadow(), encoder=GramEncoder(), random_state=0)
    assert most / 2 < len(server.requests) <= most


@pytest.mark.parametrize(("examples", "trainings"), [(12, 2), (1000, 3)], ids=["leaves to spare", "none to spare"])
def test_fit_says_how_often_a_cross_encoder_is_trained(
    examples: int, trainings: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once for both folds and once for new concepts, or for each of two folds and for new concepts."""
    encoder = build_tiny_encoder(tmp_path / "tiny")
    meadow().write(tmp_path / "meadow.tsv")
    changes = [part for change in (*QUICK, f"ranking.examples={examples}") for part in ("--set", change)]
    command = ["fit", str(tmp_path / "meadow.tsv"), "--encoder", str(encoder), "--reader", "cross-encoder", *changes]
    assert main([*command, "-o", str(tmp_path / "model")]) == 0
    said = capsys.readouterr().err
    assert f"the cross-encoder is trained {trainings} times and reads up to " in said
    assert said.index("the cross-encoder is trained") < said.index("wrote")


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
