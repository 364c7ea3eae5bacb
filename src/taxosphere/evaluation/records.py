"""The record of a run: a line from which a bench resumes, and a folder for people to read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from taxosphere import artifact, atomic
from taxosphere.errors import InputError
from taxosphere.evaluation import metrics
from taxosphere.evaluation.protocol import Run

Record = dict[str, Any]
IMAGES = "80:20 of the images"  # the split where images are named
NOT_HONEST_MARK = "(not honest)"  # behind the name of a method that was measured by the paper's protocol
Key = tuple[str, str, int]  # dataset, method, random state


def record(dataset: str, name: str, split: str, run: Run, repairs: Sequence[str] = ()) -> Record:
    """The record of one run: everything that tables and tests of significance need, as JSON types."""
    return {
        "dataset": dataset,
        "method": name if run.protocol == "honest" else f"{name} {NOT_HONEST_MARK}",
        "seed": run.random_state,
        "split": split,
        "protocol": run.protocol,
        "collapsed": run.collapsed,
        "candidates": run.candidates,
        "queries": len(run.outcome.sizes),
        "several_parents": bool((run.outcome.sizes > 1).any()),
        "metrics": metrics.summary(run.outcome) | metrics.variants(run.outcome),
        "seconds": {"fit": run.fit_seconds, "per_query": run.query_seconds},
        "ranks": run.outcome.best.tolist(),
        "config": dict(run.config),
        "seed_hash": run.seed_hash,
        "versions": artifact.versions(),
        "repairs": list(repairs),
        "history": {name: list(map(_finite, values)) for name, values in run.history.items()},
    }


def key(line: Mapping[str, Any]) -> Key:
    """Data set, method and random state of a record."""
    return line["dataset"], line["method"], line["seed"]


def read(path: Path) -> list[Record]:
    """The records of a file, the latest of every key; a last line that a kill cut short is left out."""
    if not path.exists():
        return []
    runs: dict[Key, Record] = {}
    *lines, _ = path.read_bytes().split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            runs[key(entry)] = entry
        except (ValueError, KeyError, TypeError):
            raise InputError("is no record of a run; remove the line", path, number) from None
    return list(runs.values())


def read_about(folder: Path) -> dict[str, Any]:
    """``about.json`` of a folder: how its runs were made; empty where there is none yet."""
    path = folder / "about.json"
    if not path.exists():
        return {}
    try:
        about: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError:
        raise InputError("is damaged; remove it", path) from None
    return about


def append(path: Path, entry: Record) -> None:
    """Add one line, on disk before this returns. What a kill left without a line end is cut off first."""
    line = json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with path.open("ab+") as file:
        _cut_tail(file)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _cut_tail(file: IO[bytes]) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0 or file.seek(size - 1) < 0 or file.read(1) == b"\n":
        return
    file.seek(0)
    file.truncate(file.read().rfind(b"\n") + 1)


def folder(root: Path, entry: Record) -> Path:
    """Write the folder of a run: record.json and, where there are curves, history.tsv; returns its path."""
    dataset, method, seed = key(entry)
    place = root / dataset / method / f"seed-{seed}"
    place.mkdir(parents=True, exist_ok=True)
    history = entry["history"]
    if history:
        atomic.write_text(place / "history.tsv", "".join(_rows(history)))
    rest = {name: value for name, value in entry.items() if name != "history"}
    atomic.write_text(place / "record.json", json.dumps(rest, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    return place


def _finite(value: float) -> float | None:
    """None for what is not finite, which JSON cannot hold."""
    return float(value) if math.isfinite(value) else None


def _rows(history: Mapping[str, Sequence[float | None]]) -> Iterable[str]:
    yield "\t".join(("epoch", *history)) + "\n"
    longest = max(map(len, history.values()))
    for epoch in range(longest):
        row = (values[epoch] if epoch < len(values) else None for values in history.values())
        yield "\t".join((str(epoch + 1), *("" if cell is None else f"{cell:.6g}" for cell in row))) + "\n"
