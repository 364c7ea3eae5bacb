"""Whether the paper's training collapses, and at which start of κ: losses, mean cosine and validation MRR by epoch.

    python benchmarks/bench_collapse.py FOLDER [--column science] [--epochs 3] [--state 0] [--frozen] [--set K=V …]

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
from taxosphere.model.training import TrainedHead, fine_tune, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy.split import Split, leaves, published, read_parts


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
    parser.add_argument("--frozen", action="store_true", help="keep the encoder fixed and train the head alone")
    parser.add_argument("--set", nargs="*", default=[], dest="changes")
    options = parser.parse_args()
    torch.set_num_threads(1)
    began = time.process_time()
    split = leaves(published(Taxonomy.read(options.folder), read_parts(options.folder)).seed, 0.2, options.state)
    trained = train(split, options)
    state = "collapsed" if trained.collapsed else "not collapsed"
    print(f"{state}; best MRR {100 * highest(trained.history):.1f}; {time.process_time() - began:.0f} CPU s")


def train(split: Split, options: argparse.Namespace) -> TrainedHead:
    encoder = TransformerEncoder(locate("minilm"))
    config = presets.paper(options.column).with_overrides(options.changes)
    texts, asked = ([concept.text for concept in part] for part in (split.seed.concepts(), split.queries))
    how = {"random_state": options.state, "epochs": options.epochs, "progress": tell}
    if options.frozen:
        vectors, queries = (torch.from_numpy(encoder.encode(part)) for part in (texts, asked))
        return train_head(vectors, split.seed, config, validation=Validation(split.gold, queries), **how)
    return fine_tune(encoder, texts, split.seed, config, validation=Validation(split.gold, texts=tuple(asked)), **how)


if __name__ == "__main__":
    main()
