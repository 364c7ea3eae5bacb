"""How long an epoch takes, as ratios of processor time (a busy machine delays, but does not change them).

    python benchmarks/bench_training.py FOLDER [--preset paper-food]

FOLDER is a taxonomy with a split, for example semeval_food. The frozen epoch is compared with (a) an epoch that encodes
the three texts of every triplet, as the paper's algorithm is written, and (b) one pass of the encoder over the seed; an
epoch of fine-tuning with (a) including its backward pass. What would take minutes is measured on a part and scaled;
the frozen epoch is the real thing, with its optimiser.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import numpy as np
import torch

from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import batches, objectives
from taxosphere.model.config import PolarisConfig
from taxosphere.model.inputs import Inputs, TrainableEncoder
from taxosphere.model.negatives import Lineage
from taxosphere.model.presets import preset
from taxosphere.model.training import distinct, new_network, train_head
from taxosphere.taxonomy.split import published, read_parts

TRIPLETS = 64  # encoded to measure (a)
EPOCHS = 3  # of the frozen head


def seconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def epoch_groups(seed: Taxonomy, config: PolarisConfig) -> list[tuple[batches.Batch, ...]]:
    return list(batches.epoch(seed, Lineage(seed), config.training, np.random.default_rng(0)))


def steps(network: torch.nn.Module, source: Inputs, groups: Sequence, config: PolarisConfig) -> None:
    for group in groups:
        source.begin_step(distinct(group))
        for batch in group:
            embedding = network.from_lifted(source.lifted(batch.concepts))
            objectives.total(objectives.terms(embedding, batch, config.loss), config.loss).backward()
        source.backward()


def triplet_texts(texts: Sequence[str], group: tuple[batches.Batch, ...]) -> list[tuple[str, str, str]]:
    batch = group[0]
    names = [texts[i] for i in batch.concepts]
    return [
        (names[c], names[p], names[n])
        for c, p, row in zip(batch.child, batch.parent, batch.negative, strict=True)
        for n in row
        if n >= 0
    ]


def encode_triplets(encoder: TransformerEncoder, triplets: Sequence[tuple[str, str, str]], backward: bool) -> None:
    with torch.set_grad_enabled(backward):
        for start in range(0, len(triplets), 32):
            flat = [text for triplet in triplets[start : start + 32] for text in triplet]
            vectors = encoder.embed(encoder.tokenize(flat))
            if backward:
                vectors.sum().backward()
    encoder.model.zero_grad()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--preset", default="paper-food")
    options = parser.parse_args()
    seed = published(Taxonomy.read(options.folder), read_parts(options.folder)).seed
    config = preset(options.preset, seed)
    texts = [concept.text for concept in seed.concepts()]
    encoder = TransformerEncoder(locate("minilm"))
    encoder.encode(texts[:32])  # load the weights

    groups = epoch_groups(seed, config)
    pairs = sum(len(batch.child) for group in groups for batch in group)
    triplets = pairs * config.training.negatives
    network = new_network(encoder.dim, config, 0)
    vectors: list[np.ndarray] = []
    one_pass = seconds(lambda: vectors.append(encoder.encode(texts)))
    fixed = torch.from_numpy(vectors[0])
    frozen = seconds(lambda: train_head(fixed, seed, config, random_state=0, epochs=EPOCHS)) / EPOCHS
    sample = triplet_texts(texts, groups[0])[:TRIPLETS]
    separate = seconds(lambda: encode_triplets(encoder, sample, False)) * triplets / len(sample)
    tuned_source = TrainableEncoder(encoder, texts, network, layers=config.training.encoder_layers)
    separate_tuned = seconds(lambda: encode_triplets(encoder, sample, True)) * triplets / len(sample)
    some = sum(len(batch.child) for batch in groups[0])
    tuned = seconds(lambda: steps(network, tuned_source, groups[:1], config)) * pairs / some

    print(f"{len(seed):,} concepts, {pairs:,} pairs, {triplets:,} triplets an epoch, preset {options.preset}")
    print(f"frozen epoch {frozen:.2f} s; one pass of the encoder over the seed {one_pass:.1f} s")
    print(f"every triplet encoded {separate:.0f} s (scaled from {len(sample)}), with backward {separate_tuned:.0f} s")
    print(f"fine-tuning epoch {tuned:.0f} s (scaled from {some} pairs)")
    print(f"frozen epoch against encoding every triplet: {separate / frozen:.0f}x")
    print(f"frozen epoch against one pass of the encoder: {one_pass / frozen:.1f}x")
    print(f"fine-tuning epoch against encoding every triplet: {separate_tuned / tuned:.1f}x")


if __name__ == "__main__":
    main()
