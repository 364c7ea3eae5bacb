"""The real service in a process of its own, and people at its page in a real browser."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import taxosphere
from support.meadow import KINDS
from support.ports import reserve_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import BrowserContext, Page, Route

PROGRAM = Path(__file__).resolve().parents[1] / "ui" / "service_process.py"
PEOPLE = {"ada": "admin", "bob": "curator", "vic": "viewer"}
COLOURS = ("green", "grey", "tiny", "wild", "summer", "desert", "ancient", "pink", "hollow", "round")


def key_of(person: str) -> str:
    return f"access-key-of-{person}"


@dataclass
class Service:
    """The service in a process of its own."""

    model: Path
    more: dict[str, Any] = field(default_factory=dict)
    port: int = 0
    keeper: socket.socket | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        folder = self.model.parent
        if not self.port:
            self.port, self.keeper = reserve_port()
        tokens = folder / "tokens"
        lines = [f"{who} {role} {hashlib.sha256(key_of(who).encode()).hexdigest()}" for who, role in PEOPLE.items()]
        tokens.write_text("\n".join(lines))
        settings = folder / "settings.json"
        settings.write_text(
            json.dumps({"model": str(self.model), "port": self.port, "tokens": str(tokens), **self.more})
        )
        paths = [str(Path(taxosphere.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
        log = (folder / "log.txt").open("ab")
        command = [sys.executable, str(PROGRAM), str(settings)]
        self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
        log.close()
        self._wait(folder / "log.txt")

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.kill()
        if self.keeper is not None:
            self.keeper.close()

    def read(self, path: str, who: str = "ada") -> Any:
        return self._ask(urllib.request.Request(f"{self.address}/api/v1/{path}"), who)

    def send(self, path: str, body: Any, who: str = "ada") -> Any:
        request = urllib.request.Request(f"{self.address}/api/v1/{path}", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        return self._ask(request, who)

    def decisions(self, **query: str) -> list[dict[str, Any]]:
        search = "&".join(f"{name}={value}" for name, value in {"limit": "500", **query}.items())
        return list(self.read(f"decisions?{search}")["decisions"])

    def _ask(self, request: urllib.request.Request, who: str) -> Any:
        request.add_header("Authorization", f"Bearer {key_of(who)}")
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def _wait(self, log: Path) -> None:
        assert self.process is not None
        until = time.monotonic() + 180
        while time.monotonic() < until:
            if self.process.poll() is not None:
                pytest.fail(f"the service did not start: {log.read_text(encoding='utf-8')[-2000:]}")
            try:
                self.read("ready")
                return
            except OSError:
                time.sleep(0.2)
        pytest.fail("the service was not ready in time")


def new_concepts(count: int) -> list[dict[str, str]]:
    pairs = [(colour, kind) for colour in COLOURS for kind in KINDS][:count]
    return [
        {"id": f"new-{n}", "name": f"{colour} {kind}", "definition": f"a {kind} that is called {colour}"}
        for n, (colour, kind) in enumerate(pairs)
    ]


class Visitor:
    """Somebody at the page: a browser context that is signed in, with what went wrong in it."""

    def __init__(self, context: BrowserContext, service: Service, who: str, *, wide: bool = True) -> None:
        self.context = context
        self.service = service
        self.page: Page = context.new_page()
        self.problems: list[str] = []
        self.presses = 0
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._heard)
        self.page.goto(service.address)
        self.page.get_by_label("Access key").fill(key_of(who))
        self.page.keyboard.press("Enter")
        shown = "[data-item] h1" if service.read("queue?limit=1")["items"] and wide else ".queue .row, .empty"
        self.page.locator(shown).first.wait_for()

    def press(self, key: str) -> None:
        self.presses += 1
        self.page.keyboard.press(key)

    @property
    def item(self) -> str:
        return self.page.locator("[data-item]").get_attribute("data-item") or ""

    def go(self, address: str) -> None:
        self.page.evaluate("address => { location.hash = address }", address)

    def intercept(self, address: str, handler: Callable[[Route], None]) -> None:
        """Give requests to ``handler``, from a reload on: a page that is open may send its next one past it."""
        self.page.route(address, handler)
        self.page.reload()
        self.page.locator("button[aria-pressed=true] .name").wait_for()  # a decision needs a suggested parent,
        self.page.locator(".row").first.wait_for()  # and what comes after it the list, which is read apart

    def until(self, script: str, argument: Any = None) -> None:
        self.page.wait_for_function(script, arg=argument, timeout=60_000)

    def saved(self) -> None:
        """Wait until nothing is on its way any more."""
        self.until("() => (localStorage.getItem('taxosphere.outbox') ?? '[]') === '[]'")

    def _heard(self, message: Any) -> None:
        # A refused or broken request is said on the page; here only what the page itself gets wrong counts.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problems.append(message.text)
