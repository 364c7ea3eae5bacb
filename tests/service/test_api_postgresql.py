"""The API on PostgreSQL: what depends on the database, from the queue to a job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import workbenches
from support.workbenches import Client

if TYPE_CHECKING:
    from taxosphere.service.workbench import Workbench


@pytest.fixture
def bench(meadow_model: Path, tmp_path: Path, postgres: str) -> Iterator[Workbench]:
    """A workbench on PostgreSQL with twenty new concepts in its queue."""
    from support.postgres import new_database

    url = new_database(postgres, f"api_{os.getpid()}_{tmp_path.name}")
    with workbenches.workbench(meadow_model, url, tmp_path / "workbench", items=20) as opened:
        yield opened


def pages(client: Client, **query: str) -> list[Any]:
    """All items of the queue, read three at a time."""
    found, cursor = [], ""
    while True:
        page = client.read("queue", limit="3", cursor=cursor, **query)
        found += page["items"]
        if page["next"] is None:
            return found
        cursor = page["next"]


def test_lists_in_every_order(client: Client) -> None:
    orders = {
        "added": lambda row: int(row["id"].removeprefix("new")),
        "name": lambda row: row["name"],
        "probability": lambda row: row["best"]["probability"],
        "-probability": lambda row: -row["best"]["probability"],
    }
    for sort, key in orders.items():
        rows = pages(client, sort=sort, state="open")
        assert len({row["id"] for row in rows}) == 20
        assert [key(row) for row in rows] == sorted(map(key, rows)), sort
    assert [row["id"] for row in pages(client, query="GREEN")] == [
        row["id"] for row in pages(client) if "green" in row["name"]
    ]


def test_deciding_undoing_and_being_too_late(client: Client) -> None:
    body = {"item": "new0", "kind": "accept", "version": 0}
    first = client.send_json("decisions", body, **{"Idempotency-Key": "one"}).json()
    again = client.send_json("decisions", body, **{"Idempotency-Key": "one"}).json()
    assert again["event"]["id"] == first["event"]["id"]
    assert first["next"] == "new1"
    late = client.send_json("decisions", {**body, "kind": "reject"})
    assert (late.status_code, late.json()["current"]["state"]) == (409, "accepted")
    assert client.read("taxonomy")["decided"] == 1
    assert client.send_json(f"decisions/{first['event']['id']}/undo", {}).status_code == 200
    assert client.read("queue/new0")["state"] == "open"
    assert [event["kind"] for event in client.read("decisions")["decisions"]] == ["undo", "accept"]
    assert client.send_json("queue/new1/assign", {"to": "bob", "version": 0}).json()["assignee"] == "bob"


def test_many_at_once_exports_and_jobs(bench: Workbench, client: Client) -> None:
    preview = client.read("decisions/bulk", threshold="0")
    assert preview["accepts"] == client.send_json("decisions/bulk", {"threshold": 0}).json()["accepted"] == 20
    for name in ("taxonomy", "decisions", "decisions-csv", "kgcl", "sssom", "robot", "patch"):
        assert client.get("/api/v1/export", params={"as": name}).content, name
    id = client.send_json("jobs", {"kind": "refresh"}).json()["id"]
    assert client.read(f"jobs/{id}")["state"] == "queued"
    assert client.send_json(f"jobs/{id}/cancel", {}).json()["state"] == "cancelled"
    assert client.read("ready")["database"] == "ok"
    assert len(bench.missed(0)) == 20
