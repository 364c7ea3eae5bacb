"""Whether the paper's training collapses, and at which start of κ: losses, mean cosine and validation MRR by epoch.

    python benchmarks/bench_collapse.py FOLDER [--column science] [--epochs 3] [--state 0] [--set KEY=VALUE …]

Queries are a fifth of the leaves of the published split's seed; its test queries are never looked at.
"""

from __future__ import annotations

import argparse
import time

import torch

from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import presets
from taxosphere.model.history import Epoch, highest
from taxosphere.model.training import fine_tune
from taxosphere.model.validation import Validation
from taxosphere.taxonomy.split import leaves, published, read_parts


def tell(epoch: Epoch, _: int) -> None:
    terms = ", ".join(f"{name} {value:.3f}" for name, value in epoch.terms.items())
    cosine = epoch.mean_cosine or 0.0
    print(f"epoch {epoch.number}: {terms}, mean cosine {cosine:.3f}, MRR {100 * (epoch.mrr or 0):.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--column", default="science")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--state", type=int, default=0, help="random state of the hidden leaves and of the training")
    parser.add_argument("--set", nargs="*", default=[], dest="changes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    began = time.process_time()
    split = leaves(published(Taxonomy.read(options.folder), read_parts(options.folder)).seed, 0.2, options.state)
    trained = fine_tune(
        TransformerEncoder(locate("minilm")),
        [concept.text for concept in split.seed.concepts()],
        split.seed,
        presets.paper(options.column).with_overrides(options.changes),
        random_state=options.state,
        validation=Validation(split.gold, texts=tuple(query.text for query in split.queries)),
        epochs=options.epochs,
        progress=tell,
    )
    state = "collapsed" if trained.collapsed else "not collapsed"
    print(f"{state}; best MRR {100 * highest(trained.history):.1f}; {time.process_time() - began:.0f} CPU s")


if __name__ == "__main__":
    main()
