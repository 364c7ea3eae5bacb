"""The web application: routes, page and the guard around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from anyio import to_thread
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from taxosphere import __version__
from taxosphere.service import page, permissions, problems, reconcile
from taxosphere.service.answers import ProblemDocument
from taxosphere.service.api import decisions, files, jobs, queue, status, taxonomy
from taxosphere.service.auth import Access
from taxosphere.service.guard import LOOPBACK, Guard, Policy
from taxosphere.service.workbench import Workbench

_THREADS = 24  # requests that wait for the database at once


def make_app(
    workbench: Workbench, access: Access, hosts: Iterable[str] = (), *, with_reconciliation: bool = True
) -> ASGIApp:
    """The application for a workbench, behind its guard.

    Parameters
    ----------
    workbench
        The open workbench; it is closed when the application ends.
    access
        Who may come in.
    hosts
        Host names that are ours beside those of the loopback interface.
    with_reconciliation
        Whether ``/reconcile`` answers everybody.
    """
    inner = bare_app(workbench, access, with_reconciliation=with_reconciliation)
    policy = Policy(frozenset((*LOOPBACK, *(host.lower() for host in hosts))), permissions.roles())
    return Guard(inner, inner.routes, policy, access)


def bare_app(workbench: Workbench, access: Access, *, with_reconciliation: bool = True) -> FastAPI:
    """The application without its guard."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        to_thread.current_default_thread_limiter().total_tokens = _THREADS
        workbench.start()
        yield
        workbench.close()

    app = FastAPI(
        title="Taxosphere workbench",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.workbench, app.state.access = workbench, access
    problems.install(app)
    for routes in (status, taxonomy, queue, decisions, jobs, files):
        app.router.routes.extend(routes.router.routes)  # flat, so that the guard can tell which one is meant
    if with_reconciliation:
        app.router.routes.extend(reconcile.router.routes)

    @app.get("/openapi.json", include_in_schema=False)
    def openapi() -> JSONResponse:
        return JSONResponse(_openapi(app))

    app.router.routes.extend(page.router(page.read_page()).routes)
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The description of the API, with its two ways to say who one is; FastAPI makes it once, when it is asked for."""
    document = app.openapi()
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["ProblemDocument"] = ProblemDocument.model_json_schema()
    schemas.pop("HTTPValidationError", None)
    schemas.pop("ValidationError", None)
    document["components"]["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer"},
        "session": {"type": "apiKey", "in": "cookie", "name": "taxosphere_session"},
    }
    document["security"] = [{"token": []}, {"session": []}]
    return document
