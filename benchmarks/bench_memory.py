"""Peak memory of every text method on one taxonomy: a few optimiser steps, then all queries against all candidates.

python benchmarks/bench_memory.py FOLDER [method,method]

Each method runs in a process of its own, forked where the taxonomy and its text vectors are already in memory
("before"); the peaks are those of the whole process, so the table can be read against the memory of a machine.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
from pathlib import Path

import torch

from taxosphere import Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.evaluation import protocol
from taxosphere.methods import registry as methods
from taxosphere.methods.baselines.base import Baseline
from taxosphere.taxonomy.split import Split, read_parts

# Memory does not depend on how long training lasts; one look at validation queries is part of it.
SHORT = {"steps": "5", "epochs": "0", "evaluations": "1"}


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(part: Split, encoder: TextEncoder, name: str) -> tuple[float, float, float]:
    before = peak()
    factory = methods.get(name)
    short = isinstance(factory, type) and issubclass(factory, Baseline)
    method = methods.create(name, SHORT if short else None)
    method.fit(part.seed, encoder=encoder, random_state=0)
    trained = peak()
    for _ in protocol.scores(method, part):
        pass
    return before, trained, peak()


def report(part: Split, encoder: TextEncoder, name: str) -> None:
    row = " | ".join(f"{value:,.0f}" for value in measure(part, encoder, name))
    print(f"| {name} | {row} |", flush=True)


def main(folder: str, names: list[str]) -> None:
    torch.set_num_threads(1)  # a fork does not inherit a pool of threads
    taxonomy, _ = protocol.prepare(Taxonomy.read(folder), repair=True)
    part = protocol.make_split(taxonomy, read_parts(Path(folder)), protocol.Plan(), 0)
    encoder = text_encoders.load("minilm")
    encoder.encode([concept.text for concept in (*part.seed.concepts(), *part.queries)])
    print(f"{len(part.queries):,} queries × {len(part.seed):,} candidates\n")
    print("| method | before, MB | training, MB | scoring, MB |\n| --- | --: | --: | --: |", flush=True)
    for name in names:
        child = multiprocessing.get_context("fork").Process(target=report, args=(part, encoder, name))
        child.start()
        child.join()


if __name__ == "__main__":
    trained = [name for name in methods.names("parents") if not name.startswith("polaris")]
    main(sys.argv[1], sys.argv[2].split(",") if len(sys.argv) > 2 else trained)
