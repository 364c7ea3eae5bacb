"""``taxosphere evaluate``: hide some concepts, fit on the rest, see whether they are put back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from taxosphere import atomic
from taxosphere.cli import output
from taxosphere.cli.costs import say_reading_cost
from taxosphere.cli.options import READER, reads_taxonomy
from taxosphere.cli.progress import steps
from taxosphere.cli.seeds import LAST_SEED, refuse_seeds
from taxosphere.cli.settings import parse
from taxosphere.errors import InputError, require
from taxosphere.methods import registry as methods
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.formats.io.options import ReadOptions, option_name

if TYPE_CHECKING:
    from taxosphere.evaluation.protocol import Plan, Result, Spread

HEADERS = {
    "hit@1": "H@1",
    "hit@5": "H@5",
    "hit@10": "H@10",
    "recall@1": "R@1",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "mr": "MR",
    "mrr": "MRR",
    "wup": "Wu&P",
}


class Split(StrEnum):
    published = "published"
    leaves = "leaves"


class Asked(StrEnum):
    """What `evaluate` hides: `Split`, and two ways to ask about images."""

    published = "published"
    leaves = "leaves"
    scenarios = "scenarios"
    images = "images"
    unseen = "unseen"


class Protocol(StrEnum):
    honest = "honest"
    paper = "paper"


class Queries(StrEnum):
    leaves = "leaves"
    all = "all"


@reads_taxonomy
def evaluate(
    taxonomy: str = typer.Argument(metavar="TAX", help="A taxonomy: a file, a folder, or the name of a benchmark."),
    split: Asked | None = typer.Option(
        None,
        help="'published' reads split.tsv beside the data, 'leaves' hides a random fifth of the leaves, 'scenarios' "
        "asks what a real list holds (inner concepts, branches, foreign and known ones too), 'images' asks for the "
        "labels of a fifth of the images, 'unseen' hides leaves and asks with their images.",
    ),
    foreign: Path | None = typer.Option(
        None, metavar="TAX", help="With 'scenarios': a taxonomy whose concepts do not belong; default: benchmarks."
    ),
    classes: int | None = typer.Option(None, min=2, help="With 'images': labels drawn per run; default: all."),
    queries: Queries = typer.Option(Queries.leaves, help="Ask for hidden leaves only, or for inner concepts too."),
    runs: int = typer.Option(5, min=1, help="Repetitions with other random states."),
    method: str = typer.Option("polaris", help="What to measure; 'taxosphere methods' lists all."),
    encoder: str = typer.Option(
        "minilm", help="Text encoder: minilm, mpnet, fast, qwen, a name, a folder; minilm+qwen."
    ),
    image_encoder: str = typer.Option("auto", help="Encoder of images, as for 'fit'."),
    protocol_: Protocol = typer.Option(
        Protocol.honest,
        "--protocol",
        help="'paper' also measures as the paper does, which is not honest: checkpoint picked on the test queries, "
        "gate counted on the full graph.",
    ),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random state of the first run."),
    fine_tune: bool = typer.Option(
        False, "--fine-tune", help="Let the encoder learn along; 'polaris-paper' does anyway."
    ),
    reader: str | None = READER,
    set_: list[str] = typer.Option([], "--set", metavar="KEY=VALUE", help="A setting of the method; repeatable."),
    without_descriptions: bool = typer.Option(False, help="Let methods read names only."),
    repair: bool = typer.Option(False, help="Break cycles instead of refusing them."),
    data: str | None = typer.Option(None, help="Folder where benchmark names are looked up."),
    out: Path | None = typer.Option(None, help="Keep settings, seed hash, metrics and loss curves of each run here."),
    json: bool = typer.Option(False, "--json", help="Print one JSON document."),
    *,
    reading: ReadOptions,
) -> None:
    """Measure a method on a taxonomy by hiding concepts and asking where they belong.

    Everything is learned from what stays visible; the hidden concepts are asked once per run. Scorers that need no
    training are always measured beside it.

    Example: taxosphere evaluate my-ontology.obo --split leaves --runs 3
    """
    require("torch", "train")
    from taxosphere.encoders.text import registry as text_encoders
    from taxosphere.evaluation import datasets, image_protocol, image_tasks, protocol
    from taxosphere.model import presets
    from taxosphere.model.config import literal

    refuse_seeds(seed, runs)
    flags = {"training.fine_tune": "true" if fine_tune else None, "ranking.reader": reader and literal(reader)}
    overrides = [*set_, *(f"{key}={value}" for key, value in flags.items() if value)]
    settings = parse(overrides)
    tasks = methods.tasks(method)  # an unknown name is better said before the work begins
    if out:
        atomic.refuse_place(out)
    source = datasets.find(taxonomy, data)
    asks_images = "parents" not in tasks or not (source.has_split or reading.stated())
    if split is None and asks_images and image_protocol.has_images(source.path):
        split = Asked.images if "labels" in tasks else Asked.unseen
    if split in (Asked.images, Asked.unseen):
        _refuse(
            "questions about texts",
            {
                "--set": set_,
                "--fine-tune": fine_tune,
                "--reader": reader,
                "--queries": queries is not Queries.leaves,
                "--without-descriptions": without_descriptions,
                "--repair": repair,
                "--protocol": protocol_ is not Protocol.honest and split is Asked.unseen,
                **dict.fromkeys(map(option_name, reading.stated()), True),
            },
        )
        images = image_protocol.read(source.path, image_encoder)
        for fault in images.gallery.faults:
            output.warn(f"passed over {fault}")
        if protocol_ is Protocol.paper:
            output.warn(protocol.NOT_HONEST)
        with steps() as report:
            result = image_tasks.evaluate(
                images,
                method,
                task="unseen" if split is Asked.unseen else "images",
                classes=classes,
                runs=runs,
                random_state=seed,
                encoder=None if encoder == "minilm" else text_encoders.load(encoder),
                protocol=protocol_.value,
                progress=report,
            )
        finish(result, out, json)
        return
    _refuse("questions about images", {"--classes": classes, "--image-encoder": image_encoder != "auto"})
    tree, parts = source.read(reading)
    tree, repairs = protocol.prepare(tree, repair=repair, descriptions=not without_descriptions)
    if split is Asked.scenarios:
        _refuse("questions about single concepts", {"--protocol": protocol_ is not Protocol.honest})
        others = [foreign] if foreign is not None else [other.path for other in datasets.foreign_to(source.name, data)]
        plan = protocol.Plan(runs=runs, random_state=seed, settings=settings)
        figures = _scenarios(source.name, tree, others, method, encoder, plan)
        output.document(figures) if json else show_scenarios(figures)
        return
    published = split is Asked.published or (split is None and parts is not None)
    plan = protocol.Plan("published" if published else "leaves", queries.value, runs, seed, settings, protocol_.value)
    if protocol_ is Protocol.paper:
        output.warn(protocol.NOT_HONEST)
    for line in repairs:
        output.say(f"repaired {line}")
    if reader and method == "polaris":
        asked = len(protocol.make_split(tree, parts, plan, seed).queries)
        say_reading_cost(tree, presets.auto(tree).with_overrides(overrides), runs=runs, n_queries=asked)
    with steps() as report:
        result = protocol.evaluate(
            tree, method, plan, encoder=text_encoders.load(encoder), parts=parts, dataset=source.name, progress=report
        )
    finish(result, out, json, repairs)


def _scenarios(
    dataset: str, tree: Taxonomy, foreign: Sequence[Path], method: str, encoder: str, plan: Plan
) -> Mapping[str, Any]:
    """Figures of every scenario of one taxonomy; concepts of the ``foreign`` ones belong nowhere in it."""
    from taxosphere.encoders.text import registry as text_encoders
    from taxosphere.evaluation import protocol, scenario_protocol

    with steps() as report:
        result = scenario_protocol.evaluate(
            tree,
            [protocol.prepare(Taxonomy.read(path), repair=True)[0] for path in foreign],
            lambda: methods.create(method, plan.settings),
            encoder=text_encoders.load(encoder),
            runs=plan.runs,
            random_state=plan.random_state,
            dataset=dataset,
            progress=report,
        )
    return result.document()


def show_scenarios(document: Mapping[str, Any]) -> None:
    """One table per scenario's figures and one line for the mixture."""
    columns = tuple(dict.fromkeys(key for part in document["scenarios"].values() for key in part))
    rows = [[name, *(_figure(key, part.get(key)) for key in columns)] for name, part in document["scenarios"].items()]
    title = f"{document['dataset']}; runs: {document['runs']}; percentages, except MR and AUROC"
    output.table(["scenario", *columns], rows, title)
    mixture = document["mixture"]
    print(f"mixture: expected calibration error {mixture['ece']:.3f}")
    for line in ("0.8", "0.9"):
        part = mixture[f"at_{line}"]
        print(f"  --accept {line}: precision {part['precision']:.3f}, coverage {part['coverage']:.3f}")


def _figure(key: str, value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if "auroc" in key else f"{value:.1f}"


def finish(result: Result, out: Path | None, json: bool, repairs: tuple[str, ...] = ()) -> None:
    from taxosphere.evaluation import records

    output.document(result.document()) if json else show(result)
    if out:
        for run in (*result.runs, *result.honest):
            records.folder(out, records.record(result.dataset, result.method, result.plan.split, run, repairs))


def _refuse(purpose: str, options: Mapping[str, object]) -> None:
    stated = [name for name, value in options.items() if value]
    if stated:
        raise InputError(f"for {purpose} alone: {', '.join(stated)}; leave out, or choose another --split")


def show(result: Result) -> None:
    from taxosphere.evaluation import paper_numbers
    from taxosphere.evaluation.records import NOT_HONEST_MARK

    document = result.document()
    rows = {result.method: document.get("honest", document["metrics"])} | document["references"]
    if result.honest:
        rows = {f"{result.method} {NOT_HONEST_MARK}": document["metrics"]} | rows
    if printed := paper_numbers.printed(result.dataset, result.method):
        rows[f"{result.method} (paper)"] = {key: {"mean": mean, "std": std} for key, (mean, std) in printed.items()}
    title = (
        f"{result.dataset}, {document['split']} split; queries: {document['queries']:,}, "
        f"candidates: {document['candidates']:,}, runs: {document['runs']}"
    )
    output.table(
        ["method", *HEADERS.values()],
        [[name, *(cell(metrics.get(key)) for key in HEADERS)] for name, metrics in rows.items()],
        title,
    )
    if result.honest:
        print(document["warning"])
    if document["collapsed"]:
        print(f"runs whose training collapsed, all concepts in one place: {document['collapsed']}")
    low, high = document["hit@1_interval"]
    measured = f"{result.method} {NOT_HONEST_MARK}" if result.honest else result.method
    print(f"H@1 of {measured}: 95 % interval {low:.1f} to {high:.1f} (Wilson)")
    seconds = document["seconds"]
    print(f"fit {seconds['fit']:.1f} s, {1000 * seconds['per_query']:.1f} ms per query; percentages, except MR")


def cell(spread: Spread | None) -> str:
    if spread is None:
        return ""
    return f"{spread['mean']:.1f} ± {spread['std']:.1f}" if spread["std"] else f"{spread['mean']:.1f}"
