"""Long work that survives a restart: jobs with their progress, and the models they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Row

from taxosphere.decisions.events import now
from taxosphere.service.store import StoreError
from taxosphere.service.store_tables import JOBS, MODELS

WAITING, RUNNING, DONE, FAILED, CANCELLED = "waiting", "running", "done", "failed", "cancelled"


class NoSuchModel(StoreError):
    """No model of the workbench has this id."""


class NoSuchJob(StoreError):
    """There is no such job, or it is not in the state that the call needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A piece of work: what kind, how far, what came of it."""

    id: str
    kind: str
    state: str
    position: int = 0
    done: int = 0
    total: int = 0
    message: str = ""
    payload: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)
    by: str = ""
    worker: str = ""
    added_at: str = ""
    changed_at: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """A model on disk that suggestions may come from; one at a time is active."""

    id: str
    path: str
    base: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    active: bool = False
    added_at: str = ""


def add(connection: Connection, kind: str, payload: Mapping[str, Any], by: str = "") -> Job:
    """A new job that waits for a worker."""
    moment, last = now(), connection.scalar(sa.select(sa.func.max(JOBS.c.position))) or 0
    job = Job(
        position=last + 1,
        id=uuid4().hex,
        kind=kind,
        state=WAITING,
        payload=payload,
        by=by,
        added_at=moment,
        changed_at=moment,
    )
    connection.execute(JOBS.insert().values(**asdict(job)))
    return job


def get(connection: Connection, id: str) -> Job:
    """One job; `NoSuchJob` where there is none."""
    row = connection.execute(sa.select(JOBS).where(JOBS.c.id == id)).first()
    if row is None:
        raise NoSuchJob(f"there is no job '{id}'")
    return _job(row)


def latest(connection: Connection, limit: int = 100) -> list[Job]:
    """The newest jobs first."""
    query = sa.select(JOBS).order_by(JOBS.c.position.desc()).limit(limit)
    return [_job(row) for row in connection.execute(query)]


def claim(connection: Connection, worker: str, kinds: Sequence[str] = ()) -> Job | None:
    """The oldest waiting job, now running at ``worker``; on a connection from `Store.writing` nobody else gets it."""
    query = sa.select(JOBS.c.id).where(JOBS.c.state == WAITING).order_by(JOBS.c.position).limit(1)
    id = connection.scalar(query.where(JOBS.c.kind.in_(kinds)) if kinds else query)
    if id is None:
        return None
    connection.execute(JOBS.update().where(JOBS.c.id == id).values(state=RUNNING, worker=worker, changed_at=now()))
    return get(connection, id)


def progress(connection: Connection, id: str, done: int, total: int, message: str = "") -> bool:
    """Note how far a running job has come; False where it was cancelled and should stop."""
    values = {"done": done, "total": total, "message": message, "changed_at": now()}
    changed = connection.execute(JOBS.update().where(JOBS.c.id == id, JOBS.c.state == RUNNING).values(**values))
    return changed.rowcount == 1


def finish(connection: Connection, id: str, result: Mapping[str, Any], *, failed: str = "") -> None:
    """End a running job, well or with a message; one that was cancelled meanwhile stays so."""
    values = {"state": FAILED if failed else DONE, "message": failed, "result": dict(result), "changed_at": now()}
    connection.execute(JOBS.update().where(JOBS.c.id == id, JOBS.c.state == RUNNING).values(**values))


def cancel(connection: Connection, id: str) -> Job:
    """Stop a job that waits or runs; `NoSuchJob` where it has ended."""
    open_ones = JOBS.c.state.in_((WAITING, RUNNING))
    changed = connection.execute(
        JOBS.update().where(JOBS.c.id == id, open_ones).values(state=CANCELLED, changed_at=now())
    )
    if changed.rowcount != 1:
        raise NoSuchJob(f"no job '{id}' waits or runs")
    return get(connection, id)


def release(connection: Connection, unchanged_since: str) -> int:
    """Let running jobs wait again whose worker has said nothing since a moment: it was killed. Returns their number."""
    stale = (JOBS.c.state == RUNNING) & (JOBS.c.changed_at < unchanged_since)
    return connection.execute(JOBS.update().where(stale).values(state=WAITING, worker="", changed_at=now())).rowcount


def _job(row: Row[Any]) -> Job:
    return Job(**row._mapping)


# -- models -----------------------------------------------------------------------------------------------------------


def add_model(connection: Connection, model: ModelRecord) -> None:
    """Remember a model, or change what is remembered of it; where it is active, no other one is."""
    if model.active:
        connection.execute(MODELS.update().values(active=False))
    connection.execute(MODELS.delete().where(MODELS.c.id == model.id))
    connection.execute(MODELS.insert().values(**asdict(model) | {"added_at": now()}))


def remove_model(connection: Connection, id: str) -> None:
    """Forget a model whose folder holds another one now."""
    connection.execute(MODELS.delete().where(MODELS.c.id == id))


def activate_model(connection: Connection, id: str) -> None:
    """Take suggestions from another model; `NoSuchModel` where it is not there."""
    connection.execute(MODELS.update().values(active=False))
    if connection.execute(MODELS.update().where(MODELS.c.id == id).values(active=True)).rowcount != 1:
        raise NoSuchModel(f"there is no model '{id}'")


def models(connection: Connection) -> list[ModelRecord]:
    """All models, the oldest first."""
    rows = connection.execute(sa.select(MODELS).order_by(MODELS.c.added_at, MODELS.c.id))
    return [ModelRecord(**row._mapping) for row in rows]
