"""The Reconciliation Service API 0.2: documents are checked against the schemas of its specification."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.workbenches import Client, access, load
from taxosphere.service.app import make_app

if TYPE_CHECKING:
    from taxosphere.service.workbench import Workbench

Check = Callable[[str, Any], None]


@pytest.fixture(scope="session")
def specification() -> Path:
    """Folder of the specification's schemas; tests are skipped where it is absent."""
    named = os.environ.get("TAXOSPHERE_RECONCILIATION")
    places = [Path(named)] if named else [p / "shared" / "reconciliation-0.2" for p in Path(__file__).resolve().parents]
    folder = next((place for place in places if (place / "schemas").is_dir()), None)
    if folder is None:
        pytest.skip("the schemas of the Reconciliation API are not here (set TAXOSPHERE_RECONCILIATION)")
    return folder


@pytest.fixture(scope="session")
def check(specification: Path) -> Check:
    """Checks a document against one of the schemas."""
    from jsonschema import Draft7Validator
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT7

    schemas = {path.name: json.loads(path.read_text()) for path in (specification / "schemas").glob("*.json")}
    place = "https://reconciliation-api.github.io/specs/0.2/schemas/"
    documents = [(place + name, Resource(schema, DRAFT7)) for name, schema in schemas.items()]
    documents.append(("http://swagger.io/v2/schema.json", Resource({}, DRAFT7)))
    registry: Any = Registry().with_resources(documents)

    def checked(name: str, document: Any) -> None:
        schema = schemas[name] | {"$schema": "http://json-schema.org/draft-07/schema#"}
        Draft7Validator(schema, registry=registry).validate(document)

    return checked


@pytest.fixture
def anyone(bench: Workbench) -> Client:
    """OpenRefine: no token, no cookie."""
    return Client(make_app(bench, access(bench)), None)


def ask(client: Client, queries: Any, path: str = "/reconcile", *, by_get: bool = False) -> Any:
    text = json.dumps(queries)
    answer = client.get(path, params={"queries": text}) if by_get else client.post(path, data={"queries": text})
    assert answer.status_code == 200, answer.text
    assert answer.headers["access-control-allow-origin"] == "*"
    return answer.json()


@pytest.mark.parametrize("path", ["/reconcile", "/reconcile/parent-of", "/reconcile/same-as"])
def test_the_manifest_is_valid(anyone: Client, check: Check, path: str) -> None:
    manifest = anyone.get(path).json()
    check("manifest.json", manifest)
    assert manifest["versions"] == ["0.2"]
    assert anyone.get(manifest["preview"]["url"].replace("{{id}}", "red bird")).status_code == 200
    for kind in ("entity", "type", "property"):
        service = manifest["suggest"][kind]
        assert anyone.get(service["service_url"] + service["service_path"], params={"prefix": "a"}).status_code == 200


@pytest.mark.parametrize("by_get", [True, False])
def test_parents_are_the_suggestions_of_the_model(
    anyone: Client, check: Check, meadow_model: Path, by_get: bool
) -> None:
    queries: dict[str, dict[str, Any]] = {
        "q0": {"query": "green bird", "limit": 3, "properties": [{"pid": "description", "v": "a bird"}]},
        "q1": {"query": "pink boat"},
    }
    check("reconciliation-query-batch.json", queries)
    results = ask(anyone, queries, by_get=by_get)
    check("reconciliation-result-batch.json", results)
    queries["q0"]["properties"] = [{"pid": "Definition", "v": "a bird"}]  # as OpenRefine names it
    assert ask(anyone, queries, by_get=by_get) == results
    expected = load(str(meadow_model)).suggest(("green bird", "a bird"), k=3)
    listed = results["q0"]["result"]
    assert [entry["id"] for entry in listed] == [suggestion.id for suggestion in expected]
    assert listed[0]["score"] == pytest.approx(100 * expected[0].probability, abs=1e-3)
    assert listed[0]["match"] is (expected[0].probability >= 0.8)
    assert {feature["id"] for feature in listed[0]["features"]} >= set(expected[0].reasons)
    assert [entry["score"] for entry in listed] == sorted((entry["score"] for entry in listed), reverse=True)


def test_the_same_concept_is_recognised(anyone: Client, check: Check) -> None:
    results = ask(anyone, {"q0": {"query": "Birds, red"}, "q1": {"query": "no such"}}, "/reconcile/same-as")
    check("reconciliation-result-batch.json", results)
    assert [entry["id"] for entry in results["q0"]["result"]] == ["red bird"]
    assert results["q0"]["result"][0]["match"] is True
    assert results["q1"]["result"] == []


def test_queries_of_the_specification_are_answered(anyone: Client, check: Check, specification: Path) -> None:
    examples = sorted((specification / "examples" / "reconciliation-query-batch" / "valid").glob("*.json"))
    assert examples
    for path in examples:
        queries = json.loads(path.read_text())
        for service in ("/reconcile/parent-of", "/reconcile/same-as"):
            results = ask(anyone, queries, service)
            check("reconciliation-result-batch.json", results)
            assert results.keys() == queries.keys()


@pytest.mark.parametrize("queries", ["[]", "no json", '{"q0": 5}', '{"q0": {"query": 5}}', '{"q0": {"properties": 3}}'])
def test_what_is_no_query_is_refused(anyone: Client, queries: str) -> None:
    assert anyone.get("/reconcile", params={"queries": queries}).status_code == 400
    assert anyone.post("/reconcile", data={"queries": queries}).status_code == 400


def test_suggest_services(anyone: Client, check: Check) -> None:
    entities = anyone.get("/reconcile/suggest/entity", params={"prefix": "red b"}).json()
    check("suggest-entities-response.json", entities)
    assert [entry["id"] for entry in entities["result"]] == ["red bird", "red boat"]
    properties = anyone.get("/reconcile/suggest/property", params={"prefix": "def"}).json()
    check("suggest-properties-response.json", properties)
    assert properties["result"] == [{"id": "description", "name": "Definition"}]
    by_id = anyone.get("/reconcile/suggest/property", params={"prefix": "Desc"}).json()
    assert by_id == properties, "people type what the guide calls it"
    types = anyone.get("/reconcile/suggest/type", params={"prefix": ""}).json()
    check("suggest-types-response.json", types)


def test_data_extension(anyone: Client, check: Check) -> None:
    proposal = anyone.get("/reconcile/extend/propose", params={"type": "concept", "limit": 2}).json()
    check("data-extension-property-proposal.json", proposal)
    query = {"ids": ["red bird", "no such"], "properties": [{"id": "description"}, {"id": "parents"}, {"id": "path"}]}
    check("data-extension-query.json", query)
    answer = anyone.post("/reconcile", data={"extend": json.dumps(query)}).json()
    check("data-extension-response.json", answer)
    assert answer["rows"]["red bird"] == {
        "description": [{"str": "a bird that is called red"}],
        "parents": [{"id": "bird", "name": "bird"}],
        "path": [{"str": "thing › bird"}],
    }
    assert anyone.post("/reconcile", data={"extend": '{"ids": ["x"], "properties": [{"id": "y"}]}'}).status_code == 400


def test_half_a_character_in_a_key_is_repeated_as_it_came(anyone: Client) -> None:
    with anyone:
        answer = anyone.post("/reconcile", data={"queries": '{"\\ud800": {"query": ""}}'})
    assert (answer.status_code, answer.json()) == (200, {"\ud800": {"result": []}})
