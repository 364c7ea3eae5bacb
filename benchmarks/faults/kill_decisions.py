"""Kill processes with SIGKILL while they add decisions, and check that nothing acknowledged is lost or doubled.

Four processes decide about new concepts of their own, one after the other, and note each decision in a file once it was
acknowledged. One of them is killed at a random moment and started again, where it repeats what was not acknowledged
with the same idempotency key. On PostgreSQL every tenth kill hits a process of the server instead, which then recovers
from its log.

    python benchmarks/faults/kill_decisions.py --kills 100 --out docs/results/faults/sqlite.json decisions.db
    python benchmarks/faults/kill_decisions.py --kills 100 --out docs/results/faults/postgresql.json postgresql
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
import time
from collections import Counter
from pathlib import Path
from typing import Any

from taxosphere import Taxonomy
from taxosphere.decisions.events import Event, now
from taxosphere.errors import InputError
from taxosphere.service import store_bases, store_events
from taxosphere.service.store import DatabaseUnavailable, Store
from taxosphere.service.store_ledger import Ledger
from taxosphere.taxonomy import Concept

WRITERS = 4


def work(url: str, writer: int, acknowledged: Path) -> None:
    """Decide for ever; a line in the file is a decision that was acknowledged."""
    number = len(acknowledged.read_bytes().splitlines()) if acknowledged.exists() else 0
    ledger = None
    with acknowledged.open("ab", buffering=0) as handle:
        while True:
            name = f"w{writer}-{number}"
            event = Event(
                id=f"{name}-{os.getpid()}",
                kind="accept",
                item=name,
                concept=Concept(name, f"concept {name}"),
                parents=("root",),
                by=f"writer {writer}",
                at=now(),
            )
            try:
                ledger = ledger or Ledger(Store(url))
                ledger.decide(event, key=name)
            except (DatabaseUnavailable, InputError):
                ledger = None  # the server is recovering
                time.sleep(0.2)
                continue
            handle.write(f"{name}\n".encode())
            os.fsync(handle.fileno())
            number += 1


def start(url: str, writer: int, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--writer", str(writer), "--folder", str(folder), url]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL)


def acknowledged(folder: Path) -> list[str]:
    """Names in all files; the last line of a killed writer may be cut off, and then it was not noted."""
    names = []
    for path in sorted(folder.glob("writer-*.txt")):
        text = path.read_text("utf-8")
        names += [line for line in text.splitlines(keepends=True) if line.endswith("\n")]
    return [name.strip() for name in names]


def server_process(url: str) -> int | None:
    """A process of the server that serves one of the writers."""
    import psycopg

    query = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
    try:
        with psycopg.connect(url) as connection:
            row = connection.execute(query + " LIMIT 1").fetchone()
    except psycopg.Error:
        return None
    return int(row[0]) if row else None


def run(url: str, kills: int, folder: Path, random_state: int = 0) -> dict[str, Any]:
    """Kill ``kills`` times, then compare what was acknowledged with what is there."""
    source = random.Random(random_state)
    with Store(url) as store:
        store_bases.put(store, Taxonomy.from_edges([("root", "other")]))
        server = not store.is_file
    begun = time.perf_counter()
    writers = {number: start(url, number, folder) for number in range(WRITERS)}
    hits: Counter[str] = Counter()
    try:
        while hits.total() < kills:
            before = len(acknowledged(folder))
            deadline = time.monotonic() + 60
            while len(acknowledged(folder)) < before + 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(source.random() * 0.05)
            pid = server_process(url) if server and hits.total() % 10 == 9 else None
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                hits["process of the server"] += 1
                continue
            number = source.randrange(WRITERS)
            writers[number].kill()
            writers[number].wait()
            hits["writer"] += 1
            writers[number] = start(url, number, folder)
    finally:
        for process in writers.values():
            process.kill()
            process.wait()
    return checked(url, folder) | {"kills": dict(hits), "seconds": round(time.perf_counter() - begun, 1)}


def opened(url: str) -> Store:
    """The store, once the server has recovered."""
    deadline = time.monotonic() + 120
    while True:
        try:
            return Store(url)
        except InputError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def checked(url: str, folder: Path) -> dict[str, Any]:
    """What was acknowledged, what is there, and what is wrong with it."""
    wanted = acknowledged(folder)
    with opened(url) as store:
        last = store_events.verify(store)
        there = Counter(event.item for event in store_events.all_events(store))
        grown = Ledger(store).taxonomy()
    return {
        "acknowledged": len(wanted),
        "recorded": there.total(),
        "lost": len([name for name in set(wanted) if name not in there]),
        "twice": len([name for name, count in there.items() if count > 1]),
        "chain": "whole" if last is None or last.seq == there.total() else "broken",
        "concepts": len(grown) - 2,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="a file, postgresql://…, or 'postgresql' to start a server")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--writer", type=int)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.writer is not None:
        work(options.url, options.writer, options.folder / f"writer-{options.writer}.txt")
    with tempfile.TemporaryDirectory() as folder:
        if options.url == "postgresql":
            from lost import postgresql

            with postgresql() as url:
                result = run(url, options.kills, Path(folder))
        else:
            result = run(options.url, options.kills, Path(folder))
    print(json.dumps(result, indent=2))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.exit(bool(result["lost"] or result["twice"] or result["chain"] != "whole"))


if __name__ == "__main__":
    main()
