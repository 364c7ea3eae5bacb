"""Requests for the model wait in a bounded queue and are answered in batches, by one thread.

Whatever has come in while a batch was computed makes the next one, so that many small requests cost little more than
one large request. The model is in a process of its own (`model_process`); where that is killed, another one is started.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from taxosphere.decisions.events import concept_record
from taxosphere.service import limits
from taxosphere.service.model_answers import SUGGEST
from taxosphere.service.model_process import AnyModel, ProcessDied
from taxosphere.taxonomy import Concept

_LOG = logging.getLogger("taxosphere")
LOADING, READY, FAILED = "loading", "ready", "failed"
_PAUSE = 5.0  # seconds before a process that was killed while it loaded the model is followed by another


class Busy(Exception):
    """As many requests wait as may."""


class NotReady(Exception):
    """The model is still being loaded, or could not be."""


@dataclass(slots=True)
class _Task:
    """One question to the model; those of the kind `SUGGEST` are asked several at once."""

    future: Future[Any]
    kind: str
    question: Any
    size: int = 1


@dataclass(frozen=True, slots=True)
class _Loaded:
    """A model that can answer."""

    model: AnyModel
    version: str
    path: str


class Suggester:
    """Asks the active model.

    Parameters
    ----------
    make
        Returns a place for a model, empty as yet.
    """

    def __init__(self, make: Callable[[], AnyModel]) -> None:
        self._make = make
        self._wake = threading.Condition()
        self._tasks: deque[_Task] = deque()
        self._waiting = 0
        self._active: _Loaded | None = None
        self._loaded: _Loaded | None = None  # answers from the next batch on
        self._being_loaded: dict[threading.Thread, AnyModel] = {}
        self._wanted = ""  # version that was asked for last
        self._stopped = False
        self.state = LOADING
        self._thread = threading.Thread(target=self._run, name="suggester", daemon=True)

    @property
    def version(self) -> str:
        """Id of the model that answers, nothing before there is one."""
        active = self._active or self._loaded
        return "" if active is None else active.version

    def start(self, version: str, path: str) -> None:
        """Begin with a model; it is loaded in a thread."""
        self._thread.start()
        self.switch(version, path)

    def switch(self, version: str, path: str) -> None:
        """Load another model and answer from it as soon as it is there; until then the present one answers."""
        self._wanted = version
        threading.Thread(target=self._load, args=(version, path), name="loading", daemon=True).start()

    def stop(self) -> None:
        """End the thread, and every model with it, also one that is being loaded."""
        with self._wake:
            self._stopped = True
            self._wake.notify_all()
            held = [loaded.model for loaded in (self._active, self._loaded) if loaded is not None]
            held += self._being_loaded.values()
        for model in held:
            model.close()
        if self._thread.is_alive():
            self._thread.join(5)

    def suggest(self, concepts: Sequence[Concept], k: int) -> Future[list[dict[str, Any]]]:
        """Documents of suggestions, one per concept.

        Raises
        ------
        Busy
            Where too many concepts wait already.
        NotReady
            Where there is no model yet.
        """
        question = {"concepts": [concept_record(concept) for concept in concepts], "k": k}
        return self._submit(_Task(Future(), SUGGEST, question, max(1, len(concepts))))

    def ask(self, kind: str, question: Any = None, size: int = 1) -> Future[Any]:
        """Another answer of `model_answers.ANSWERS`, about ``size`` concepts; raises as `suggest` does."""
        return self._submit(_Task(Future(), kind, question, size))

    def _submit(self, task: _Task) -> Future[Any]:
        with self._wake:
            if self.state != READY:
                raise NotReady
            if self._waiting + task.size > limits.WAITING_CONCEPTS:
                raise Busy
            self._waiting += task.size
            self._tasks.append(task)
            self._wake.notify()
        return task.future

    # -- threads ------------------------------------------------------------------------------------------------------

    def _load(self, version: str, path: str) -> None:
        """Load a model beside the one that answers; where that fails, the latter stays."""
        try:
            self._load_until_there(version, path)
        finally:
            with self._wake:
                self._being_loaded.pop(threading.current_thread(), None)

    def _load_until_there(self, version: str, path: str) -> None:
        while True:
            with self._wake:
                if self._stopped or self._wanted != version:
                    return
                model = self._make()
                self._being_loaded[threading.current_thread()] = model
            try:
                model.load(path)
            except ProcessDied:
                model.close()
                with self._wake:
                    if not self._stopped:
                        _LOG.warning("the process of the model '%s' was killed while it was loaded", version)
                    self._wake.wait_for(lambda: self._stopped, _PAUSE)
                continue
            except Exception as error:
                model.close()
                _LOG.error("the model '%s' cannot be loaded: %s", version, error)
                self._stay(version)
                return
            with self._wake:
                if not self._stopped and self._wanted == version:
                    self._loaded, self.state = _Loaded(model, version, path), READY
                    self._wake.notify_all()
                    return
            model.close()

    def _stay(self, version: str) -> None:
        """``version`` cannot be loaded: the model that answers is wanted again, and loaded where it was killed."""
        with self._wake:
            if self._wanted != version:  # another one is being loaded
                return
            active = self._loaded or self._active
            if active is None:
                self.state = FAILED
                return
            self._wanted = active.version
            killed = self.state == LOADING
        if killed:
            self.switch(active.version, active.path)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not (self._loaded or self._stopped or (self._tasks and self.state == READY)):
                    self._wake.wait()
                if self._stopped:
                    return
                former = self._active if self._loaded else None
                self._active, self._loaded = self._loaded or self._active, None
                batch = self._take() if self._tasks else []
            if former is not None:
                former.model.close()
            if batch:
                self._work(batch)

    def _take(self) -> list[_Task]:
        """The oldest task, and more like it up to a full batch."""
        batch = [self._tasks.popleft()]
        size = batch[0].size
        while batch[0].kind == SUGGEST and self._tasks and self._tasks[0].kind == SUGGEST:
            if size + self._tasks[0].size > limits.BATCH:
                break
            batch.append(self._tasks.popleft())
            size += batch[-1].size
        self._waiting -= size
        return batch

    def _work(self, batch: list[_Task]) -> None:
        wanted = [task for task in batch if task.future.set_running_or_notify_cancel()]
        active = self._active
        assert active is not None
        try:
            self._answer(active.model, wanted)
        except ProcessDied:
            self._died(active)
            for task in wanted:
                if not task.future.done():
                    task.future.set_exception(NotReady())

    def _died(self, active: _Loaded) -> None:
        """The process is gone: load the model again, and refuse who waits meanwhile."""
        active.model.close()
        with self._wake:
            if self._stopped or self._loaded is not None:
                return
            self.state = LOADING
            again = self._wanted == active.version  # otherwise another one is being loaded
            waiting, self._waiting = list(self._tasks), 0
            self._tasks.clear()
        for task in waiting:
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(NotReady())
        _LOG.warning("the process of the model was killed and is started again")
        if again:
            self.switch(active.version, active.path)

    def _answer(self, model: AnyModel, wanted: list[_Task]) -> None:
        if len(wanted) > 1:
            try:
                answers = model.ask(SUGGEST, [task.question for task in wanted])
            except ProcessDied:
                raise
            except Exception:  # one request at a time finds the faulty one
                _LOG.debug("a batch is asked one by one", exc_info=True)
            else:
                for task, answer in zip(wanted, answers, strict=True):
                    task.future.set_result(answer)
                return
        for task in wanted:
            try:
                if task.kind == SUGGEST:
                    task.future.set_result(model.ask(SUGGEST, [task.question])[0])
                else:
                    task.future.set_result(model.ask(task.kind, task.question))
            except ProcessDied:
                raise
            except Exception as error:
                task.future.set_exception(error)
