"""How long a large model takes from its folder to its first suggestion, and how much memory.

    python benchmarks/bench_load.py make 1000000 FOLDER
    python benchmarks/bench_load.py measure FOLDER

Concepts and vectors are made up (`made_up.py`), the head is untrained and the ranker is the prior: what is loaded has
the size of a fitted model and was made without a fit. The measurement is a process of its own: imports are counted
apart, then loading, the first suggestion, and a second one; memory is what is resident after each.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import made_up
import numpy as np
import torch

from taxosphere import Concept, Polaris, persistence
from taxosphere.encoders.text.registry import TextVectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.training import new_network
from taxosphere.placing.inference import assemble
from taxosphere.ranking.features.novelty import NoveltyScale
from taxosphere.ranking.prior import load_prior
from taxosphere.ranking.ranker_training import fit_ranker_on_examples


def make(size: int, folder: Path) -> None:
    """A model folder of made-up concepts, without a fit."""
    config = PolarisConfig()
    full = made_up.vectors(size)
    name = full + 0.5 * made_up.vectors(size, 1)
    name /= np.linalg.norm(name, axis=1, keepdims=True)
    ranker = fit_ranker_on_examples(
        None,
        config.ranking,
        load_prior(config.ranking),
        gamma=32.0,
        note="",
        random_state=0,
        novelty=NoveltyScale.of(full),
    )
    fitted = assemble(
        encoder=made_up.Known(),
        network=new_network(made_up.DIM, config, 0).eval(),
        ranker=ranker,
        history=(),
        taxonomy=made_up.taxonomy(size),
        text_vectors=TextVectors(full, name),
    )
    persistence.save(fitted, config, folder)


def resident() -> float:
    """GB of this process that are in memory, mapped files included."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e9


def measure(folder: Path) -> dict[str, dict[str, float]]:
    """Seconds, processor seconds and resident memory by step: imports, loading, the first suggestion, a second one."""
    torch.set_num_threads(1)
    steps = {"imported": {"s": time.process_time(), "CPU s": time.process_time(), "GB resident": resident()}}
    began = time.perf_counter(), time.process_time()

    def done(label: str) -> None:
        nonlocal began
        wall, cpu = time.perf_counter() - began[0], time.process_time() - began[1]
        steps[label] = {"s": wall, "CPU s": cpu, "GB resident": resident()}
        began = time.perf_counter(), time.process_time()

    model = Polaris.load(folder, encoder=made_up.Known())
    done("loaded")
    for label in ("first suggestion", "second suggestion"):
        model.suggest(Concept(label, f"{label} of {model.taxonomy.names[7]}", model.taxonomy.descriptions[7]))
        done(label)
    return steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    made = commands.add_parser("make")
    made.add_argument("size", type=int)
    made.add_argument("folder", type=Path)
    commands.add_parser("measure").add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.command == "make":
        make(options.size, options.folder)
    else:
        print(json.dumps(measure(options.folder), indent=1))


if __name__ == "__main__":
    main()
