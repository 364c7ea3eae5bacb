"""How text and images of a new concept are best weighed against each other.

    python benchmarks/bench_fusion.py FOLDER [--runs 3]

A fifth of the leaves with images is held out and never used (those are the test of the bench); of the rest, a fifth is
hidden again and ranked by text, by images and by both, with several powers of the two. Prints mean reciprocal ranks,
hits at one, and the mean log probability of the true parent, which tells honest confidence.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np

from taxosphere import Polaris
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.evaluation import image_protocol
from taxosphere.images.fusion import fuse
from taxosphere.model import presets
from taxosphere.ranking.queries import encode_queries
from taxosphere.ranking.ranker import Ranking
from taxosphere.taxonomy import Concept
from taxosphere.taxonomy.split import hide

POWERS = (0.5, 0.75, 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    images = image_protocol.read(args.folder)
    found: dict[str, list[tuple[float, float, float]]] = {}
    for run in range(args.runs):
        seed = image_protocol.hide_leaves(images, random_state=run).seed.taxonomy
        shown = np.array([bool(entries) for entries in seed.images])
        leaves = np.flatnonzero(shown & (seed.child_csr.counts == 0) & (seed.parent_csr.counts > 0))
        chosen = np.random.default_rng(100 + run).choice(leaves, round(0.2 * len(leaves)), replace=False)
        part = hide(seed, np.sort(chosen))
        config = presets.auto(part.seed).with_overrides([f'images.encoder="{images.encoder_name}"'])
        model = Polaris(config).fit(part.seed, random_state=run)
        by_text, by_image = rank_both(model, part.queries)
        share = config.ranking.none_share
        rankings = {"text": by_text, "images": by_image}
        rankings |= {f"{a:g} {b:g}": fuse(by_text, by_image, share, powers=(a, b)) for a, b in product(POWERS, POWERS)}
        for name, ranked in rankings.items():
            found.setdefault(name, []).append(judge(ranked, part.gold))
        print(f"run {run + 1} of {args.runs}: {len(part.queries)} queries", flush=True)
    print("\n| powers of text and images | MRR | H@1 | log p |\n|---|--:|--:|--:|")
    for name, rows in found.items():
        mrr, hits, sure = np.mean(rows, 0)
        print(f"| {name} | {100 * mrr:.1f} | {100 * hits:.1f} | {sure:.2f} |")


def rank_both(model: Polaris, queries: tuple[Concept, ...]) -> tuple[Ranking, Ranking]:
    """Rankings by text and by images."""
    fitted, concepts = model.fitted, list(queries)
    assert fitted.image_model is not None
    encoded = encode_queries(fitted.network, concepts, encode_text_vectors(fitted.encoder, concepts))
    by_text = fitted.ranker.rank(fitted.index, encoded, n_explained=0)
    return by_text, fitted.image_model.rank(concepts).ranking


def judge(ranked: Ranking, gold: tuple[np.ndarray, ...]) -> tuple[float, float, float]:
    rank, sure = [], []
    for i, parents in enumerate(gold):
        rank.append(min(1 + int((ranked.scores[i] > ranked.scores[i, p]).sum()) for p in parents))
        listed = np.isin(ranked.positions[i], parents)
        sure.append(np.log(max(float(ranked.probabilities[i, listed].sum()), 1e-6)))
    ranks = np.array(rank)
    return float((1 / ranks).mean()), float((ranks == 1).mean()), float(np.mean(sure))


if __name__ == "__main__":
    main()
