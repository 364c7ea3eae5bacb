"""How many true parents retrieval finds, and what the ranking loses beside features of all concepts.

    python benchmarks/bench_retrieval.py TAXONOMY… [--leaves 400] [--encoder minilm] [--out PAGE.md]

Leaves of the published seed are hidden as validation queries; test queries are not touched. A taxonomy without a
published split is taken as a whole. One head is trained without them; the ranking is that of the prior, so that all
rows of a table are ranked by the same weights. Large taxonomies are asked with and without their bound on words.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import page

from taxosphere import Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.evaluation import protocol
from taxosphere.model import embedding
from taxosphere.model.config import PolarisConfig
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import FAMILIES
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.gather import PRODUCTS, Retrieval
from taxosphere.ranking.features.shortlist import make_shortlist
from taxosphere.ranking.prior import read_prior
from taxosphere.ranking.queries import Queries, embed, encode_queries
from taxosphere.ranking.ranker import Ranker, scores_of_all
from taxosphere.ranking.ranker_training import fit_ranker_on_examples
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE
from taxosphere.ranks import best_true_ranks
from taxosphere.taxonomy.split import hide, read_parts
from taxosphere.typing import Longs

EPOCHS = 8
BLOCK = 64
SETTINGS = {
    "all concepts": Retrieval(whole=10**9),
    "nearest 50, by words 15, voters 30": Retrieval(nearest=50, by_words=15, voters=30),
    "nearest 80, by words 30, voters 40 (default)": Retrieval(),
    "nearest 200, by words 60, voters 80": Retrieval(nearest=200, by_words=60, voters=80, compressed=1000),
}
LARGE = {
    "rarest words (default)": Retrieval(),
    "all words": Retrieval(word_uses=10**9),
    "all words, nearest 200, by words 60, voters 80": Retrieval(
        nearest=200, by_words=60, voters=80, compressed=1000, word_uses=10**9
    ),
}
"""Above `PRODUCTS` concepts; features of all of them would not fit into memory."""


def prepare(folder: str, n_leaves: int, encoder: str) -> tuple[CandidateIndex, Queries, tuple[Longs, ...]]:
    """Candidates without the hidden leaves, these leaves as queries, and their true parents."""
    config = PolarisConfig()
    taxonomy, _ = protocol.prepare(Taxonomy.read(folder), repair=True)
    published = (Path(folder) / "split.tsv").is_file()
    seed = protocol.make_split(taxonomy, read_parts(folder), protocol.Plan(), 0).seed if published else taxonomy
    leaves = np.random.default_rng(7).permutation(np.flatnonzero(seed.hideable))[:n_leaves]
    split = hide(seed, np.sort(leaves))
    vectors = encode_text_vectors(text_encoders.load(encoder), list(seed.concepts()))
    kept = np.array([seed.position(id) for id in split.seed.ids])
    hidden = np.array([seed.position(query.id) for query in split.queries])
    network = embedding.frozen(vectors, config, EPOCHS)(split.seed, kept, 0)[1]
    texts = vectors.take(kept)
    index = CandidateIndex(split.seed, texts, embed(network, texts.full))
    return index, encode_queries(network, split.queries, vectors.take(hidden)), split.gold


def measure(index: CandidateIndex, queries: Queries, gold: tuple[Longs, ...], ranker: Ranker, how: Retrieval) -> str:
    """A row of the table."""
    ranks, found, pairs, seconds = [], 0, 0, 0.0
    for start in range(0, len(queries), BLOCK):
        block = slice(start, start + BLOCK)
        part, true = queries.part(block), gold[block]
        pool = compute_features(index, part, FAMILIES, retrieval=how).pool
        began = time.process_time()
        shortlist = make_shortlist(index, part, ranker.families, ranker.first_stage, retrieval=how)
        seconds += time.process_time() - began
        shortlist = make_shortlist(index, part, ranker.families, ranker.first_stage, retrieval=how, all_scores=True)
        ranking = ranker.rank_shortlist(shortlist, part.points.z, index.points.z, index.radius_gaps, n_explained=0)
        ranks.append(best_true_ranks(scores_of_all(ranking), true))
        pairs += len(pool)
        found += sum(
            bool(np.isin(pool.positions[inside], parents).any())
            for inside, parents in zip(pool.slices(), true, strict=True)
        )
    rank, count = np.concatenate(ranks), len(queries)
    cells = (
        f"{pairs / count:.0f}",
        f"{100 * found / count:.1f}",
        f"{100 * np.mean(rank <= 1):.1f}",
        f"{100 * np.mean(1 / rank):.2f}",
        f"{rank.mean():.1f}",
        f"{1e3 * seconds / count:.2f}",
    )
    return " | ".join(cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--leaves", type=int, default=400)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    settings = PolarisConfig().ranking
    ranker = fit_ranker_on_examples(
        None, settings, read_prior(), gamma=10.0, note="", random_state=0, fallback=DEFAULT_FIRST_STAGE
    )
    table = [
        "| taxonomy | retrieval | pool | true parent in it, % | Hit@1 | MRR | mean rank | CPU ms a query |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for folder in options.folders:
        index, queries, gold = prepare(folder, options.leaves, options.encoder)
        measure(index, queries.part(slice(0, BLOCK)), gold[:BLOCK], ranker, Retrieval())  # builds the index
        for name, how in (LARGE if len(index.taxonomy) > PRODUCTS else SETTINGS).items():
            row = f"| {Path(folder).name} ({len(index.taxonomy):,}) | {name} | "
            table.append(row + measure(index, queries, gold, ranker, how) + " |")
            print(table[-1], flush=True)
    if options.out:
        notes = [
            f"{options.leaves} hidden leaves of each published seed; one head trained for {EPOCHS} epochs without",
            "them, ranked by the prior. Concepts outside the pool are ranked by the retrieval score. CPU time of the",
            f"shortlist (retrieval, features, first stage), blocks of {BLOCK} queries, vectors known, one thread.",
        ]
        page.write(
            options.out, "Retrieval", "bench_retrieval.py", options.folders, f"--leaves {options.leaves}", notes, table
        )


if __name__ == "__main__":
    main()
