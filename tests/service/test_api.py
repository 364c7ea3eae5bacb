"""The REST API: what curators do, what two of them see of each other, and what is refused."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import sqlalchemy as sa

from support import workbenches
from support.meadow import KINDS, meadow
from support.workbenches import Client
from taxosphere import Taxonomy
from taxosphere.service.model_process import AnswerFailed

if TYPE_CHECKING:
    from taxosphere.service.workbench import Workbench


def decide(client: Client, item: str, kind: str = "accept", key: str = "", **more: Any) -> Any:
    version = more.pop("version", None)
    if version is None:
        version = client.read(f"queue/{item}")["version"]
    headers = {"Idempotency-Key": key} if key else {}
    return client.send_json("decisions", {"item": item, "kind": kind, "version": version, **more}, **headers)


def everything(client: Client, path: str, member: str, **query: Any) -> list[Any]:
    """All pages of a list."""
    rows, cursor = [], ""
    while True:
        page = client.read(path, cursor=cursor, **query)
        rows += page[member]
        if page["next"] is None:
            return rows
        cursor = page["next"]


# -- the taxonomy -----------------------------------------------------------------------------------------------------


def test_the_tree_is_walked_from_its_roots(client: Client) -> None:
    seed = meadow()
    (root,) = client.read("concepts")["concepts"]
    assert (root["id"], root["children"], root["path"]) == ("thing", 8, [])
    kinds = everything(client, "concepts", "concepts", parent="thing", limit=3)
    assert [row["id"] for row in kinds] == list(seed.children("thing"))
    birds = everything(client, "concepts", "concepts", parent="bird", limit=4)
    assert [row["id"] for row in birds if row["state"] == "base"] == list(seed.children("bird"))
    assert all(row["path"] == ["thing", "bird"] for row in birds)


def test_open_items_are_marked_below_their_best_parent(client: Client) -> None:
    expected = {row["id"] for row in everything(client, "queue", "items") if row["best"]["id"] == "bird"}

    def pending() -> set[str]:
        rows = everything(client, "concepts", "concepts", parent="bird", limit=5)
        return {row["id"] for row in rows if row["state"] == "pending"}

    wait_for(lambda: pending() == expected)
    decide(client, "new0")
    assert pending() == expected - {"new0"}
    assert client.read("concepts/new0")["state"] == "new"


def test_concepts_are_searched_by_beginnings_of_words(client: Client) -> None:
    names = [row["name"] for row in client.read("concepts", query="BI re")["concepts"]]
    assert names == ["red bird"]
    assert client.read("concepts", query="bird")["concepts"][0]["name"] == "bird", "the name itself comes first"
    assert client.read("concepts", query="?!")["concepts"] == []


def test_a_concept_has_its_neighbours(client: Client) -> None:
    shown = client.read("concepts/red bird")
    assert shown["paths"] == [["thing", "bird"]]
    assert {"id": "blue bird", "name": "blue bird"} in shown["siblings"]
    assert client.get("/api/v1/concepts/no such").status_code == 404


def test_a_model_that_fails_is_answered_with_503(
    client: Client, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise AnswerFailed("the model cannot answer: not enough memory")

    monkeypatch.setattr(bench.suggester, "suggest", fails)
    answer = client.send_json("suggest", {"concepts": [{"name": "red bird"}]})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["detail"] == "the model cannot answer: not enough memory"


def test_suggestions_are_those_of_the_model(client: Client, meadow_model: Path) -> None:
    body = {"concepts": [{"name": "green bird", "definition": "a bird"}, {"name": "green cake"}], "k": 3}
    results = client.send_json("suggest", body).json()["results"]
    model = workbenches.load(str(meadow_model))
    for result, query in zip(results, [("green bird", "a bird"), ("green cake", None)], strict=True):
        expected = model.suggest(query, k=3)
        assert [s["id"] for s in result["suggestions"]] == [s.id for s in expected]
        probabilities = [s["probability"] for s in result["suggestions"]]
        assert probabilities == pytest.approx([s.probability for s in expected], abs=1e-5)
        assert all(s["sentences"] for s in result["suggestions"][:1])


def test_the_sphere_has_unit_directions(client: Client) -> None:
    shown = client.read("sphere", item="new0")
    best = client.read("queue/new0")["best"]["id"]
    for point in [shown["query"], *shown["points"]]:
        assert point["x"] ** 2 + point["y"] ** 2 + point["z"] ** 2 == pytest.approx(1)
        assert 0 <= point["shell"] <= 1
    assert best in {point["id"] for point in shown["points"] if point["kind"] == "candidate"}


# -- the queue --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sort", ["added", "name", "probability", "-probability"])
def test_pages_of_the_queue_hold_every_item_once_and_in_order(client: Client, sort: str) -> None:
    rows = everything(client, "queue", "items", sort=sort, limit=3)
    assert len({row["id"] for row in rows}) == len(rows) == 20
    values = {
        "added": [int(row["id"][3:]) for row in rows],
        "name": [row["name"] for row in rows],
        "probability": [row["best"]["probability"] for row in rows],
        "-probability": [-row["best"]["probability"] for row in rows],
    }[sort]
    assert values == sorted(values)


def test_the_queue_is_filtered(client: Client) -> None:
    decide(client, "new1", "later")
    assert [row["id"] for row in client.read("queue", state="later")["items"]] == ["new1"]
    assert all("bird" in row["name"] for row in client.read("queue", query="BIRD")["items"])
    assert client.send_json("queue/new2/assign", {"to": "ada", "version": 0}).json()["assignee"] == "ada"
    assert [row["id"] for row in client.read("queue", assignee="ada")["items"]] == ["new2"]
    counts = client.read("queue")["counts"]
    assert (counts["open"], counts["later"], sum(counts.values())) == (19, 1, 20)
    assert client.send_json("queue/new1/assign", {"to": "ada", "version": 0}).status_code == 409


def test_concepts_are_added_to_the_queue_once(client: Client) -> None:
    body = {"concepts": [{"name": "hollow stone"}, {"name": "green bird", "id": "new0"}]}
    added = client.send_json("queue", body).json()["added"]
    assert len(added) == 1
    assert client.read(f"queue/{added[0]}")["best"]["id"] == "stone"


# -- decisions --------------------------------------------------------------------------------------------------------


def test_an_accepted_concept_hangs_below_its_parent(client: Client) -> None:
    answer = decide(client, "new0").json()
    assert answer["item"]["state"] == "accepted"
    assert answer["next"] == "new1"
    (parent,) = answer["event"]["parents"]
    assert "new0" in [row["id"] for row in client.read("concepts", parent=parent["id"])["concepts"]]
    assert client.read("concepts/new0")["state"] == "new"
    assert client.read("taxonomy")["concepts"] == len(meadow()) + 1


@pytest.mark.parametrize(
    ("kind", "more", "state"),
    [
        ("move", {"parents": ["fish", "boat"]}, "moved"),
        ("top", {}, "top"),
        ("same", {"parents": ["red bird"]}, "same"),
        ("reject", {"note": "no such thing"}, "rejected"),
        ("later", {}, "later"),
        ("comment", {"note": "look again"}, "open"),
        ("edit", {"changes": {"name": "greenish bird", "synonyms": ["verdant bird"]}}, "open"),
    ],
)
def test_every_kind_of_decision_and_its_undo(client: Client, kind: str, more: dict[str, Any], state: str) -> None:
    before = client.read("queue/new0")
    answer = decide(client, "new0", kind, **more)
    assert answer.status_code == 200, answer.text
    assert answer.json()["item"]["state"] == state
    event = answer.json()["event"]["id"]
    undone = client.send_json(f"decisions/{event}/undo").json()
    assert undone["event"]["undoes"] == event
    after = client.read("queue/new0")
    for member in ("state", "concept", "name", "suggestions"):
        assert after[member] == before[member]
    assert [e["kind"] for e in after["history"]] == ["undo", kind]
    assert client.send_json(f"decisions/{event}/undo").status_code == 409, "what was undone is not undone again"


def test_an_insertion_moves_children(client: Client) -> None:
    answer = decide(client, "new0", "insert", parents=["bird"], children=["red bird", "blue bird"])
    assert answer.status_code == 200, answer.text
    below = [row["id"] for row in client.read("concepts", parent="new0")["concepts"]]
    assert below == ["blue bird", "red bird"]
    assert "red bird" not in [row["id"] for row in client.read("concepts", parent="bird")["concepts"]]
    assert client.read("concepts/red bird")["paths"] == [["thing", "bird", "green bird"]]


def test_an_undo_that_would_orphan_another_decision_says_which(client: Client) -> None:
    first = decide(client, "new0").json()["event"]["id"]
    decide(client, "new1", "move", parents=["new0"])
    answer = client.send_json(f"decisions/{first}/undo")
    assert answer.status_code == 409
    assert "green fish" in answer.json()["detail"]


def test_an_old_version_is_refused_with_the_present_state(client: Client) -> None:
    decide(client, "new0", "reject")
    answer = decide(client, "new0", "accept", version=0)
    assert answer.status_code == 409
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["current"]["state"] == "rejected"
    assert answer.json()["current"]["version"] == 1


def test_a_repeated_key_decides_once(client: Client) -> None:
    first = decide(client, "new0", key="k1", version=0).json()
    again = decide(client, "new0", key="k1", version=0).json()
    assert first["event"] == again["event"]
    assert len(client.read("decisions")["decisions"]) == 1
    assert decide(client, "new1", key="k1", version=0).status_code == 422, "the key belongs to another decision"
    other = workbenches.Client(client.app, "curator")
    assert decide(other, "new1", key="k1", version=0).status_code == 200, "but to one person only"


def test_a_full_disk_is_a_503_and_records_nothing(
    client: Client, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise sa.exc.OperationalError("COMMIT", {}, Exception("database or disk is full"))

    with monkeypatch.context() as broken:
        broken.setattr(bench.store.engine, "connect", fail)
        answer = client.send_json("decisions", {"item": "new0", "kind": "later", "version": 0})
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
        assert "disk is full" in answer.json()["detail"]
        ready = client.get("/api/v1/ready")
        assert (ready.status_code, ready.json()["database"]) == (503, "failed")
    assert client.read("queue/new0")["state"] == "open"


def test_the_history_is_paged_and_filtered(client: Client) -> None:
    for number in range(5):
        decide(client, f"new{number}", "reject" if number % 2 else "accept")
    events = everything(client, "decisions", "decisions", limit=2)
    assert [event["item"] for event in events] == ["new4", "new3", "new2", "new1", "new0"]
    assert len(client.read("decisions", kind="reject")["decisions"]) == 2
    assert len(client.read("decisions", item="new3")["decisions"]) == 1
    assert client.read("decisions", by="nobody")["decisions"] == []


def test_live_precision_counts_what_stayed(client: Client) -> None:
    events = [decide(client, f"new{number}").json()["event"] for number in range(4)]
    client.send_json(f"decisions/{events[0]['id']}/undo")
    decide(client, "new1", "move", parents=["stone"])
    wait_for(lambda: client.read("decisions/precision", at=0.5) == {"accepted": 4, "kept": 2})
    assert client.read("decisions/precision", at=1.0) == {"accepted": 0, "kept": 0}


def wait_for(condition: Any) -> None:
    import time

    until = time.monotonic() + 60
    while not condition() and time.monotonic() < until:
        time.sleep(0.05)
    assert condition()


def test_bulk_accepts_what_the_preview_says(client: Client) -> None:
    rows = everything(client, "queue", "items")
    line = sorted(row["best"]["probability"] for row in rows)[10]
    preview = client.read("decisions/bulk", threshold=line)
    sure = [row for row in rows if row["best"]["probability"] >= line]
    assert preview["accepts"] == len(sure)
    assert 10 <= len(sure) < len(rows), "several may share the largest probability"
    assert preview["expected_right"] == pytest.approx(sum(row["best"]["probability"] for row in sure))
    done = client.send_json("decisions/bulk", {"threshold": line}).json()
    assert done["accepted"] == len(done["events"]) == len(sure)
    assert client.read("queue")["counts"]["accepted"] == len(sure)


# -- the model and imports --------------------------------------------------------------------------------------------


def test_the_model_says_what_it_was_trained_on(client: Client, meadow_model: Path) -> None:
    shown = client.read("model")
    assert shown["trained_on"]["concepts"] == len(meadow())
    assert 0 <= shown["figures"]["hit@1"] <= 100
    assert sum(bin["count"] for bin in shown["calibration"]) == shown["figures"]["hidden"]
    assert [version["active"] for version in shown["versions"]] == [True]


def upload(client: Client, name: str, content: bytes) -> Any:
    return client.send_json("imports", {"name": name, "content_base64": base64.b64encode(content).decode()})


def workbook() -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Begriff", "Definition", "Nr"], ["pink boat", "a boat", 7], ["pink coat", "a coat", 8]):
        book.active.append(row)
    packed = io.BytesIO()
    book.save(packed)
    return packed.getvalue()


TABLES = {
    "list.csv": b"Begriff;Definition;Nr\r\npink boat;a boat;7\r\npink coat;a coat;8\r\n",
    "list.tsv": b"Begriff\tDefinition\tNr\npink boat\ta boat\t7\npink coat\ta coat\t8\n",
    "list.jsonl": b'{"Begriff": "pink boat", "Definition": "a boat", "Nr": 7}\n{"Begriff": "pink coat", "Nr": 8}\n',
    "list.xlsx": b"",
}


@pytest.mark.parametrize("name", TABLES)
def test_a_list_is_shown_before_it_is_imported(client: Client, name: str) -> None:
    shown = upload(client, name, TABLES[name] or workbook()).json()
    assert shown["columns"] == ["Begriff", "Definition", "Nr"]
    assert shown["mapping"] == {"name": "Begriff", "description": "Definition"}
    assert (shown["count"], shown["rows"][0]) == (2, ["pink boat", "a boat", "7"])
    answer = client.send_json(f"imports/{shown['upload']}", {"mapping": shown["mapping"]})
    assert answer.status_code == 202
    job = client.read(f"jobs/{answer.json()['job']}")
    assert (job["kind"], job["state"]) == ("import", "queued")
    wrong = client.send_json(f"imports/{shown['upload']}", {"mapping": {"name": "no such title"}})
    assert wrong.status_code == 422


def test_a_bare_list_needs_no_titles(client: Client) -> None:
    shown = upload(client, "list.txt", b"pink boat\npink coat\n").json()
    assert (shown["columns"], shown["count"]) == (["name"], 2)


def test_jobs_are_cancelled_once(client: Client) -> None:
    job = client.send_json("jobs", {"kind": "refresh"}).json()["id"]
    assert client.send_json(f"jobs/{job}/cancel").json()["state"] == "cancelled"
    assert client.send_json(f"jobs/{job}/cancel").status_code == 409
    assert client.get("/api/v1/jobs/none").status_code == 404
    assert [shown["id"] for shown in client.read("jobs")["jobs"]] == [job]


# -- live events ------------------------------------------------------------------------------------------------------


def read_events(bench: Workbench, count: int, after: int) -> list[dict[str, Any]]:
    """What a page that was away since a decision hears first."""
    notices = bench.missed(after)[:count]
    texts = [notice.encode() for notice in notices]
    return [json.loads(text.split("data: ")[1]) for text in texts]


def test_a_page_that_was_away_hears_what_it_missed(bench: Workbench, client: Client) -> None:
    events = [decide(client, f"new{number}").json()["event"] for number in range(3)]
    heard = read_events(bench, 10, after=events[0]["seq"])
    assert [entry["event"]["id"] for entry in heard] == [event["id"] for event in events[1:]]
    assert [entry["item"]["state"] for entry in heard] == ["accepted", "accepted"]


def test_what_is_decided_is_in_the_taxonomy_that_is_read_back(client: Client, bench: Workbench) -> None:
    for number, kind in enumerate(KINDS):
        decide(client, f"new{number}", "move", parents=[kind])
    grown = bench.ledger.taxonomy()
    assert isinstance(grown, Taxonomy)
    assert all(grown.parents(f"new{number}") == (kind,) for number, kind in enumerate(KINDS))
