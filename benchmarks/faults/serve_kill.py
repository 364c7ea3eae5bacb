"""Kills a workbench again and again while curators decide: what was answered with 200 must be there, exactly once.

    python benchmarks/faults/serve_kill.py MODEL --kills 100 [--db postgresql] [--out FILE]

Each round starts the service, lets forty curators read and decide as fast as they are answered, and kills it with
SIGKILL at a random moment; what got no answer is sent again with its key in the next round. At the end every
acknowledged decision is looked for in the history, and the chain of hashes is checked. The service loads no model: a
decision needs none, and a hundred starts would spend their time with it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from taxosphere import atomic
from taxosphere.service import store_events
from taxosphere.service.store import Store
from taxosphere.service.store_tables import EVENTS
from taxosphere.service.workbench import Setup

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from load_workbench import database, fill

CURATORS = 40
ITEMS = 400
SERVE = """
import sys, threading
from pathlib import Path
from taxosphere.service.server import Listening, prepare
from taxosphere.service.workbench import Setup
setup = Setup.beside(Path(sys.argv[1]), sys.argv[2], lambda path: threading.Event().wait())
prepare(setup, Listening(port=int(sys.argv[3]))).run()
"""


class Rounds:
    """Starts, curates, kills; remembers what was acknowledged."""

    def __init__(self, setup: Setup, port: int) -> None:
        self.setup = setup
        self.port = port
        self.token = setup.token.read_text().strip()
        self.acknowledged: dict[str, str] = {}
        self.unanswered = 0
        self.unexpected: list[str] = []
        self.versions = dict.fromkeys((f"new{number}" for number in range(ITEMS)), 0)

    def start(self) -> subprocess.Popen[bytes]:
        """The service, answering."""
        command = [sys.executable, "-c", SERVE, str(self.setup.model), self.setup.url, str(self.port)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
            try:
                if self.ask(connection, "GET", "health")[0] == 200:
                    return process
            except (OSError, HTTPException):
                time.sleep(0.05)
            finally:
                connection.close()
        raise SystemExit("the service does not answer")

    def ask(
        self, connection: HTTPConnection, method: str, path: str, body: Any = None, key: str = ""
    ) -> tuple[int, Any]:
        """Status and document of one request."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", "Idempotency-Key": key}
        connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    def curate(self, mine: list[str], stop: threading.Event) -> None:
        """Read and decide about some items in turn, until the service is gone."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        while not stop.is_set():
            for item in mine:
                version = self.versions[item]
                body = {"item": item, "kind": ("reject", "later")[version % 2], "version": version}
                try:
                    self.ask(connection, "GET", f"queue/{item}")
                    status, answer = self.ask(connection, "POST", "decisions", body, f"{item}-{version}")
                except (OSError, HTTPException, ValueError):
                    self.unanswered += 1
                    return
                if status != 200:
                    self.unexpected.append(f"{status} {answer}")
                    return
                self.acknowledged[f"{item}-{version}"] = answer["event"]["id"]
                self.versions[item] = version + 1

    def round(self, decisions: int, seconds: float) -> None:
        """One start, at least so many decisions, and a kill some moments after them."""
        process = self.start()
        stop = threading.Event()
        items = list(self.versions)
        threads = [threading.Thread(target=self.curate, args=(items[i::CURATORS], stop)) for i in range(CURATORS)]
        for thread in threads:
            thread.start()
        enough = len(self.acknowledged) + decisions
        while len(self.acknowledged) < enough and any(thread.is_alive() for thread in threads):
            time.sleep(0.002)
        time.sleep(seconds)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        stop.set()
        for thread in threads:
            thread.join()

    def result(self, kills: int) -> dict[str, Any]:
        """What is in the history of what was acknowledged."""
        with Store(self.setup.url) as store:
            store_events.verify(store)
            with store.reading() as connection:
                rows = [tuple(row) for row in connection.execute(sa.select(EVENTS.c.id, EVENTS.c.key))]
        recorded, keys = {row[0] for row in rows}, Counter(row[1] for row in rows)
        lost = [id for id in self.acknowledged.values() if id not in recorded]
        return {
            "database": "SQLite" if store.is_file else "PostgreSQL",
            "kills": kills,
            "curators": CURATORS,
            "acknowledged": len(self.acknowledged),
            "unanswered": self.unanswered,
            "recorded": len(rows),
            "lost": len(lost),
            "twice": sum(count - 1 for count in keys.values()),
            "unexpected": self.unexpected[:5],
        }


def main() -> None:
    """Run the rounds and check the history."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--db", default="")
    parser.add_argument("--out", type=Path)
    stated = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder, database(stated.db) as url:
        model = Path(folder) / "model"
        shutil.copytree(stated.model, model)
        fill(model, url, ITEMS)
        rounds = Rounds(Setup.beside(model, url), port)
        chance = random.Random(0)
        for number in range(stated.kills):
            rounds.round(chance.randint(1, 60), chance.uniform(0.0, 0.1))
            print(f"{number + 1} kills, {len(rounds.acknowledged)} decisions acknowledged", file=sys.stderr)
        document = rounds.result(stated.kills)
    text = json.dumps(document, indent=1)
    print(text)
    if stated.out:
        atomic.write_text(stated.out, text + "\n")
    sys.exit(bool(document["lost"] or document["twice"] or document["unexpected"]))


if __name__ == "__main__":
    main()
