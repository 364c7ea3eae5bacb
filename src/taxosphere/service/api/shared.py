"""What routes share: who asks, the workbench they ask, and how errors are documented."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query
from starlette.requests import Request

from taxosphere.service import limits
from taxosphere.service.auth import Access
from taxosphere.service.guard import person_of
from taxosphere.service.problems import CONTENT_TYPE, Problem, busy
from taxosphere.service.store_access import Person
from taxosphere.service.suggester import Busy, NotReady
from taxosphere.service.workbench import Workbench

T = TypeVar("T")


def _workbench(request: Request) -> Workbench:
    workbench: Workbench = request.app.state.workbench
    return workbench


def _access(request: Request) -> Access:
    access: Access = request.app.state.access
    return access


def _person(request: Request) -> Person:
    return person_of(request.state)


Bench = Annotated[Workbench, Depends(_workbench)]
Door = Annotated[Access, Depends(_access)]
Who = Annotated[Person, Depends(_person)]
Limit = Annotated[int, Query(ge=1, le=limits.PAGE)]
Cursor = Annotated[str, Query(max_length=2000)]
Search = Annotated[str, Query(max_length=limits.QUERY)]
Filter = Annotated[str, Query(max_length=limits.NAME)]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Documentation of the problems a route may answer with, beside those that every route has."""
    every = (400, 401, 403, 408, 413, 415, 421, 422, 500, 503)
    content = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/ProblemDocument"}}}
    return {status: {"description": "Problem", "content": content} for status in (*every, *statuses)}


async def computed(future: Future[T]) -> T:
    """The result of work in the model's thread; 503 where it takes too long."""
    try:
        async with asyncio.timeout(limits.SUGGEST_SECONDS):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        future.cancel()
        raise Problem(503, "the model did not answer in time", {"Retry-After": "5"}) from None
    except NotReady as error:  # its process was killed
        raise refusal(error) from None


def refusal(error: Busy | NotReady) -> Problem:
    """429 where too many wait, 503 where there is no model yet."""
    if isinstance(error, Busy):
        return busy("too many concepts wait for suggestions", 2)
    return Problem(503, "the model is being loaded", {"Retry-After": "2"})


def no_nul(*texts: str) -> None:
    """Refuse what no database holds."""
    if any("\0" in text for text in texts):
        raise Problem(422, "a NUL character cannot be searched for")
