"""taxosphere expand: attach a whole list of new concepts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.cli.options import BY, DEVICE, IDS, LIST_MAP, MODEL, QUIET, SCHEDULER, WORKERS, roles
from taxosphere.cli.progress import steps
from taxosphere.cli.signals import DISCARDED, RESUMABLE, Stopped
from taxosphere.errors import InputError, require
from taxosphere.percent import percent

if TYPE_CHECKING:
    from taxosphere.decisions.events import Event
    from taxosphere.decisions.review import ReviewRow
    from taxosphere.decisions.review_reader import Origin
    from taxosphere.placing.expansion import Expansion, Placement
    from taxosphere.placing.place_list import Passes
    from taxosphere.polaris import Polaris
    from taxosphere.scale.placer import Placer
    from taxosphere.scale.stream import Work
    from taxosphere.service.store import Store
    from taxosphere.service.store_expand import Memory
    from taxosphere.taxonomy import Concept, Taxonomy


def expand(
    model: Path = MODEL,
    new: Path = typer.Argument(
        ..., metavar="NEW", help="New concepts: .tsv, .csv, .xlsx, .parquet, .jsonl, .txt, or - for stdin."
    ),
    out: Path = typer.Option(
        ..., "-o", "--out", metavar="OUT", help="The expanded taxonomy; the suffix is its format."
    ),
    accept: float = typer.Option(0.8, min=0.0, max=1.0, metavar="P", help="Attach what is at least this sure."),
    insert: float | None = typer.Option(
        None, min=0.0, max=1.0, metavar="P", help="Also move existing children below a new concept when this sure."
    ),
    review: Path | None = typer.Option(
        None, metavar="REVIEW", help="Write what a person must decide here: .csv or .xlsx for Excel, or .tsv."
    ),
    db: str = typer.Option(
        "",
        "--db",
        metavar="URL",
        help="Decisions so far: what was decided is not asked again. A file, or postgresql://…",
    ),
    titles: list[str] = LIST_MAP,
    by: str = BY,
    ids: str = IDS,
    device: str | None = DEVICE,
    skip_broken: bool = typer.Option(False, "--skip-broken", help="Go on without images that cannot be used."),
    resume: bool = typer.Option(False, "--resume", help="Go on where a stopped run left off."),
    workers: int = WORKERS,
    scheduler: str = SCHEDULER,
    quiet: bool = QUIET,
    json: bool = typer.Option(False, "--json", help="Print every placement as one JSON document."),
) -> None:
    """Attach new concepts where the model is sure and list the rest for review.

    New concepts may be parents of one another, in any order; in a list of more than 2,048 each meets its nearest
    ones. Columns of the list that are not ours go along into the
    review table and the output. Where the list has a column 'image' and the model knows images, they are used too; a
    concept without a name is placed by them alone.

    The review table has a column 'decision' to be filled in; 'taxosphere apply' carries it out. The output has the
    format its suffix names and keeps everything the taxonomy carried.

    Example: taxosphere expand ontology-model new.csv -o ontology.obo --accept 0.8 --review review.xlsx
    """
    from taxosphere import artifact
    from taxosphere.decisions import provenance, spreadsheets
    from taxosphere.placing.list_reader import read_list
    from taxosphere.taxonomy.formats import registry
    from taxosphere.taxonomy.formats.io.streams import STREAM
    from taxosphere.taxonomy.ids import parse_pattern

    targets = [out] if review is None else [out, review]
    _refuse(targets, model, new)
    registry.check_target(out)
    if review is not None:
        atomic.refuse_file(review)
        spreadsheets.suffix_of(review)
    if ids:
        parse_pattern(ids)
    if db and (resume or scheduler or workers > 1):
        raise InputError(
            "--db changes what is known while the list is placed; leave --resume, --workers, --scheduler out"
        )
    if resume and new == STREAM:
        raise InputError("--resume reads the list again: give it as a file, not through a pipe")
    mapping = roles(titles)
    concepts = read_list(new, output.warn, mapping=mapping)
    artifact.read_manifest(model)
    pool = _Pool(model, out, new, workers, scheduler, device, mapping, resume=resume, quiet=quiet)
    from taxosphere.polaris import Polaris  # after the faults that need no torch

    # Decisions of a database change the model that it goes on with; others share the one of this process.
    fitted = Polaris.load(model, device=device) if db else pool.placer.model
    with nullcontext() if not db else _store(db) as store:
        run = _Run(fitted, new, concepts, _origin(fitted, model, by, pool.begin()), ids, store)
        expansion, events = run.expand(pool, accept=accept, insert=insert, skip_broken=skip_broken)
        grown = provenance.add(expansion.taxonomy, events, out, new_columns=bool(by))
        for line in registry.unsupported_content(grown, out):
            output.warn(f"{out}: {line}")
        grown.write(out)
        if review is not None:
            run.write_review(expansion, review)
    pool.forget()
    if json or not quiet:
        _show(expansion, json=json)
    if not quiet:
        run.say_counts(expansion)
        output.say(f"wrote {' and '.join(map(str, targets))}")


def _store(db: str) -> Store:
    require("sqlalchemy", "service")
    from taxosphere.service.store import Store

    return Store(db)


def _origin(fitted: Polaris, model: Path, by: str, began: str) -> Origin:
    from taxosphere.decisions.events import digest
    from taxosphere.decisions.review_reader import Origin

    version = hashlib.sha256((model / "manifest.json").read_bytes()).hexdigest()[:12]
    return Origin(by=by, at=began, base=digest(fitted.taxonomy), model=version)


@dataclass(frozen=True)
class _Pool:
    """Where and how the list is ranked."""

    model: Path
    out: Path
    new: Path
    workers: int
    scheduler: str
    device: str | None
    mapping: dict[str, str]
    _: KW_ONLY
    resume: bool
    quiet: bool

    @cached_property
    def placer(self) -> Placer:
        """What ranks; workers have a thread each."""
        from taxosphere.scale.placer import Placer

        threads = 1 if self.workers > 1 or self.scheduler else None
        return Placer(self.model, k=10, sentences=False, threads=threads, device=self.device)

    @contextmanager
    def passes(self, taxonomy: Taxonomy) -> Iterator[Passes]:
        """Passes over the list that keep their answers beside the output until it is written."""
        from taxosphere.scale import stream
        from taxosphere.scale.answer_store import AnswerStore
        from taxosphere.scale.executors import open_executor
        from taxosphere.scale.passes import StoredPasses

        with open_executor(self.workers, self.scheduler) as executor:
            if self.new == Path("-"):
                with stream.temporary_store() as store:
                    yield StoredPasses(self.placer, executor, store, taxonomy)
                return
            try:
                with AnswerStore(self._work.store_path) as store:
                    yield StoredPasses(self.placer, executor, store, taxonomy)
            except (KeyboardInterrupt, Stopped):
                output.say(RESUMABLE)
                raise

    @cached_property
    def _work(self) -> Work:
        from taxosphere.scale import stream

        request = stream.make_request(stream.file_digest(self.new), self.model, map=self.mapping)
        return stream.work_beside(self.out, request)

    def begin(self) -> str:
        """The time at which this run, or the one that it resumes, began."""
        from taxosphere.decisions.events import now

        if self.new == Path("-"):
            return now()
        if self._work.begun and not self.resume:
            output.say(DISCARDED)
        self._work.begin(resume=self.resume)
        return self._work.remember("began", now())

    def forget(self) -> None:
        """Remove what was kept for a resumed run."""
        if self.new != Path("-"):
            self._work.remove()


class _Run:
    """One list, with what is remembered of earlier ones."""

    def __init__(
        self,
        fitted: Polaris,
        new: Path,
        concepts: list[tuple[int, Concept]],
        origin: Origin,
        ids: str,
        store: Store | None,
    ) -> None:
        from taxosphere.placing.concept_list import with_ids

        self.fitted = fitted
        self.new = new
        self.origin = origin
        self.settled = 0
        self.rejected: list[ReviewRow] = []
        self.memory: Memory | None = None
        reserved = set[str]()
        if store is not None:
            from taxosphere.service.store_expand import Memory

            self.memory = Memory(store, fitted.taxonomy)
            if self.memory.folding.attached():
                fitted.adopt(
                    self.memory.folding.taxonomy()
                )  # what was accepted are candidates, and siblings, from now on
            remembered = self.memory.sort_out(concepts)
            concepts, self.settled, self.rejected = remembered.open, remembered.settled, remembered.rejected
            reserved = self.memory.reserved - {concept.id for _, concept in concepts}
        self.concepts = with_ids(concepts, fitted.taxonomy, new, pattern=ids, reserved=reserved)

    def expand(
        self, pool: _Pool, *, accept: float, insert: float | None, skip_broken: bool
    ) -> tuple[Expansion, dict[str, Event]]:
        """Place the list and remember what came of it; with the events of all new concepts in the taxonomy."""
        from taxosphere.cli.images import usable
        from taxosphere.decisions import automatic
        from taxosphere.placing.place_list import place_list

        concepts = usable(self.fitted, self.concepts, skip=skip_broken)
        with (
            steps(quiet=pool.quiet) as report,
            pool.passes(self.fitted.taxonomy) if self.memory is None else nullcontext() as passes,
        ):
            expansion = place_list(
                self.fitted.fitted, concepts, accept=accept, insert=insert, progress=report, passes=passes
            )
        events = {event.item: event for event in automatic.events(expansion, self.origin) if event.kind == "accept"}
        if self.memory is None:
            return expansion, events
        for line in self.memory.record(expansion, self.origin):
            output.warn(line)
        return expansion, self.memory.folding.attached() | events

    def write_review(self, expansion: Expansion, path: Path) -> None:
        """Write what a person must decide, and what was rejected before."""
        from taxosphere.decisions import review, spreadsheets
        from taxosphere.placing.reasons import supporting

        asked = [review.ReviewRow.of(p, supporting(self.fitted.fitted, p.suggestions)) for p in expansion.review]
        between = spreadsheets.delimiter_of(self.new)
        review.write(path, [*asked, *self.rejected], expansion.taxonomy, between=between)

    def say_counts(self, expansion: Expansion) -> None:
        """Say what became of the list."""
        before, rejected = self.settled + len(self.rejected), len(self.rejected)
        if before:
            output.say(f"{before:,} were decided before, {rejected:,} of them rejected")
        attached, asked = len(expansion.attached), len(expansion.review)
        output.say(f"attached {attached:,} of {len(expansion.placements):,}, {asked:,} for review")


def _show(expansion: Expansion, *, json: bool) -> None:
    from taxosphere.images.model import title

    if json:
        output.document({"placements": [p.as_dict() for p in expansion.placements], "moved": expansion.moved})
        return
    rows = [(title(p.concept), _best(p), percent(p.surest, 1), p.state) for p in expansion.placements]
    if not rows:
        return  # what was decided before is said below
    output.table(("new concept", "best parent", "probability", "state"), rows, fit=True)
    _show_list_effects(expansion)
    _show_insertions(expansion)


def _best(placement: Placement) -> str:
    """Names of the parents that a concept was attached to, or of the one that is most probable."""
    return ", ".join(s.name for s in placement.parents or placement.suggestions[:1])


def _show_list_effects(expansion: Expansion) -> None:
    """Where the list changed an answer, and how; elsewhere `suggest` says the same."""
    from taxosphere.images.model import title

    changed = [p for p in expansion.placements if p.suggestions.list_effect]
    if changed:
        print("\nAnswers that other concepts of the list changed ('suggest' gives those without the list):")
    for placement in changed:
        print(f"  {title(placement.concept)}: {placement.suggestions.list_effect}")


def _refuse(targets: list[Path], model: Path, new: Path) -> None:
    """Faults of the places to write to, before the work rather than after it."""
    places = [target.resolve() for target in targets]
    for target, place in zip(targets, places, strict=True):
        if places.count(place) > 1:
            raise InputError("is to hold both the taxonomy and the review table; name two files", target)
        if place == new.resolve():
            raise InputError("is the list of new concepts; write to another file", target)
        if model.resolve() in (place, *place.parents):
            raise InputError("belongs to the model; write to another place", target)


def _show_insertions(expansion: Expansion) -> None:
    from taxosphere.images.model import title

    taxonomy, moved = expansion.taxonomy, {(child, new) for child, _, new in expansion.moved}
    rows = [
        (
            taxonomy.names[taxonomy.position(child)],
            title(p.concept),
            "moved" if (child, p.concept.id) in moved else "proposed",
            percent(probability, 1),
        )
        for p in expansion.attached
        for child, probability in p.takes
    ]
    if rows:
        output.table(("existing concept", "may belong below", "state", "probability"), rows, fit=True)
