"""The taxonomy: its size, its concepts, suggestions for new ones, and the sphere."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool

from taxosphere.decisions.events import concept_record
from taxosphere.service import cursors, limits, store_items
from taxosphere.service.answers import ConceptDetail, ConceptPage, SphereDocument, SuggestAnswer, TaxonomySummary
from taxosphere.service.api.shared import Bench, Cursor, Limit, Search, computed, no_nul, problems, refusal
from taxosphere.service.permissions import API
from taxosphere.service.problems import Problem
from taxosphere.service.requests import SuggestRequest
from taxosphere.service.suggester import Busy, NotReady
from taxosphere.service.taxonomy_view import TaxonomyView
from taxosphere.service.workbench import Workbench
from taxosphere.taxonomy import Concept

router = APIRouter(prefix=API, tags=["taxonomy"])
_SHOWN = 50  # children and siblings of a concept


@router.get("/taxonomy", responses=problems())
def taxonomy(bench: Bench) -> TaxonomySummary:
    """Size of the taxonomy with the decisions so far."""
    view = bench.view
    concepts, edges, roots = view.counts()
    with bench.store.reading() as connection:
        counts = bench.queue.counts(connection)
    waiting = counts["open"] + counts["later"]
    return TaxonomySummary(
        name=bench.setup.name,
        concepts=concepts,
        edges=edges,
        roots=roots,
        depth=bench.view.depth,
        format=bench.source.rpartition(".")[2] if "." in bench.source else "native",
        source=bench.source,
        base_hash=bench.ledger.latest.base_digest,
        version=bench.history.seq,
        pending=waiting,
        decided=sum(counts.values()) - waiting,
    )


@router.get("/concepts", responses=problems(404))
def concepts(
    bench: Bench,
    query: Search = "",
    parent: Annotated[str, Query(max_length=limits.NAME)] = "",
    cursor: Cursor = "",
    limit: Limit = 100,
) -> ConceptPage:
    """Roots, children of a concept, or concepts with the words of a query in their names and synonyms."""
    view = bench.view
    no_nul(query, parent)
    (start,) = cursors.decode(cursor, int) if cursor else (0,)
    pending: list[tuple[str, str]] = []
    if query.strip():
        ids = view.search(query)
    elif parent:
        if parent not in view:
            raise Problem(404, "there is no such concept")
        ids, pending = view.children(parent), bench.pending.below(parent)
    else:
        ids = view.roots()
    rows = [_row(view, id) for id in ids[start : start + limit]]
    path = [*view.path(parent), view.name(parent)] if parent else []
    beyond = max(0, start - len(ids))
    rows += [_pending_row(*entry, path) for entry in pending[beyond : beyond + limit - len(rows)]]
    end = start + len(rows)
    following = cursors.encode(end) if end < len(ids) + len(pending) and rows else None
    return ConceptPage.model_validate({"concepts": rows, "next": following})


def _row(view: TaxonomyView, id: str) -> dict[str, Any]:
    return {
        "id": id,
        "name": view.name(id),
        "definition": view.definition(id),
        "children": len(view.children(id)),
        "path": view.path(id),
        "state": view.state(id),
    }


def _pending_row(id: str, name: str, path: list[str]) -> dict[str, Any]:
    return {"id": id, "name": name, "definition": "", "children": 0, "path": path, "state": "pending"}


@router.get("/concepts/{id:path}", responses=problems(404))
def concept(bench: Bench, id: str) -> ConceptDetail:
    """One concept of the taxonomy."""
    view = bench.view
    if id not in view:
        raise Problem(404, "there is no such concept")
    content = view.concept(id)
    children, parents = view.children(id), view.parents_by_depth(id)
    beside = dict.fromkeys(child for parent in parents for child in view.children(parent)[: 4 * _SHOWN] if child != id)
    document = {
        "id": id,
        "name": content.name,
        "definition": content.description,
        "synonyms": list(content.synonyms),
        "parents": _named(view, parents),
        "children": _named(view, children[:_SHOWN]),
        "n_children": len(children),
        "paths": view.paths(id),
        "siblings": _named(view, list(beside)[:_SHOWN]),
        "state": view.state(id),
        "obsolete": view.obsolete(id),
    }
    return ConceptDetail.model_validate(document)


def _named(view: TaxonomyView, ids: Iterable[str]) -> list[dict[str, str]]:
    return [{"id": id, "name": view.name(id)} for id in ids]


@router.post("/suggest", responses=problems(429, 503))
async def suggest(bench: Bench, body: SuggestRequest) -> SuggestAnswer:
    """Ranked parents for up to 256 new concepts, with probabilities and reasons."""
    asked = [
        Concept(new.id or new.name.strip(), new.name.strip(), new.definition.strip(), tuple(new.synonyms))
        for new in body.concepts
    ]
    try:
        future = bench.suggester.suggest(asked, body.k)
    except (Busy, NotReady) as error:
        raise refusal(error) from None
    return SuggestAnswer.model_validate({"results": await computed(future)})


@router.get("/sphere", responses=problems(404, 429, 503))
async def sphere(bench: Bench, item: Annotated[str, Query(min_length=1, max_length=limits.NAME)]) -> SphereDocument:
    """An item of the queue among its candidates, as directions in three dimensions on orbital shells."""
    no_nul(item)
    concept, candidates = await run_in_threadpool(_candidates, bench, item)
    try:
        question = {"concept": concept_record(concept), "candidates": candidates}
        future = bench.suggester.ask("sphere", question)
    except (Busy, NotReady) as error:
        raise refusal(error) from None
    return SphereDocument.model_validate(await computed(future))


def _candidates(bench: Workbench, id: str) -> tuple[Concept, list[dict[str, Any]]]:
    with bench.store.reading() as connection:
        item = store_items.get(connection, id)
    return bench.queue.concept(item), item.suggestions.get("suggestions", [])
