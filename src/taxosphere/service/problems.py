"""Errors of the service as `application/problem+json` documents (RFC 9457)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, HTTPException
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.requests import Request

from taxosphere.decisions.state import Conflict
from taxosphere.errors import InputError
from taxosphere.service.model_process import AnswerFailed
from taxosphere.service.store import DatabaseUnavailable, StoreError
from taxosphere.service.store_events import KeyReused
from taxosphere.service.store_items import NoSuchItem
from taxosphere.service.store_jobs import NoSuchJob

_LOG = logging.getLogger("taxosphere")
_MOST_FAULTS = 10  # of a request, named in one answer
CONTENT_TYPE = "application/problem+json"


class Problem(HTTPException):
    """An answer that is not what was asked for.

    Parameters
    ----------
    status
        HTTP status.
    detail
        What is wrong and what to do, in one sentence. It never repeats what the client sent.
    headers
        Further headers, such as ``Retry-After``.
    **more
        Further members of the document.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> None:
        super().__init__(status, detail, headers)
        self.more = more

    def response(self) -> JSONResponse:
        """The answer that says so."""
        status = self.status_code
        body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": self.detail}
        return JSONResponse({**body, **self.more}, status, self.headers, media_type=CONTENT_TYPE)


def busy(detail: str, seconds: int = 1) -> Problem:
    """429: the client may come back after some seconds."""
    return Problem(429, detail, {"Retry-After": str(seconds)})


def install(app: FastAPI) -> None:
    """Make every error of an application a problem document."""
    for kind, handler in _HANDLERS.items():
        app.add_exception_handler(kind, handler)


async def _problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return error.response()


async def _invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"where": [part if isinstance(part, int) else str(part)[:40] for part in fault["loc"]], "fault": fault["type"]}
        for fault in error.errors()[:_MOST_FAULTS]
    ]
    return Problem(422, "the request is not as the OpenAPI document describes it", faults=_plain(faults)).response()


def _plain(faults: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Only what can be encoded: a key of the client may hold half a character."""
    return [
        {**fault, "where": [p if isinstance(p, int) else p.encode("ascii", "replace").decode() for p in fault["where"]]}
        for fault in faults
    ]


async def _http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, StarletteHTTPException)
    sentences = {400: "the body cannot be read", 404: "there is nothing at this address", 405: "not by this method"}
    detail = sentences.get(error.status_code, HTTPStatus(error.status_code).phrase)
    return Problem(error.status_code, detail, error.headers).response()


async def _conflict(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Conflict)
    return Problem(409, str(error), code=error.code).response()


async def _missing(_: Request, error: Exception) -> JSONResponse:
    kind = "item" if isinstance(error, NoSuchItem) else "job"
    return Problem(404, f"there is no such {kind}").response()


async def _refused(_: Request, error: Exception) -> JSONResponse:
    message = error.message if isinstance(error, InputError) else str(error)
    return Problem(422, message).response()


async def _unavailable(_: Request, error: Exception) -> JSONResponse:
    """Of a database that fails or is damaged."""
    _LOG.error("%s", error)
    reason = error.reason if isinstance(error, DatabaseUnavailable) else str(error)
    detail = f"the database cannot be used now ({reason}); nothing was recorded, try again later"
    return Problem(503, detail, {"Retry-After": "5"}).response()


async def _no_answer(_: Request, error: Exception) -> JSONResponse:
    """Of a model that fails; its process has written why to the log."""
    return Problem(503, str(error), {"Retry-After": "5"}).response()


async def _fault(_: Request, error: Exception) -> JSONResponse:
    _LOG.error("a request failed", exc_info=error)
    return Problem(500, "the service failed; its log says why").response()


_HANDLERS: dict[type[Exception], Any] = {
    Problem: _problem,
    RequestValidationError: _invalid,
    StarletteHTTPException: _http,
    Conflict: _conflict,
    NoSuchItem: _missing,
    NoSuchJob: _missing,
    StoreError: _unavailable,
    AnswerFailed: _no_answer,
    KeyReused: _refused,
    InputError: _refused,
    Exception: _fault,
}
