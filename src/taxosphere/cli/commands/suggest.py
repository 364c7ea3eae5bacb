"""taxosphere suggest: where would a new concept go?"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from taxosphere.cli import completion, output
from taxosphere.cli.options import DEVICE, LIST_MAP, MODEL, QUIET, SCHEDULER, WORKERS, roles
from taxosphere.cli.progress import steps
from taxosphere.cli.signals import DISCARDED, RESUMABLE, Stopped
from taxosphere.errors import InputError
from taxosphere.percent import percent

if TYPE_CHECKING:
    from taxosphere.placing.suggestions import Suggestions
    from taxosphere.polaris import Polaris
    from taxosphere.scale.placer import Placer

_EXPLAINED = 3  # suggestions that are shown with their reasons
_STREAM = Path("-")


def suggest(
    model: Path = MODEL,
    name: str = typer.Argument("", metavar="[NAME]", help="The new concept.", shell_complete=completion.names),
    image: list[str] = typer.Option([], "--image", metavar="FILE", help="An image of it, beside or without a name."),
    description: str = typer.Option("", "--description", "-d", help="What it is, in a sentence."),
    file: Path | None = typer.Option(
        None,
        "--file",
        metavar="LIST",
        help="A list instead: .csv, .tsv, .xlsx, .parquet, .jsonl, .txt, or - for stdin.",
    ),
    out: Path | None = typer.Option(
        None, "-o", "--out", metavar="OUT", help="Write the answers to a list here: .jsonl, .csv, .tsv, .parquet, or -."
    ),
    form: str = typer.Option(
        "", "--as", metavar="FORMAT", help="jsonl, csv, tsv or parquet, where OUT has no suffix; jsonl for -."
    ),
    kind: str = typer.Option(
        "",
        "--list-as",
        metavar="FORMAT",
        help="jsonl, csv, tsv or txt, where LIST has no suffix; else it is recognised.",
    ),
    titles: list[str] = LIST_MAP,
    skip_broken: bool = typer.Option(False, "--skip-broken", help="Go on without images that cannot be used."),
    device: str | None = DEVICE,
    k: int = typer.Option(10, "-k", min=1, help="How many parents to suggest."),
    sentences: bool = typer.Option(True, help="Give reasons as sentences in JSON and Parquet."),
    resume: bool = typer.Option(False, "--resume", help="Go on with OUT where a stopped run left off."),
    workers: int = WORKERS,
    scheduler: str = SCHEDULER,
    quiet: bool = QUIET,
    json: bool = typer.Option(False, "--json", help="Print JSON: one document, or with --file a list of them."),
) -> None:
    """Rank parents for new concepts, with probability, path and reasons.

    A list of any length is read, placed and written in parts; its own columns go along.

    Example: taxosphere suggest ontology-model "protein folding" -d "how a chain takes its shape"

    Example: taxosphere suggest bird-model --image front.jpg --image side.jpg

    Example: taxosphere suggest ontology-model --file new.csv -o suggestions.csv --workers 4
    """
    if bool(name.strip() or image) == (file is not None):
        raise InputError("name one new concept or show it with --image, or give a list with --file")
    if file is None:
        if out is not None or form or kind or titles or resume or scheduler or workers > 1:
            raise InputError(
                "--out, --as, --list-as, --map, --resume, --workers and --scheduler are for a list: give it with --file"
            )
        _one(model, name.strip(), description.strip(), image, skip_broken=skip_broken, k=k, device=device, json=json)
        return
    if description:
        raise InputError("--description is for one new concept; a list has a column for it", file)
    if json and (out is not None or form):
        raise InputError("--json prints on standard output; for a file leave it out, -o names the format")
    if resume and out in (None, _STREAM):
        raise InputError("--resume goes on with a file: name it with -o")
    if out is None and not json and not form:
        _show_list(model, file, kind, roles(titles), skip_broken=skip_broken, k=k, device=device)
        return
    from taxosphere.scale.placer import Placer

    threads = 1 if workers > 1 or scheduler else None
    placer = Placer(model, k=k, sentences=sentences, skip_broken=skip_broken, threads=threads, device=device)
    form = "json" if json else form
    columns = roles(titles)
    job = _ListJob(file=file, kind=kind, mapping=columns, out=out or _STREAM, form=form, resume=resume, quiet=quiet)
    _stream(job, placer, model, workers, scheduler)


def _one(
    model: Path,
    name: str,
    description: str,
    images: list[str],
    *,
    skip_broken: bool,
    k: int,
    device: str | None,
    json: bool,
) -> None:
    from taxosphere.cli.images import usable
    from taxosphere.placing.concept_list import with_ids
    from taxosphere.polaris import Polaris
    from taxosphere.taxonomy import Concept

    fitted = Polaris.load(model, device=device)
    if images and fitted.image_model is None:
        raise InputError("this model was fitted on a taxonomy without images, so it cannot look at any", model)
    asked = with_ids([(0, Concept("", name, description, images=tuple(images)))], fitted.taxonomy)
    suggestions = next(fitted.suggest_many(usable(fitted, asked, skip=skip_broken), k=k))
    if not json:
        show(fitted, suggestions)
        return
    output.document(with_sentences(fitted, suggestions))


def _show_list(
    model: Path, file: Path, kind: str, mapping: dict[str, str], *, skip_broken: bool, k: int, device: str | None
) -> None:
    """Show a list as text, as the suggestions come."""
    from taxosphere.cli.images import usable
    from taxosphere.placing import inference
    from taxosphere.placing.list_reader import stream_list
    from taxosphere.polaris import Polaris
    from taxosphere.scale.stream import in_parts

    rows = stream_list(file, output.warn, kind=_checked_kind(kind), mapping=mapping)
    fitted: Polaris | None = None
    for part in in_parts(rows, 256):
        fitted = fitted or Polaris.load(model, device=device)
        concepts = usable(fitted, [row.concept for row in part], skip=skip_broken)
        for suggestions in inference.suggest_many(fitted.fitted, concepts, k=k):
            show(fitted, suggestions)


@dataclass(frozen=True, kw_only=True)
class _ListJob:
    """A list of new concepts and the file for its answers.

    Attributes
    ----------
    file, kind
        The list, and its kind; "" to go by its suffix.
    mapping
        Which column of the list is which, as role → title; empty to go by the titles.
    out, form
        The file of answers, and its format; "" to go by its suffix.
    resume
        Whether to go on from what a stopped run left.
    quiet
        Whether to leave progress out.
    """

    file: Path
    kind: str
    mapping: dict[str, str]
    out: Path
    form: str
    resume: bool
    quiet: bool

    def checked(self) -> _ListJob:
        """The same with its kinds filled in; `InputError` for what cannot be read or written so."""
        from taxosphere import atomic
        from taxosphere.placing.list_reader import kind_of
        from taxosphere.scale.answer_files import SUFFIXES, format_of

        if self.form and self.form not in SUFFIXES.values():
            there = ", ".join(sorted(set(SUFFIXES.values())))
            raise InputError(f"there is no format '{self.form}'; there are {there}")
        form = self.form or ("jsonl" if self.out == _STREAM else format_of(self.out))
        kind = _checked_kind(self.kind) or kind_of(self.file)
        if self.out != _STREAM:
            atomic.refuse_file(self.out)
            if self.file != _STREAM and self.out.resolve() == self.file.resolve():
                raise InputError("is the list of new concepts; write to another file", self.out)
            if self.file == _STREAM and self.resume:
                raise InputError("--resume reads the list again: give it as a file, not through a pipe")
        return replace(self, form=form, kind=kind)


def _stream(job: _ListJob, placer: Placer, model: Path, workers: int, scheduler: str) -> None:
    """Answer a list into a file or a pipe."""
    from taxosphere import artifact, atomic
    from taxosphere.placing.list_reader import stream_list
    from taxosphere.scale import stream
    from taxosphere.scale.executors import open_executor

    job = job.checked()
    file, out, form = job.file, job.out, job.form
    artifact.read_manifest(model)
    rows = stream_list(file, output.warn, kind=job.kind, mapping=job.mapping)
    total = _count(file, job.kind)
    with steps(quiet=job.quiet) as report, open_executor(workers, scheduler) as executor:
        work = stream.Stream(
            rows=rows,
            source=file,
            form=form,
            placer=placer,
            executor=executor,
            report=lambda done: report(done, max(total, done), "suggesting"),
        )
        report(0, total, "suggesting")
        if out == _STREAM:
            with atomic.named("standard output"):
                work.to_stream(sys.stdout.buffer)
            return
        digest = "" if file == _STREAM else stream.file_digest(file)
        options = {"form": form, "k": placer.k, "sentences": placer.sentences, "map": job.mapping}
        request = stream.make_request(digest, model, **options)
        kept = stream.work_beside(out, request)
        if kept.begun and not job.resume:
            output.say(DISCARDED)
        try:
            done = work.to_file(out, kept, resume=job.resume)
        except (KeyboardInterrupt, Stopped):
            if file != _STREAM:
                output.say(RESUMABLE)
            raise
    if not job.quiet:
        output.say(f"wrote {out}: {done:,} concepts")


def _checked_kind(kind: str) -> str:
    from taxosphere.placing.list_reader import KINDS

    if kind and kind not in KINDS:
        raise InputError(f"there is no kind of list '{kind}'; there are {', '.join(KINDS)}")
    return kind


def _count(file: Path, kind: str) -> int:
    """About how many rows a text file has, for the time that is left; 0 where it cannot be told."""
    from taxosphere.taxonomy.formats.io.compression import compression_suffix
    from taxosphere.taxonomy.formats.io.streams import reading

    if file == _STREAM or kind in ("parquet", "workbook") or compression_suffix(file):
        return 0
    with reading(file), file.open("rb") as handle:
        return sum(block.count(b"\n") for block in iter(lambda: handle.read(1 << 20), b""))


def show(model: Polaris, suggestions: Suggestions) -> None:
    """Parents of one query, each on a line with its path; the first ones with their reasons."""
    from taxosphere.images.model import title as called
    from taxosphere.placing.duplicates import SURE
    from taxosphere.placing.reasons import explain

    name = called(suggestions.query)
    for match in suggestions.already:
        likely = "is probably" if match.probability >= SURE else "may be"
        output.say(
            f"note: '{name}' {likely} there already as '{match.name}' ({match.how}; {percent(match.probability)})"
        )
    print(f"{name}  (none of these: {percent(suggestions.none_probability)})")
    explained = explain(model.fitted, suggestions, most=_EXPLAINED)
    for number, suggestion in enumerate(suggestions):
        path = " › ".join(suggestion.path[:-1])
        print(f"  {percent(suggestion.probability):>4}  {suggestion.name}" + (f"   ({path})" if path else ""))
        for reason in explained[number] if number < len(explained) else ():
            print(f"        {'+' if reason.supports else '−'} {reason.text}")
    print()


def with_sentences(model: Polaris, suggestions: Suggestions) -> dict[str, Any]:
    """The document of `--json`: the suggestions, the first of them with their reasons as sentences."""
    from taxosphere.scale.placer import document

    return {"query": suggestions.as_dict()["query"], **document(model.fitted, suggestions, sentences=True)}
