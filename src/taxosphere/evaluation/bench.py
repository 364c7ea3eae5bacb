"""Data sets × methods × random states, over processes, resumable after a kill.

A finished cell is one line in ``runs.jsonl``, on disk before the next result is taken; only the parent process writes.
What is asked a second time is what has no line yet.
"""

from __future__ import annotations

import json
import os
import statistics
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taxosphere import atomic, methods
from taxosphere.errors import InputError
from taxosphere.evaluation import protocol, records
from taxosphere.evaluation.datasets import Dataset
from taxosphere.evaluation.records import Record

if TYPE_CHECKING:
    from taxosphere.encoders.text import TextEncoder

RUNS = "runs.jsonl"
SETUP = "setup.json"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Setup:
    """What all cells of a folder share; numbers from different set-ups never meet in one table."""

    split: protocol.Kind = "published"
    queries: protocol.Queries = "leaves"
    encoder: str = "minilm"
    descriptions: bool = True


@dataclass(frozen=True)
class Cell:
    """One run to be done. Studies vary a method's settings, thin out the seed, or look into the fitted method."""

    dataset: Dataset
    method: str
    seed: int
    setup: Setup
    label: str = ""  # its row in the table; the method's name where it has none
    settings: tuple[tuple[str, str], ...] = ()
    removed: float = 0.0  # share of the seed's edges that is taken away before fitting
    probe: str = ""  # "module:function", called with the fitted method and the split; its answer is kept

    @property
    def key(self) -> records.Key:
        return self.dataset.name, self.label or self.method, self.seed


@dataclass(frozen=True)
class Failure:
    cell: Cell
    error: str


def cells(datasets: Sequence[Dataset], names: Sequence[str], runs: int, seed: int, setup: Setup) -> list[Cell]:
    """Every cell; a reference has no randomness and needs one run on a fixed split."""
    for name in names:
        methods.get(name)
    found = []
    for dataset in datasets:
        for name in names:
            fixed = setup.split == "published" and dataset.has_split
            repeat = 1 if fixed and name in methods.REFERENCES else runs
            found += [Cell(dataset, name, seed + number, setup) for number in range(repeat)]
    return found


def settle(out: Path, setup: Setup) -> None:
    """Make the folder, or see that it holds runs of the same set-up."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / SETUP
    if file.exists():
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            raise InputError("is damaged; choose another --out", file) from None
        if known != asdict(setup):
            changed = ", ".join(
                f"{name} {known.get(name)}" for name, now in asdict(setup).items() if known.get(name) != now
            )
            raise InputError(f"this folder holds runs with {changed}; choose another --out", out)
        return
    with atomic.file(file) as temporary:
        temporary.write_text(json.dumps(asdict(setup), indent=1) + "\n", encoding="utf-8")


def bench(
    todo: Sequence[Cell],
    out: Path,
    *,
    workers: int | None = None,
    redo: bool = False,
    progress: protocol.Progress | None = None,
) -> list[Failure]:
    """Run the cells that have no line in ``out`` yet (all of them with ``redo``) and keep what comes back."""
    workers = workers or min(4, os.cpu_count() or 1)
    done = {records.key(line): line for line in records.read(out / RUNS)}
    waiting = [cell for cell in todo if redo or cell.key not in done]
    clock = _Clock(list(done.values()), workers)
    failures: list[Failure] = []
    total = len(todo)
    with _pool(workers) as pool:
        for place in {cell.dataset: cell for cell in waiting}.values():
            pool.submit(_warm, place)  # each text is encoded once, before cells race for it
        futures: dict[Future[Record], Cell] = {pool.submit(_work, cell): cell for cell in waiting}
        for future in as_completed(futures):
            cell = futures.pop(future)
            try:
                line = future.result()
                records.folder(out / "runs", line)
                records.append(out / RUNS, line)
                clock.seen(line)
            except Exception as error:  # one method's failure must not cost the others their results
                failures.append(Failure(cell, f"{type(error).__name__}: {error}"))
            if progress:
                left = clock.left(futures.values())
                progress(total - len(futures), total, f"{' '.join(map(str, cell.key))}{left}")
    return failures


class _Clock:
    """Guesses the time left from cells like those that wait."""

    def __init__(self, lines: Sequence[Record], workers: int) -> None:
        self.workers = workers
        self.seconds: dict[tuple[str, str], list[float]] = {}
        for line in lines:
            self.seen(line)

    def seen(self, line: Record) -> None:
        spent = line["seconds"]["fit"] + line["seconds"]["per_query"] * line["queries"]
        self.seconds.setdefault((line["dataset"], line["method"]), []).append(spent)

    def left(self, waiting: Iterable[Cell]) -> str:
        """ ", about 12 min left", or nothing when nothing waits."""
        guesses = [self._guess(cell) for cell in waiting]
        if not guesses:
            return ""
        minutes = sum(guesses) / self.workers / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", under a minute left"

    def _guess(self, cell: Cell) -> float:
        same = self.seconds.get(cell.key[:2])
        near = [s for (dataset, _), times in self.seconds.items() if dataset == cell.dataset.name for s in times]
        every = [s for times in self.seconds.values() for s in times]
        return statistics.fmean(same or near or every or [0.0])


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Fresh processes that share the cores instead of fighting for them, and end when we do."""
    threads = str(max(1, (os.cpu_count() or 1) // workers))
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, threads))  # read when a fresh process imports numpy and torch
    try:
        with ProcessPoolExecutor(workers, get_context("spawn"), _start, (os.getpid(),)) as pool:
            try:
                yield pool
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _start(parent: int) -> None:
    """A worker whose parent was killed would wait for work forever; this one looks and leaves."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@cache
def _encoder(name: str) -> TextEncoder:
    from taxosphere.encoders import text

    return text.load(name)


@cache
def _dataset(dataset: Dataset, descriptions: bool) -> tuple[Any, Any, tuple[str, ...]]:
    taxonomy, parts = dataset.read()
    taxonomy, repairs = protocol.prepare(taxonomy, repair=True, descriptions=descriptions)
    return taxonomy, parts, repairs


def _warm(cell: Cell) -> None:
    taxonomy, _, _ = _dataset(cell.dataset, cell.setup.descriptions)
    _encoder(cell.setup.encoder).encode([concept.text for concept in taxonomy.concepts()])


def _work(cell: Cell) -> Record:
    taxonomy, parts, repairs = _dataset(cell.dataset, cell.setup.descriptions)
    published = cell.setup.split == "published" and parts is not None  # a user's own taxonomy has no published split
    plan = protocol.Plan("published", cell.setup.queries) if published else protocol.Plan("leaves")
    part = protocol.thin(protocol.cut(taxonomy, parts, plan, cell.seed), cell.removed, cell.seed)
    method = methods.create(cell.method, dict(cell.settings))
    run = protocol.run(method, part, _encoder(cell.setup.encoder), cell.seed)
    name = cell.label or cell.method
    line = records.record(cell.dataset.name, name, plan.split, run, repairs)
    if cell.probe:
        module, _, function = cell.probe.partition(":")
        line["probe"] = getattr(import_module(module), function)(method, part)
    return line
