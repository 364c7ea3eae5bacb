"""Peak memory of every text method on one taxonomy: a few optimiser steps, then all queries against all candidates.

python benchmarks/bench_memory.py FOLDER [method,method]

Each method runs in a process of its own. "before" is Python, torch, the taxonomy and its text vectors; the peaks are
those of the whole process, so the table can be read against the memory of a machine.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
from pathlib import Path

from taxosphere import Taxonomy, methods
from taxosphere.baselines.frame import Baseline
from taxosphere.encoders import text
from taxosphere.evaluation import protocol

# Memory does not depend on how long training lasts; one look at validation queries is part of it.
SHORT = {"steps": "5", "epochs": "0", "evaluations": "1"}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(folder: str, name: str) -> tuple[int, int, float, float, float]:
    taxonomy, _ = protocol.prepare(Taxonomy.read(folder), repair=True)
    part = protocol.cut(taxonomy, protocol.split.read_parts(Path(folder)), protocol.Plan(), 0)
    encoder = text.load("minilm")
    encoder.encode([concept.text for concept in (*part.seed.concepts(), *part.queries)])
    before = peak()
    factory = methods.get(name)
    short = isinstance(factory, type) and issubclass(factory, Baseline)
    method = methods.create(name, SHORT if short else None)
    method.fit(part.seed, encoder=encoder, random_state=0)
    trained = peak()
    for _ in protocol.scores(method, part):
        pass
    return len(part.queries), len(part.seed), before, trained, peak()


def main(folder: str, names: list[str]) -> None:
    print("| method | before, MB | training, MB | scoring, MB |\n| --- | --: | --: | --: |")
    for name in names:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            queries, candidates, *megabytes = pool.apply(measure, (folder, name))
        print(f"| {name} | " + " | ".join(f"{value:,.0f}" for value in megabytes) + " |", flush=True)
    print(f"\n{queries:,} queries × {candidates:,} candidates")


if __name__ == "__main__":
    trained = [name for name in methods.names("text") if not name.startswith("polaris")]
    main(sys.argv[1], sys.argv[2].split(",") if len(sys.argv) > 2 else trained)
