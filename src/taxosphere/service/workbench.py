"""The workbench: a model, a database of decisions and the views on them that the API, the page and agents share."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from taxosphere import artifact
from taxosphere.decisions.events import Event
from taxosphere.placing.duplicates import NameIndex
from taxosphere.service import store_bases, store_jobs
from taxosphere.service.history import History
from taxosphere.service.live import MOST_REPLAYED, Hub, Notice
from taxosphere.service.model_process import ModelHere, ModelProcess
from taxosphere.service.pending import Pending
from taxosphere.service.queue_view import QueueView
from taxosphere.service.store import Store
from taxosphere.service.store_events import END, end_of, read
from taxosphere.service.store_jobs import Job, ModelRecord
from taxosphere.service.store_ledger import Ledger
from taxosphere.service.store_tables import BASES, ITEMS, JOBS, MODELS
from taxosphere.service.suggester import Suggester
from taxosphere.service.taxonomy_view import TaxonomyView
from taxosphere.taxonomy import Taxonomy

if TYPE_CHECKING:
    from taxosphere.polaris import Polaris

_ROWS = 500  # rows asked for at once
_STATE = END.add_columns(  # all that is looked at twice a second, in one question
    sa.select(sa.func.max(ITEMS.c.position)).scalar_subquery().label("items"),
    sa.select(sa.func.max(JOBS.c.changed_at)).scalar_subquery().label("changed_at"),
    sa.select(MODELS.c.id).where(MODELS.c.active).limit(1).scalar_subquery().label("model"),
)
STATES = {store_jobs.WAITING: "queued"}
"""Names of job states in the API where the store has others."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Where a workbench keeps what.

    Parameters
    ----------
    model
        Folder of the model to begin with.
    folder
        Folder for the token, uploads and retrained models; the database too where it is a file.
    url
        The database, as `Store` takes it.
    load
        Reads a model folder, for suggestions in this process; without it the model gets a process of its own.
    title
        What the taxonomy is called on the page; the name of the model's folder where nothing is said.
    """

    model: Path
    folder: Path
    url: str
    load: Callable[[str], Polaris] | None = None
    title: str = ""

    @classmethod
    def beside(
        cls, model: Path, url: str = "", load: Callable[[str], Polaris] | None = None, *, title: str = ""
    ) -> Setup:
        """A workbench in ``MODEL.workbench`` beside the model, with a file of SQLite in it unless ``url`` says else."""
        model = model.absolute()
        folder = model.parent / f"{model.name}.workbench"
        return cls(model, folder, url or str(folder / "decisions.db"), load, title)

    def load_model(self, path: str) -> Polaris:
        """The model in a folder, in this process; torch is imported here, where it is needed first."""
        if self.load is not None:
            return self.load(path)
        from taxosphere.polaris import Polaris

        return Polaris.load(path)

    def prepare(self) -> None:
        """Make the folders, private ones."""
        for folder in (self.folder, self.uploads, self.models):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    @property
    def name(self) -> str:
        """What the taxonomy is called on the page."""
        return self.title or self.model.name

    @property
    def uploads(self) -> Path:
        """Folder of uploaded lists."""
        return self.folder / "uploads"

    @property
    def models(self) -> Path:
        """Folder of retrained models."""
        return self.folder / "models"

    @property
    def token(self) -> Path:
        """File with the token of this machine's user."""
        return self.folder / "token"


class Workbench:
    """An open workbench.

    Parameters
    ----------
    setup
        Where everything is.
    load_model
        Whether to load the model at once, in a thread; without, only what needs no model is answered.
    """

    def __init__(self, setup: Setup, *, load_model: bool = True) -> None:
        setup.prepare()
        self.setup = setup
        self.store = Store(setup.url)
        register(self.store, setup.model)
        self.ledger = Ledger(self.store)
        with self.store.reading() as connection:
            name = connection.scalar(sa.select(BASES.c.name).order_by(BASES.c.seq.desc()).limit(1))
        self.source = str(name)
        """Name of the file that the base was read from."""
        self.view = TaxonomyView(lambda: self.ledger.latest)
        self.queue = QueueView(lambda: self.ledger.latest, self.view)
        self.history = History(self.view)
        self.pending = Pending(lambda: self.ledger.latest)
        load = setup.load
        self.suggester = Suggester(ModelProcess if load is None else lambda: ModelHere(load))
        self.hub = Hub(self._look)
        self._told = threading.Lock()
        self._seen: dict[str, Any] = {}
        self._names: tuple[Taxonomy, NameIndex] | None = None
        self._look()
        if load_model:
            active = self.active_model()
            self.suggester.start(active.id, active.path)

    def start(self) -> None:
        """Begin to tell listeners what changes, and prepare the search."""
        threading.Thread(target=self.view.prepare, name="search", daemon=True).start()
        self.hub.start()

    def close(self) -> None:
        """End the threads and let go of the database."""
        self.hub.stop()
        self.suggester.stop()
        self.store.close()

    def names(self) -> NameIndex:
        """Finds concepts of the base by name and synonym, whatever the spelling."""
        base = self.view.base
        if self._names is None or self._names[0] is not base:
            self._names = base, NameIndex(base)
        return self._names[1]

    # -- models -------------------------------------------------------------------------------------------------------

    def active_model(self) -> ModelRecord:
        """The model that suggestions come from."""
        with self.store.reading() as connection:
            return next(model for model in store_jobs.models(connection) if model.active)

    def activate(self, id: str, by: str) -> None:
        """Take suggestions from another model, and let a job suggest anew for what is open."""
        with self.store.writing() as connection:
            store_jobs.activate_model(connection, id)
            store_jobs.add(connection, "refresh", {}, by)
        self.hub.wake()

    # -- what is new --------------------------------------------------------------------------------------------------

    def _look(self) -> list[Notice]:
        """Events for the pages since the last look."""
        with self._told:
            with self.store.asking() as connection:
                state = connection.execute(_STATE).one()
            end = end_of(state)
            self.ledger.catch_up(end)
            notices: list[Notice] = []
            if end.seq > self.history.seq:
                with self.store.reading() as connection:
                    notices += self._decisions(connection, self.history.catch_up(connection))
            if state.changed_at is not None and state.changed_at >= self._seen.get("jobs", ""):
                with self.store.asking() as connection:
                    notices += self._jobs(connection)
            if self._changed("queue", state.items or 0):
                with self.store.asking() as connection:
                    self.pending.catch_up(connection)
                notices.append(Notice("queue", {"items": state.items or 0}))
            if self._changed("model", state.model):
                with self.store.asking() as connection:
                    self.pending.reset(connection)
                notices.append(Notice("model", {"id": state.model}))
            if self._changed("answering", self.suggester.version):  # what the one before has said is old
                notices.append(Notice("model", {"id": self.suggester.version}))
            if self.suggester.version not in ("", state.model) and self._changed("loading", state.model):
                active = self.active_model()
                self.suggester.switch(active.id, active.path)
            return notices

    def _decisions(self, connection: Connection, events: list[tuple[int, Event]]) -> list[Notice]:
        """Notices of events, each with the present row of its item."""
        rows: dict[str, Any] = {}
        ids = list(dict.fromkeys(event.item for _, event in events))
        for start in range(0, len(ids), _ROWS):
            rows |= self.queue.rows(connection, ids[start : start + _ROWS])
        return [
            Notice("decision", {"event": self.history.document(seq, event), "item": rows.get(event.item)}, seq)
            for seq, event in events
        ]

    def _changed(self, what: str, value: Any) -> bool:
        before = self._seen.get(what)
        self._seen[what] = value
        return bool(before != value)

    def _jobs(self, connection: Connection) -> list[Notice]:
        since = self._seen.get("jobs", "")
        rows = connection.execute(sa.select(JOBS).where(JOBS.c.changed_at >= since).order_by(JOBS.c.changed_at)).all()
        notices = []
        for row in rows:
            document = job_document(Job(**row._mapping))
            if self._changed(f"job {row.id}", document):
                notices.append(Notice("job", document))
            self._seen["jobs"] = row.changed_at
        return notices

    def missed(self, after: int) -> list[Notice]:
        """Decisions after a number; where they are too many, the page reads the queue again."""
        with self.store.reading() as connection:
            recorded = list(read(connection, after, limit=MOST_REPLAYED + 1))
            if len(recorded) > MOST_REPLAYED:
                return [Notice("queue", {"items": -1})]
            return self._decisions(connection, [(r.seq, r.event) for r in recorded])


def register(store: Store, model: Path) -> None:
    """Make the taxonomy of a model the base of an empty store, and the model known to it."""
    manifest = artifact.read_manifest(model)
    with store.reading() as connection:
        number, models = store_bases.number(connection), store_jobs.models(connection)
    if number == 0:
        store_bases.put(store, Taxonomy.read(model / artifact.SEED))
    id = hashlib.sha256((model / artifact.MANIFEST).read_bytes()).hexdigest()[:12]
    if id in {record.id for record in models}:
        return
    path = str(model.absolute())
    gone = [record for record in models if record.path == path]  # fitted anew in the same folder
    active = any(record.active for record in gone) or not any(record.active for record in models)
    figures = {key: value for key, value in (manifest.get("metrics") or {}).items() if value is not None}
    record = ModelRecord(id=id, path=path, base=manifest["seed_hash"], figures=figures, active=active)
    with store.writing() as connection:
        for former in gone:
            store_jobs.remove_model(connection, former.id)
        store_jobs.add_model(connection, record)
        if gone and active:
            store_jobs.add(connection, "refresh", {}, "taxosphere serve")


def job_document(job: Job) -> dict[str, Any]:
    """A job for the API."""
    failed = job.state == store_jobs.FAILED
    return {
        "id": job.id,
        "kind": job.kind,
        "state": STATES.get(job.state, job.state),
        "progress": {"done": job.done, "total": job.total, "what": "" if failed else job.message},
        "result": dict(job.result) or None,
        "error": job.message if failed else None,
        "by": job.by,
        "added_at": job.added_at,
    }
