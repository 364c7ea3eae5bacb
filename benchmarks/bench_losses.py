"""What the losses teach: best validation MRR of the head on the frozen encoder.

    python benchmarks/bench_losses.py FOLDER … [--runs 3]

Queries are leaves hidden from the seed of each published split; its test queries are never looked at.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

from taxosphere import Taxonomy
from taxosphere.encoders import text
from taxosphere.model.presets import auto
from taxosphere.model.training import highest, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import leaves, published, read_parts

TRIPLETS = ("loss.listwise=0", "training.negatives=20", "training.epochs=50", "training.patience=15")
LOSSES = {
    "in-batch softmax, vMF": (),
    "in-batch softmax, cosine": ("loss.logit=cosine",),
    "geodesic triplets": (*TRIPLETS, "loss.geometric=1"),
    "geodesic triplets, log Welsch": (*TRIPLETS, "loss.geometric=1", "loss.welsch=log"),
    "the paper's sum": (*TRIPLETS, "loss.geometric=0.7", "loss.probabilistic=0.3", "loss.svgd=0.1"),
    "the paper's sum and rate": (
        *TRIPLETS,
        "loss.geometric=0.7",
        "loss.probabilistic=0.3",
        "loss.svgd=0.1",
        "training.learning_rate=1e-3",
        "training.noise=0",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    encoder = text.load("minilm")
    for folder in options.folders:
        seed = published(repair(Taxonomy.read(folder))[0], read_parts(folder)).seed
        for name, changes in LOSSES.items():
            best = []
            for run in range(options.runs):
                split = leaves(seed, 0.2, run)
                texts = ([c.text for c in split.seed.concepts()], [query.text for query in split.queries])
                vectors, asked = (torch.from_numpy(encoder.encode(part)) for part in texts)
                config = auto(split.seed).with_overrides(changes)
                head = train_head(
                    vectors, split.seed, config, random_state=run, validation=Validation(split.gold, asked)
                )
                best.append(100 * highest(head.history))
            print(f"{folder.name}, {name}: MRR {np.mean(best):.1f} ± {np.std(best):.1f}", flush=True)


if __name__ == "__main__":
    main()
