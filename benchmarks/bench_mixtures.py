"""Mixtures of von Mises–Fisher components for concepts with many children: is their likelihood worth a feature?

    python benchmarks/bench_mixtures.py FOLDER… [--queries 600] [--run 0]

One mean direction describes a concept badly whose children lie in several places. For every concept with at least 20
children the directions of these are divided by spherical k-means into up to eight components with one concentration;
the query's log density under the mixture is the feature, once for text vectors and once for points on the sphere (for
other concepts a mixture has one component, the mean direction). Leaves hidden from the seed of the published split are
asked, never test queries. Nets are trained on the lists of two thirds of them, with and without the new columns, and
measured on the last third, three times. The lists come from the default first stage, and nets begin without a prior.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from scipy.special import logsumexp

from taxosphere import Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.model.presets import auto
from taxosphere.model.training import train_head
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.shortlist import add_relative_columns, make_shortlist, query_blocks
from taxosphere.ranking.net import train_nets
from taxosphere.ranking.queries import embed, encode_queries
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import leaves, published, read_parts
from taxosphere.typing import Floats

MANY = 20  # children from which on a mixture has several components
PER_COMPONENT, MOST = 10, 8
KAPPA = 20.0
GROUPS = 3
EPOCHS = 12  # the head's; it is the same with and without mixtures


def components(directions: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Spherical k-means: unit means (count, d) and log shares (count,) of the directions (n, d)."""
    means = directions[rng.choice(len(directions), count, replace=False)]
    for _ in range(15):
        nearest = (directions @ means.T).argmax(1)
        sums = np.stack([directions[nearest == j].sum(0) if (nearest == j).any() else means[j] for j in range(count)])
        means = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    shares = np.bincount((directions @ means.T).argmax(1), minlength=count) + 0.5
    return means, np.log(shares / shares.sum())


def mixture_scores(seed: Taxonomy, vectors: Floats, queries: Floats, positions: np.ndarray) -> Floats:
    """(q, k) log density of each query under the mixture of each listed candidate's children, divided by κ."""
    rng = np.random.default_rng(0)
    scores = np.zeros(positions.shape, np.float32)
    for candidate in np.unique(positions).tolist():
        below = seed.child_csr.row(candidate)
        directions = vectors[below] if len(below) else vectors[[candidate]]
        count = min(MOST, -(-len(below) // PER_COMPONENT)) if len(below) >= MANY else 1
        means, shares = components(directions, count, rng)
        rows, places = np.nonzero(positions == candidate)
        scores[rows, places] = logsumexp(KAPPA * queries[rows] @ means.T + shares, axis=1) / KAPPA
    return scores


def reciprocal(scores: Floats, labels: np.ndarray) -> np.ndarray:
    """(q,) 1 / rank of the best right candidate; 0 where none is listed."""
    best = np.where(labels, scores, -np.inf).max(1, keepdims=True)
    return np.where(labels.any(1), 1 / (1 + (scores > best).sum(1)), 0.0)


def measure(folder: str, n_queries: int, run: int) -> None:
    seed = published(repair(Taxonomy.read(folder))[0], read_parts(folder)).seed
    split = leaves(seed, 0.2, 100 + run)
    chosen = np.sort(np.random.default_rng(run).permutation(len(split.queries))[:n_queries])
    queries, gold = [split.queries[i] for i in chosen], [split.gold[i] for i in chosen]
    config, encoder = auto(split.seed), text_encoders.load("minilm")
    views = text_encoders.encode_text_vectors(encoder, list(split.seed.concepts()))
    network = train_head(
        torch.from_numpy(views.full), split.seed, config, random_state=run, epochs=min(EPOCHS, config.training.epochs)
    ).network
    index = CandidateIndex(split.seed, views, embed(network, views.full))
    encoded = encode_queries(network, queries, text_encoders.encode_text_vectors(encoder, queries))
    lists = [
        make_shortlist(index, encoded.part(block), config.ranking.families, DEFAULT_FIRST_STAGE)
        for block in query_blocks(len(queries), len(split.seed))
    ]
    positions = np.concatenate([each.positions for each in lists])
    features = np.concatenate([each.features for each in lists])
    labels = np.stack([np.isin(row, parents) for row, parents in zip(positions, gold, strict=True)])
    _, table = add_relative_columns(lists[0].feature_names, features)
    mixtures = np.stack(
        [
            mixture_scores(split.seed, views.full, encoded.text_vectors.full, positions),
            mixture_scores(split.seed, index.points.z, encoded.points.z, positions),
        ],
        axis=-1,
    )
    wider = np.concatenate([table, mixtures, mixtures - mixtures.max(1, keepdims=True)], axis=-1)
    children = split.seed.child_csr.counts
    wide = np.array([children[parents].max() >= MANY for parents in gold])
    group = np.random.default_rng(run).permutation(len(queries)) % GROUPS
    for name, inputs in (("as it is", table), ("with mixtures", wider)):
        found = np.zeros(len(queries))
        for number in range(GROUPS):
            taught = (group != number) & labels.any(1)
            nets = train_nets(
                inputs[taught], labels[taught], config.ranking, n_nets=3, random_state=run + number, prior=None
            )
            asked = group == number
            found[asked] = reciprocal(nets.scores(nets.standardise(inputs[asked])), labels[asked])
        parts = [
            f"{100 * (found[some] == 1).mean():.1f} / {100 * found[some].mean():.1f} ({some.sum()})"
            if some.any()
            else "–"
            for some in (np.ones(len(found), bool), wide, ~wide)
        ]
        print(f"| {Path(folder).name} | {name} | {' | '.join(parts)} | {time.process_time():.0f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--run", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"| set | ranking | Hit@1 / MRR, all (queries) | parent has {MANY} children or more | fewer | CPU s |")
    print("|---|---|---|---|---|--:|")
    for folder in options.folders:
        measure(folder, options.queries, options.run)


if __name__ == "__main__":
    main()
