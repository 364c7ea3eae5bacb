"""What jobs do: import a list, place the open items together, train again, suggest anew.

Each takes a `Task`, reports through it and returns what came of it. A job may be killed at any moment and is then begun
again by the next worker: what was written before is recognised and not written twice.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np
import sqlalchemy as sa

from taxosphere.decisions.events import Event, now
from taxosphere.errors import InputError
from taxosphere.placing.duplicates import SURE
from taxosphere.service import model_access, store_items, store_jobs, uploads
from taxosphere.service.store_items import QueueItem
from taxosphere.service.store_jobs import Job, ModelRecord
from taxosphere.service.store_tables import ITEMS
from taxosphere.service.workbench import Workbench
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:  # torch is loaded when there is a job
    from taxosphere.polaris import Polaris

Report = Callable[[int, int, str], None]
Result = dict[str, Any]
_BLOCK = 64  # concepts suggested for between two reports
_HIDDEN_SHARE, _MOST_HIDDEN, _FEWEST_HIDDEN = 0.2, 200, 5


@dataclass(frozen=True, slots=True)
class Task:
    """A job being done: the workbench it is for, and how to report.

    ``report(done, total, what)`` raises where the job was cancelled.
    """

    job: Job
    workbench: Workbench
    report: Report

    def model(self) -> Polaris:
        """The active model, loaded."""
        self.report(0, 1, "loading the model")
        return self.workbench.setup.load_model(self.workbench.active_model().path)


def queue_item(concept: Concept, record: dict[str, Any]) -> QueueItem:
    """An item for the queue from what `model_access.records` says of a concept."""
    ranked = record["suggestions"]
    already = [entry for entry in record["already"] if entry["probability"] >= SURE]
    why = f"already there as '{already[0]['name']}' ({already[0]['how']})" if already else ""
    probability = float(ranked[0]["probability"]) if ranked else 0.0
    return QueueItem(concept=concept, suggestions=record, probability=probability, why=why)


def add_to_queue(workbench: Workbench, model: Polaris, concepts: list[Concept], report: Report) -> Result:
    """Suggest parents for concepts and put them into the queue; those that are there already are left as they are."""
    with workbench.store.reading() as connection:
        present = set(store_items.taken(connection, [concept.id for concept in concepts]))
    new = [concept for concept in concepts if concept.id not in present]
    there = len(concepts) - len(new)
    for start in range(0, len(new), _BLOCK):
        report(there + start, len(concepts), "suggesting parents")
        block = model_access.records(model, new[start : start + _BLOCK])
        with workbench.store.writing() as connection:
            store_items.add(connection, [queue_item(concept, record) for concept, record in block])
    report(len(concepts), len(concepts), "suggesting parents")
    return {"added": len(new), "already": there}


def import_list(task: Task) -> Result:
    """Put an uploaded list into the queue."""
    number = str(task.job.payload["upload"])
    path = uploads.find(task.workbench.setup.uploads, number)
    if path is None:
        raise InputError("the uploaded file is no longer there; upload it again")
    table = uploads.read(path)
    roles = task.job.payload.get("mapping") or uploads.mapping(table.titles)
    concepts = uploads.concepts(table, roles, task.workbench.ledger.fold.base)
    added = add_to_queue(task.workbench, task.model(), concepts, task.report)
    path.unlink(missing_ok=True)
    return added


def refresh(task: Task) -> Result:
    """Suggest anew for every open item, with the active model."""
    return suggest_anew(task.workbench, task.model(), task.report)


def suggest_anew(workbench: Workbench, model: Polaris, report: Report) -> Result:
    """Suggest parents for what is open or put off, in place of what was suggested before."""
    with workbench.store.reading() as connection:
        waiting = sa.select(ITEMS.c.id).where(ITEMS.c.state.in_(("open", "later"))).order_by(ITEMS.c.position)
        ids = list(connection.scalars(waiting))
    for start in range(0, len(ids), _BLOCK):
        report(start, len(ids), "suggesting parents")
        with workbench.store.reading() as connection:
            items = [store_items.get(connection, id) for id in ids[start : start + _BLOCK]]
        asked = [workbench.queue.concept(item) for item in items if item.id not in model.taxonomy]
        block = [queue_item(concept, record) for concept, record in model_access.records(model, asked)]
        with workbench.store.writing() as connection:
            store_items.suggest_anew(connection, block)
    return {"refreshed": len(ids)}


def expand(task: Task) -> Result:
    """Place all open items together: new concepts may be parents of new ones; accept what is sure enough."""
    model, workbench = task.model(), task.workbench
    accept = float(task.job.payload.get("accept", 0.8))
    with workbench.store.reading() as connection:
        items = {item.id: item for item in store_items.undecided(connection)}
    concepts = [workbench.queue.concept(item) for id, item in items.items() if id not in model.taxonomy]
    if not concepts:
        return {"accepted": 0, "review": 0}
    expansion = model.expand(concepts, accept=accept, progress=task.report)
    above = {p.concept.id: {parent.id for parent in p.parents} for p in expansion.attached}
    waiting, accepted = list(expansion.attached), 0
    active = workbench.active_model().id
    while waiting:  # parents that are new themselves come first
        ready = [p for p in waiting if not any(parent in above for parent in above[p.concept.id])] or waiting
        for start in range(0, len(ready), _BLOCK):
            task.report(accepted, len(expansion.attached), "recording")
            block = [(p, items[p.concept.id]) for p in ready[start : start + _BLOCK]]
            events = [(_acceptance(task, item, p, accept, active), item.version) for p, item in block]
            accepted += len(workbench.ledger.decide_each(events))
        for placement in ready:
            above.pop(placement.concept.id)
        waiting = [p for p in waiting if p.concept.id in above]
    return {"accepted": accepted, "review": len(concepts) - accepted}


def _acceptance(task: Task, item: QueueItem, placement: Any, accept: float, model: str) -> Event:
    parents = tuple(parent.id for parent in placement.parents)
    return Event(
        id=uuid4().hex,
        kind="accept",
        item=item.id,
        by=task.job.by,
        at=now(),
        base=task.workbench.ledger.latest.base_digest,
        concept=replace(placement.concept, id=item.id),
        parents=parents,
        names=tuple((parent.id, parent.name) for parent in placement.parents),
        probability=placement.parents[0].probability,
        model=model,
        note=f"accepted at {accept:.0%} or surer",
    )


# -- training again ---------------------------------------------------------------------------------------------------


def retrain(task: Task) -> Result:
    """Train on the taxonomy with the decisions so far, and compare with the active model on hidden new concepts.

    Some of the new concepts are hidden while the new model is trained; then both models are asked for them. The new
    model is kept with the whole taxonomy and becomes active only when somebody switches to it.
    """
    from taxosphere import artifact
    from taxosphere.polaris import Polaris

    workbench = task.workbench
    active = workbench.active_model()
    old = task.model()
    fold = workbench.ledger.fold
    whole = fold.taxonomy()
    hidden, seed = _hide(whole, [id for id in fold.attached() if id in whole])
    assert old.config is not None
    new = Polaris(old.config).fit(seed, encoder=old.fitted.untuned_encoder, progress=task.report)
    task.report(0, 1, "comparing")
    compared = _compare(old, new, whole, hidden)
    if len(hidden):
        new.adopt(whole)
    figures = {"new": model_access.figures(new), "old": model_access.figures(old), **compared}
    id = secrets.token_hex(6)
    path = workbench.setup.models / id
    try:
        new.save(path)
        record = ModelRecord(
            id=id, path=str(path), base=artifact.seed_hash(whole), figures={**figures, "from": active.id}
        )
        task.report(1, 1, "saved")
        with workbench.store.writing() as connection:
            store_jobs.add_model(connection, record)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    return {"model": id, "figures": figures}


def _hide(whole: Taxonomy, new: list[str]) -> tuple[list[int], Taxonomy]:
    """Positions of some new leaves to compare with, and the taxonomy without them."""
    leaves = [whole.position(id) for id in new if whole.hideable[whole.position(id)]]
    count = min(_MOST_HIDDEN, int(_HIDDEN_SHARE * len(leaves)))
    if count < _FEWEST_HIDDEN:
        return [], whole
    hidden = np.random.default_rng(0).permutation(leaves)[:count].tolist()
    kept = np.setdiff1d(np.arange(len(whole)), hidden)
    return hidden, whole.keep(kept)


def _compare(old: Polaris, new: Polaris, whole: Taxonomy, hidden: list[int]) -> Result:
    if not hidden:
        return {"compared_on": 0}
    share: Result = {"compared_on": len(hidden)}
    for name, model in (("old", old), ("new", new)):
        queries = [replace(whole.concept(position), id="") for position in hidden]
        answers = model.suggest_many(queries, k=10)
        first = ten = 0
        for position, answer in zip(hidden, answers, strict=True):
            parents = set(whole.parents(whole.ids[position]))
            first += bool(answer.ranked) and answer[0].id in parents
            ten += any(suggestion.id in parents for suggestion in answer)
        share[f"{name}_hit@1"] = 100 * first / len(hidden)
        share[f"{name}_hit@10"] = 100 * ten / len(hidden)
    return share


KINDS: dict[str, Callable[[Task], Result]] = {
    "import": import_list,
    "expand": expand,
    "retrain": retrain,
    "refresh": refresh,
}
