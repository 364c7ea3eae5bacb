"""The OpenAPI document against what really answers: requests made at random find no 5xx and nothing undocumented."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings

from support.workbenches import TOKENS, access
from taxosphere.service.app import make_app

if TYPE_CHECKING:
    from taxosphere.service.workbench import Workbench

schemathesis = pytest.importorskip("schemathesis")


@pytest.fixture
def described(bench: Workbench) -> Iterator[Any]:
    """The API as its document describes it, served over a real socket."""
    opened = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(make_app(bench, access(bench)), log_config=None, access_log=False, ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, daemon=True)
    thread.start()
    try:
        yield schemathesis.openapi.from_url(f"http://127.0.0.1:{opened.getsockname()[1]}/openapi.json")
    finally:
        server.should_exit = True
        thread.join(10)
        opened.close()


def test_answers_are_as_documented(described: Any) -> None:
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    names = (
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_schema_conformance",
    )
    checks = [check for check in CHECKS.get_all() if check.__name__ in names]
    assert len(checks) == len(names)
    bounded = settings(
        max_examples=8,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    headers = {"Authorization": f"Bearer {TOKENS['admin']}"}
    for result in described.get_all_operations():
        operation = result.ok()
        if operation.path.endswith("/events"):
            continue  # an endless answer

        def attempt(case: Any) -> None:
            answer = case.call(headers=headers)
            case.validate_response(answer, checks=checks)

        bounded(given(case=operation.as_strategy())(attempt))()


def test_every_answer_is_described(described: Any) -> None:
    for result in described.get_all_operations():
        listed = result.ok().definition.raw["responses"]
        assert {"401", "403", "413", "415", "422"} <= set(listed)
        assert "200" in listed or "202" in listed
