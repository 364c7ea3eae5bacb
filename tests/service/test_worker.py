"""Jobs: done by a process of their own, begun again after a kill, cancelled, and what each of them does."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support.workbenches import Client, silent
from taxosphere.service import store_items, store_jobs, worker
from taxosphere.service.jobs import KINDS, Task
from taxosphere.service.store_tables import JOBS
from taxosphere.service.worker import Cancelled, Reporter, run_one

if TYPE_CHECKING:
    from taxosphere.service.store_jobs import Job
    from taxosphere.service.workbench import Workbench


def work(bench: Workbench) -> Job:
    """Do the oldest waiting job and return it."""
    taken: list[str] = []

    def do(job: Job, reporter: Reporter) -> dict[str, Any]:
        taken.append(job.id)
        return KINDS[job.kind](Task(job, bench, reporter))

    assert run_one(bench.store, "a worker", do)
    with bench.store.reading() as connection:
        return store_jobs.get(connection, taken[0])


def test_an_imported_list_is_in_the_queue(bench: Workbench, client: Client) -> None:
    content = base64.b64encode(b"name,definition,nr\npink boat,a boat,7\npink coat,a coat,8\n").decode()
    shown = client.send_json("imports", {"name": "list.csv", "content_base64": content}).json()
    client.send_json(f"imports/{shown['upload']}", {"mapping": shown["mapping"]})
    assert work(bench).result == {"added": 2, "already": 0}
    (item,) = client.read("queue", query="pink boat")["items"]
    assert item["best"]["id"] == "boat"
    assert client.read(f"queue/{item['id']}")["concept"]["own"] == {"nr": "7"}


def test_expanding_accepts_what_is_sure(bench: Workbench, client: Client) -> None:
    client.send_json("jobs", {"kind": "expand", "accept": 0.5})
    job = work(bench)
    assert job.state == store_jobs.DONE, job.message
    counts = client.read("queue")["counts"]
    assert counts["accepted"] == job.result["accepted"] > 0
    assert counts["open"] == job.result["review"]


def test_a_retrained_model_is_compared_and_switched_to_and_back(
    bench: Workbench, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    monkeypatch.setattr(bench.hub, "_tell", told.extend)
    accepted = client.send_json("decisions/bulk", {"threshold": 0}).json()["accepted"]
    client.send_json("jobs", {"kind": "retrain"})
    job = work(bench)
    assert job.state == store_jobs.DONE, job.message
    assert (accepted, job.result["figures"]["compared_on"]) == (20, 0), "a fifth of twenty is too few to compare"
    first, second = client.read("model")["versions"]
    assert (first["active"], second["active"]) == (True, False)
    told.clear()
    for version, concepts in ((second, 93), (first, 73)):
        assert client.send_json("model/activate", {"id": version["id"]}).status_code == 200
        until = time.monotonic() + 120
        while bench.suggester.version != version["id"] and time.monotonic() < until:
            time.sleep(0.05)
        while sum(notice.data == {"id": version["id"]} for notice in tuple(told)) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        names = [notice.name for notice in told if notice.data == {"id": version["id"]}]
        assert names == ["model", "model"], "pages ask at once, and again when it answers"
        told.clear()
        assert client.read("model")["trained_on"]["concepts"] == concepts
    assert client.send_json("model/activate", {"id": "none"}).status_code == 404


def test_a_worker_ends_whose_service_was_killed_before_it_began(tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    stated = {"url": str(tmp_path / "decisions.db"), "model": "", "folder": "", "parent": int(ended.stdout)}
    command = [sys.executable, "-m", "taxosphere.service.worker"]
    assert subprocess.run(command, input=json.dumps(stated).encode() + b"\n", timeout=600, check=False).returncode == 0


def test_a_job_of_a_killed_worker_is_begun_again(bench: Workbench) -> None:
    with bench.store.writing() as connection:
        job = store_jobs.add(connection, "refresh", {})
        assert store_jobs.claim(connection, "killed") is not None
        connection.execute(JOBS.update().values(changed_at="2020-01-01T00:00:00Z"))
    again = work(bench)
    assert (again.id, again.state, again.result) == (job.id, store_jobs.DONE, {"refreshed": 20})


def test_a_job_that_gives_signs_of_life_is_left_alone(bench: Workbench) -> None:
    with bench.store.writing() as connection:
        store_jobs.add(connection, "refresh", {})
        store_jobs.claim(connection, "busy")
    assert not run_one(bench.store, "another", lambda job, reporter: {})


def test_a_cancelled_job_stops_and_stays_cancelled(bench: Workbench) -> None:
    with bench.store.writing() as connection:
        job = store_jobs.add(connection, "refresh", {})

    def do(_: Job, reporter: Reporter) -> dict[str, Any]:
        with bench.store.writing() as connection:
            store_jobs.cancel(connection, job.id)
        with pytest.raises(Cancelled):
            reporter(1, 2, "on and on")
        raise Cancelled

    assert run_one(bench.store, "a worker", do)
    with bench.store.reading() as connection:
        assert store_jobs.get(connection, job.id).state == store_jobs.CANCELLED


def test_a_job_that_fails_says_so(bench: Workbench) -> None:
    with bench.store.writing() as connection:
        store_jobs.add(connection, "import", {"upload": "0" * 32, "mapping": {}})
    job = work(bench)
    assert (job.state, job.message) == (store_jobs.FAILED, "the uploaded file is no longer there; upload it again")


def test_adding_twice_adds_once(bench: Workbench) -> None:
    from support.workbenches import load, new_concepts
    from taxosphere.service.jobs import add_to_queue

    model = load(bench.active_model().path)
    assert add_to_queue(bench, model, new_concepts(25), silent) == {"added": 5, "already": 20}
    with bench.store.reading() as connection:
        assert store_items.counts(connection) == {"open": 25}
        assert not worker.waiting(bench.store)
