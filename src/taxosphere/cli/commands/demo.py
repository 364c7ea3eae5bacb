"""taxosphere demo: the main job from end to end on an ontology that comes with the package."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.cli.progress import steps
from taxosphere.cli.provenance import about
from taxosphere.cli.seeds import LAST_SEED
from taxosphere.errors import require
from taxosphere.percent import percent

if TYPE_CHECKING:
    from taxosphere.report.placement_report import Case

HIDDEN = 60
SHOWN = 15
# A ranker trained on fewer hidden leaves: a demonstration should not keep anybody waiting.
# The prior was learned on EDAM among others, and would have seen what is hidden here.
QUICK = ("ranking.folds=3", "ranking.examples=600", "ranking.nets=2", "ranking.epochs=20", "ranking.prior=false")


def demo(
    out: Path = typer.Option(
        Path("demo-output"), "-o", "--out", metavar="DIR", help="Folder for what the demo writes."
    ),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Which concepts to hide."),
    accept: float = typer.Option(0.8, min=0.0, max=1.0, metavar="P", help="Attach what is at least this sure."),
) -> None:
    """Hide some concepts of the EDAM ontology, train on the rest, put them back, and write a report.

    Example: taxosphere demo --out demo-output
    """
    require("torch", "demo")
    require("edam_ontology", "demo")
    atomic.refuse_place(out)
    from taxosphere.decisions import review
    from taxosphere.model.presets import auto
    from taxosphere.placing.reasons import supporting
    from taxosphere.polaris import Polaris
    from taxosphere.report import placement_page, placement_report

    began = time.perf_counter()
    taxonomy, split = hidden_edam(seed)
    output.say(f"EDAM: {len(taxonomy):,} concepts; {len(split.queries)} of them hidden from the model")
    with steps() as report:
        settings = auto(split.seed).with_overrides(QUICK)
        model = Polaris(settings).fit(split.seed, random_state=seed, progress=report)
    expansion = model.expand(split.queries, accept=accept)
    seconds = time.perf_counter() - began

    out.mkdir(parents=True, exist_ok=True)
    expansion.taxonomy.write(out / "edam-expanded.obo")
    rows = [review.ReviewRow.of(p, supporting(model.fitted, p.suggestions)) for p in expansion.review]
    review.write(out / "review.tsv", rows, expansion.taxonomy)
    report_on = placement_report.of_hidden(
        model,
        split,
        title="Putting concepts back into EDAM",
        lead=f"{len(split.queries)} concepts were taken out of the ontology. A model was trained on the "
        f"{len(split.seed):,} that were left, in {seconds:.0f} seconds, and asked where each of them belongs.",
        command=about(settings.encoder.name)["command"],
    )
    atomic.write_text(out / "report.html", placement_page.write(report_on))
    cases, answers = report_on.cases, report_on.answers
    show(cases)
    first, ten = answers.share_within(1), answers.share_within(10)
    sure = answers.probability >= accept
    print(f"\nasked one by one: right at first place: {first:.0%}, among the first ten: {ten:.0%}, in {seconds:.0f} s")
    print(f"asked one by one, {accept:.0%} or surer: {sure.sum()}, of which right: {(answers.rank[sure] == 1).sum()}")
    attached = expansion.attached
    gold = {case.suggestions.query.id: case.gold for case in cases}
    right = sum(all(parent.id in gold[placement.concept.id] for parent in placement.parents) for placement in attached)
    print(f"placed as one list, attached at {accept:.0%} or surer: {len(attached)}, with all parents right: {right}")
    print(f"left to a person:  {out / 'review.tsv'}")
    print(f"expanded ontology: {out / 'edam-expanded.obo'}\nreport:            {out / 'report.html'}")
    print("judge the suggestions yourself: ./run taxosphere serve --demo")


def hidden_edam(seed: int):  # type: ignore[no-untyped-def]
    """EDAM as its package carries it, and a split that hides some leaves."""
    from importlib.resources import as_file, files

    from taxosphere.taxonomy import Taxonomy
    from taxosphere.taxonomy.split import leaves

    with as_file(files("edam_ontology") / "EDAM.tsv") as path:
        taxonomy = Taxonomy.read(path)
    asked = taxonomy.hideable.sum()
    return taxonomy, leaves(taxonomy, fraction=HIDDEN / asked, seed=seed)


def show(cases: Sequence[Case]) -> None:
    """The surest placements; the report has them all."""
    surest = sorted(cases, key=lambda c: -c.suggestions[0].probability)
    rows = [
        (
            case.suggestions.query.name,
            case.suggestions[0].name,
            percent(case.suggestions[0].probability),
            "yes" if case.rank == 1 else f"no: {case.gold_names[0]}",
        )
        for case in surest[:SHOWN]
    ]
    title = f"the {len(rows)} surest of {len(cases)} placements"
    output.table(("hidden concept", "suggested parent", "probability", "right"), rows, title)
