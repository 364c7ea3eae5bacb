"""Simulated people at a workbench: curators, an open page, and somebody who starts jobs."""

from __future__ import annotations

import base64
import json
import random
import threading
import time
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import quote

WORDS = ("protein", "sequence", "analysis", "format", "data", "tree", "structure", "alignment", "gene", "report")
KINDS = ("read", "decide", "suggest")


class Client:
    """Requests with the token of the service."""

    def __init__(self, port: int, token: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, method: str, path: str, body: Any = None, key: str = "") -> tuple[int, bytes]:
        """Status and content of the answer."""
        headers = {**self._headers, "Idempotency-Key": key} if key else self._headers
        self.connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        return answer.status, answer.read()

    def document(self, method: str, path: str, body: Any = None) -> Any:
        """What a request is answered with; on a new connection, as the service may have been started again."""
        self.connection.close()
        return json.loads(self.ask(method, path, body)[1])


class Curator(threading.Thread):
    """Somebody who reads the queue, opens an item, decides, looks at the tree and sometimes asks for suggestions."""

    def __init__(self, client: Client, number: int, until: float, pause: float) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._random = random.Random(number)
        self._until = until
        self._mean_pause = pause
        self.asked: dict[str, list[tuple[float, float]]] = {kind: [] for kind in KINDS}  # moment, seconds
        self.acknowledged: dict[str, str] = {}  # id of the event by idempotency key
        self.errors: list[str] = []
        self.conflicts = 0

    def run(self) -> None:
        """Work until the time is over."""
        time.sleep(self._random.random() * self._mean_pause)
        while time.monotonic() < self._until:
            try:
                self._round()
            except (OSError, HTTPException) as error:
                self.errors.append(f"{type(error).__name__}: {error}")
                self._client.connection.close()
                time.sleep(0.5)

    def _round(self) -> None:
        sort = self._random.choice(("added", "name", "-probability"))
        queue = self._ask("read", "GET", f"queue?limit=50&sort={sort}&state={self._random.choice(('', 'open'))}")
        self._pause()
        if queue and queue["items"]:
            item = self._random.choice(queue["items"])
            shown = self._ask("read", "GET", f"queue/{quote(item['id'], safe='')}")
            self._pause()
            if shown:
                self._decide(shown)
        kind = self._random.random()
        if kind < 0.3:
            name = " ".join(self._random.sample(WORDS, 3))
            self._ask("suggest", "POST", "suggest", {"concepts": [{"name": name}]})
        elif kind < 0.6:
            self._ask("read", "GET", f"concepts?query={self._random.choice(WORDS)[:4]}")
        else:
            self._ask("read", "GET", "concepts")
        self._pause()

    def _decide(self, shown: dict[str, Any]) -> None:
        kind = self._random.choice(("accept", "reject", "later"))
        if shown["state"] in ("accepted", "rejected", "later"):
            kind = {"accepted": "reject", "rejected": "later", "later": "reject"}[shown["state"]]
        key = f"{self.name}-{time.monotonic_ns()}"
        body = {"item": shown["id"], "kind": kind, "version": shown["version"]}
        answer = self._ask("decide", "POST", "decisions", body, key)
        if answer is not None:
            self.acknowledged[key] = answer["event"]["id"]

    def _ask(self, kind: str, method: str, path: str, body: Any = None, key: str = "") -> Any:
        began = time.perf_counter()
        status, content = self._client.ask(method, path, body, key)
        self.asked[kind].append((time.monotonic(), time.perf_counter() - began))
        if status == 409:
            self.conflicts += 1
            return None
        if status != 200:
            self.errors.append(f"{status} {path}: {content[:200]!r}")
            return None
        return json.loads(content)

    def _pause(self) -> None:
        time.sleep(self._random.expovariate(1 / self._mean_pause))


class Page(threading.Thread):
    """An open page that is told of every decision."""

    def __init__(self, client: Client) -> None:
        super().__init__(daemon=True)
        self._client = client
        self.told: list[int] = []  # numbers of decisions

    def run(self) -> None:
        """Listen until the service ends."""
        connection = self._client.connection
        connection.timeout = None
        try:
            connection.request("GET", "/api/v1/events", headers=self._client._headers)
            for line in connection.getresponse():
                if line.startswith(b"id: "):
                    self.told.append(int(line[4:]))
        except (OSError, HTTPException, ValueError):
            return


class Jobs(threading.Thread):
    """Somebody who imports lists, trains again and switches to the new model, and places the queue as a whole."""

    def __init__(self, client: Client, until: float, every: float) -> None:
        super().__init__(daemon=True)
        self._client = client
        self._until = until
        self._every = every
        self.done: list[dict[str, Any]] = []

    def run(self) -> None:
        """One job after the other."""
        number = 0
        while time.monotonic() + self._every < self._until:
            time.sleep(self._every)
            turn = (self._import, self._retrain, self._expand)[number % 3]
            began = time.monotonic()
            try:
                document = turn(number)
            except (OSError, HTTPException, KeyError, ValueError) as error:
                document = {"kind": turn.__name__, "state": f"{type(error).__name__}: {error}"}
            kept = {name: document.get(name) for name in ("kind", "state", "error")}
            self.done.append({**kept, "seconds": round(time.monotonic() - began, 1)})
            number += 1

    def _import(self, number: int) -> Any:
        lines = [f"{' '.join(random.Random(n).sample(WORDS, 3))} {number} {n}" for n in range(40)]
        content = base64.b64encode("\n".join(["name", *lines]).encode()).decode()
        upload = self._client.document("POST", "imports", {"name": "new.csv", "content_base64": content})["upload"]
        return self._wait(self._client.document("POST", f"imports/{upload}", {"mapping": {"name": "name"}})["job"])

    def _retrain(self, _: int) -> Any:
        document = self._wait(self._client.document("POST", "jobs", {"kind": "retrain"})["id"])
        if document["state"] == "done":
            self._client.document("POST", "model/activate", {"id": document["result"]["model"]})
        return document

    def _expand(self, number: int) -> Any:
        id = self._client.document("POST", "jobs", {"kind": "expand", "accept": 0.9})["id"]
        if number % 2:
            time.sleep(3)
            self._client.document("POST", f"jobs/{id}/cancel", {})
        return self._wait(id)

    def _wait(self, id: str) -> Any:
        while (document := self._client.document("GET", f"jobs/{id}"))["state"] in ("queued", "running"):
            if time.monotonic() > self._until:
                break
            time.sleep(1)
        return document
