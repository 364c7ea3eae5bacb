"""A long job beside the service: placing a whole queue together, with the service killed in the middle.

    python benchmarks/expand_job.py MODEL --items 20000 [--out FILE]

The service runs on a copy of MODEL with a queue of made-up concepts. The job is started through the API, the service is
killed with SIGKILL while it runs and started again; meanwhile decisions are made, to see how long they take beside it.
Prints one JSON document.
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
from load_workbench import fill, percentiles, start

from taxosphere import atomic


def follow(client: Client, job: str, until: float = 1.0) -> tuple[dict[str, Any], list[float]]:
    """The job once it has come so far or has ended, and how long decisions took meanwhile."""
    seconds = []
    number = 0
    while True:
        document = client.document("GET", f"jobs/{job}")
        progress = document["progress"]
        if document["state"] not in ("queued", "running") or progress["done"] > until * max(1, progress["total"]):
            return document, seconds
        item = client.document("GET", f"queue/new{number}")
        began = time.perf_counter()
        client.document("POST", "decisions", {"item": item["id"], "kind": "later", "version": item["version"]})
        seconds.append(time.perf_counter() - began)
        number += 1
        time.sleep(0.5)


def main() -> None:
    """Start, kill, start, wait, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--out", type=Path)
    stated = parser.parse_args()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        shutil.copytree(stated.model, model)
        client = Client(port, fill(model, "", stated.items).read_text().strip())
        process = start(model, "", port)
        began = time.monotonic()
        job = client.document("POST", "jobs", {"kind": "expand", "accept": 0.8})["id"]
        killed, _ = follow(client, job, until=0.3)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process = start(model, "", port)
        restarted = time.monotonic()
        ended, decisions = follow(client, job)
        after = time.monotonic()
        counts = client.document("GET", "queue?limit=1")["counts"]
        process.terminate()
        process.wait()
    document = {
        "items": stated.items,
        "killed_at": killed["progress"],
        "state": ended["state"],
        "result": ended["result"],
        "queue": counts,
        "seconds_until_killed": round(restarted - began),
        "seconds_after_restart": round(after - restarted),
        "decisions_meanwhile": percentiles(decisions),
        "load_average": os.getloadavg()[0],
    }
    text = json.dumps(document, indent=1)
    print(text)
    if stated.out:
        atomic.write_text(stated.out, text + "\n")


if __name__ == "__main__":
    main()
