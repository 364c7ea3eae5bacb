"""Kills a workbench again and again while curators decide: what was answered with 200 must be there, exactly once.

    python benchmarks/faults/serve_kill.py MODEL --kills 100 [--db postgresql://…]

Each round starts the service, lets eight curators decide for a moment and kills it with SIGKILL. At the end every
acknowledged decision is looked for in the history, and the chain of hashes is checked.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from taxosphere import Concept, Polaris
from taxosphere.service import store_events
from taxosphere.service.jobs import add_to_queue
from taxosphere.service.store import Store
from taxosphere.service.workbench import Setup, Workbench

CURATORS = 8
ITEMS = 200


class Rounds:
    """Starts, curates, kills; remembers what was acknowledged."""

    def __init__(self, setup: Setup, port: int) -> None:
        self.setup = setup
        self.port = port
        self.acknowledged: dict[str, str] = {}
        self.unexpected: list[str] = []
        self.versions = dict.fromkeys((f"new{number}" for number in range(ITEMS)), 0)

    def start(self) -> subprocess.Popen[bytes]:
        """The service, answering."""
        command = [sys.executable, "-m", "taxosphere", "serve", str(self.setup.model)]
        command += ["--db", self.setup.url, "--port", str(self.port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            try:
                if self.ask("GET", "health")[0] == 200:
                    return process
            except (OSError, HTTPException):
                time.sleep(0.05)
        raise SystemExit("the service does not answer")

    def ask(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, Any]:
        """Status and document of one request."""
        token = self.setup.token.read_text().strip() if self.setup.token.exists() else ""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
        try:
            connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def curate(self, mine: list[str], stop: threading.Event) -> None:
        """Decide about some items in turn; a request that got no answer is sent again with its key after the start."""
        while not stop.is_set():
            for item in mine:
                version = self.versions[item]
                body = {"item": item, "kind": ("reject", "later")[version % 2], "version": version}
                try:
                    status, answer = self.ask("POST", "decisions", body, f"{item}-{version}")
                except (OSError, HTTPException, ValueError):
                    return
                if status != 200:
                    self.unexpected.append(f"{status} {answer}")
                    return
                self.acknowledged[f"{item}-{version}"] = answer["event"]["id"]
                self.versions[item] = answer["item"]["version"]

    def round(self, seconds: float) -> None:
        """One start, some decisions, one kill."""
        process = self.start()
        stop = threading.Event()
        items = list(self.versions)
        threads = [threading.Thread(target=self.curate, args=(items[i::CURATORS], stop)) for i in range(CURATORS)]
        for thread in threads:
            thread.start()
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        stop.set()
        for thread in threads:
            thread.join()


def prepare(model: Path, folder: Path, url: str) -> Setup:
    """A workbench with a queue."""
    setup = Setup.beside(model, url or str(folder / "decisions.db"))
    workbench = Workbench(setup, load_model=False)
    concepts = [Concept(f"new{number}", f"new concept {number}") for number in range(ITEMS)]
    add_to_queue(workbench, Polaris.load(model), concepts, lambda *_: None)
    workbench.close()
    return setup


def main() -> None:
    """Run the rounds and check the history."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--db", default="")
    parser.add_argument("--port", type=int, default=8899)
    stated = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rounds = Rounds(prepare(stated.model, Path(folder), stated.db), stated.port)
        chance = random.Random(0)
        for number in range(stated.kills):
            rounds.round(chance.uniform(0.1, 1.5))
            print(f"{number + 1} kills, {len(rounds.acknowledged)} decisions acknowledged", file=sys.stderr)
        with Store(rounds.setup.url) as store:
            store_events.verify(store)
            ids = [event.id for event in store_events.all_events(store)]
    lost = set(rounds.acknowledged.values()) - set(ids)
    document = {
        "kills": stated.kills,
        "acknowledged": len(rounds.acknowledged),
        "recorded": len(ids),
        "lost": len(lost),
        "twice": len(ids) - len(set(ids)),
        "unexpected": rounds.unexpected[:5],
    }
    print(json.dumps(document, indent=1))
    sys.exit(bool(lost or document["twice"] or rounds.unexpected))


if __name__ == "__main__":
    main()
