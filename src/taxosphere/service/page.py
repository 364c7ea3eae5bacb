"""The built page, read into memory at the start: a request looks a name up in a table and opens no file."""

from __future__ import annotations

import gzip
import mimetypes
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from taxosphere.service.api.shared import Door
from taxosphere.service.api.status import is_https, set_cookie
from taxosphere.service.problems import Problem

FOLDER = Path(__file__).parent / "page"
_YEAR = "public, max-age=31536000, immutable"
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".html": "text/html"}
_PACKED = (".js", ".css", ".svg", ".html", ".json")
_MISSING = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Taxosphere</title></head>
<body><h1>Taxosphere</h1>
<p>The service runs. The page is not built in this checkout: run <code>./run web</code> and start the service again, or
install the package from its wheel, which has the page in it. The API is described at
<a href="/openapi.json">/openapi.json</a>.</p></body></html>
"""
_REFUSED = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Taxosphere</title></head>
<body><h1>This link was used already</h1>
<p>A link lets somebody in once. Start <code>taxosphere serve</code> again for a new one, or use the browser that opened
it first.</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class Asset:
    """A file of the page, plain and packed."""

    content: bytes
    packed: bytes | None
    media_type: str


def read_page(folder: Path = FOLDER) -> dict[str, Asset]:
    """Files of the built page by their path below it; empty where it is not built."""
    assets = {}
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        if path.is_file():
            content = path.read_bytes()
            kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            packed = gzip.compress(content, mtime=0) if path.suffix in _PACKED else None
            assets[path.relative_to(folder).as_posix()] = Asset(content, packed, kind)
    return assets


def router(assets: dict[str, Asset]) -> APIRouter:
    """Routes of the page: ``/`` with the one-time link, and the files it is made of."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/")
    async def index(request: Request, door: Door) -> Response:
        token = request.query_params.get("token")
        if token is not None:
            session = await run_in_threadpool(door.open_session, token)
            if session is None:
                return HTMLResponse(_REFUSED, 403)
            answer = RedirectResponse("/", 303)
            set_cookie(answer, session, secure=is_https(request))
            return answer
        return _sent(assets["index.html"], request) if "index.html" in assets else HTMLResponse(_MISSING)

    @routes.get("/{path:path}")
    async def asset(request: Request, path: str) -> Response:
        if path not in assets:
            raise Problem(404, "there is nothing at this address")
        return _sent(assets[path], request, _YEAR if path.startswith("assets/") else "no-cache")

    return routes


def _sent(asset: Asset, request: Request, caching: str = "no-cache") -> Response:
    headers = {"Cache-Control": caching, "Vary": "Accept-Encoding"}
    if asset.packed is not None and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.packed, media_type=asset.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(asset.content, media_type=asset.media_type, headers=headers)
