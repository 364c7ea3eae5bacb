"""Data sets × methods × random states, over processes, resumable after a kill.

A finished cell is one line in ``runs.jsonl``, on disk before the next result is taken; only the parent process writes.
What is asked a second time is what has no line yet.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.evaluation import image_protocol, image_tasks, records
from taxosphere.evaluation.datasets import EDAM, Dataset
from taxosphere.evaluation.records import Record
from taxosphere.evaluation.workers import Cell, Setup, run_cells
from taxosphere.methods import registry as methods
from taxosphere.scale.executors import open_executor
from taxosphere.typing import Progress

__all__ = ["RUNS", "Cell", "Failure", "Setup", "bench", "cells", "settle"]

RUNS = "runs.jsonl"
SETUP = "setup.json"


@dataclass(frozen=True)
class Failure:
    """A cell that raised, and the error in one line."""

    cell: Cell
    error: str


def cells(
    datasets: Sequence[Dataset],
    names: Sequence[str],
    runs: int,
    random_state: int,
    setup: Setup,
    data: str | None = None,
) -> list[Cell]:
    """One cell per data set, method and random state.

    Parameters
    ----------
    datasets : sequence of Dataset
    names : sequence of str
        Methods; where empty, all that fit a data set but `methods.NAMED_ONLY`. Those that do not fit one are left out
        of it.
    runs : int
        Random states per method, from ``random_state`` on.
    random_state : int
    setup : Setup
    data : str, optional
        Folder of the benchmarks whose concepts are foreign ones in scenarios.

    Raises
    ------
    InputError
        A method does not exist, or none of them fits a data set.
    """
    for name in names:
        methods.tasks(name)  # raises where there is no such method
    todo: list[Cell] = []
    for dataset in datasets:
        states = range(random_state, random_state + runs)
        if setup.split == "scenarios":
            cells = _scenario_cells(dataset, names, states, setup, data)
        else:
            cells = _cells(dataset, names, states, setup)
        if not cells:
            raise InputError(f"none of {', '.join(names)} can be asked of '{dataset.name}'")
        todo += cells
    return todo


def _scenario_cells(
    dataset: Dataset, names: Sequence[str], states: Sequence[int], setup: Setup, data: str | None
) -> list[Cell]:
    """Cells of the one method that gives probabilities; of EDAM without the prior, which has seen it."""
    settings = (("ranking.prior", "false"),) if dataset.name == EDAM else ()
    chosen = [name for name in names or ("polaris",) if name == "polaris"]
    return [Cell(dataset, name, s, setup, settings=settings, data=data) for name in chosen for s in states]


def _cells(dataset: Dataset, names: Sequence[str], states: Sequence[int], setup: Setup) -> list[Cell]:
    if not dataset.has_split and image_protocol.has_images(dataset.path):
        if not setup.descriptions:
            raise InputError(f"'{dataset.name}' is asked about images; leave out --without-descriptions")
        asked = image_tasks.tasks(dataset.path, names)
        places = {name: Dataset(name, dataset.path) for name, _, _ in asked}
        return [Cell(places[name], method, s, setup, images=what) for name, what, method in asked for s in states]
    text = methods.names("parents")
    # A reference has no randomness and needs one run on a fixed split.
    fixed = methods.REFERENCES if setup.split == "published" and dataset.has_split else ()
    usual = [name for name in text if name not in methods.NAMED_ONLY]
    chosen = [name for name in names or usual if name in text]
    return [Cell(dataset, name, s, setup) for name in chosen for s in (states[:1] if name in fixed else states)]


def settle(out: Path, setup: Setup) -> None:
    """Create the folder of a bench, or check that it holds runs of the same set-up (`InputError` otherwise)."""
    out.mkdir(parents=True, exist_ok=True)
    file = out / SETUP
    if file.exists():
        try:
            stored = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            raise InputError("is damaged; choose another --out", file) from None
        if stored != asdict(setup):
            changed = ", ".join(
                f"{name} {stored.get(name)}" for name, now in asdict(setup).items() if stored.get(name) != now
            )
            raise InputError(f"this folder holds runs with {changed}; choose another --out", out)
        return
    atomic.write_text(file, json.dumps(asdict(setup), indent=1) + "\n")


def bench(
    todo: Sequence[Cell],
    out: Path,
    *,
    workers: int | None = None,
    scheduler: str = "",
    redo: bool = False,
    progress: Progress | None = None,
) -> list[Failure]:
    """Run cells and append their records to ``out``.

    Parameters
    ----------
    todo : sequence of Cell
        Those with a record in ``out`` are skipped.
    out : Path
        Folder of `settle`.
    workers : int, optional
        Processes; 1 runs in this one. Default: one per core, at most four.
    scheduler : str
        Address of a dask scheduler, whose workers run the cells instead; data sets have the same paths there.
    redo : bool
        Run cells that have a record again.
    progress : callable, optional
        Called after every cell as ``progress(done, total, message)``.

    Returns
    -------
    list of Failure
        Cells that raised, with the error; the others are not affected.
    """
    workers = workers or min(4, os.cpu_count() or 1)
    done = {records.key(line): line for line in records.read(out / RUNS)}
    waiting = {cell.key: cell for cell in todo if redo or cell.key not in done}
    clock = _Clock(list(done.values()), workers)
    failures: list[Failure] = []
    with open_executor(workers, scheduler) as executor:
        for cell, result in run_cells(list(waiting.values()), executor):
            del waiting[cell.key]
            if isinstance(result, Exception):
                failures.append(Failure(cell, f"{type(result).__name__}: {result}"))
            else:
                records.folder(out / "runs", result)
                records.append(out / RUNS, result)
                clock.add(result)
            if progress:
                what = f"{' '.join(map(str, cell.key))}{clock.left(waiting.values())}"
                progress(len(todo) - len(waiting), len(todo), what)
    return failures


class _Clock:
    """Estimates the time left from finished cells of the same data set and method."""

    def __init__(self, lines: Sequence[Record], workers: int) -> None:
        self.workers = workers
        self.seconds: dict[tuple[str, str], list[float]] = {}
        for line in lines:
            self.add(line)

    def add(self, line: Record) -> None:
        spent = line["seconds"]["fit"] + line["seconds"]["per_query"] * line["queries"]
        self.seconds.setdefault((line["dataset"], line["method"]), []).append(spent)

    def left(self, waiting: Iterable[Cell]) -> str:
        """ ", about 12 min left", or nothing when nothing waits."""
        estimates = [self._estimate(cell) for cell in waiting]
        if not estimates:
            return ""
        minutes = sum(estimates) / self.workers / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", under a minute left"

    def _estimate(self, cell: Cell) -> float:
        same = self.seconds.get(cell.key[:2])
        near = [s for (dataset, _), times in self.seconds.items() if dataset == cell.dataset.name for s in times]
        every = [s for times in self.seconds.values() for s in times]
        return statistics.fmean(same or near or every or [0.0])
