"""The W3C Reconciliation Service API 0.2: "parent of" says where a concept belongs, "same as" whether it is there.

Read-only and for everybody; ``/reconcile`` is the same as ``/reconcile/parent-of``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from html import escape
from typing import Annotated, Any, Literal
from urllib.parse import parse_qs

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.requests import Request

from taxosphere import __version__
from taxosphere.placing.duplicates import NameIndex
from taxosphere.service import limits
from taxosphere.service.api.shared import Bench, computed, refusal
from taxosphere.service.guard import OPEN_POLICY
from taxosphere.service.problems import Problem
from taxosphere.service.suggester import Busy, NotReady
from taxosphere.service.workbench import Workbench
from taxosphere.taxonomy import Concept

router = APIRouter(include_in_schema=False)
PARENT_OF, SAME_AS = "parent-of", "same-as"
MATCH = 0.8  # probability from which a candidate is a match, the usual line of `expand`
CONCEPT = {"id": "concept", "name": "Concept"}
PROPERTIES = {
    "description": "Definition",
    "synonyms": "Synonyms",
    "parents": "Parents",
    "path": "Path",
}
_PIDS = {text.casefold(): id for id, name in PROPERTIES.items() for text in (id, name)}
"""Properties by id and by name: OpenRefine sends the name of one that was chosen from its list."""
_NAMES = {PARENT_OF: "parent of", SAME_AS: "same as"}
_MOST_RESULTS = 50
_PREVIEW = {"width": 420, "height": 260}
_STYLE = "body{font:14px/1.45 sans-serif;margin:12px}h1{font-size:17px;margin:0}p{margin:0 0 8px}small{color:#4d5665}"
_STYLE_HASH = f"sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}"  # the only style allowed
Service = Literal["parent-of", "same-as"]
Document = dict[str, Any]


def manifest(workbench: Workbench, base: str, service: str) -> Document:
    """The manifest of one of the two services.

    Parameters
    ----------
    workbench
        The open workbench.
    base
        Address of the server, such as ``http://127.0.0.1:8000``.
    service
        `PARENT_OF` or `SAME_AS`.
    """
    here = f"{base}/reconcile/{service}"
    return {
        "versions": ["0.2"],
        "name": f"{workbench.setup.name}: {_NAMES[service]}",
        "identifierSpace": f"{base}/#/tree/",
        "schemaSpace": f"{base}/reconcile/types/",
        "serviceVersion": __version__,
        "defaultTypes": [CONCEPT],
        "view": {"url": f"{base}/#/tree/{{{{id}}}}"},
        "preview": {"url": f"{here}/preview?id={{{{id}}}}", **_PREVIEW},
        "suggest": {
            kind: {"service_url": here, "service_path": f"/suggest/{kind}"} for kind in ("entity", "type", "property")
        },
        "extend": {"propose_properties": {"service_url": here, "service_path": "/extend/propose"}},
    }


# -- routes -----------------------------------------------------------------------------------------------------------


async def _get(bench: Bench, request: Request, service: str) -> Response:
    queries, extend = request.query_params.get("queries"), request.query_params.get("extend")
    if queries is None and extend is None:
        return JSONResponse(manifest(bench, _base(request), service))
    return await _answer(bench, service, queries, extend)


async def _post(bench: Bench, request: Request, service: str) -> Response:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise Problem(415, "send a form with the field 'queries' or 'extend'")
    try:
        fields = parse_qs((await request.body()).decode("utf-8"), max_num_fields=10, encoding="utf-8")
    except ValueError:
        raise Problem(400, "the form cannot be read") from None
    return await _answer(bench, service, *(fields.get(name, [None])[0] for name in ("queries", "extend")))


async def _answer(bench: Workbench, service: str, queries: str | None, extend: str | None) -> Response:
    if queries is not None:
        asked = _parse("queries", queries)
        return _json(await reconciled(bench, service, asked))
    if extend is not None:
        return _json(extended(bench, _parse("extend", extend)))
    raise Problem(400, "send the field 'queries' or 'extend'")


def _json(document: Document) -> Response:
    """An answer in ASCII: it repeats keys of the client, which may hold half a character."""
    return Response(json.dumps(document, allow_nan=False), media_type="application/json")


def _base(request: Request) -> str:
    return f"{request.url.scheme}://{request.headers['host']}"


def _parse(field: str, text: str) -> Document:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise Problem(400, f"the field '{field}' is no JSON") from None
    if not isinstance(document, dict):
        raise Problem(400, f"the field '{field}' is no JSON object")
    return document


# -- queries ----------------------------------------------------------------------------------------------------------


async def reconciled(workbench: Workbench, service: str, queries: Document) -> Document:
    """Candidates for each query of a batch, best first.

    Raises
    ------
    Problem
        400 where a query is not as the specification describes it, 429 or 503 where the model cannot answer.
    """
    if len(queries) > limits.RECONCILE_QUERIES:
        raise Problem(413, f"a batch may have {limits.RECONCILE_QUERIES} queries")
    asked = {key: _concept(query) for key, query in queries.items()}
    most = {key: _limit(query) for key, query in queries.items()}
    if service == SAME_AS:
        index = workbench.names()
        return {key: {"result": _same(workbench, index, c)[: most[key]]} for key, c in asked.items()}
    named = [(key, concept) for key, concept in asked.items() if concept.name]
    results: Document = {key: {"result": []} for key in asked}
    if named:
        try:
            future = workbench.suggester.suggest([concept for _, concept in named], _MOST_RESULTS)
        except (Busy, NotReady) as error:
            raise refusal(error) from None
        documents = await computed(future)
        for (key, _), document in zip(named, documents, strict=True):
            candidates = [_candidate(entry) for entry in document["suggestions"][: most[key]]]
            results[key] = {"result": candidates}
    return results


def _concept(query: Any) -> Concept:
    if not isinstance(query, dict) or not isinstance(query.get("query", ""), str):
        raise Problem(400, "a query is an object with 'query'")
    name = str(query.get("query", "")).replace("\0", " ").strip()[: limits.NAME]
    texts: dict[str, list[str]] = {}
    properties = query.get("properties", [])
    if not isinstance(properties, list):
        raise Problem(400, "'properties' is a list")
    for entry in properties:
        if not isinstance(entry, dict) or not isinstance(entry.get("pid"), str) or "v" not in entry:
            raise Problem(400, "a property has 'pid' and 'v'")
        values = entry["v"] if isinstance(entry["v"], list) else [entry["v"]]
        pid = _PIDS.get(entry["pid"].strip().casefold(), "")
        texts.setdefault(pid, []).extend(map(_text, values))
    description = " ".join(texts.get("description", []))[: limits.TEXT]
    synonyms = tuple(text for text in texts.get("synonyms", []) if text)[: limits.SYNONYMS]
    return Concept(name, _encodable(name), _encodable(description), tuple(map(_encodable, synonyms)))


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = value.get("name", value.get("id", ""))
    return str(value).replace("\0", " ").strip()


def _encodable(text: str) -> str:
    """The text without halves of characters, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode()


def _limit(query: Document) -> int:
    most = query.get("limit", 10)
    if isinstance(most, bool) or not isinstance(most, int | float) or not 0 < most < 1e9:
        return 10
    return max(1, min(_MOST_RESULTS, int(most)))


def _candidate(entry: Document) -> Document:
    features = [{"id": name, "value": value} for name, value in entry["reasons"].items()]
    return {
        "id": entry["id"],
        "name": entry["name"],
        "description": entry["definition"],
        "score": 100 * entry["probability"],
        "match": entry["probability"] >= MATCH,
        "type": [CONCEPT],
        "features": [*features, {"id": "cosine", "value": entry["cosine"]}, {"id": "gate", "value": entry["gate"]}],
    }


def _same(workbench: Workbench, index: NameIndex, concept: Concept) -> list[Document]:
    base = workbench.view.base
    candidates = []
    for match in index.find(concept):
        if match.id not in base:
            continue  # an obsolete concept that nothing replaces
        candidates.append(
            {
                "id": match.id,
                "name": match.name,
                "description": base.descriptions[base.position(match.id)],
                "score": 100 * match.probability,
                "match": match.probability >= MATCH,
                "type": [CONCEPT],
                "features": [{"id": match.how, "value": True}],
            }
        )
    matched = [candidate for candidate in candidates if candidate["match"]]
    for candidate in matched if len(matched) > 1 else ():
        candidate["match"] = False  # several are as likely: a person chooses
    return candidates


# -- suggest, preview, extend -----------------------------------------------------------------------------------------


def _suggest(
    bench: Bench,
    kind: Literal["entity", "type", "property"],
    prefix: Annotated[str, Query(max_length=limits.QUERY)] = "",
    cursor: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> JSONResponse:
    """Completion of what a person types."""
    wanted = prefix.strip().casefold()
    if kind == "type":
        listed = [CONCEPT] if CONCEPT["name"].casefold().startswith(wanted) else []
    elif kind == "property":
        ids = list(dict.fromkeys(id for text, id in _PIDS.items() if text.startswith(wanted)))
        listed = [{"id": id, "name": PROPERTIES[id]} for id in ids]
    else:
        ids = bench.view.search(prefix)[cursor : cursor + 20]
        listed = [{"id": id, "name": bench.view.name(id), "description": " › ".join(bench.view.path(id))} for id in ids]
        for entry in listed:
            entry["notable"] = [CONCEPT]  # type: ignore[assignment]
    return JSONResponse({"result": listed})


def _preview(bench: Bench, id: Annotated[str, Query(max_length=limits.NAME)]) -> HTMLResponse:
    """Path, definition and children of a concept as a small page."""
    view = bench.view
    if id not in view:
        raise Problem(404, "there is no such concept")
    concept = view.concept(id)
    beside = [view.name(child) for parent in view.parents(id)[:1] for child in view.children(parent)[:8] if child != id]
    rows = [
        f"<h1>{escape(concept.name)}</h1>",
        f"<p><small>{escape(' › '.join(view.path(id)))}</small></p>",
        f"<p>{escape(concept.description)}</p>",
        f"<p><small>Beside it: {escape(', '.join(beside))}</small></p>" if beside else "",
    ]
    head = f'<meta charset="utf-8"><title>{escape(concept.name)}</title><style>{_STYLE}</style>'
    content = f'<!doctype html><html lang="en"><head>{head}</head><body>{"".join(rows)}</body></html>'
    return HTMLResponse(content, headers={"Content-Security-Policy": f"{OPEN_POLICY}; style-src '{_STYLE_HASH}'"})


def _propose(
    type: Annotated[str, Query(max_length=limits.NAME)] = "",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> JSONResponse:
    """Properties that can be fetched for concepts."""
    listed = [{"id": id, "name": name} for id, name in list(PROPERTIES.items())[:limit]]
    return JSONResponse({"properties": listed, "type": type or CONCEPT["id"], "limit": limit})


def extended(workbench: Workbench, query: Document) -> Document:
    """Values of properties of concepts; ids that do not exist have empty rows.

    Raises
    ------
    Problem
        400 where the query is not as the specification describes it.
    """
    ids, properties = query.get("ids"), query.get("properties")
    if not isinstance(ids, list) or not isinstance(properties, list) or not all(isinstance(id, str) for id in ids):
        raise Problem(400, "an extension has 'ids' and 'properties'")
    wanted = [str(entry.get("id")) for entry in properties if isinstance(entry, dict)]
    if len(ids) > limits.EXTEND_IDS or len(wanted) != len(properties) or any(id not in PROPERTIES for id in wanted):
        raise Problem(400, f"the properties are {', '.join(PROPERTIES)}, of at most {limits.EXTEND_IDS} concepts")
    rows = {id: {pid: _values(workbench, id, pid) for pid in wanted} for id in ids}
    return {"meta": [{"id": pid, "name": PROPERTIES[pid]} for pid in wanted], "rows": rows}


def _values(workbench: Workbench, id: str, property: str) -> list[Document]:
    view = workbench.view
    if id not in view:
        return []
    if property == "parents":
        return [{"id": parent, "name": view.name(parent)} for parent in view.parents(id)]
    concept = view.concept(id)
    texts = {
        "description": [concept.description],
        "synonyms": list(concept.synonyms),
        "path": [" › ".join(view.path(id))],
    }
    return [{"str": text} for text in texts[property] if text]


def _routes(service: str, path: str) -> None:
    async def get(bench: Bench, request: Request) -> Response:
        return await _get(bench, request, service)

    async def post(bench: Bench, request: Request) -> Response:
        return await _post(bench, request, service)

    router.add_api_route(path, get, methods=["GET"])
    router.add_api_route(path, post, methods=["POST"])
    router.add_api_route(f"{path}/preview", _preview, methods=["GET"])
    router.add_api_route(f"{path}/suggest/{{kind}}", _suggest, methods=["GET"])
    router.add_api_route(f"{path}/extend/propose", _propose, methods=["GET"])


for _service, _path in (
    (PARENT_OF, "/reconcile"),
    (PARENT_OF, "/reconcile/parent-of"),
    (SAME_AS, "/reconcile/same-as"),
):
    _routes(_service, _path)
