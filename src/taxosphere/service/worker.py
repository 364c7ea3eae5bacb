"""The process that does the jobs, beside the one that serves: ``python -m taxosphere.service.worker``.

It is told on stdin where the workbench is, so that no password stands in the list of processes. It loads torch when
there is a job, ends after it to give the memory back, and ends when the process that started it is gone.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from taxosphere.errors import TaxosphereError
from taxosphere.service import store_jobs
from taxosphere.service.store import Store
from taxosphere.service.store_jobs import Job

_LOG = logging.getLogger("taxosphere")
_PAUSE = 0.5  # seconds between two looks for a job
_BEAT = 2.0  # seconds between two signs of life of a running job
STALE_SECONDS = 10  # without a sign of life its worker was killed
_GRACE = 10.0  # seconds a cancelled job has to notice


class Cancelled(Exception):
    """Somebody has cancelled the job."""


class Reporter:
    """Writes how far a job has come, at most a few times a second, and gives signs of life in between.

    Parameters
    ----------
    store
        The database.
    job
        The job.
    """

    def __init__(self, store: Store, job: Job) -> None:
        self._store = store
        self._id = job.id
        self._last = (job.done, job.total, job.message)
        self._written = 0.0
        self._cancelled = threading.Event()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="beat", daemon=True)
        self._thread.start()

    def __call__(self, done: int, total: int, what: str) -> None:
        """Note how far it is; raises `Cancelled` where it should stop."""
        if self._cancelled.is_set():
            raise Cancelled
        changed = what != self._last[2]
        self._last = (done, total, what)
        if changed or time.monotonic() - self._written > 0.3:
            self._write()
        if self._cancelled.is_set():
            raise Cancelled

    def end(self) -> None:
        """No more signs of life."""
        self._ended.set()
        self._thread.join()

    def _write(self) -> None:
        self._written = time.monotonic()
        with self._store.writing() as connection:
            if not store_jobs.progress(connection, self._id, *self._last):
                self._cancelled.set()

    def _beat(self) -> None:
        since = None
        while not self._ended.wait(_BEAT):
            self._write()
            if self._cancelled.is_set():
                since = since or time.monotonic()
                if time.monotonic() - since > _GRACE:
                    os._exit(3)  # deep in a computation that reports nothing; the next worker takes over


def run_one(store: Store, worker: str, do: Callable[[Job, Reporter], dict[str, Any]]) -> bool:
    """Take the oldest waiting job and do it; False where none waits."""
    stale = (datetime.now(UTC) - timedelta(seconds=STALE_SECONDS)).strftime("%Y-%m-%dT%H:%M:%SZ")
    with store.writing() as connection:
        store_jobs.release(connection, stale)
        job = store_jobs.claim(connection, worker)
    if job is None:
        return False
    reporter = Reporter(store, job)
    try:
        result, failed = do(job, reporter), ""
    except Cancelled:
        result, failed = {}, "cancelled"
    except TaxosphereError as error:
        result, failed = {}, str(error)
    except Exception:
        _LOG.exception("the job %s failed", job.id)
        result, failed = {}, "the job failed; the log of the service says why"
    reporter.end()
    with store.writing() as connection:
        store_jobs.finish(connection, job.id, result, failed=failed)
    return True


def waiting(store: Store) -> bool:
    """Is there a job to do, or one whose worker was killed?"""
    with store.reading() as connection:
        return any(job.state in (store_jobs.WAITING, store_jobs.RUNNING) for job in store_jobs.latest(connection))


def _watch_parent(parent: int) -> None:
    """End with the service that started this process; it may have been killed before this line was reached."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(0)


def main() -> None:
    """Wait for a job, do it and what waits behind it, end."""
    stated = json.loads(sys.stdin.readline())
    threading.Thread(target=_watch_parent, args=(stated["parent"],), daemon=True).start()
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
    name = f"{os.uname().nodename}:{os.getpid()}:{uuid4().hex[:6]}"
    try:
        with Store(stated["url"]) as store:
            while not waiting(store):
                time.sleep(_PAUSE)
            _do_all(store, name, stated)
    except TaxosphereError as error:  # the database is gone; the service starts another worker
        _LOG.error("the worker ends: %s", error)
        sys.exit(1)


def _do_all(store: Store, name: str, stated: dict[str, Any]) -> None:
    from taxosphere.service.jobs import KINDS, Task
    from taxosphere.service.workbench import Setup, Workbench

    setup = Setup(Path(stated["model"]), Path(stated["folder"]), stated["url"])
    workbench = Workbench(setup, load_model=False)

    def do(job: Job, reporter: Reporter) -> dict[str, Any]:
        return KINDS[job.kind](Task(job, workbench, reporter))

    try:
        while run_one(store, name, do) or _someone_works(store):
            time.sleep(0.05)
    finally:
        workbench.close()


def _someone_works(store: Store) -> bool:
    """Wait for a job of a worker that was killed until it may be taken over."""
    time.sleep(_PAUSE)
    return waiting(store)


if __name__ == "__main__":
    main()
