"""``taxosphere study``: one of the paper's ablations or figures, regenerated."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.cli.commands.bench import names
from taxosphere.cli.commands.evaluate import Split
from taxosphere.cli.progress import steps
from taxosphere.cli.provenance import history
from taxosphere.cli.seeds import LAST_SEED, refuse_seeds
from taxosphere.errors import InputError, TaxosphereError, require

if TYPE_CHECKING:
    from taxosphere.evaluation.studies.base import Findings


def study(
    name: str = typer.Argument("", metavar="NAME", help="Which study; --list shows all."),
    show_list: bool = typer.Option(False, "--list", help="List the studies and exit."),
    datasets: str = typer.Option("", help="Names or paths with commas between; default: those of the paper's study."),
    out: Path | None = typer.Option(None, help="Folder for runs, tables and figures; default: studies/NAME."),
    runs: int = typer.Option(3, min=1, help="Random states per variant."),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="The first random state."),
    split: Split = typer.Option(Split.published, help="A data set without split.tsv always hides random leaves."),
    encoder: str = typer.Option(
        "minilm", help="Text encoder: minilm, mpnet, fast, qwen, a name, a folder; minilm+qwen."
    ),
    workers: int = typer.Option(
        0, min=0, help="Processes, 1 for none beside this one; default: one per core, at most four."
    ),
    redo: bool = typer.Option(False, help="Run again what is finished."),
    data: str | None = typer.Option(None, help="Folder where benchmark names are looked up."),
    json: bool = typer.Option(False, "--json", help="Print one JSON document."),
) -> None:
    """Regenerate one of the paper's studies: its table beside the paper's, its figure, and whether the claim holds.

    Finished runs are kept, so a study that was stopped goes on where it was.

    Example: taxosphere study kernels --datasets semeval_env --runs 2
    """
    require("torch", "train")
    from taxosphere.evaluation import bench, records, studies
    from taxosphere.evaluation import datasets as sources
    from taxosphere.evaluation.studies.base import Findings
    from taxosphere.report import study_page

    if show_list:
        every = [studies.get(each) for each in studies.MODULES]
        rows = [(each.name, each.title, ", ".join(each.datasets)) for each in every]
        if json:
            output.document([dict(zip(("name", "title", "datasets"), row)) for row in rows])
        else:
            output.table(("study", "what it varies", "data sets"), rows)
        return
    if not name:
        raise InputError("which study? 'taxosphere study --list' shows all")
    refuse_seeds(seed, runs)
    chosen = studies.get(name)
    folder = out or Path("studies") / name
    setup = bench.Setup(split.value, "leaves", encoder)
    places = [sources.find(each, data) for each in names(datasets) or chosen.datasets]
    todo = chosen.cells(places, runs, seed, setup)
    atomic.refuse_place(folder)
    bench.settle(folder, setup)
    with steps() as progress:
        failures = bench.bench(todo, folder, workers=workers or None, redo=redo, progress=progress)
    findings = Findings(chosen, records.read(folder / bench.RUNS))
    verdict = chosen.verdict(findings)
    study_page.write(folder, findings, verdict, history(folder, encoder))
    _show(findings, verdict, json)
    if failures:
        for failure in failures:
            output.warn(f"{' '.join(map(str, failure.cell.key))} failed: {failure.error}")
        raise TaxosphereError(f"{len(failures)} of {len(todo)} runs failed; run the same command to try them again")


def _show(findings: Findings, verdict: str, json: bool) -> None:
    from taxosphere.report import study_page as report

    if json:
        rows = [
            {"dataset": dataset, "variant": label, "metrics": findings.mean_std(dataset, label)}
            for dataset in findings.datasets
            for label in findings.labels(dataset)
        ]
        output.document({"study": findings.study.name, "verdict": verdict, "rows": rows})
        return
    for table in report.study_tables(findings):
        output.table(table.header, table.rows, f"\n{table.section} – {table.title}")
    print(f"\n{verdict}")
