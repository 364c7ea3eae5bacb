"""Decisions: made, taken back, listed, and how much of them stayed."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Query

from taxosphere.service import cursors, deciding, queue_view
from taxosphere.service.answers import BulkDone, BulkPreview, Decided, DecisionPage, Precision, Undone
from taxosphere.service.api.shared import Bench, Cursor, Filter, Limit, Who, no_nul, problems
from taxosphere.service.permissions import API
from taxosphere.service.requests import BulkRequest, DecisionRequest, UndoRequest

router = APIRouter(prefix=API, tags=["decisions"])
Key = Annotated[str, Header(alias="Idempotency-Key", max_length=200)]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


@router.post("/decisions", responses=problems(404, 409))
def decide(bench: Bench, who: Who, body: DecisionRequest, idempotency_key: Key = "") -> Decided:
    """Decide about an item; the answer comes when the decision is on disk."""
    no_nul(idempotency_key)
    choice = deciding.Choice.of(body)
    document = deciding.decide(bench, choice, who, version=body.version, key=idempotency_key)
    return Decided.model_validate(document)


@router.get("/decisions", responses=problems())
def decisions(
    bench: Bench, by: Filter = "", kind: Filter = "", item: Filter = "", cursor: Cursor = "", limit: Limit = 100
) -> DecisionPage:
    """Decisions, the newest first."""
    no_nul(by, kind, item)
    before = cursors.decode(cursor, int)[0] if cursor else None
    with bench.store.reading() as connection:
        page = bench.history.page(connection, before=before, limit=limit + 1, by=by, kind=kind, item=item)
    following = cursors.encode(page[limit - 1]["seq"]) if len(page) > limit else None
    return DecisionPage.model_validate({"decisions": page[:limit], "next": following})


@router.get("/decisions/bulk", responses=problems())
def bulk_preview(bench: Bench, threshold: Share) -> BulkPreview:
    """How many items a threshold would accept, and how many of them are right by their probabilities."""
    with bench.store.reading() as connection:
        accepts, right = queue_view.expected(connection, threshold)
    return BulkPreview(accepts=accepts, expected_right=right)


@router.post("/decisions/bulk", responses=problems())
def bulk(bench: Bench, who: Who, body: BulkRequest) -> BulkDone:
    """Accept every open item whose best parent is at least so probable."""
    events = deciding.accept_sure(bench, body.threshold, who)
    return BulkDone(accepted=len(events), events=events)


@router.get("/decisions/precision", responses=problems())
def precision(bench: Bench, at: Share = 0.8) -> Precision:
    """Of what was accepted with at least a probability, how much stayed."""
    accepted, kept = bench.history.precision(bench.ledger.latest, at)
    return Precision(accepted=accepted, kept=kept)


@router.post("/decisions/{id}/undo", responses=problems(404, 409))
def undo(bench: Bench, who: Who, id: str, body: UndoRequest, idempotency_key: Key = "") -> Undone:
    """Take a decision back; 409 says which other one stands in the way."""
    no_nul(id, idempotency_key)
    document = deciding.undo(bench, id, who, body.note, idempotency_key)
    return Undone.model_validate({"event": document["event"], "item": document["item"]})
