"""Offer damaged and made-up inputs to everything that reads what others wrote, and count how it answers.

    PYTHONPATH=src:tests python benchmarks/faults/fuzz.py --inputs 10000 --out docs/results/faults/fuzzing.json

Targets are those of tests/support/fuzzing.py and fuzzed_service.py: settings, model folders, lists of new concepts,
standard input, arguments and environment variables, the REST API, the reconciliation API and the tools for agents.
Taxonomy files are offered by benchmarks/fuzz_formats.py, review tables by fuzz_tables.py. An input is made from its
number. It may take ten seconds of the processor; whatever ends otherwise than accepted or refused is printed and
counted. Each target runs in a process of its own with at most 6 GB, and what is done is kept in OUT: a run that was
stopped goes on.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import signal
import time
import traceback
import warnings
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from support.fuzzed_service import SERVICES
from support.fuzzing import TARGETS
from taxosphere import atomic

ALL = {**TARGETS, **SERVICES}
SECONDS, GIGABYTES, CHUNK = 10, 6, 10_000


class TooSlowError(BaseException):
    """An input took more than `SECONDS`."""


def _too_slow(*_: object) -> None:
    raise TooSlowError


def offer(name: str, first: int, count: int, answers: Connection) -> None:
    """Offer inputs ``first`` … and send the outcomes; after each fault its input's number and traceback."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (GIGABYTES << 30, GIGABYTES << 30))
    signal.signal(signal.SIGPROF, _too_slow)
    outcomes, slowest, began = Counter[str](), 0.0, time.process_time()
    with ALL[name]() as attempt:
        for number in range(first, first + count):
            start = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of the processor: other work does not count
            try:
                outcomes[attempt(random.Random(f"{name} {number}"))] += 1
            except TooSlowError:
                outcomes["too slow"] += 1
                answers.send(f"{name} {number}: too slow")
            except BaseException:
                outcomes["otherwise"] += 1
                answers.send(f"{name} {number}: {traceback.format_exc(limit=-3)}")
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
            slowest = max(slowest, time.process_time() - start)
    answers.send((dict(outcomes), slowest, time.process_time() - began))


def run_chunk(name: str, first: int, count: int) -> dict[str, Any]:
    """Outcomes of some inputs, offered in a process of their own."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=offer, args=(name, first, count, theirs))
    process.start()
    theirs.close()
    outcomes: dict[str, Any] = {"crashed": 1}
    try:
        while True:
            got = ours.recv()
            if isinstance(got, str):
                print(got, flush=True)
                continue
            counted, slowest, seconds = got
            outcomes = {**counted, "slowest": slowest, "seconds": seconds}
    except EOFError:
        process.join()
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--inputs", type=int, default=10_000, help="for each target")
    parser.add_argument("--only", default="", help="targets, with commas between")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    done: dict[str, dict[str, Any]] = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    for name in [part for part in options.only.split(",") if part] or ALL:
        so_far = done.setdefault(name, {"inputs": 0, "slowest": 0.0, "seconds": 0.0})
        while so_far["inputs"] < options.inputs:
            count = min(CHUNK, options.inputs - so_far["inputs"])
            outcomes = run_chunk(name, so_far["inputs"], count)
            so_far["slowest"] = round(max(so_far["slowest"], outcomes.pop("slowest", 0.0)), 2)
            so_far["seconds"] = round(so_far["seconds"] + outcomes.pop("seconds", 0.0), 1)
            for outcome, times in outcomes.items():
                so_far[outcome] = so_far.get(outcome, 0) + times
            so_far["inputs"] += count
            atomic.write_text(options.out, json.dumps(done, indent=1) + "\n")
        print(name, so_far, flush=True)


if __name__ == "__main__":
    main()
