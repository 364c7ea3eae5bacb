"""Damaged files for every reader: counts answers, refusals, tracebacks, time and memory; can be stopped and resumed.

    PYTHONPATH=src:tests python benchmarks/fuzz_formats.py --files 20000 --state fuzz.json --page docs/results/fuzz.md

Each file is made from a number (tests/support/mutations.py), written to a temporary folder and read in a process of
its own that may take 10 CPU seconds a file and 2 GB. What ends in anything but a taxonomy or one line about the input
is kept in the folder given with `--keep`; such files belong into tests/regressions.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from support.mutations import bombs, mutated, samples
from taxosphere import Taxonomy
from taxosphere.errors import TaxosphereError

SECONDS, GIGABYTES, CHUNK, EVERY = 10, 2, 200, 200


class TooSlowError(Exception):
    """A file took more than `SECONDS`."""


def read_chunk(first: int, count: int, random_state: int, answers: Any) -> None:
    """Read files `first` … `first + count - 1` and put a tally into a queue after each, for the case of a crash."""
    warnings.simplefilter("error")
    signal.signal(signal.SIGPROF, _too_slow)
    files = samples()
    _read(next(iter(files)), next(iter(files.values())))
    for number in range(first, first + count):
        name, content = made(files, number, random_state)
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor: other work does not count
        try:
            outcome = _read(name, content)
        except TooSlowError:
            outcome = "too slow"
        except BaseException:
            outcome = "traceback: " + traceback.format_exc(limit=-3)
        signal.setitimer(signal.ITIMER_PROF, 0)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answers.put((number, name, outcome, time.process_time() - began, peak, peak - before))


def made(files: dict[str, bytes], number: int, random_state: int) -> tuple[str, bytes]:
    """Name and content of a file: every two hundredth is one that holds far more than its size."""
    if number % EVERY != EVERY - 1:
        return mutated(files, number, random_state)
    kinds = list(large().items())
    return kinds[number // EVERY % len(kinds)]


@cache
def large() -> dict[str, bytes]:
    """Made once, before the processes are started."""
    return bombs()


def _too_slow(*_: object) -> None:
    raise TooSlowError


def _read(name: str, content: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        try:
            Taxonomy.read(path, strict=len(content) % 2 == 0)
        except TaxosphereError as error:
            return "traceback: two lines" if "\n" in str(error) else "refused"
    return "read"


def run(first_file: int, files: int, random_state: int, state: Path, keep: Path | None) -> dict[str, Any]:
    """Read all files up to number `files` that the state file does not count yet, a process per chunk."""
    new: dict[str, Any] = {"done": first_file, "formats": {}, "faults": []}
    tally: dict[str, Any] = json.loads(state.read_text()) if state.exists() else new
    context = multiprocessing.get_context("fork")
    large()
    while tally["done"] < files:
        first, count = tally["done"], min(CHUNK, files - tally["done"])
        answers: Any = context.SimpleQueue()
        worker = context.Process(target=_limited, args=(first, count, random_state, answers))
        worker.start()
        received = _collect(worker, answers, count)
        for number, name, outcome, seconds, peak, growth in received:
            _count(tally, number, name, outcome, seconds, peak, growth)
        if len(received) < count:  # the process died of this one
            number = first + len(received)
            name, _ = made(samples(), number, random_state)
            _count(tally, number, name, "crashed", SECONDS, 0, 0)
        tally["done"] = first + max(1, min(count, len(received) + (len(received) < count)))
        state.write_text(json.dumps(tally))
        if keep is not None:
            for number, name, *_ in tally["faults"]:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{number}-{name}").write_bytes(made(samples(), number, random_state)[1])
    return tally


def _limited(first: int, count: int, random_state: int, answers: Any) -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (GIGABYTES << 30, GIGABYTES << 30))
    read_chunk(first, count, random_state, answers)


def _collect(worker: Any, answers: Any, count: int) -> list[Any]:
    received: list[Any] = []
    while len(received) < count:
        if not answers.empty():
            received.append(answers.get())
        elif not worker.is_alive() and answers.empty():
            break
        else:
            time.sleep(0.002)
    worker.join(SECONDS)
    return received


def _count(tally: dict[str, Any], number: int, name: str, outcome: str, seconds: float, peak: int, growth: int) -> None:
    suffix = "".join(Path(name).suffixes[-2:]) or name
    row = tally["formats"].setdefault(
        suffix, {"files": 0, "read": 0, "refused": 0, "faults": 0, "slowest": 0.0, "growth": 0}
    )
    row["files"] += 1
    kind = outcome if outcome in ("read", "refused") else "faults"
    row[kind] += 1
    row["slowest"] = max(row["slowest"], seconds)
    row["growth"] = max(row["growth"], growth)
    tally["peak"] = max(tally.get("peak", 0), peak)
    if kind == "faults":
        tally["faults"].append([number, name, outcome])


def merged(states: list[Path]) -> dict[str, Any]:
    """The sum of several runs, as where each read other numbers."""
    whole: dict[str, Any] = {"formats": {}, "faults": [], "peak": 0}
    for state in states:
        tally = json.loads(state.read_text())
        whole["faults"] += tally["faults"]
        whole["peak"] = max(whole["peak"], tally["peak"])
        for suffix, row in tally["formats"].items():
            before = whole["formats"].setdefault(suffix, dict.fromkeys(row, 0))
            for key, value in row.items():
                before[key] = max(before[key], value) if key in ("slowest", "growth") else before[key] + value
    return whole


def page(tally: dict[str, Any], random_state: int) -> str:
    """The figures as a page of the documentation."""
    rows = tally["formats"]
    total = Counter({key: sum(row[key] for row in rows.values()) for key in ("files", "read", "refused", "faults")})
    lines = [
        "# Damaged files",
        "",
        f"{total['files']:,} files over all readers, each a small sound file with random damage (random state "
        f"{random_state}), every two hundredth a bomb (gzip, bzip2, xz, zip, XLSX, XML entities, YAML aliases, depth): "
        f"{total['read']:,} were still read, {total['refused']:,} refused in one line, {total['faults']:,} ended "
        f"otherwise (a traceback, more than {SECONDS} CPU s, more than {GIGABYTES} GB).",
        f"Slowest file: {max(row['slowest'] for row in rows.values()):.2f} CPU s. Most memory of a process: "
        f"{tally['peak'] / 1024:,.0f} MB. Made by `benchmarks/fuzz_formats.py --files {total['files']}`.",
        "",
        "| suffix | files | read | refused | otherwise | slowest, CPU s | growth, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for suffix, row in sorted(rows.items()):
        cells = (suffix, row["files"], row["read"], row["refused"], row["faults"])
        lines.append(f"| {' | '.join(map(str, cells))} | {row['slowest']:.2f} | {row['growth'] / 1024:.0f} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=20_000, help="up to which number")
    parser.add_argument("--first", type=int, default=0, help="from which number, to share the work")
    parser.add_argument("--merge", type=Path, nargs="+", help="state files to make the page of, instead of a run")
    parser.add_argument("--random-state", type=int, default=0)
    parser.add_argument("--state", type=Path, default=Path("fuzz.json"))
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--page", type=Path)
    arguments = parser.parse_args()
    if arguments.merge:
        tally = merged(arguments.merge)
    else:
        tally = run(arguments.first, arguments.files, arguments.random_state, arguments.state, arguments.keep)
    for number, name, outcome in tally["faults"]:
        print(number, name, outcome)
    text = page(tally, arguments.random_state)
    if arguments.page:
        arguments.page.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
