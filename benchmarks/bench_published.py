"""Variants of Polaris on the published splits, each a row of its own beside the default.

    python benchmarks/bench_published.py docs/results/bench-encoders semeval_env:5 --encoder mpnet
        [--reader cross-encoder] [--set ranking.folds=5 …] [--data FOLDER]

``SET:RUNS`` asks for that many random states. The row is called "polaris" with the default settings, else "polaris" and
what differs in brackets. What to take is decided on validation leaves (`bench_encoders.py`, `bench_readers.py`); here
the test queries are asked once for each random state. A line for each run is appended to OUT/runs.jsonl, runs that
stand there are not repeated, and tables and page are drawn again after every run.
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import Any

from taxosphere.cli import provenance
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.evaluation import datasets, protocol, records
from taxosphere.methods import registry as methods
from taxosphere.report import bench_page

DEFAULT = "minilm"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("sets", nargs="+", metavar="SET:RUNS")
    parser.add_argument("--encoder", default=DEFAULT)
    parser.add_argument("--reader", default="")
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="KEY=VALUE")
    parser.add_argument("--data")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    encoder = text_encoders.load(options.encoder)
    for entry in options.sets:
        name, _, runs = entry.partition(":")
        for state in range(int(runs or 1)):
            measure(datasets.find(name, options.data), state, encoder, options)


def row_name(options: argparse.Namespace) -> str:
    """How the variant is called in tables."""
    differs = [] if options.encoder == DEFAULT else [options.encoder]
    differs += [options.reader] if options.reader else []
    differs += options.changes
    return f"polaris ({', '.join(differs)})" if differs else "polaris"


def measure(
    dataset: datasets.Dataset, state: int, encoder: text_encoders.TextEncoder, options: argparse.Namespace
) -> None:
    """One run, unless it has been made; its record is kept, and the tables drawn again."""
    file, name = options.out / "runs.jsonl", row_name(options)
    if (dataset.name, name, state) in {records.key(line) for line in records.read(file)}:
        return
    taxonomy, parts = dataset.read()
    taxonomy, repairs = protocol.prepare(taxonomy, repair=True)
    part = protocol.make_split(taxonomy, parts, protocol.Plan(), state)
    settings = dict(change.split("=", 1) for change in options.changes)
    if options.reader:
        settings["ranking.reader"] = options.reader
    # Vectors of the taxonomy are in the cache by the time the clock starts, whatever the encoder.
    text_encoders.encode_text_vectors(encoder, list(taxonomy.concepts()))
    run = protocol.run(methods.create("polaris", settings), part, encoder, state)
    line = records.record(dataset.name, name, "published", run, repairs)
    line["encoder"] = text_encoders.description(encoder)
    print(dataset.name, name, state, {k: round(v, 1) for k, v in run.metrics.items()}, line["seconds"], flush=True)
    records.append(file, line)
    draw(options)


def draw(options: argparse.Namespace) -> None:
    """Write tables and page of all runs so far, with the commands that made them."""
    shown = [*options.sets, "--encoder", options.encoder]
    shown += ["--reader", options.reader] if options.reader else []
    shown += ["--set", *options.changes] if options.changes else []
    command = shlex.join(["python", "benchmarks/bench_published.py", f"docs/results/{options.out.name}", *shown])
    about: dict[str, Any] = provenance.about("named in each row; minilm where none is")
    del about["command"]
    about["commands"] = list(dict.fromkeys([*records.read_about(options.out).get("commands", []), command]))
    bench_page.write(options.out, about)


if __name__ == "__main__":
    main()
