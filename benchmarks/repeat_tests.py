"""Repeat the tests that use processes, threads, sockets, waiting or made-up examples, and count which of them fail.

    python benchmarks/repeat_tests.py --out docs/results/repetitions.json [--times 20] [--chunk 5] [tests/FILE.py …]

Without files: those of `FILES`, the most suspicious first. Each file runs in processes of its own, ``--chunk`` times in
each: all its tests in their order, then all of them again. Fixtures are made anew each time but for those of the
session (a fitted model, a server of PostgreSQL), which serve several files in a run of the suite as well. What is done
is kept in OUT, so a run that was stopped goes on; delete OUT after the code has changed.
Ends with 1 where a test failed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from taxosphere import atomic

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "tests/service/test_live.py",
    "tests/service/test_suggester.py",
    "tests/service/test_worker.py",
    "tests/scale/test_executors.py",
    "tests/scale/test_stream.py",
    "tests/scale/test_placer.py",
    "tests/encoders/test_cache.py",
    "tests/test_atomic.py",
    "tests/service/test_deploy.py",
    "tests/service/test_store.py",
    "tests/service/test_mcp.py",
    "tests/service/test_kill_decisions.py",
    "tests/cli/test_serve.py",
    "tests/cli/test_main.py",
    "tests/cli/test_completion.py",
    "tests/model/test_distributed.py",
    "tests/service/test_threats.py",
    "tests/service/test_api.py",
    "tests/service/test_api_postgresql.py",
    "tests/service/test_openapi.py",
    "tests/ui/test_review.py",
    "tests/ui/test_views.py",
    "tests/ui/test_model.py",
    "tests/decisions/test_fold.py",
    "tests/decisions/test_applying.py",
    "tests/decisions/test_exports.py",
    "tests/contract/test_formats.py",
    "tests/test_polaris.py",
)


# -- as a plugin of pytest ---------------------------------------------------------------------------------------------


class Repeat:
    """A plugin that runs every collected test several times and counts the outcomes."""

    def __init__(self, times: int) -> None:
        self.times = times
        self.outcomes: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed:  # a file that cannot be read: pytest says so
            return None
        for number in range(1, self.times + 1):
            # After the last test what the next one does not need is torn down: of the session nothing, in the end all.
            following = [*session.items[1:], session if number < self.times else None]
            for item, after in zip(session.items, following, strict=True):
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        return True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1
        if report.failed:
            self.failed[report.nodeid] += 1


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Repeat(int(os.environ["REPEAT_TIMES"])), "repeat")


def pytest_unconfigure(config: pytest.Config) -> None:
    repeat = config.pluginmanager.get_plugin("repeat")
    counts = {"outcomes": repeat.outcomes, "failed": repeat.failed}
    Path(os.environ["REPEAT_OUT"]).write_text(json.dumps(counts), encoding="utf-8")


# -- as a command ------------------------------------------------------------------------------------------------------


def run_apart(file: str, times: int) -> dict[str, Any]:
    """Counts of a file, repeated in a process of its own, and the processor time of that and its children."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts.json"
        here = os.pathsep.join(filter(None, [str(ROOT / "benchmarks"), os.environ.get("PYTHONPATH")]))
        told = {"REPEAT_TIMES": str(times), "REPEAT_OUT": str(out), "PYTHONPATH": here, "OMP_NUM_THREADS": "1"}
        options = ["-q", "--tb=short", "-p", "no:cacheprovider", "-p", Path(__file__).stem]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "pytest", *options, file]
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **told}, check=False).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        counts = json.loads(out.read_text("utf-8")) if out.exists() else {"outcomes": {}, "failed": {}}
        return {**counts, "code": code, "cpu": cpu}


def add(record: dict[str, Any], counts: dict[str, Any], times: int) -> None:
    """Add the counts of some repetitions of a file to its record."""
    record["times"] += times
    record["cpu"] = round(record["cpu"] + counts["cpu"], 1)
    for outcome, number in counts["outcomes"].items():
        record[outcome] = record.get(outcome, 0) + number
    for test, number in counts["failed"].items():
        record["failures"][test] = record["failures"].get(test, 0) + number
    if counts["code"] not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        record["failures"]["the process itself"] = record["failures"].get("the process itself", 0) + 1


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("files", nargs="*")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--chunk", type=int, default=5)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    done: dict[str, Any] = json.loads(options.out.read_text("utf-8")) if options.out.exists() else {}
    for file in options.files or FILES:
        record = done.setdefault(file, {"times": 0, "cpu": 0.0, "failures": {}})
        while record["times"] < options.times:
            times = min(options.chunk, options.times - record["times"])
            add(record, run_apart(file, times), times)
            atomic.write_text(options.out, json.dumps(done, indent=1) + "\n")
    sys.exit(any(record["failures"] for record in done.values()))


if __name__ == "__main__":
    main()
