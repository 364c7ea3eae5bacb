"""The paper's system under its own protocol and under the honest one, one training for both.

    python benchmarks/bench_paper.py OUT semeval_env:5 semeval_sci:5 [--method polaris-paper]
        [--set training.epochs=20 …] [--encoder minilm] [--data FOLDER] [--cost]

``SET:RUNS`` asks for that many random states; ``birds20`` and ``birds200`` are the images of CUB, which always have
frozen encoders and the settings of the paper's table. Every finished run adds two lines to OUT/runs.jsonl, and every
epoch of a text set is kept in a checkpoint, so the same command goes on where it was stopped. Tables and page in OUT
are drawn again after every run. ``--cost`` trains nothing and estimates what an epoch of each text set takes, from 32
of its texts.
"""

from __future__ import annotations

import argparse
import shlex
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from taxosphere.cli import provenance
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.evaluation import datasets, image_protocol, protocol, records
from taxosphere.methods import registry as methods
from taxosphere.methods.polaris_paper import PolarisPaper
from taxosphere.model.checkpoint import Checkpoints
from taxosphere.model.duration import fine_tuning_seconds
from taxosphere.report import bench_page

BIRDS = {"birds20": image_protocol.SAMPLE, "birds200": None}  # labels drawn for a run; None: all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="+", metavar="SET:RUNS")
    parser.add_argument("--method", default="polaris-paper")
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="KEY=VALUE")
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--data")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--checkpoints", type=Path, default=Path(tempfile.gettempdir()) / "taxosphere-paper")
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = dict(change.split("=", 1) for change in options.changes)
    for entry in options.sets:
        name, _, runs = entry.partition(":")
        if options.cost:
            tell_cost(datasets.find(name, options.data), settings, options)
            continue
        for state in range(int(runs or 1)):
            if name in BIRDS:
                measure_images(name, state, options)
                continue
            measure(datasets.find(name, options.data), state, settings, options)


def measure(dataset: datasets.Dataset, state: int, settings: dict[str, str], options: argparse.Namespace) -> None:
    """One run, unless it has been made; both of its records are kept, and the tables drawn again."""
    file = options.out / "runs.jsonl"
    done = {records.key(line) for line in records.read(file)}
    if (dataset.name, options.method, state) in done:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    taxonomy, parts = dataset.read()
    taxonomy, repairs = protocol.prepare(taxonomy, repair=True)
    part = protocol.make_split(taxonomy, parts, protocol.Plan(), state)
    method = methods.create(options.method, settings)
    if isinstance(method, PolarisPaper):
        method.checkpoints = Checkpoints(options.checkpoints / options.method / dataset.name, resume=True)
    began = time.process_time()
    pair = protocol.run_both(method, part, taxonomy, text_encoders.load(options.encoder), state)
    keep([records.record(dataset.name, options.method, "published", run, repairs) for run in pair], options)
    print(f"  {time.process_time() - began:.0f} CPU s, epochs {getattr(method, 'epochs', '')}", flush=True)


def measure_images(name: str, state: int, options: argparse.Namespace) -> None:
    """One run on images, unless it has been made; both of its records are kept, and the tables drawn again."""
    done = {records.key(line) for line in records.read(options.out / "runs.jsonl")}
    if (name, options.method, state) in done:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    images = image_protocol.read(datasets.find("cub200_wikispecies", options.data).path)
    method = methods.create_for_labels(options.method)
    began = time.process_time()
    pair = image_protocol.run_labels_both(
        images, method, text_encoders.load(options.encoder), classes=BIRDS[name], random_state=state
    )
    keep([records.record(name, options.method, records.IMAGES, run) for run in pair], options)
    print(f"  {time.process_time() - began:.0f} CPU s, epochs {getattr(method, 'epochs', '')}", flush=True)


def keep(lines: Sequence[records.Record], options: argparse.Namespace) -> None:
    """Print the records of a run, add them to the file, and draw the tables again."""
    for line in lines:
        figures = {key: round(value, 1) for key, value in line["metrics"].items()}
        print(line["dataset"], line["method"], line["seed"], figures, flush=True)
        records.append(options.out / "runs.jsonl", line)
    draw(options)


def tell_cost(dataset: datasets.Dataset, settings: dict[str, str], options: argparse.Namespace) -> None:
    """Print the estimated processor time of one epoch with the encoder learning along."""
    taxonomy, parts = dataset.read()
    seed = protocol.make_split(protocol.prepare(taxonomy, repair=True)[0], parts, protocol.Plan(), 0).seed
    method = methods.create(options.method, settings)
    assert isinstance(method, PolarisPaper)
    config = method.configure(seed).with_overrides(["training.encoder_epochs=1"])
    encoder = text_encoders.bare(text_encoders.trainable(text_encoders.load(options.encoder)))
    began = time.perf_counter(), time.process_time()
    seconds = fine_tuning_seconds(encoder, seed, config)
    share = (time.process_time() - began[1]) / (time.perf_counter() - began[0])  # of a core, on a busy machine
    epochs = config.training.epochs
    print(f"{dataset.name}: {seconds * share:.0f} CPU s an epoch, {epochs} epochs at most, twice", flush=True)


def draw(options: argparse.Namespace) -> None:
    """Write tables and page of all runs so far, with the commands that made them."""
    shown = [*options.sets, "--method", options.method, "--encoder", options.encoder]
    shown += ["--set", *options.changes] if options.changes else []
    command = shlex.join(["python", "benchmarks/bench_paper.py", f"docs/results/{options.out.name}", *shown])
    about: dict[str, Any] = provenance.about(options.encoder)
    del about["command"]
    about["commands"] = list(dict.fromkeys([*records.read_about(options.out).get("commands", []), command]))
    bench_page.write(options.out, about)


if __name__ == "__main__":
    main()
