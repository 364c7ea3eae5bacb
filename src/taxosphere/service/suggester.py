"""Requests for the model wait in a bounded queue and are answered in batches, by one thread.

Whatever has come in while a batch was computed makes the next one, so that many small requests cost little more than
one large request. The model is in a process of its own (`model_process`); where that is killed, another one is started.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Sequence
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


class Suggester:
    """Asks the active model.

    Parameters
    ----------
    model
        Where it is.
    """

    def __init__(self, model: AnyModel) -> None:
        self._model = model
        self._wake = threading.Condition()
        self._tasks: deque[_Task] = deque()
        self._waiting = 0
        self._next: tuple[str, str] | None = None
        self._path = ""
        self._stopped = False
        self.version = ""
        """Id of the model that answers."""
        self.state = LOADING
        self._thread = threading.Thread(target=self._run, name="suggester", daemon=True)

    def start(self, version: str, path: str) -> None:
        """Begin with a model; it is loaded in the thread."""
        self._next = (version, path)
        self._thread.start()

    def switch(self, version: str, path: str) -> None:
        """Load another model and answer from it as soon as it is there."""
        with self._wake:
            self._next = (version, path)
            self._wake.notify()

    def stop(self) -> None:
        """End the thread, and the model with it."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._model.close()
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

    # -- the thread ---------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                while not (self._tasks or self._next or self._stopped):
                    self._wake.wait()
                if self._stopped:
                    return
                following, self._next = self._next, None
                batch = [] if following else self._take()
            if following:
                self._change(*following)
            else:
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

    def _change(self, version: str, path: str) -> None:
        """Load a model; where that fails, go on with the one before."""
        try:
            self._model.load(path)
        except ProcessDied:
            self._died(version, path)
        except Exception as error:
            _LOG.error("the model '%s' cannot be loaded: %s", version, error)
            if self._path in ("", path):
                self.state = FAILED
            else:
                self._change(self.version, self._path)
        else:
            self.version, self._path, self.state = version, path, READY

    def _died(self, version: str, path: str) -> None:
        """The process is gone: load the model again, after a pause where it had not come to answer."""
        with self._wake:
            if self._stopped:
                return
            _LOG.warning("the process of the model was killed and is started again")
            if self.state == LOADING:
                self._wake.wait_for(lambda: self._stopped or self._next is not None, _PAUSE)
            self.state = LOADING
            self._next = self._next or (version, path)
            waiting, self._waiting = list(self._tasks), 0
            self._tasks.clear()
        for task in waiting:
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(NotReady())

    def _work(self, batch: list[_Task]) -> None:
        wanted = [task for task in batch if task.future.set_running_or_notify_cancel()]
        try:
            self._answer(wanted)
        except ProcessDied:
            self._died(self.version, self._path)
            for task in wanted:
                if not task.future.done():
                    task.future.set_exception(NotReady())

    def _answer(self, wanted: list[_Task]) -> None:
        if len(wanted) > 1:
            try:
                answers = self._model.ask(SUGGEST, [task.question for task in wanted])
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
                    task.future.set_result(self._model.ask(SUGGEST, [task.question])[0])
                else:
                    task.future.set_result(self._model.ask(task.kind, task.question))
            except ProcessDied:
                raise
            except Exception as error:
                task.future.set_exception(error)
