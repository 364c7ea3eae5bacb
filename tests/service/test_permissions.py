"""Every route passes the one permission check; each role may use what the table says, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.workbenches import ADDRESS, TOKENS, Client, access
from taxosphere.service import permissions
from taxosphere.service.app import bare_app, make_app
from taxosphere.service.auth import PUBLIC
from taxosphere.service.store_access import ROLES

if TYPE_CHECKING:
    from taxosphere.service.workbench import Workbench

PLACE = {"id:path": "bird", "item:path": "new0", "id": "x", "upload": "x", "kind": "entity", "path:path": "x"}


def address(path: str) -> str:
    """A path with something in place of its parameters."""
    for name, value in PLACE.items():
        path = path.replace("{" + name + "}", value)
    return path


def test_every_route_is_in_the_table_and_every_row_is_a_route(bench: Workbench) -> None:
    routes = {
        (method, route.path)  # type: ignore[attr-defined]
        for route in bare_app(bench, access(bench)).routes
        for method in route.methods  # type: ignore[attr-defined]
    }
    assert routes == set(permissions.roles())


def test_every_role_may_do_what_the_table_says_and_no_more(bench: Workbench) -> None:
    app = make_app(bench, access(bench))
    for (method, path), needed in permissions.roles().items():
        if path.endswith("/events"):
            continue  # an endless answer; test_live has it
        for role in (None, *ROLES):
            client = Client(app, role)
            answer = client.request(method, address(path), content="no json", headers={"Content-Type": kind(path)})
            allowed = needed == PUBLIC or (role is not None and ROLES.index(role) >= ROLES.index(needed))
            refused = answer.status_code in ((401,) if role is None else (403,))
            if path == "/api/v1/session":
                continue  # for everybody; it answers 401 to a wrong token itself
            assert refused != allowed, f"{method} {path} as {role}: {answer.status_code}"


def kind(path: str) -> str:
    return "application/x-www-form-urlencoded" if path.startswith("/reconcile") else "application/json"


def test_the_stream_of_events_needs_somebody(bench: Workbench) -> None:
    assert Client(make_app(bench, access(bench)), None).get("/api/v1/events").status_code == 401


def test_a_route_that_is_not_in_the_table_is_refused_to_everybody(
    bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorter = {key: role for key, role in permissions.roles().items() if key != ("GET", "/api/v1/taxonomy")}
    monkeypatch.setattr(permissions, "roles", lambda: shorter)
    assert Client(make_app(bench, access(bench)), "admin").get("/api/v1/taxonomy").status_code == 403


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic YTpi", f"bearer {TOKENS['admin']}x"]
)
def test_wrong_tokens_are_refused(bench: Workbench, header: str) -> None:
    client = Client(make_app(bench, access(bench)), None)
    answer = client.get("/api/v1/taxonomy", headers={"Authorization": header})
    assert answer.status_code == 401
    assert ADDRESS not in answer.text
