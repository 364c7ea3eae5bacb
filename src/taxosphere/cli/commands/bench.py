"""``taxosphere bench``: the paper's tables, on its data sets or any others."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.cli.commands.evaluate import Queries
from taxosphere.cli.options import SCHEDULER
from taxosphere.cli.progress import steps
from taxosphere.cli.provenance import history
from taxosphere.cli.seeds import LAST_SEED, refuse_seeds
from taxosphere.errors import InputError, TaxosphereError, require

if TYPE_CHECKING:
    from taxosphere.evaluation.records import Record


class Benched(StrEnum):
    """What `bench` hides."""

    published = "published"
    leaves = "leaves"
    scenarios = "scenarios"


def bench(
    datasets: str = typer.Option(
        "",
        help="Names or paths with commas between; default: the paper's text benchmarks.",
    ),
    methods_: str = typer.Option(
        "",
        "--methods",
        help="Names with commas between; default: every method that fits, on texts but 'polaris-paper'.",
    ),
    out: Path = typer.Option(Path("bench"), help="Folder for runs and reports; an earlier bench in it is continued."),
    runs: int = typer.Option(5, min=1, help="Random states per method."),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="The first random state."),
    split: Benched = typer.Option(
        Benched.published,
        help="A data set without split.tsv always hides random leaves; 'scenarios' asks what a real list holds.",
    ),
    queries: Queries = typer.Option(Queries.leaves, help="Ask for hidden leaves only, or for inner concepts too."),
    encoder: str = typer.Option(
        "minilm", help="Text encoder: minilm, mpnet, fast, qwen, a name, a folder; minilm+qwen."
    ),
    without_descriptions: bool = typer.Option(False, help="Let methods read names only."),
    workers: int = typer.Option(
        0, min=0, help="Processes, 1 for none beside this one; default: one per core, at most four."
    ),
    scheduler: str = SCHEDULER,
    redo: bool = typer.Option(False, help="Run these cells again even where they are finished."),
    data: str | None = typer.Option(None, help="Folder where benchmark names are looked up."),
    compare: str = typer.Option("polaris", help="The method whose differences to all others are tested."),
    tensorboard: Path | None = typer.Option(None, help="Also write loss curves and metrics for TensorBoard here."),
    json: bool = typer.Option(False, "--json", help="Print all records as one JSON document."),
) -> None:
    """Compare methods over taxonomies: data sets × methods × random states.

    A data set with images is asked about them: the labels of some, the parents of concepts never seen.

    Finished cells are kept in OUT/runs.jsonl, so a bench that was stopped goes on where it was. Tables of everything in
    OUT are printed and written to OUT/tables.md and OUT/report.html. Cycles are repaired, and the tables say so.

    Example: taxosphere bench --datasets semeval_env,my-taxonomy --methods polaris,tfidf --runs 3 --out results
    """
    require("torch", "train")
    from taxosphere.evaluation import bench as benches
    from taxosphere.evaluation import datasets as sources
    from taxosphere.report import bench_page

    refuse_seeds(seed, runs)
    places = [sources.find(name, data) for name in names(datasets) or _present(data)]
    if scheduler:  # whose workers have working folders of their own
        places = [replace(place, path=place.path.absolute()) for place in places]
    setup = benches.Setup(split.value, queries.value, encoder, not without_descriptions)
    todo = benches.cells(places, names(methods_), runs, seed, setup, data)
    for folder in filter(None, (out, tensorboard)):
        atomic.refuse_place(folder)
    benches.settle(out, setup)
    with steps() as report:
        failures = benches.bench(todo, out, workers=workers or None, scheduler=scheduler, redo=redo, progress=report)
    lines = bench_page.write(out, history(out, encoder), compare)
    if tensorboard:
        from taxosphere.report.tensorboard import export

        output.say(f"{export(out / 'runs', tensorboard)} runs written to {tensorboard}")
    output.document(lines) if json else show(lines, compare)
    if failures:
        for failure in failures:
            output.warn(f"{' '.join(map(str, failure.cell.key))} failed: {failure.error}")
        raise TaxosphereError(f"{len(failures)} of {len(todo)} cells failed; run the same command to try them again")


def names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _present(data: str | None) -> list[str]:
    from taxosphere.evaluation import datasets as sources

    folders = sources.folders(data)
    present = [name for name in sources.TEXT_BENCHMARKS if any((folder / name).is_dir() for folder in folders)]
    if not present:
        raise InputError(f"no benchmark data found; set {sources.VARIABLE} or --data, or name your own --datasets")
    return present


def show(lines: list[Record], compare: str) -> None:
    from taxosphere.report import bench_page

    for table in bench_page.tables_of(lines, compare):
        output.table(table.header, table.rows, f"\n{table.section} – {table.title}")
        if table.note:
            print(table.note)
