"""Live events over a real socket, a kill in the middle, and a start after it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[2]
SERVE = """
import sys, threading
from pathlib import Path
from taxosphere.service.server import Listening, prepare
from taxosphere.service.workbench import Setup
folder = Path(sys.argv[2])
never = threading.Event()  # decisions need no model, and loading one would cost each start some seconds
setup = Setup(Path(sys.argv[1]), folder, str(folder / "decisions.db"), lambda path: never.wait())
service = prepare(setup, Listening(port=0))
print(service.link, flush=True)
service.server.run(sockets=[service.socket])
"""


class Running:
    """A service in a process of its own."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVE, str(model), str(folder)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
        assert self.process.stdout is not None
        self.port = urlsplit(self.process.stdout.readline().decode()).port
        self.token = (folder / "token").read_text().strip()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                if self.ask("GET", "health")[0] == 200:
                    return
            except OSError:
                time.sleep(0.05)
        raise AssertionError("the service does not answer")

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        try:
            connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), sent)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@contextmanager
def running(model: Path, folder: Path) -> Iterator[Running]:
    service = Running(model, folder)
    try:
        yield service
    finally:
        service.kill()


@pytest.fixture
def copied(prepared_folder: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(prepared_folder, tmp_path / "workbench"))


def test_two_curators_hear_each_other(meadow_model: Path, copied: Path) -> None:
    with running(meadow_model, copied) as service:
        listening = HTTPConnection("127.0.0.1", service.port, timeout=60)
        listening.request("GET", "/api/v1/events", headers={"Authorization": f"Bearer {service.token}"})
        stream = listening.getresponse()
        assert stream.getheader("content-type", "").startswith("text/event-stream")
        status, decided = service.ask("POST", "decisions", {"item": "new0", "kind": "reject", "version": 0})
        assert status == 200
        lines = []
        while not (lines and lines[-1].startswith("data: ") and "event: decision" in lines[-2]):
            lines.append(stream.readline().decode().rstrip("\n"))
        heard = json.loads(lines[-1].removeprefix("data: "))
        assert heard["event"]["id"] == decided["event"]["id"]
        assert heard["item"]["state"] == "rejected"
        assert f"id: {decided['event']['seq']}" in lines
        listening.close()
        again = HTTPConnection("127.0.0.1", service.port, timeout=60)
        again.request(
            "GET", "/api/v1/events", headers={"Authorization": f"Bearer {service.token}", "Last-Event-ID": "0"}
        )
        replay = again.getresponse()
        text = b""
        while b"data: " not in text:
            text += replay.readline()
        assert decided["event"]["id"].encode() in text
        again.close()


def test_every_decision_that_was_acknowledged_survives_a_kill_exactly_once(meadow_model: Path, copied: Path) -> None:
    acknowledged = dict[str, str]()
    kinds = ("reject", "later")
    versions = {f"new{number}": 0 for number in range(20)}
    for round_number in range(2):
        with running(meadow_model, copied) as service:
            stop = threading.Event()

            def curate(mine: list[str], service: Running = service, stop: threading.Event = stop) -> None:
                while not stop.is_set():
                    for item in mine:
                        key = f"{item}-{versions[item]}"
                        body = {"item": item, "kind": kinds[versions[item] % 2], "version": versions[item]}
                        try:
                            status, answer = service.ask("POST", "decisions", body, **{"Idempotency-Key": key})
                        except (OSError, HTTPException, ValueError):  # killed before, or in the middle of, an answer
                            return
                        assert status == 200, answer
                        acknowledged[key] = answer["event"]["id"]
                        versions[item] = answer["item"]["version"]

            curators = [threading.Thread(target=curate, args=([f"new{n}" for n in range(i, 20, 4)],)) for i in range(4)]
            for curator in curators:
                curator.start()
            enough = len(acknowledged) + 20 + 7 * round_number
            while len(acknowledged) < enough and any(curator.is_alive() for curator in curators):
                time.sleep(0.005)
            service.kill()
            stop.set()
            for curator in curators:
                curator.join()
    with running(meadow_model, copied) as service:
        events, cursor = [], ""
        while cursor is not None:
            _, page = service.ask("GET", f"decisions?limit=500&cursor={cursor}")
            events += page["decisions"]
            cursor = page["next"]
        ids = [event["id"] for event in events]
        assert len(acknowledged) > 10
        assert len(set(ids)) == len(ids)
        assert set(acknowledged.values()) <= set(ids)
        assert len(ids) <= len(acknowledged) + 2 * 4, "beyond them only those that a kill left unanswered"


def test_the_address_can_be_reached_as_soon_as_it_is_told() -> None:
    """The link is printed before the first request is served: a browser that is quick must wait, not be refused."""
    from taxosphere.service.server import Listening, bind

    with bind(Listening(port=0)) as opened, socket.create_connection(opened.getsockname(), timeout=5) as visitor:
        assert visitor.getpeername() == opened.getsockname()


def test_a_model_fitted_anew_in_its_folder_takes_the_place_of_the_old_one(meadow_model: Path, tmp_path: Path) -> None:
    from taxosphere import artifact
    from taxosphere.service import store_jobs
    from taxosphere.service.store import Store
    from taxosphere.service.workbench import register

    model = tmp_path / "meadow"
    shutil.copytree(meadow_model, model)
    with Store(str(tmp_path / "decisions.db")) as store:
        register(store, model)
        manifest = model / artifact.MANIFEST
        manifest.write_text(manifest.read_text() + " ")  # another file, and so another version
        register(store, model)
        register(store, model)
        with store.reading() as connection:
            (record,) = store_jobs.models(connection)
            assert record.active
            assert [job.kind for job in store_jobs.latest(connection)] == ["refresh"], "its items need new suggestions"
