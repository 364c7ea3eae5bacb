"""The queue of new concepts."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from taxosphere.decisions.events import concept_record
from taxosphere.placing.concept_list import with_ids
from taxosphere.service import store_items
from taxosphere.service.answers import ItemDetail, ItemRow, QueueAdded, QueuePage
from taxosphere.service.api.shared import Bench, Cursor, Filter, Limit, Search, computed, no_nul, problems, refusal
from taxosphere.service.jobs import queue_item
from taxosphere.service.permissions import API
from taxosphere.service.problems import Problem
from taxosphere.service.requests import AssignRequest, ItemState, QueueRequest
from taxosphere.service.suggester import Busy, NotReady
from taxosphere.service.workbench import Workbench
from taxosphere.taxonomy import Concept

router = APIRouter(prefix=API, tags=["queue"])
_HISTORY = 100  # events of one item


@router.get("/queue", responses=problems())
def queue(
    bench: Bench,
    state: ItemState | Literal[""] = "",
    sort: Annotated[Literal["probability", "-probability", "name", "added"], Query()] = "added",
    query: Search = "",
    assignee: Filter = "",
    cursor: Cursor = "",
    limit: Limit = 100,
) -> QueuePage:
    """A page of the queue, and how many items are in each state."""
    no_nul(query, assignee)
    with bench.store.reading() as connection:
        rows, following = bench.queue.page(
            connection, sort=sort, cursor=cursor, limit=limit, state=state, query=query.strip(), assignee=assignee
        )
        counts = bench.queue.counts(connection)
    return QueuePage.model_validate({"items": rows, "next": following, "counts": counts})


@router.post("/queue", responses=problems(429, 503))
async def add(bench: Bench, body: QueueRequest) -> QueueAdded:
    """Add up to 256 new concepts; those whose id is there already are left as they are."""
    asked = [
        (0, Concept(new.id, new.name.strip(), new.definition.strip(), tuple(new.synonyms))) for new in body.concepts
    ]
    concepts = with_ids(asked, bench.view.base)
    try:
        future = bench.suggester.ask("records", [concept_record(concept) for concept in concepts], len(concepts))
    except (Busy, NotReady) as error:
        raise refusal(error) from None
    items = [queue_item(concept, record) for concept, record in zip(concepts, await computed(future), strict=True)]
    return QueueAdded(added=await run_in_threadpool(_put, bench, items))


def _put(bench: Workbench, items: list[store_items.QueueItem]) -> list[str]:
    with bench.store.writing() as connection:
        present = set(store_items.taken(connection, [item.id for item in items]))
        store_items.add(connection, items)
    bench.hub.wake()
    return [item.id for item in items if item.id not in present]


@router.get("/queue/{item:path}", responses=problems(404))
def detail(bench: Bench, item: str) -> ItemDetail:
    """One item with its suggestions, insertions and history."""
    no_nul(item)
    with bench.store.reading() as connection:
        document = bench.queue.detail(connection, item)
        events = bench.history.page(connection, before=None, limit=_HISTORY, item=item)
    return ItemDetail.model_validate({**document, "history": events})


@router.post("/queue/{item:path}/assign", responses=problems(404, 409))
def assign(bench: Bench, item: str, body: AssignRequest) -> ItemRow:
    """Say whose an item is; nobody's with null."""
    no_nul(item)
    with bench.store.writing() as connection:
        row = bench.queue.row(connection, item)
        if row is None:
            raise Problem(404, "there is no such item")
        if row["version"] != body.version:
            raise Problem(409, "somebody else has decided about this concept meanwhile", current=row)
        store_items.assign(connection, item, body.to or "")
        changed = bench.queue.row(connection, item)
    bench.hub.wake()
    return ItemRow.model_validate(changed)
