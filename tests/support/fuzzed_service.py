"""Damaged and made-up requests for the REST API, the reconciliation API and the tools for agents.

Targets as in `fuzzing`. A service with a small model and a queue runs in this process; no worker does its jobs.
"""

from __future__ import annotations

import json
import logging
import random
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote, urlencode

from support.fuzzed_json import STRANGE, Known, damaged_json, sampled
from support.fuzzing import ACCEPTED, REFUSED, Attempt, Target
from support.mutations import DAMAGES
from support.workbenches import Client, access, fit_meadow, load, new_concepts, silent, workbench
from taxosphere.errors import TaxosphereError

ENDLESS = "/events"
_KNOWN: Known = {
    "item": [f"new{number}" for number in range(20)],
    "id": ["bird", "red bird", "thing", "new3"],
    "parents": [["bird"], ["boat", "bird"], ["thing"]],
    "version": [0, 0, 1, 2],
    "kind": ["accept", "reject", "later", "move", "top", "same", "undo", "comment", "edit", "insert"],
    "name": ["green bird", "wild boat"],
}
_TEXTS = (*(value for value in STRANGE if isinstance(value, str)), "bird", "new3", "1", "50", "-probability")
_HEADERS = {
    "Content-Type": (
        "application/json",
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/json; x=1",
    ),
    "Idempotency-Key": ("k1", "", "x" * 3000, "\u00e9"),
    "If-Match": ('"0"', "0", "*", "x"),
    "Accept-Language": ("de", "", "*;q=x"),
    "Content-Length": ("-1", "0", "99999999999"),
    "Range": ("bytes=0-1", "bytes=-", "x"),
    "Cookie": ("taxosphere_session=x", "=", ";;"),
    "Last-Event-ID": ("-1", "x", "99999999999999999999"),
}


@contextmanager
def service(role: str | None) -> Iterator[tuple[Client, dict[str, Any], Any]]:
    """A client, the OpenAPI document, and the workbench."""
    from taxosphere.service.app import bare_app, make_app
    from taxosphere.service.jobs import add_to_queue

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        model = fit_meadow(folder / "meadow")
        with workbench(model, str(folder / "work" / "decisions.db"), folder / "work") as bench:
            add_to_queue(bench, load(str(model)), new_concepts(20), silent)
            who = access(bench)
            document = bare_app(bench, who).openapi()
            with Client(make_app(bench, who), role) as client:
                yield client, document, bench


def judge(status: int, content: bytes) -> str:
    """Accepted or refused; an assertion fails for what a service must not answer."""
    assert status < 500, f"{status}: {content[:300]!r}"
    return ACCEPTED if status < 400 else REFUSED


def _body(made: Any, chance: random.Random) -> bytes:
    """A document as bytes: sound, with damaged values, or with damaged bytes."""
    way = chance.random()
    if way < 0.6:
        made = damaged_json(made, chance)
    content = json.dumps(made).encode("utf-8", "surrogatepass")
    if way > 0.85:
        content = chance.choice(DAMAGES)(content, chance, {"": content})[: 1 << 20]
    return content


@contextmanager
def rest() -> Iterator[Attempt]:
    """Requests to every route of the OpenAPI document."""
    with service("admin") as (client, document, _):
        routes = [
            (path, method, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if not path.endswith(ENDLESS) and "/reconcile" not in path
        ]

        def attempt(chance: random.Random) -> str:
            path, method, operation = chance.choice(routes)
            query = {}
            for parameter in operation.get("parameters", ()):
                name, schema = parameter["name"], parameter["schema"]
                value = str(sampled(schema, document, chance, _KNOWN))
                if chance.random() < 0.4:
                    value = chance.choice(_TEXTS)
                if parameter["in"] == "path":
                    named = chance.choice(("new3", "bird", value))
                    path = path.replace(f"{{{name}}}", quote(named.encode("utf-8", "surrogatepass"), safe="")[:3000])
                elif parameter["in"] == "query" and chance.random() < 0.7:
                    query[name] = value.encode("utf-8", "surrogatepass")[:3000]
            content = None
            described = operation.get("requestBody", {}).get("content", {}).get("application/json")
            if described:
                content = _body(sampled(described["schema"], document, chance, _KNOWN), chance)
            headers: dict[str, str] = {"Content-Type": "application/json"}
            for name, values in _HEADERS.items():
                if chance.random() < 0.08:
                    headers[name] = chance.choice(values)
            wanted = chance.choice(("get", "post", "delete", "put")) if chance.random() < 0.05 else method
            address = f"{path}?{urlencode(query)}" if query else path
            sent = {name: value.encode("latin-1") for name, value in headers.items()}
            answer = client.request(wanted, address, content=content, headers=sent)  # type: ignore[arg-type]
            return judge(answer.status_code, answer.content)

        yield attempt


_QUERY = {
    "query": "green bird",
    "limit": 3,
    "type": "t",
    "type_strict": "any",
    "properties": [{"pid": "description", "v": "x"}],
}
_EXTEND = {"ids": ["bird", "red bird"], "properties": [{"id": "parents"}, {"id": "description"}]}


@contextmanager
def reconciliation() -> Iterator[Attempt]:
    """Requests as OpenRefine sends them, from nobody in particular."""
    with service(None) as (client, _, bench):
        from taxosphere.service.app import make_app

        paths = sorted({route.path for route in make_app(bench, access(bench))._routes if "/reconcile" in route.path})  # type: ignore[attr-defined]

        def attempt(chance: random.Random) -> str:
            path = chance.choice(paths)
            fields: dict[str, Any] = {}
            if chance.random() < 0.8:
                count = chance.choice((1, 1, 3))
                fields["queries"] = _body({f"q{n}": _QUERY for n in range(count)}, chance)
            if chance.random() < 0.3:
                fields["extend"] = _body(_EXTEND, chance)
            for name in ("prefix", "id", "cursor", "callback", "limit", "type"):
                if chance.random() < 0.3:
                    fields[name] = chance.choice(_TEXTS).encode("utf-8", "surrogatepass")[:3000]
            form = urlencode(fields)
            if chance.random() < 0.4:
                answer = client.get(f"{path}?{form[:60_000]}")
            else:
                kinds = ("application/x-www-form-urlencoded",) * 4 + (
                    "application/json",
                    "multipart/form-data; boundary=x",
                )
                content = form.encode() if chance.random() < 0.9 else _body(_QUERY, chance)
                answer = client.post(path, content=content, headers={"Content-Type": chance.choice(kinds)})
            return judge(answer.status_code, answer.content)

        yield attempt


_CALLS: dict[str, dict[str, Any]] = {
    "suggest_parents": {"name": "green bird", "description": "a bird", "k": 3},
    "find_concept": {"query": "red"},
    "inspect_concept": {"id": "red bird"},
    "list_queue": {"state": "open", "limit": 3},
    "decide": {"item": "new3", "kind": "accept", "version": 0, "parents": ["bird"], "note": "fits"},
}


_DEEPEST = 200  # the client of the protocol refuses to send arguments that are nested some levels deeper


@contextmanager
def agents() -> Iterator[Attempt]:
    """Calls of the tools for language-model agents, through the protocol."""
    from anyio.from_thread import start_blocking_portal
    from mcp import Client as AgentClient
    from mcp.server.mcpserver.exceptions import ToolError

    from taxosphere.service import mcp
    from taxosphere.service.store_access import Person

    faults: list[BaseException] = []
    with service("admin") as (_, _, bench), _watched(mcp.Tools, faults, (ToolError, TaxosphereError)):
        model = load(str(bench.setup.model))
        server = mcp.make_server(mcp.Desk(model, bench.view, bench, Person("an agent", "curator")))
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(AgentClient(server)) as agent:

            def attempt(chance: random.Random) -> str:
                name = chance.choice(list(_CALLS))
                arguments = _CALLS[name] if chance.random() < 0.1 else damaged_json(_CALLS[name], chance)
                text = json.dumps(arguments if isinstance(arguments, dict) else {})
                if text.count("[") + text.count("{") > _DEEPEST:
                    text = json.dumps({**_CALLS[name], chance.choice(list(_CALLS[name])): text})
                arguments = json.loads(text.replace("\\ud8", "\\ue0"))  # its client sends no halves of characters
                result = portal.call(agent.call_tool, name, arguments)
                if faults:
                    raise faults.pop()
                return REFUSED if result.is_error else ACCEPTED

            yield attempt


@contextmanager
def _watched(tools: type, faults: list[BaseException], expected: tuple[type[BaseException], ...]) -> Iterator[None]:
    """Notes what a tool raises beside refusals, which its server would tell the agent as if it were one."""

    class Told(logging.Handler):
        """Hears of errors that the library of the protocol did not expect."""

        def emit(self, record: logging.LogRecord) -> None:
            faults.append(RuntimeError(record.getMessage()))

    def watch(call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def watched(*positional: Any, **named: Any) -> Any:
            try:
                return call(*positional, **named)
            except expected:
                raise
            except Exception as error:
                faults.append(error)
                raise

        return watched

    told, root = Told(logging.ERROR), logging.getLogger()
    root.addHandler(told)
    try:
        with patch.multiple(tools, **{name: watch(getattr(tools, name)) for name in _CALLS}):
            yield
    finally:
        root.removeHandler(told)


SERVICES: dict[str, Target] = {"REST API": rest, "reconciliation API": reconciliation, "tools for agents": agents}
