"""Workbenches small enough to start in a test: a meadow, a model that learned it in a second, and a queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from support.gram_encoder import GramEncoder
from support.meadow import KINDS, meadow
from taxosphere import Concept, Polaris, PolarisConfig
from taxosphere.service.app import make_app
from taxosphere.service.auth import Access, TokenHash
from taxosphere.service.jobs import add_to_queue
from taxosphere.service.store_access import Person, sha256
from taxosphere.service.workbench import Setup, Workbench

QUICK = ("training.epochs=5", "ranking.folds=3", "ranking.nets=2", "ranking.epochs=8", "ranking.prior=false")
TOKENS = {role: f"token-of-a-{role}" for role in ("viewer", "curator", "admin")}
ADDRESS = "http://127.0.0.1:8000"


def fit_meadow(folder: Path) -> Path:
    """A model folder."""
    model = Polaris(PolarisConfig().with_overrides(QUICK)).fit(meadow(), encoder=GramEncoder())
    model.save(folder)
    return folder


def load(path: str) -> Polaris:
    return Polaris.load(path, encoder=GramEncoder())


def new_concepts(count: int) -> list[Concept]:
    """Concepts that belong below one of the kinds."""
    colours = ("green", "grey", "tiny", "wild", "summer", "desert", "ancient", "pink", "hollow", "round")
    pairs = [(f"{colour} {kind}", kind) for colour in colours for kind in KINDS]
    named = [(f"{name} {number}" if number else name, kind) for number in range(9) for name, kind in pairs][:count]
    return [Concept(f"new{i}", name, f"a {kind} that is called so") for i, (name, kind) in enumerate(named)]


def silent(done: int, total: int, what: str) -> None:
    """No report."""


@contextmanager
def workbench(model: Path, url: str, folder: Path, items: int = 0) -> Iterator[Workbench]:
    """An open workbench with its model loaded and a queue."""
    setup = Setup(model, folder, url, load)
    bench = Workbench(setup)
    try:
        wait_until_ready(bench)
        if items:
            add_to_queue(bench, load(str(model)), new_concepts(items), silent)
        yield bench
    finally:
        bench.close()


def wait_until_ready(bench: Workbench) -> None:
    import time

    until = time.monotonic() + 120
    while bench.suggester.state == "loading" and time.monotonic() < until:
        time.sleep(0.01)
    assert bench.suggester.state == "ready"


def access(bench: Workbench) -> Access:
    """One person of each role."""
    tokens = [TokenHash(Person(f"a {role}", role), sha256(token)) for role, token in TOKENS.items()]
    return Access(bench.store, tokens)


class Client(TestClient):
    """A client that says who it is; ``role=None`` is nobody."""

    def __init__(self, app: Any, role: str | None = "admin", **more: Any) -> None:
        headers = {} if role is None else {"Authorization": f"Bearer {TOKENS[role]}"}
        super().__init__(app, base_url=ADDRESS, headers=headers, raise_server_exceptions=False, **more)

    def send_json(self, path: str, body: Any = None, **headers: str) -> Any:
        return self.post(f"/api/v1/{path}", json={} if body is None else body, headers=headers)

    def read(self, path: str, **query: Any) -> Any:
        answer = self.get(f"/api/v1/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def client(bench: Workbench, role: str | None = "admin") -> Iterator[Client]:
    """A client of a running application."""
    with Client(make_app(bench, access(bench)), role) as opened:
        yield opened
