"""The model in a process of its own: the same answers as here, refusals in words, and another one after a kill."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.meadow import meadow
from support.tiny_encoder import build_static_encoder
from support.workbenches import QUICK
from taxosphere import Concept, Polaris, PolarisConfig
from taxosphere.decisions.events import concept_record
from taxosphere.errors import InputError
from taxosphere.service import model_process
from taxosphere.service.model_process import AnswerFailed, ModelHere, ModelProcess, ProcessDied
from taxosphere.service.suggester import NotReady, Suggester


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose encoder another process can load by its path."""
    place = tmp_path_factory.mktemp("static")
    encoder = build_static_encoder(place / "encoder")
    Polaris(PolarisConfig().with_overrides(QUICK)).fit(meadow(), encoder=str(encoder)).save(place / "model")
    return place / "model"


@pytest.fixture(scope="module")
def process(folder: Path) -> Iterator[ModelProcess]:
    model = ModelProcess()
    model.load(str(folder))
    yield model
    model.close()


def concept(name: str) -> Concept:
    return Concept(name, name, f"a kind of {name.split()[-1]}")


def test_answers_are_those_of_the_model_in_this_process(folder: Path, process: ModelProcess) -> None:
    here = ModelHere(Polaris.load)
    here.load(str(folder))
    records = [concept_record(concept(name)) for name in ("green bird", "tiny tree")]
    tasks = [{"concepts": records, "k": 3}, {"concepts": records[1:], "k": 1}]
    assert process.ask("suggest", tasks) == here.ask("suggest", tasks)
    assert [len(document["suggestions"]) for document in process.ask("suggest", tasks)[0]] == [3, 3]
    assert process.ask("records", records) == here.ask("records", records)
    assert process.ask("overview", None) == here.ask("overview", None)
    candidates = process.ask("records", records)[0]["suggestions"]
    question = {"concept": records[0], "candidates": candidates}
    assert process.ask("sphere", question) == here.ask("sphere", question)


def test_a_faulty_question_is_refused_and_the_next_one_answered(process: ModelProcess) -> None:
    nameless = [{"concepts": [{"id": "x", "name": " "}], "k": 3}]
    with pytest.raises(InputError, match="needs a name"):
        process.ask("suggest", nameless)
    with pytest.raises(AnswerFailed, match="log"):
        process.ask("sphere", {"concept": {}})
    assert process.ask("overview", None)["trained_on"]["concepts"] == len(meadow())


def test_a_folder_that_is_no_model_fails_in_words(tmp_path: Path) -> None:
    model = ModelProcess()
    try:
        with pytest.raises(AnswerFailed, match="nowhere"):
            model.load(str(tmp_path / "nowhere"))
    finally:
        model.close()


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("unable to mmap 9 bytes: Cannot allocate memory (12)")])
def test_where_memory_ends_one_line_says_so(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    class Model:
        def suggest_many(self, *_: object, **__: object) -> None:
            raise error

    question = [{"concepts": [concept_record(concept("red bird"))], "k": 3}]
    outcome = model_process._answer(Model(), "suggest", question)  # type: ignore[arg-type]
    assert outcome == ("failed", "the model cannot answer: not enough memory")
    assert [(record.message, record.exc_info) for record in caplog.records] == [(outcome[1], None)]


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 600
    while not condition() and time.monotonic() < until:
        time.sleep(0.02)
    assert condition()


def until_ready(suggester: Suggester) -> None:
    wait_for(lambda: suggester.state != "loading")
    assert suggester.state == "ready"


def test_a_killed_process_is_followed_by_another(folder: Path, tmp_path: Path) -> None:
    models: list[ModelProcess] = []

    def make() -> ModelProcess:
        models.append(ModelProcess())
        return models[-1]

    suggester = Suggester(make)
    suggester.start("first", str(folder))
    try:
        until_ready(suggester)
        before = suggester.suggest([concept("green bird")], 3).result(120)
        assert models[0]._process is not None
        os.kill(models[0]._process.pid, signal.SIGKILL)
        with pytest.raises(NotReady):
            suggester.suggest([concept("green bird")], 3).result(120)
        until_ready(suggester)
        assert suggester.suggest([concept("green bird")], 3).result(120) == before
        suggester.switch("none", str(tmp_path / "nowhere"))  # cannot be loaded: the one before goes on
        wait_for(lambda: len(models) == 3)
        assert suggester.suggest([concept("green bird")], 3).result(120) == before
        suggester.switch("second", str(folder))
        until = time.monotonic() + 600
        while suggester.version != "second" and time.monotonic() < until:
            assert suggester.suggest([concept("green bird")], 3).result(120) == before, "answered all the while"
            time.sleep(0.05)  # the process that is loading needs the processor too
        assert (suggester.version, suggester.state) == ("second", "ready")
    finally:
        suggester.stop()
    assert len(models) == 4
    # one that was about to start when all was stopped ends a moment later
    wait_for(lambda: all(model._process is None for model in models))


class Scripted:
    """In place of a model: loads every folder but 'nowhere', and answers until it is killed."""

    def __init__(self) -> None:
        self.killed = False

    def load(self, path: str) -> None:
        if path == "nowhere":
            raise InputError("no such model")

    def ask(self, kind: str, question: object) -> list[list[str]]:
        if self.killed:
            raise ProcessDied
        return [["an answer"]]

    def close(self) -> None:
        pass


def test_a_kill_after_another_model_could_not_be_loaded_brings_the_present_one_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    models: list[Scripted] = []

    def make() -> Scripted:
        models.append(Scripted())
        return models[-1]

    suggester = Suggester(make)
    suggester.start("first", "somewhere")
    try:
        until_ready(suggester)
        suggester.switch("none", "nowhere")
        wait_for(lambda: "cannot be loaded" in caplog.text and not suggester._being_loaded)
        models[0].killed = True
        with pytest.raises(NotReady):
            suggester.suggest([concept("green bird")], 3).result(120)
        until_ready(suggester)
        assert suggester.suggest([concept("green bird")], 3).result(120) == ["an answer"]
        assert suggester.version == "first"
    finally:
        suggester.stop()


def test_a_model_that_is_being_loaded_ends_with_the_rest() -> None:
    begun, closed = threading.Event(), threading.Event()

    class Endless(ModelHere):
        def load(self, path: str) -> None:
            begun.set()
            assert closed.wait(60)
            raise ProcessDied

        def close(self) -> None:
            closed.set()

    suggester = Suggester(lambda: Endless(lambda path: pytest.fail(path)))
    suggester.start("first", "nowhere")
    assert begun.wait(60)
    suggester.stop()
    assert closed.is_set()
