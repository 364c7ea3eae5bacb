"""A model in a process of its own: ``python -m taxosphere.service.model_process``.

Suggestions are computed by Python code and by torch. In the process that serves they would hold its interpreter lock
while people decide; here they do not, and a model that takes too much memory does not take the service with it. Both
sides speak in lines of JSON, questions on the standard input and answers on the standard output. The process ends when
its input does, so it never outlives the service.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from taxosphere.errors import InputError, TaxosphereError, is_out_of_memory
from taxosphere.service.model_answers import ANSWERS

if TYPE_CHECKING:
    from taxosphere.polaris import Polaris

_LOG = logging.getLogger("taxosphere")
_PATIENCE = 5.0  # seconds that the process has to end


class ProcessDied(Exception):
    """The process of the model has ended without an answer: it was killed, or took too much memory."""


class AnswerFailed(TaxosphereError):
    """The model could not answer; the log says why."""


class AnyModel(Protocol):
    """A model that may be elsewhere."""

    def load(self, path: str) -> None:
        """Read a model folder; called once."""

    def ask(self, kind: str, question: Any) -> Any:
        """One of `model_answers.ANSWERS`."""

    def close(self) -> None:
        """Let go of it."""


class ModelHere:
    """The model in this process.

    Parameters
    ----------
    load
        Reads a model folder.
    """

    def __init__(self, load: Callable[[str], Polaris]) -> None:
        self._load = load
        self._model: Polaris | None = None

    def load(self, path: str) -> None:
        """Read a model folder."""
        self._model = self._load(path)

    def ask(self, kind: str, question: Any) -> Any:
        """One of `model_answers.ANSWERS`."""
        assert self._model is not None
        return ANSWERS[kind](self._model, question)

    def close(self) -> None:
        """Let go of it."""
        self._model = None


class ModelProcess:
    """The model in a process that is started when one is loaded; used by one thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def load(self, path: str) -> None:
        """Start the process and let it read a model folder.

        Raises
        ------
        AnswerFailed
            Where it cannot be read.
        ProcessDied
            Where the process was killed meanwhile.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "taxosphere.service.model_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        self.ask("load", path)

    def ask(self, kind: str, question: Any) -> Any:
        """One of `model_answers.ANSWERS`; raises as `load`, and `InputError` where the question is at fault."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise ProcessDied
        try:
            process.stdin.write(json.dumps([kind, question]) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # its end of the pipe is closed, or ours
            raise ProcessDied from None
        if not line.endswith("\n"):
            raise ProcessDied
        outcome, answer = json.loads(line)
        if outcome == "refused":
            raise InputError(answer)
        if outcome == "failed":
            raise AnswerFailed(answer)
        return answer

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _answer(model: Polaris | None, kind: str, question: Any) -> tuple[str, Any]:
    assert model is not None
    try:
        return "ok", ANSWERS[kind](model, question)
    except InputError as error:
        return "refused", error.message
    except Exception as error:
        return "failed", _failure(error, "the model cannot answer")


def _load(path: str) -> tuple[Polaris | None, tuple[str, Any]]:
    from taxosphere.polaris import Polaris

    try:
        return Polaris.load(path), ("ok", None)
    except TaxosphereError as error:
        return None, ("failed", str(error))
    except Exception as error:
        return None, ("failed", _failure(error, "the model cannot be loaded"))


def _failure(error: Exception, what: str) -> str:
    """Write to the log why something failed, and return what the people at the service are told."""
    if is_out_of_memory(error):
        _LOG.error("%s: not enough memory", what)
        return f"{what}: not enough memory"
    _LOG.exception("%s", what)
    return f"{what}; the log of the service says why"


def main() -> None:
    """Answer questions until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which then closes the pipe
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever a library prints is no answer
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
    model: Polaris | None = None
    for line in sys.stdin:
        kind, question = json.loads(line)
        if kind == "load":
            model, outcome = _load(question)
        else:
            outcome = _answer(model, kind, question)
        answers.write(json.dumps(outcome) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
