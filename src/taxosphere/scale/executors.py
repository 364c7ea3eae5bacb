"""Where batches are worked on: in this process, in processes of this machine, or on a dask cluster.

Results come in the order of the items whatever finishes first, and only a few items are taken ahead of the result that
is waited for, so neither a long input nor a slow reader of the results fills the memory. A worker that dies loses
nothing: what it had is done again.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar

from taxosphere.errors import InputError, TaxosphereError, require

A = TypeVar("A")
B = TypeVar("B")

_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
_AHEAD = 2  # items per worker that are under way
_DEATHS = 3  # of workers in a row, without a result in between, after which it is the item's fault


class Executor(Protocol):
    """Maps a function over items, somewhere."""

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Results of ``function`` in the order of ``items``, which are taken as they are needed."""

    def unordered(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[tuple[A, B]]:
        """Each of ``items`` with the result of ``function``, in the order in which they finish."""


class InProcess:
    """One item after the other, in this process."""

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Results of ``function`` in the order of ``items``."""
        return map(function, items)

    def unordered(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[tuple[A, B]]:
        """Each of ``items`` with the result of ``function``."""
        return ((item, function(item)) for item in items)


class Processes(AbstractContextManager["Processes"]):
    """New processes of this machine, each with its share of the cores.

    Parameters
    ----------
    workers : int
        How many.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool = _start_pool(workers)

    def __exit__(self, *_: object) -> None:
        for process in list((self._pool._processes or {}).values()):
            process.terminate()  # on the way out nothing is under way that is still wanted
        self._pool.shutdown(wait=True, cancel_futures=True)

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Results of ``function`` in the order of ``items``.

        Raises
        ------
        TaxosphereError
            Workers died again and again at the same items.
        """
        return (result for _, result in self._results(function, items, ordered=True))

    def unordered(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[tuple[A, B]]:
        """Each of ``items`` with the result of ``function``, in the order in which they finish; raises as `map`."""
        return self._results(function, items, ordered=False)

    def _results(self, function: Callable[[A], B], items: Iterable[A], *, ordered: bool) -> Iterator[tuple[A, B]]:
        remaining = iter(items)
        under_way: list[tuple[A, Future[B]]] = []
        deaths = 0
        while True:
            for item in islice(remaining, _AHEAD * self.workers - len(under_way)):
                under_way.append((item, self._submit(function, item)))
            if not under_way:
                return
            if not ordered:
                wait([future for _, future in under_way], return_when=FIRST_COMPLETED)
            place = 0 if ordered else next(i for i, (_, future) in enumerate(under_way) if future.done())
            try:
                result = under_way[place][1].result()
            except BrokenProcessPool:
                deaths += 1
                self._restart(deaths)
                under_way = [
                    (item, future if _succeeded(future) else self._submit(function, item)) for item, future in under_way
                ]
                continue
            deaths = 0
            yield under_way.pop(place)[0], result

    def _restart(self, deaths: int) -> None:
        """New processes in place of a pool that has lost one."""
        if deaths > _DEATHS:
            message = f"worker processes died {deaths} times at the same batch; is there enough memory for them?"
            raise TaxosphereError(message)
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = _start_pool(self.workers)

    def _submit(self, function: Callable[[A], B], item: A) -> Future[B]:
        try:
            with _limited_threads(max(1, (os.cpu_count() or 1) // self.workers)):  # a new process may be started here
                return self._pool.submit(function, item)
        except BrokenProcessPool as error:  # noticed when the result is asked for
            failed: Future[B] = Future()
            failed.set_exception(error)
            return failed


def _succeeded(future: Future[Any]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None


def _start_pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker, (os.getpid(),))


@contextmanager
def _limited_threads(threads: int) -> Iterator[None]:
    """Processes that are started meanwhile import numpy and torch with so many threads."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, str(threads)))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin_worker(parent: int) -> None:
    """End this worker when the process ``parent`` is gone: it would wait for work for ever."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class DaskCluster(AbstractContextManager["DaskCluster"]):
    """The workers of a dask scheduler.

    Parameters
    ----------
    address : str
        Of the scheduler, as ``tcp://host:8786``.

    Raises
    ------
    InputError
        No scheduler answers there, or it has no workers.
    """

    def __init__(self, address: str) -> None:
        distributed = require("distributed", "dask")
        self._as_completed = distributed.as_completed
        try:
            self._client = distributed.Client(address, timeout="10s", set_as_default=False)
            self._client.wait_for_workers(1, timeout=10)
        except (OSError, TimeoutError, ValueError) as error:
            first = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(f"no dask scheduler with workers answers at {address}: {first}") from None

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def map(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[B]:
        """Results of ``function`` in the order of ``items``; what a lost worker had, dask gives to another."""
        return (result for _, result in self._results(function, items, ordered=True))

    def unordered(self, function: Callable[[A], B], items: Iterable[A]) -> Iterator[tuple[A, B]]:
        """Each of ``items`` with the result of ``function``, in the order in which they finish."""
        return self._results(function, items, ordered=False)

    def _results(self, function: Callable[[A], B], items: Iterable[A], *, ordered: bool) -> Iterator[tuple[A, B]]:
        remaining = iter(items)
        under_way: list[tuple[A, Any]] = []
        while True:
            workers = max(1, sum(self._client.nthreads().values()))
            for item in islice(remaining, max(0, _AHEAD * workers - len(under_way))):
                under_way.append((item, self._client.submit(function, item, pure=False)))
            if not under_way:
                return
            futures = [future for _, future in under_way]
            first = futures[0] if ordered else next(self._as_completed(futures, loop=self._client.loop))
            item, future = under_way.pop(futures.index(first))
            result = future.result()
            future.release()
            yield item, result


@contextmanager
def open_executor(workers: int = 1, scheduler: str = "") -> Iterator[Executor]:
    """An executor for the time of a block.

    Parameters
    ----------
    workers : int
        Processes of this machine; 1 works in this one.
    scheduler : str
        Address of a dask scheduler, whose workers are used instead.
    """
    if scheduler:
        with DaskCluster(scheduler) as cluster:
            yield cluster
    elif workers > 1:
        with Processes(workers) as processes:
            yield processes
    else:
        yield InProcess()
