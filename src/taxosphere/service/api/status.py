"""Is the service there, is it ready, who is asking; sessions of browsers."""

from __future__ import annotations

import sqlalchemy as sa
from fastapi import APIRouter, Response
from starlette.requests import Request

from taxosphere.service.answers import Me, Ready, Status
from taxosphere.service.api.shared import Bench, Door, Who, problems
from taxosphere.service.auth import COOKIE, SESSION_DAYS
from taxosphere.service.permissions import API
from taxosphere.service.problems import Problem
from taxosphere.service.requests import Nothing, SessionRequest
from taxosphere.service.store import DatabaseUnavailable
from taxosphere.service.suggester import READY

router = APIRouter(prefix=API, tags=["status"])


@router.get("/health", responses=problems())
def health() -> Status:
    """Whether the process answers."""
    return Status(status="ok")


@router.get("/ready", responses={**problems(), 503: {"model": Ready, "description": "Not ready"}})
def ready(bench: Bench, response: Response) -> Ready:
    """Whether the model is loaded and the database answers."""
    try:
        with bench.store.reading() as connection:
            connection.execute(sa.text("SELECT 1"))
        database = "ok"
    except DatabaseUnavailable:
        database = "failed"
    state = bench.suggester.state
    if state != READY or database != "ok":
        response.status_code = 503
    return Ready.model_validate({"status": state, "model": bench.suggester.version, "database": database})


@router.get("/me", responses=problems())
def me(who: Who) -> Me:
    """Who is asking, and in which role."""
    return Me.model_validate({"name": who.name, "role": who.role})


@router.post("/session", responses=problems())
def open_session(body: SessionRequest, request: Request, response: Response, door: Door) -> Status:
    """Exchange a token for the cookie of a session."""
    session = door.open_session(body.token)
    if session is None:
        raise Problem(401, "this token is not valid")
    set_cookie(response, session, secure=is_https(request))
    return Status(status="ok")


@router.post("/session/end", responses=problems())
def end_session(body: Nothing, request: Request, response: Response, door: Door) -> Status:  # noqa: ARG001 - JSON only
    """Log out."""
    secret = request.cookies.get(COOKIE)
    if secret:
        door.end_session(secret)
    response.delete_cookie(COOKIE, path="/")
    return Status(status="ok")


def is_https(request: Request) -> bool:
    """Has the browser come by https, be it through a proxy that says so? Who claims it wrongly harms only himself."""
    return "https" in (request.url.scheme, request.headers.get("x-forwarded-proto", "").lower())


def set_cookie(response: Response, session: str, *, secure: bool) -> None:
    """Put a session into a cookie that scripts cannot read and other sites cannot send."""
    response.set_cookie(
        COOKIE,
        session,
        max_age=SESSION_DAYS * 24 * 3600,
        path="/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
