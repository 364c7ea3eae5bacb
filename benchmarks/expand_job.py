"""A long job beside the service: placing a whole queue together, with the service killed in the middle.

    python benchmarks/expand_job.py MODEL --items 20000 [--out FILE]

The service runs on a copy of MODEL with a queue of made-up concepts. The job is started through the API and cancelled,
started again, the service is killed with SIGKILL while it runs and started again; meanwhile decisions are made, to see
how long they take beside it. Prints one JSON document.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

from curators import Client
from load_workbench import Measured, fill, launch, percentiles, wait

from taxosphere import atomic

ACCEPT = 0.5


class Service:
    """The service as a process, and how long it took to answer and to have its model."""

    def __init__(self, model: Path, port: int) -> None:
        began = time.monotonic()
        self.process = launch(model, "", port)
        wait(port, "health")
        self.answers = time.monotonic() - began
        wait(port, "ready")
        self.ready = time.monotonic() - began

    def seconds(self) -> dict[str, float]:
        """Until the first answer, and until suggestions could be asked for."""
        return {"answers": round(self.answers, 1), "ready": round(self.ready, 1)}


class Following:
    """Looks at a job twice a second, and decides about something each time."""

    def __init__(self, client: Client, job: str, pid: int) -> None:
        self._client, self._job, self._pid = client, job, pid
        self.decisions: list[float] = []
        self.worker_mb = 0
        self.steps: dict[str, float] = {}

    def until(self, share: float = 1.0) -> dict[str, Any]:
        """The job once it has placed such a share of the list, or has ended."""
        began = time.monotonic()
        while True:
            document: dict[str, Any] = self._client.document("GET", f"jobs/{self._job}")
            progress = document["progress"]
            self.steps[progress["what"]] = round(time.monotonic() - began, 1)
            self.worker_mb = max(self.worker_mb, Measured.of(self._pid).megabytes["worker"])
            far = progress["total"] > 1 and progress["done"] > share * progress["total"]
            if document["state"] not in ("queued", "running") or (share < 1.0 and far):
                return document
            self._decide()
            time.sleep(0.5)

    def _decide(self) -> None:
        item = next(iter(self._client.document("GET", "queue?state=open&sort=name&limit=1")["items"]), None)
        if item is None:
            return
        began = time.perf_counter()
        self._client.document("POST", "decisions", {"item": item["id"], "kind": "later", "version": item["version"]})
        self.decisions.append(time.perf_counter() - began)


def cancelled(client: Client, pid: int) -> dict[str, Any]:
    """A job that is cancelled while it computes: its state, and seconds until its process has stopped."""
    job = client.document("POST", "jobs", {"kind": "expand", "accept": ACCEPT})["id"]
    at = Following(client, job, pid).until(0.02)["progress"]
    began = time.monotonic()
    state = client.document("POST", f"jobs/{job}/cancel", {})["state"]
    following = client.document("POST", "jobs", {"kind": "expand", "accept": ACCEPT})["id"]
    while client.document("GET", f"jobs/{following}")["state"] == "queued":
        time.sleep(0.1)
    return {"at": at, "state": state, "next_job_begins_after": round(time.monotonic() - began, 1), "next": following}


def main() -> None:
    """Start, cancel, kill, start, wait, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--killed-at", type=float, default=0.1, help="share of the list")
    parser.add_argument("--out", type=Path)
    stated = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        shutil.copytree(stated.model, model)
        client = Client(port, fill(model, "", stated.items).read_text().strip())
        first = Service(model, port)
        cancel = cancelled(client, first.process.pid)
        job = cancel.pop("next")
        killed = Following(client, job, first.process.pid).until(stated.killed_at)
        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait()
        second = Service(model, port)
        following = Following(client, job, second.process.pid)
        began = time.monotonic()
        ended = following.until()
        seconds = time.monotonic() - began
        counts = client.document("GET", "queue?limit=1")["counts"]
        second.process.terminate()
        second.process.wait()
    document = {
        "items": stated.items,
        "first_start": first.seconds(),
        "cancelled": cancel,
        "killed_at": killed["progress"],
        "start_after_kill": second.seconds(),
        "state": ended["state"],
        "result": ended["result"],
        "queue": counts,
        "seconds_after_restart": round(seconds),
        "steps_end_after": following.steps,
        "worker_mb": following.worker_mb,
        "decisions_meanwhile": percentiles(following.decisions),
        "load_average": os.getloadavg()[0],
    }
    text = json.dumps(document, indent=1)
    print(text)
    if stated.out:
        atomic.write_text(stated.out, text + "\n")


if __name__ == "__main__":
    main()
