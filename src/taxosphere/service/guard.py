"""What every request passes first: its host, its origin, its size and the one check of permissions.

All of it looks at the raw ASGI scope, before a byte of the body is read and before any route runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from taxosphere.service import limits
from taxosphere.service.auth import COOKIE, Access, may
from taxosphere.service.problems import Problem
from taxosphere.service.store_access import Person

SAFE = ("GET", "HEAD", "OPTIONS")
LOOPBACK = ("127.0.0.1", "localhost", "::1")
OPEN_PREFIX = "/reconcile"
"""Below it answers are for everybody: read-only, without cookies, from any origin."""
IMPORTS = "/api/v1/imports"
CONTENT_POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
OPEN_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; sandbox"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


@dataclass(frozen=True, slots=True)
class Policy:
    """Which hosts are answered and which role each route needs.

    Parameters
    ----------
    hosts
        Names in a Host header that are ours, without the port.
    roles
        Needed role by (method, path of the route). A route that is not listed is refused to everybody.
    """

    hosts: frozenset[str]
    roles: Mapping[tuple[str, str], str]


@dataclass(slots=True)
class _Request:
    """What the checks need of a request."""

    method: str
    path: str
    headers: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, scope: Scope) -> _Request:
        request = cls(scope["method"], scope["path"])
        for name, value in scope["headers"]:
            request.headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        return request

    def one(self, name: str) -> str | None:
        """The value of a header that stands there once; None where it is missing or repeated."""
        values = self.headers.get(name, [])
        return values[0] if len(values) == 1 else None

    @property
    def is_open(self) -> bool:
        return self.path == OPEN_PREFIX or self.path.startswith(OPEN_PREFIX + "/")


class Guard:
    """ASGI middleware that refuses what is not for us, and identifies who asks in ``scope["state"]["person"]``.

    Parameters
    ----------
    app
        The application behind it.
    routes
        Its routes, to know which one a request is for.
    policy, access
        Hosts and roles, and how people are recognised.
    """

    def __init__(self, app: ASGIApp, routes: Iterable[BaseRoute], policy: Policy, access: Access) -> None:
        self._app = app
        self._routes = list(routes)
        self._policy = policy
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        request = _Request.of(scope)
        answer = _with_headers(request, send)
        try:
            self._check_host(request)
            _check_origin(request, self._policy.hosts)
            person = None if request.is_open else await self._person(request)
            self._check_permission(scope, request, person)
            most = limits.UPLOAD_BYTES if request.path == IMPORTS else limits.BODY_BYTES
            _check_body(request, most)
            scope.setdefault("state", {})["person"] = person
            await self._app(scope, _bounded(receive, most), answer)
        except Problem as problem:
            await problem.response()(scope, receive, answer)

    def _check_host(self, request: _Request) -> None:
        host = request.one("host")
        if host is None or _host_name(host) not in self._policy.hosts:
            raise Problem(421, "this host name is not served here; start the workbench with --allow-host to add it")

    async def _person(self, request: _Request) -> Person | None:
        header = request.one("authorization")
        if header is not None:
            scheme, _, secret = header.partition(" ")
            person = self._access.by_token(secret.strip()) if scheme.lower() == "bearer" else None
            if person is None:
                raise Problem(401, "this token is not valid", {"WWW-Authenticate": "Bearer"})
            return person
        session = _cookie(request.headers.get("cookie", []))
        return await run_in_threadpool(self._access.by_session, session) if session else None

    def _check_permission(self, scope: Scope, request: _Request, person: Person | None) -> None:
        """The one permission check."""
        method = "GET" if request.method == "HEAD" else request.method
        for route in self._routes:
            match, _ = route.matches(scope)
            if match is Match.FULL:
                path: str = getattr(route, "path", "")
                needed = self._policy.roles.get((method, path))
                if needed is None:
                    raise Problem(403, "nobody may use this")
                if not may(person, needed):
                    if person is None:
                        raise Problem(401, "open the link that 'taxosphere serve' printed, or send a token")
                    raise Problem(403, f"this needs the role '{needed}'")
                return
        if person is None and request.path.startswith("/api/"):
            raise Problem(401, "open the link that 'taxosphere serve' printed, or send a token")


def _host_name(host: str) -> str:
    """The name without the port, lower case; '' where it is none."""
    if any(c in host for c in "/@?#\\, \t"):
        return ""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower().rstrip(".")
    except ValueError:
        return ""


def _cookie(values: list[str]) -> str:
    try:
        jar = SimpleCookie("; ".join(values))
    except CookieError:
        return ""
    return jar[COOKIE].value if COOKIE in jar else ""


def _check_origin(request: _Request, hosts: frozenset[str]) -> None:
    """Refuse what another site's page makes a browser send."""
    if request.is_open:
        return
    origins = request.headers.get("origin", [])
    for origin in origins:
        there = urlsplit(origin) if origin != "null" else None
        same = there is not None and there.scheme in ("http", "https") and there.netloc == request.one("host")
        if not same or _host_name(there.netloc if there else "") not in hosts:
            raise Problem(403, "requests from other sites are refused")
    if request.method in SAFE:
        return
    site = request.headers.get("sec-fetch-site", ["same-origin"])
    if any(value not in ("same-origin", "none") for value in site):
        raise Problem(403, "requests from other sites are refused")
    kind = (request.one("content-type") or "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise Problem(415, "send a JSON body with 'Content-Type: application/json'")


def _check_body(request: _Request, most: int) -> None:
    length = request.headers.get("content-length", ["0"])
    if len(length) != 1 or not length[0].isascii() or not length[0].isdigit():
        raise Problem(400, "the length of the body is not stated as it should be")
    if len(length[0]) > 15 or int(length[0]) > most:
        raise Problem(413, f"a body may have {most:,} bytes")


def _bounded(receive: Receive, most: int) -> Receive:
    """Receive a body of at most ``most`` bytes, whatever its header says, within `limits.BODY_SECONDS`."""
    size, complete, until = 0, False, asyncio.get_running_loop().time() + limits.BODY_SECONDS

    async def bounded() -> Message:
        nonlocal size, complete
        if complete:
            return await receive()
        try:
            async with asyncio.timeout_at(until):
                message = await receive()
        except TimeoutError:
            raise Problem(408, "the body took too long to arrive") from None
        if message["type"] == "http.request":
            size += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if size > most:
                raise Problem(413, f"a body may have {most:,} bytes")
        return message

    return bounded


def _with_headers(request: _Request, send: Send) -> Send:
    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Content-Security-Policy", OPEN_POLICY if request.is_open else CONTENT_POLICY)
            if request.path.startswith("/api/"):
                headers.setdefault("Cache-Control", "no-store")
            if request.is_open and "null" not in request.headers.get("origin", []):
                headers["Access-Control-Allow-Origin"] = "*"
            if not request.is_open:
                headers.setdefault("X-Frame-Options", "DENY")
                headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        await send(message)

    return answer


def person_of(scope_state: Any) -> Person:
    """Who asks, where the route needs somebody to be known."""
    person: Person | None = getattr(scope_state, "person", None)
    if person is None:
        raise Problem(401, "open the link that 'taxosphere serve' printed, or send a token")
    return person
