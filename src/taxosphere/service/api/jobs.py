"""Jobs that run beside the service, the model and its versions, and lists to import."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool

from taxosphere.service import store_jobs, uploads
from taxosphere.service.answers import (
    ImportStarted,
    JobDocument,
    JobPage,
    JobStarted,
    ModelDocument,
    Status,
    UploadAnswer,
)
from taxosphere.service.api.shared import Bench, Who, computed, no_nul, problems, refusal
from taxosphere.service.permissions import API
from taxosphere.service.problems import Problem
from taxosphere.service.requests import ActivateRequest, ImportRequest, JobRequest, Nothing, UploadRequest
from taxosphere.service.store_jobs import ModelRecord, NoSuchModel
from taxosphere.service.suggester import Busy, NotReady
from taxosphere.service.workbench import Workbench, job_document

router = APIRouter(prefix=API, tags=["jobs"])


@router.get("/jobs", responses=problems())
def jobs(bench: Bench) -> JobPage:
    """The newest jobs first."""
    with bench.store.reading() as connection:
        listed = store_jobs.latest(connection)
    return JobPage.model_validate({"jobs": [job_document(job) for job in listed]})


@router.post("/jobs", status_code=202, responses=problems())
def start(bench: Bench, who: Who, body: JobRequest) -> JobStarted:
    """Start a job; a process beside the service does it."""
    payload = {} if body.accept is None else {"accept": body.accept}
    with bench.store.writing() as connection:
        job = store_jobs.add(connection, body.kind, payload, who.name)
    bench.hub.wake()
    return JobStarted(id=job.id)


@router.get("/jobs/{id}", responses=problems(404))
def job(bench: Bench, id: str) -> JobDocument:
    """How far a job is."""
    no_nul(id)
    with bench.store.reading() as connection:
        return JobDocument.model_validate(job_document(store_jobs.get(connection, id)))


@router.post("/jobs/{id}/cancel", responses=problems(404, 409))
def cancel(bench: Bench, id: str, body: Nothing) -> JobDocument:  # noqa: ARG001 - state changes take a JSON body
    """Stop a job that waits or runs."""
    no_nul(id)
    with bench.store.writing() as connection:
        present = store_jobs.get(connection, id)
        if present.state not in (store_jobs.WAITING, store_jobs.RUNNING):
            raise Problem(409, "this job has ended", current=job_document(present))
        cancelled = store_jobs.cancel(connection, id)
    bench.hub.wake()
    return JobDocument.model_validate(job_document(cancelled))


@router.get("/model", responses=problems(429, 503))
async def model(bench: Bench) -> ModelDocument:
    """What the active model was trained on, its figures on hidden leaves, and the other versions."""
    try:
        future = bench.suggester.ask("overview")
    except (Busy, NotReady) as error:
        raise refusal(error) from None
    document = await computed(future)
    versions = [
        {"id": record.id, "made": record.added_at, "figures": dict(record.figures), "active": record.active}
        for record in await run_in_threadpool(_records, bench)
    ]
    return ModelDocument.model_validate(
        {"name": bench.setup.name, "version": bench.suggester.version, **document, "versions": versions}
    )


def _records(bench: Workbench) -> list[ModelRecord]:
    with bench.store.reading() as connection:
        return store_jobs.models(connection)


@router.post("/model/activate", responses=problems(404))
def activate(bench: Bench, who: Who, body: ActivateRequest) -> Status:
    """Take suggestions from another version of the model."""
    try:
        bench.activate(body.id, who.name)
    except NoSuchModel:
        raise Problem(404, "there is no such model") from None
    return Status(status="ok")


@router.post("/imports", responses=problems())
def upload(bench: Bench, body: UploadRequest) -> UploadAnswer:
    """Upload a list and see its columns and first rows."""
    number = uploads.put(bench.setup.uploads, body.name, body.content_base64)
    path = uploads.find(bench.setup.uploads, number)
    assert path is not None
    try:
        table = uploads.read(path)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return UploadAnswer(
        upload=number,
        columns=table.titles,
        rows=table.rows[: uploads.PREVIEW],
        mapping=uploads.mapping(table.titles),
        count=len(table.rows),
    )


@router.post("/imports/{upload}", status_code=202, responses=problems(404))
def start_import(bench: Bench, who: Who, upload: str, body: ImportRequest) -> ImportStarted:
    """Put an uploaded list into the queue, by a job."""
    path = uploads.find(bench.setup.uploads, upload)
    if path is None:
        raise Problem(404, "there is no such upload")
    roles = {str(role): title for role, title in body.mapping.items()}
    uploads.concepts(uploads.read(path), roles, bench.view.base)  # what is wrong is said now, not by the job
    with bench.store.writing() as connection:
        job = store_jobs.add(connection, "import", {"upload": upload, "mapping": roles}, who.name)
    bench.hub.wake()
    return ImportStarted(job=job.id)
