"""taxosphere serve: the workbench, where people decide."""

from __future__ import annotations

import base64
import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import taxosphere
from taxosphere import atomic
from taxosphere.cli import completion, output
from taxosphere.errors import InputError, require

if TYPE_CHECKING:
    from taxosphere.polaris import Polaris
    from taxosphere.service.workbench import Setup, Workbench


def serve(
    model: Path | None = typer.Argument(
        None, metavar="[MODEL]", help="A folder written by 'taxosphere fit'.", shell_complete=completion.models
    ),
    new: Path | None = typer.Option(
        None, "--new", metavar="FILE", help="New concepts: .csv, .tsv, .xlsx, .jsonl, .txt."
    ),
    db: str = typer.Option("", "--db", metavar="URL", help="Database: a file, or postgresql://USER@HOST/NAME."),
    host: str = typer.Option("127.0.0.1", help="Interface to listen on; beyond this machine it needs --tokens."),
    port: int = typer.Option(8000, min=0, max=65535, help="Port; 0 takes any that is free."),
    tokens: Path | None = typer.Option(None, metavar="FILE", help="Who may come in: lines NAME ROLE SHA256."),
    allow_host: list[str] = typer.Option([], "--allow-host", metavar="NAME", help="Host name of a reverse proxy."),
    no_reconcile: bool = typer.Option(False, "--no-reconcile", help="Do not answer OpenRefine below /reconcile."),
    demo: bool = typer.Option(False, "--demo", help="EDAM with 60 hidden concepts as the queue; needs no model."),
) -> None:
    """Serve the workbench: the review page and the REST API.

    What people decide is kept in MODEL.workbench beside the model, or in the database named with --db.

    Example: taxosphere serve ontology-model --new new.csv
    """
    require("fastapi", "serve")
    from taxosphere import artifact
    from taxosphere.service.server import Listening, check, is_loopback, prepare
    from taxosphere.service.workbench import Setup

    if demo == (model is not None):
        raise InputError("name a model, or say --demo")
    listening = Listening(host, port, tokens, tuple(allow_host), not no_reconcile)
    check(listening)
    if model is not None:
        artifact.read_manifest(model)  # before anything is made beside it
    setup = _demo(db) if model is None else Setup.beside(model, db)
    if new is not None and not new.is_file():
        raise InputError("no such file", new)
    service = prepare(setup, listening)
    if new is not None:
        _import(service.workbench, new)
    if not is_loopback(host):
        output.warn(f"{service.address} is plain http: put a reverse proxy with https in front of it (docs/deploy)")
    output.say(f"decisions are kept in {service.workbench.store.name}; Ctrl-C ends the service")
    print(service.link, flush=True)
    service.run()


def _import(workbench: Workbench, path: Path) -> None:
    """Let a job put a list into the queue, unless the same one was before."""
    from taxosphere.service import store_jobs, uploads

    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    with workbench.store.reading() as connection:
        done = [job for job in store_jobs.latest(connection, 10_000) if job.payload.get("sha256") == digest]
    if any(job.state in (store_jobs.WAITING, store_jobs.RUNNING, store_jobs.DONE) for job in done):
        output.say(f"{path}: is in the queue already")
        return
    try:
        number = uploads.put(workbench.setup.uploads, path.name, base64.b64encode(content).decode())
        uploaded = uploads.find(workbench.setup.uploads, number)
        assert uploaded is not None
        table = uploads.read(uploaded)
        roles = uploads.mapping(table.titles)
        count = len(uploads.concepts(table, roles, workbench.view.base))
    except InputError as error:
        raise InputError(error.message, path, error.line) from None
    with workbench.store.writing() as connection:
        payload = {"upload": number, "mapping": roles, "sha256": digest}
        store_jobs.add(connection, "import", payload, "taxosphere serve")
    output.say(f"{path}: {count:,} new concepts are being put into the queue")


def _demo(db: str) -> Setup:
    """The demonstration: made at the first start in the user's cache folder, reused later."""
    require("edam_ontology", "demo")
    from importlib.metadata import version

    from taxosphere import __version__, artifact
    from taxosphere.encoders.cache import default_folder
    from taxosphere.service.workbench import Setup

    edam = version("edam-ontology")
    folder = default_folder() / f"demo-edam-{edam}-{__version__}-{artifact.FORMAT}"
    setup = Setup.beside(folder, db, title=f"EDAM {edam}")
    if not _is_tried(folder) or _is_empty(setup):
        _make_demo(folder, setup)
    return setup


def _is_tried(folder: Path) -> bool:
    """Has this build of the package loaded the model before? Then it need not be tried, which would import torch."""
    stamp = folder.parent / f"{folder.name}.build"
    return folder.is_dir() and stamp.is_file() and stamp.read_text("ascii") == _build()


def _build() -> str:
    """Identifies the sources of the package: they may change without a new version while somebody works on them."""
    root = Path(taxosphere.__file__).parent
    files = sorted(path for path in root.rglob("*.py") if "service" not in path.relative_to(root).parts[:1])
    lines = [f"{path.relative_to(root)} {(stat := path.stat()).st_size} {stat.st_mtime_ns}" for path in files]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _is_empty(setup: Setup) -> bool:
    """Has the queue no items? So it is where the first start was interrupted."""
    from taxosphere.service import store_items
    from taxosphere.service.store import Store

    setup.prepare()
    with Store(setup.url) as store, store.reading() as connection:
        return not store_items.counts(connection)


def _make_demo(folder: Path, setup: Setup) -> None:
    """Train the model, unless one is there that can be loaded, and fill the queue, unless it has items."""
    from taxosphere.cli.commands.demo import HIDDEN, QUICK, hidden_edam
    from taxosphere.cli.progress import steps
    from taxosphere.model.presets import auto
    from taxosphere.polaris import Polaris
    from taxosphere.service.jobs import add_to_queue, suggest_anew
    from taxosphere.service.workbench import Workbench

    taxonomy, split = hidden_edam(0)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with steps() as report:
        model = _loaded(folder)
        if model is None:
            output.say(
                f"the first time: {HIDDEN} of EDAM's {len(taxonomy):,} concepts are hidden, a model is trained on the "
                "rest (a minute or two)"
            )
            model = Polaris(auto(split.seed).with_overrides(QUICK)).fit(split.seed, progress=report)
            model.save(folder)
            output.say(f"kept in {folder.parent} for the next time")
        workbench = Workbench(setup, load_model=False)
        try:
            if add_to_queue(workbench, model, list(split.queries), report)["already"]:
                suggest_anew(workbench, model, report)  # what is there was suggested by another build
        finally:
            workbench.close()
    atomic.write_text(folder.parent / f"{folder.name}.build", _build())


def _loaded(folder: Path) -> Polaris | None:
    """The model of the demonstration; None where there is none, or one that another build wrote and this cannot use."""
    from taxosphere.polaris import Polaris

    try:
        model = Polaris.load(folder)
        model.suggest("sequence alignment", k=1)
    except Exception as error:  # whatever an older build has left there is no reason to fail
        if folder.exists():
            output.say(f"the model of an earlier build cannot be used ({error}); another one is trained")
            shutil.rmtree(folder)
        return None
    return model
