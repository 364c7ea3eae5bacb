"""Disturb the commands of the command line, one fault at a time, and check how they end.

    python benchmarks/faults/faults.py --out docs/results/faults/faults.jsonl [--only COMMAND,FAULT,…] [--share 0.1]

Each fault has a sandbox of its own: a taxonomy of 64 concepts, its model, a cache and a database of decisions. The
command must end with the result of an undisturbed run, or with one line that says what is wrong; then outputs are the
old ones or the new ones, whole, no acknowledged decision is missing, and a second, undisturbed run gives the result of
an undisturbed run. One line per fault is appended to OUT; those that are there already are not repeated, so a run that
was stopped goes on. Needs Linux, root (file systems are mounted) and a C compiler (for a clock that can be moved).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import lost
import nursery
import running
import sandbox
import serving
from disturbing import FAULTS, Case
from filling import fill
from running import Running

ALL = {**sandbox.COMMANDS, "serve": serving.SERVE}
NAMES = ("fit", "suggest", "expand", "apply", "bench", "serve")
_EACH = {
    "SIGKILL": {"fit": 16, "suggest": 60, "expand": 50, "apply": 50, "bench": 40, "serve": 30},
    "full disk": {"fit": 10, "suggest": 40, "expand": 35, "apply": 35, "bench": 20, "serve": 14},
    "read-only folder": {"fit": 6, "suggest": 30, "expand": 25, "apply": 25, "bench": 15, "serve": 10},
    "clock jumps": {"fit": 5, "suggest": 20, "expand": 15, "apply": 15, "bench": 12, "serve": 8},
    "damaged model": {"fit": 10, "suggest": 50, "expand": 40, "serve": 10},
    "damaged cache": {"fit": 8, "suggest": 45, "expand": 35, "bench": 25, "serve": 8},
    "damaged database": {"fit": 8, "expand": 35, "apply": 60, "serve": 16},
    "damaged leftovers": {"fit": 8, "suggest": 10, "expand": 10, "bench": 12},
    "two processes, one cache": {"fit": 4, "suggest": 12, "expand": 12, "bench": 8, "serve": 4},
    "little memory": {"fit": 8, "suggest": 25, "expand": 20, "apply": 20, "bench": 16, "serve": 8},
    "worker process vanishes": {"suggest": 4, "expand": 3, "bench": 3},
    "dask worker vanishes": {"suggest": 3, "expand": 2, "bench": 2},
    "connection vanishes": {"fit": 4, "expand": 10, "apply": 15, "serve": 6},
}
# Libraries in Rust and C++ end the process themselves where memory ends, with a line of their own.
_ABORTS = re.compile(r"^memory allocation of \d+ bytes failed|std::bad_alloc", re.MULTILINE)
_TRACE = re.compile(r"^\s*Traceback \(most|^[\w.]*Error: |^Exception ignored", re.MULTILINE)
_COLD = 10  # every tenth fault hits a new interpreter


def plan(share: float) -> Iterator[tuple[str, str, int]]:
    """Command, fault and number of every fault, the kinds mixed."""
    rest = {(command, fault): max(1, round(share * n)) for fault, of in _EACH.items() for command, n in of.items()}
    number = 0
    while any(count > number for count in rest.values()):
        yield from ((command, fault, number) for (command, fault), count in rest.items() if count > number)
        number += 1


class Harness:
    """Runs faults and judges how they end.

    Parameters
    ----------
    folder : Path
        Room for sandboxes.
    stack : ExitStack
        Ends what is started once for all faults.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        self.server = ""
        self.parts = stack.enter_context(nursery.opened(folder / "parts"))
        self.template = folder / "template"
        sandbox.make_template(self.template)
        self.expected: dict[str, dict[str, str | None]] = {}
        self.later: dict[str, list[str]] = {}
        self.seconds: dict[str, float] = {"serve": 0.35}
        place = self.copy()
        self.earlier = sandbox.history(place)
        for command in sandbox.COMMANDS.values():
            self.seconds[command.key] = sandbox.run(place, *command.arguments).cpu
            self.expected[command.key] = {name: sandbox.digest_of(place, name) for name in command.outputs}
            self.later[command.key] = sandbox.history(place)
            shutil.rmtree(place.parent)
            place = self.copy()
        shutil.rmtree(place.parent)

    def copy(self) -> Path:
        """A new sandbox."""
        place = self.folder / "case" / "box"
        shutil.rmtree(place.parent, ignore_errors=True)
        shutil.copytree(self.template, place)
        return place

    def run(self, name: str, fault: str, number: int) -> dict[str, Any]:
        """One fault, judged."""
        chance = random.Random(f"{name} {fault} {number}")
        place = self.copy()
        if chance.random() < 0.5 and fault != "damaged leftovers":
            sandbox.put_old_outputs(place)
        cold = number % _COLD == _COLD - 1 and fault != "clock jumps"
        url = ""
        if fault == "connection vanishes":
            url = self._database(place, served=name == "serve")
        key = sandbox.WITH_DATABASE if name == "expand" and self._needs_database(fault, chance) else name
        case = Case(ALL[key], place, chance, self.seconds[key], cold, url, self.parts if name == "serve" else "")
        ended, what, problems, after = (self._serve if name == "serve" else self._command)(case, fault)
        record = {
            "command": name,
            "fault": fault,
            "number": number,
            "what": what,
            "code": ended.code,
            "said": last_line(ended.said()).replace(str(place), "."),
            "problems": problems,
            "cpu": round(ended.cpu + after, 2),
        }
        if cold:
            record["cold"] = True
        return record

    def _database(self, place: Path, *, served: bool) -> str:
        """A new database on the server, with what the file of the sandbox holds."""
        if not self.server:
            self.server = self.stack.enter_context(lost.postgresql())
        url = lost.new_database(self.server)
        if served:
            fill(place / "work" / "model", place / "cache", url)
        else:
            sandbox.run(place, "apply", "in/tax.csv", "in/earlier.csv", "-o", "tmp/grown.csv", "--db", url)
        return url

    def _needs_database(self, fault: str, chance: random.Random) -> bool:
        """Does this fault of `expand` concern a database, or is it one that might, by chance?"""
        return fault in ("damaged database", "connection vanishes") or (
            fault in ("SIGKILL", "full disk") and chance.random() < 0.3
        )

    def _command(self, case: Case, fault: str) -> tuple[Running, str, list[str], float]:
        place = case.place
        inputs = _contents(place, "in")
        before = {output: sandbox.digest_of(place, output) for output in case.command.outputs}
        ended, what = FAULTS[fault](case)
        problems = judge(ended, killed=fault == "SIGKILL")
        problems += self._check_outputs(case, ended, before)
        if _contents(place, "in") != inputs:
            problems.append("an input was changed")
        resume = case.command.resumable and fault != "damaged leftovers" and case.chance.random() < 0.7
        again = Case(case.command, place, case.chance, case.seconds, url=case.url).start(
            *(("--resume",) if resume else ()), name="again"
        )
        again.wait()
        if again.code != 0:
            problems.append(f"the second run ended with {again.code}: {last_line(again.said())}")
        elif any(
            sandbox.digest_of(place, output) != digest for output, digest in self.expected[case.command.key].items()
        ):
            problems.append("the second run gave another result")
        problems += self._check_history(case, done=True)
        return ended, what, problems, again.cpu

    def _check_outputs(self, case: Case, ended: Running, before: dict[str, str | None]) -> list[str]:
        """Are outputs the old or the new ones, and the new ones where the command said so?"""
        problems = []
        for output, expected in self.expected[case.command.key].items():
            there = sandbox.digest_of(case.place, output)
            if there == expected or (ended.code != 0 and there == before[output]):
                continue
            partly = output == "out/bench" and there is not None and not there.startswith("unreadable")
            if ended.code != 0 and partly:  # the runs that were finished
                continue
            problems.append(f"{output} is {there or 'missing'} after code {ended.code}")
        return problems + self._check_history(case, done=ended.code == 0)

    def _check_history(self, case: Case, *, done: bool) -> list[str]:
        """Are the earlier decisions there, once, in a whole chain, and those of the command, or else none of them?"""
        try:
            there = sandbox.history(case.place, case.url)
        except Exception as error:  # whatever is wrong with it
            return [f"history: {type(error).__name__}: {error}"[:300]]
        if there == self.later[case.command.key]:
            return []
        return [] if there == self.earlier and not done else [f"history of {len(there)} decisions"]

    def _serve(self, case: Case, fault: str) -> tuple[Running, str, list[str], float]:
        curator = serving.Curator(case.place)
        ended, what = serving.disturbed(case, fault, curator)
        problems = curator.problems + judge(ended, killed=fault == "SIGKILL", served=bool(curator.acknowledged))
        curator.problems = []
        if fault == "damaged database" and (ended.code not in (0, 143, -15) or curator.refused):
            curator.acknowledged.clear()  # the copy was brought back
        first = dict(curator.acknowledged)
        stated = ("--db", case.url) if case.url else ()
        again = replace(case, cold=False, url="").start(*stated, name="again")
        connection = curator.work(again)
        if connection is None:
            problems.append(f"the second service ended with {again.code}: {last_line(again.said())}")
        serving.stop(again)
        again.end_group()
        problems += curator.problems + judge(again, killed=False, served=True)
        if curator.acknowledged | first != curator.acknowledged:
            problems.append("an acknowledged decision has another number now")
        url = case.url or str(case.place / "work" / "model.workbench" / "decisions.db")
        try:
            there = sandbox.history(case.place, url)
        except Exception as error:  # whatever is wrong with it
            there = [f"{type(error).__name__}: {error}"]
        if sorted(line.split()[1] for line in there) != sorted(curator.acknowledged):
            problems.append(f"acknowledged {len(curator.acknowledged)}, recorded {there[:20]}")
        return ended, what + (f"; refused: {curator.refused[0]}" if curator.refused else ""), problems, again.cpu


def judge(ended: Running, *, killed: bool, served: bool = False) -> list[str]:
    """What is wrong with how a command ended and what it said."""
    said, problems = ended.said(), []
    if ended.hung:
        problems.append("hang")
    if _TRACE.search(said):
        problems.append(f"traceback: {last_line(said)}")
    if ended.code == 0 or (killed and ended.code == -signal.SIGKILL):
        return problems
    if served and ended.code in (128 + signal.SIGTERM, -signal.SIGTERM):
        return problems
    if ended.code == -signal.SIGABRT and _ABORTS.search(said):
        return problems
    lines = [line for line in said.splitlines() if line.startswith("error: ")]
    if ended.code not in (1, 2) or len(lines) != 1:
        problems.append(f"code {ended.code} with {len(lines)} lines of error: {last_line(said)}")
    return problems


def last_line(said: str) -> str:
    """The last line that was said, not too long."""
    return (said.strip().splitlines() or [""])[-1][:300]


def _contents(place: Path, folder: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((place / folder).iterdir())}


def under_other_clock(arguments: list[str], folder: Path) -> None:
    """Run the faults of the clock in a process whose clock is off by what a file says."""
    file, library = folder / "offset", folder / "clock.so"
    file.write_bytes(bytes(8))
    source = Path(__file__).with_name("clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", str(library), str(source), "-ldl"], check=True)
    environment = {**os.environ, "CLOCK_OFFSET": str(file), "LD_PRELOAD": str(library)}
    subprocess.run([sys.executable, __file__, *arguments], env=environment, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="commands and faults, with commas between")
    parser.add_argument("--share", type=float, default=1.0, help="of the faults")
    parser.add_argument("--keep", type=Path, help="keep the sandboxes of faults that ended badly here")
    options = parser.parse_args()
    only = {word.strip() for word in options.only.split(",") if word.strip()}
    done = set()
    if options.out.exists():
        lines = [json.loads(line) for line in options.out.read_text("utf-8").splitlines()]
        done = {(line["command"], line["fault"], line["number"]) for line in lines}
    clock = "CLOCK_OFFSET" in os.environ
    wanted = [case for case in plan(options.share) if case not in done and (not only or _chosen(case, only))]
    here = [case for case in wanted if (case[1] == "clock jumps") == clock]
    with tempfile.TemporaryDirectory(prefix="taxosphere-faults-") as folder, ExitStack() as stack:
        if not clock and len(here) < len(wanted):
            under_other_clock(sys.argv[1:], Path(folder))
        if not here:
            return
        running.warm_up()
        harness = Harness(Path(folder) / "sandboxes", stack)
        began = time.monotonic()
        for place, case in enumerate(here, 1):
            record = harness.run(*case)
            with options.out.open("a", encoding="utf-8") as handle:
                handle.write(json.dumps(record, ensure_ascii=False) + "\n")
            if record["problems"]:
                print(json.dumps(record, ensure_ascii=False, indent=1), flush=True)
                if options.keep:
                    kept = options.keep / f"{'-'.join(map(str, case))}".replace(" ", "_")
                    shutil.copytree(harness.folder / "case", kept, dirs_exist_ok=True, symlinks=True)
            if place % 25 == 0:
                print(f"{place} of {len(here)}, {time.monotonic() - began:.0f} s", flush=True)


def _chosen(case: tuple[str, str, int], only: set[str]) -> bool:
    command, fault, _ = case
    commands, faults = only & set(NAMES), only & set(_EACH)
    return (not commands or command in commands) and (not faults or fault in faults)


if __name__ == "__main__":
    main()
