"""What goes out: exports as files, and live events."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header
from fastapi.responses import Response, StreamingResponse

from taxosphere.service import exports
from taxosphere.service.api.shared import Bench, problems
from taxosphere.service.live import TooManyListeners
from taxosphere.service.permissions import API
from taxosphere.service.problems import busy

router = APIRouter(prefix=API, tags=["files"])
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"description": "Server-sent events", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
}
_FILE: dict[int | str, dict[str, Any]] = {
    200: {"description": "A file", "content": {"application/octet-stream": {"schema": {"type": "string"}}}}
}
ExportName = Literal["taxonomy", "decisions", "decisions-csv", "kgcl", "sssom", "robot", "patch"]


@router.get("/export", responses={**problems(), **_FILE}, response_class=Response)
def export(bench: Bench, as_: Annotated[ExportName, exports.AS] = "decisions", suffix: exports.Suffix = "") -> Response:
    """Download what was decided; ``suffix`` names the format of a taxonomy, such as ``.obo``."""
    name, content = exports.made(bench, as_, suffix)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


@router.get("/events", responses={**problems(429), **_STREAM}, response_class=StreamingResponse)
async def events(
    bench: Bench, last_event_id: Annotated[str, Header(alias="Last-Event-ID", max_length=20)] = ""
) -> StreamingResponse:
    """Decisions, and notices about the queue, jobs and the model, as they happen."""
    after = int(last_event_id) if last_event_id.isascii() and last_event_id.isdigit() else bench.history.seq
    try:
        stream = await bench.hub.listen(lambda: bench.missed(min(after, 2**53)))
    except TooManyListeners:
        raise busy("too many pages listen", 5) from None
    return StreamingResponse(stream, media_type="text/event-stream")
