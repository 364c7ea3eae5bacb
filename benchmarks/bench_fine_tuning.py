"""Whether fine-tuning the encoder answers validation queries better than the frozen one.

    python benchmarks/bench_fine_tuning.py FOLDER [--runs 3] [--first 0] [--set training.encoder_epochs=5 …]

Queries are leaves hidden from the seed of the published split; its test queries are never looked at.
"""

from __future__ import annotations

import argparse
import time

import torch

from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model.history import Epoch, highest
from taxosphere.model.presets import auto
from taxosphere.model.training import fine_tune, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy.split import leaves, published, read_parts


def tell(epoch: Epoch, total: int) -> None:
    print(f"  epoch {epoch.number} of {total}: MRR {100 * (epoch.mrr or 0):.1f}, {epoch.seconds:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--first", type=int, default=0, help="number of the first run")
    parser.add_argument("--set", nargs="*", default=[], dest="changes")
    options = parser.parse_args()
    seed = published(Taxonomy.read(options.folder), read_parts(options.folder)).seed
    config = auto(seed).with_overrides(options.changes)
    encoder = TransformerEncoder(locate("minilm"))
    for run in range(options.first, options.first + options.runs):
        split = leaves(seed, 0.2, run)
        texts = [concept.text for concept in split.seed.concepts()]
        asked = tuple(query.text for query in split.queries)
        vectors, questions = (torch.from_numpy(encoder.encode(t)) for t in (texts, asked))
        frozen = train_head(vectors, split.seed, config, random_state=run, validation=Validation(split.gold, questions))
        print(f"run {run}: {len(asked)} queries, {len(texts)} concepts, frozen MRR {100 * highest(frozen.history):.1f}")
        began = time.perf_counter()
        tuned = fine_tune(
            encoder,
            texts,
            split.seed,
            config,
            random_state=run,
            start=frozen.network,
            validation=Validation(split.gold, texts=asked),
            epochs=config.training.encoder_epochs,
            progress=tell,
        )
        took = time.perf_counter() - began
        print(f"  fine-tuned MRR {100 * highest(tuned.history):.1f} after {took:.0f} s", flush=True)


if __name__ == "__main__":
    main()
