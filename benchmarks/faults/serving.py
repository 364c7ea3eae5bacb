"""Curators of a workbench that is disturbed: what was answered with 200 must be in its history, exactly once."""

from __future__ import annotations

import json
import shutil
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import disturbing
import lost
import running
import sandbox
from disturbing import Case
from filling import ITEMS
from running import Running
from sandbox import Command

SERVE = Command("serve", "serve", ("serve", "work/model", "--port", "0"), ("work", "cache"), ())
EXPECTED = (503, 507)  # of the statuses from 500 on: what is not there now, and a full disk
_DAMAGED = {"damaged model": "work/model", "damaged cache": "cache", "damaged database": "work/model.workbench"}


@dataclass
class Curator:
    """Sends a decision about every item, and remembers which ones were acknowledged."""

    place: Path
    acknowledged: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def connect(self, service: Running) -> HTTPConnection | None:
        """A connection once the service says where it listens; None where it has ended."""
        while not service.poll():
            link = service.printed()
            if link.endswith("\n"):
                return HTTPConnection("127.0.0.1", int(link.split(":")[2].split("/")[0]), timeout=4 * running.PATIENCE)
            time.sleep(0.02)
        return None

    def send(self, connection: HTTPConnection, method: str, path: str, body: Any = None, key: str = "") -> None:
        """Send a request."""
        token = (self.place / "work" / "model.workbench" / "token").read_text("utf-8").strip()
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key}
        connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), headers)

    def answer(self, connection: HTTPConnection) -> tuple[int, Any]:
        """Status and document of the answer; notes what should not have been answered."""
        got = connection.getresponse()
        content = got.read()
        document = json.loads(content) if content else None
        if got.status >= 400:
            said = f"{got.status} {document.get('detail') or document.get('title')}"
            (self.refused if got.status in EXPECTED else self.problems).append(said[:300])
        return got.status, document

    def decide(self, connection: HTTPConnection, number: int) -> None:
        """Send a decision, and note it where it is acknowledged."""
        self.send_decision(connection, number)
        self.note(connection, number)

    def send_decision(self, connection: HTTPConnection, number: int) -> None:
        """Send a decision about an item."""
        body = {"item": f"new{number}", "kind": "reject" if number % 2 else "later", "version": 0}
        self.send(connection, "POST", "decisions", body, f"key{number}")

    def note(self, connection: HTTPConnection, number: int) -> None:
        """Wait for the answer to a decision."""
        status, document = self.answer(connection)
        if status == 200:
            self.acknowledged[f"new{number}"] = document["event"]["id"]

    def suggest(self, connection: HTTPConnection, name: str) -> None:
        """Ask for suggestions, once the model is loaded or cannot be."""
        until = time.monotonic() + running.PATIENCE
        while time.monotonic() < until:
            self.send(connection, "GET", "ready")
            got = connection.getresponse()
            said = got.read()
            if got.status == 200 or b"load" not in said:
                break
            time.sleep(0.2)
        self.send(connection, "POST", "suggest", {"concepts": [{"name": name}]})
        self.answer(connection)

    def work(self, service: Running, *, stop: int = ITEMS, suggest: bool = True) -> HTTPConnection | None:
        """Decide about the first ``stop`` items."""
        connection = self.connect(service)
        if connection is None:
            return None
        try:
            for number in range(stop):
                self.decide(connection, number)
            if suggest:
                self.suggest(connection, "large wild apple")
        except (OSError, HTTPException) as error:
            time.sleep(1.0)  # that an aborted process takes to be gone
            if service.poll():
                return None
            self.problems.append(f"{type(error).__name__}: {error}")
        return connection


def stop(service: Running) -> None:
    """Ask the service to end, and wait."""
    if not service.poll():
        with suppress(ProcessLookupError):
            service.kill(signal.SIGTERM)
    service.wait()


def disturbed(case: Case, fault: str, curator: Curator) -> tuple[Running, str]:
    """Serve, decide and be disturbed."""
    if fault == "SIGKILL":
        return killed(case, curator)
    if fault == "full disk":
        victim, room = case.chance.choice(("work", "work", "cache", "tmp")), case.chance.randrange(0, 260)
        with disturbing.small_disk(case.place / victim, room):
            return served(case, curator), f"{room} kB left for {victim}"
    if fault == "read-only folder":
        victim = case.chance.choice(("work", "work", "cache", "tmp"))
        by = case.chance.choice(("permissions", "file system"))
        with disturbing.locked(case.place / victim, by):
            return served(case, curator, before=running.respect_permissions), f"{victim} read-only by {by}"
    if fault == "clock jumps":
        return clock(case, curator)
    if fault == "connection vanishes":
        return lost_connection(case, curator)
    if fault == "two processes, one cache":
        return shared_cache(case, curator)
    if fault == "little memory":
        share = case.chance.random()
        megabytes = int(share * (disturbing.WHOLE_MB if case.cold else disturbing.NEED_MB)["serve"]) + 80 * case.cold
        limit = partial(running.limit_memory, megabytes << 20, whole=case.cold)
        return served(case, curator, before=limit), f"{megabytes} MB {'in all' if case.cold else 'more'}"
    folder = {"damaged model": "work/model", "damaged cache": "cache", "damaged database": "work/model.workbench"}[
        fault
    ]
    return damaged(case, curator, folder)


def served(case: Case, curator: Curator, **more: Any) -> Running:
    """Serve under a condition that lasts, and end."""
    service = case.start(**more)
    curator.work(service)
    stop(service)
    service.end_group()
    return service


def killed(case: Case, curator: Curator) -> tuple[Running, str]:
    """SIGKILL while it starts, or at a random moment after one of the decisions was sent."""
    service = case.start()
    number = case.chance.randrange(-3, ITEMS)
    if number < 0:
        disturbing.until_moment(service, case.chance.uniform(0, case.seconds))
        service.kill()
        service.end_group()
        return service, "killed while it started"
    connection = curator.work(service, stop=number, suggest=False)
    pause = case.chance.uniform(0, 0.012)
    if connection is not None:
        curator.send_decision(connection, number)
        time.sleep(pause)
        service.kill()
        with suppress(OSError, HTTPException, ValueError):
            curator.note(connection, number)
    service.end_group()
    return service, f"killed {1000 * pause:.1f} ms after decision {number} was sent"


def clock(case: Case, curator: Curator) -> tuple[Running, str]:
    """The clock jumps between two decisions."""
    jump, number = case.chance.choice(disturbing.JUMPS), case.chance.randrange(ITEMS)
    disturbing.set_clock(0)
    service = case.start()
    curator.work(service, stop=number, suggest=False)
    disturbing.set_clock(jump)
    curator.work(service)
    stop(service)
    service.end_group()
    disturbing.set_clock(0)
    return service, f"clock {jump:+} s before decision {number}"


def lost_connection(case: Case, curator: Curator) -> tuple[Running, str]:
    """The server of the database ends all connections between two decisions, or kills the processes that serve them."""
    number, how = case.chance.randrange(ITEMS), case.chance.choice(lost.WAYS)
    service = case.start("--db", case.url)
    curator.work(service, stop=number, suggest=False)
    ended = lost.end_connections(case.url, how)
    curator.work(service)
    lost.wait_for_server(case.url)
    stop(service)
    service.end_group()
    return service, f"{ended} connections {how} before decision {number}"


def shared_cache(case: Case, curator: Curator) -> tuple[Running, str]:
    """Another command works with the same cache, in which vectors are missing."""
    sandbox.forget_vectors(case.place, 12, case.chance)
    arguments = sandbox.COMMANDS["suggest"].arguments
    beside = running.start(arguments, case.place, sandbox.environment(case.place), name="beside")
    service = served(case, curator)
    beside.wait()
    if beside.code:
        curator.problems.append(f"the other ended with {beside.code}: {beside.said()[-300:]}")
    return service, "two processes"


def damaged(case: Case, curator: Curator, folder: str) -> tuple[Running, str]:
    """It is started while a file is damaged; a cache stays so, anything else is brought back with what was decided."""
    files = sorted(path for path in (case.place / folder).rglob("*") if path.is_file() and path.name != "token")
    kept = case.place.parent / "kept"
    shutil.copytree(case.place / folder, kept)
    what = disturbing.damage(case.chance.choice(files), case.chance, removable=folder != "work/model.workbench")
    service = served(case, curator)
    whole = service.code in (0, 143, -15) and not curator.refused
    if folder == "work/model" or (folder != "cache" and not whole):
        shutil.rmtree(case.place / folder)
        shutil.copytree(kept, case.place / folder)
    shutil.rmtree(kept)
    return service, what
