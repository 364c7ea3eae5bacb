"""The model at work in one thread: requests for suggestions wait in a bounded queue and are answered in batches.

torch and numpy are busy in one thread only, off the event loop; whatever has come in while a batch was computed makes
the next one, so that many small requests cost little more than one large request.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from taxosphere.errors import InputError
from taxosphere.service import limits, model_access
from taxosphere.taxonomy import Concept

if TYPE_CHECKING:
    from taxosphere.polaris import Polaris

T = TypeVar("T")
_LOG = logging.getLogger("taxosphere")
LOADING, READY, FAILED = "loading", "ready", "failed"


class Busy(Exception):
    """As many requests wait as may."""


class NotReady(Exception):
    """The model is still being loaded, or could not be."""


@dataclass(slots=True)
class _Task:
    """Work for the thread: some concepts to suggest for, or a function of the model."""

    future: Future[Any]
    concepts: Sequence[Concept] = ()
    k: int = 10
    call: Callable[[Polaris], Any] | None = None


class Suggester:
    """Owns the active model and answers for it.

    Parameters
    ----------
    load
        Reads a model from its folder.
    """

    def __init__(self, load: Callable[[str], Polaris]) -> None:
        self._load = load
        self._wake = threading.Condition()
        self._tasks: deque[_Task] = deque()
        self._waiting = 0
        self._model: Polaris | None = None
        self._next: tuple[str, str] | None = None
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
        """End the thread after what it is doing."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
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
        return self._submit(_Task(Future(), concepts, k))

    def call(self, function: Callable[[Polaris], T]) -> Future[T]:
        """What a function makes of the model, computed in the thread; raises as `suggest` does."""
        return self._submit(_Task(Future(), call=function))

    def _submit(self, task: _Task) -> Future[Any]:
        size = max(1, len(task.concepts))
        with self._wake:
            if self._model is None:
                raise NotReady
            if self._waiting + size > limits.WAITING_CONCEPTS:
                raise Busy
            self._waiting += size
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
        size = max(1, len(batch[0].concepts))
        while batch[0].call is None and self._tasks and self._tasks[0].call is None:
            if size + len(self._tasks[0].concepts) > limits.BATCH:
                break
            batch.append(self._tasks.popleft())
            size += len(batch[-1].concepts)
        self._waiting -= size
        return batch

    def _change(self, version: str, path: str) -> None:
        try:
            model = self._load(path)
        except Exception:
            _LOG.exception("the model '%s' cannot be loaded", version)
            if self._model is None:
                self.state = FAILED
            return
        self._model, self.version, self.state = model, version, READY

    def _work(self, batch: list[_Task]) -> None:
        wanted = [task for task in batch if task.future.set_running_or_notify_cancel()]
        model = self._model
        assert model is not None
        if len(wanted) == 1 and wanted[0].call is not None:
            _settle(wanted[0].future, wanted[0].call, model)
            return
        try:
            answers = _suggest(model, wanted)
        except Exception:  # one request at a time finds the faulty one
            for task in wanted:
                _settle(task.future, partial(_suggest_one, task), model)
            return
        for task, answer in zip(wanted, answers, strict=True):
            task.future.set_result(answer)


def _settle(future: Future[Any], call: Callable[[Polaris], Any], model: Polaris) -> None:
    try:
        future.set_result(call(model))
    except Exception as error:
        future.set_exception(error)


def _suggest_one(task: _Task, model: Polaris) -> list[dict[str, Any]]:
    return _suggest(model, [task])[0]


def _suggest(model: Polaris, tasks: Sequence[_Task]) -> list[list[dict[str, Any]]]:
    """Documents for each task, from one batch."""
    concepts = [replace(concept, id="") for task in tasks for concept in task.concepts]
    if not concepts:
        return []
    if not all(concept.name.strip() for concept in concepts):
        raise InputError("a new concept needs a name")
    ranked = iter(model.suggest_many(concepts, k=max(task.k for task in tasks)))
    answers = []
    for task in tasks:
        documents = []
        for concept in task.concepts:
            document = model_access.document(model, next(ranked))
            document["query"]["id"] = concept.id
            document["suggestions"] = document["suggestions"][: task.k]
            documents.append(document)
        answers.append(documents)
    return answers
