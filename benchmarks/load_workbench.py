"""Load on a running workbench: simulated curators decide, browse and ask for suggestions, over the loopback interface.

    python benchmarks/load_workbench.py http://127.0.0.1:8000 TOKEN_FILE --curators 200 --seconds 300

Prints one JSON document: requests, errors and percentiles of each kind of request, and the memory of the service where
its process id is named with --pid.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import threading
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

PAUSE = 2.0  # seconds a curator looks at something, on average
WORDS = ("protein", "sequence", "analysis", "format", "data", "tree", "structure", "alignment", "gene", "report")


class Curator(threading.Thread):
    """Somebody who reads the queue, opens an item, decides, looks at the tree and sometimes asks for suggestions."""

    def __init__(self, address: str, token: str, number: int, until: float) -> None:
        super().__init__(daemon=True)
        place = urlsplit(address)
        assert place.hostname in ("127.0.0.1", "localhost", "::1"), "loopback only"
        self._connection = HTTPConnection(place.hostname, place.port, timeout=60)
        self._token = token
        self._random = random.Random(number)
        self._until = until
        self.seconds: dict[str, list[float]] = {"read": [], "decide": [], "suggest": []}
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
        queue = self._ask("read", "GET", f"queue?limit=50&sort={sort}")
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


def memory(pid: int) -> int:
    """Resident kilobytes of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmRSS")), 0)


def percentiles(seconds: list[float]) -> dict[str, float]:
    """Count, median, 95th percentile and maximum in milliseconds."""
    if len(seconds) < 2:
        return {"count": len(seconds)}
    cuts = statistics.quantiles(seconds, n=100)
    figures = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "max": max(seconds)}
    return {"count": len(seconds), **{name: round(1000 * value, 1) for name, value in figures.items()}}


def main() -> None:
    """Run the curators and print what they saw."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("address")
    parser.add_argument("token", type=Path)
    parser.add_argument("--curators", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--pid", type=int, default=0)
    stated = parser.parse_args()
    token = stated.token.read_text().strip()
    until = time.monotonic() + stated.seconds
    curators = [Curator(stated.address, token, number, until) for number in range(stated.curators)]
    before = memory(stated.pid) if stated.pid else 0
    for curator in curators:
        curator.start()
    for curator in curators:
        curator.join(stated.seconds + 120)
    errors = [error for curator in curators for error in curator.errors]
    document: dict[str, Any] = {
        kind: percentiles([second for curator in curators for second in curator.seconds[kind]])
        for kind in ("read", "decide", "suggest")
    }
    document |= {"curators": stated.curators, "seconds": stated.seconds, "errors": len(errors), "samples": errors[:5]}
    document["conflicts"] = sum(curator.conflicts for curator in curators)
    if stated.pid:
        document["memory_mb"] = {"before": before // 1024, "after": memory(stated.pid) // 1024}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
