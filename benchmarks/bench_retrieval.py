"""How many true parents retrieval finds, and what the ranking loses beside features of all concepts.

    python benchmarks/bench_retrieval.py TAXONOMY… [--leaves 400] [--encoder minilm] [--out PAGE.md]
    python benchmarks/bench_retrieval.py TAXONOMY… --fitted 5 [--dense-fit] [--leaves 600] [--encoder minilm]

Leaves of the published seed are hidden as validation queries; test queries are not touched. A taxonomy without a
published split is taken as a whole. One head is trained without them; the ranking is that of the prior, so that all
rows of a table are ranked by the same weights. Large taxonomies are asked with and without their bound on words.

With --fitted a whole model is fitted without the leaves, in each of that many runs with other leaves, and asked twice:
with the pool that it always has, and with all concepts in it. --dense-fit also fits it a second time, with all concepts
in every pool of the training too, and asks that one with all of them: the version without retrieval.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np
import page

from taxosphere import Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.evaluation import protocol
from taxosphere.model import embedding
from taxosphere.model.config import PolarisConfig
from taxosphere.ranking import crossfit
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.catalogue import FAMILIES
from taxosphere.ranking.features.compression import PRODUCTS
from taxosphere.ranking.features.compute import compute_features
from taxosphere.ranking.features.gather import Retrieval
from taxosphere.ranking.features.shortlist import make_shortlist
from taxosphere.ranking.prior import read_prior
from taxosphere.ranking.queries import Queries, embed, encode_queries
from taxosphere.ranking.ranker import Ranker, scores_of_all
from taxosphere.ranking.ranker_training import fit_ranker_on_examples
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE
from taxosphere.ranks import best_true_ranks
from taxosphere.taxonomy.split import Split, hide, read_parts
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
    split, loaded = hidden_leaves(folder, n_leaves, 7), text_encoders.load(encoder)
    texts = encode_text_vectors(loaded, list(split.seed.concepts()))
    everything = np.arange(len(split.seed))
    network = embedding.frozen(texts, PolarisConfig(), EPOCHS)(split.seed, everything, 0)[1]
    index = CandidateIndex(split.seed, texts, embed(network, texts.full))
    asked = encode_queries(network, split.queries, encode_text_vectors(loaded, split.queries))
    return index, asked, split.gold


def hidden_leaves(folder: str, n_leaves: int, random_state: int) -> Split:
    """Some leaves taken out of the published seed, or of a taxonomy without one."""
    taxonomy, _ = protocol.prepare(Taxonomy.read(folder), repair=True)
    published = (Path(folder) / "split.tsv").is_file()
    seed = protocol.make_split(taxonomy, read_parts(folder), protocol.Plan(), 0).seed if published else taxonomy
    leaves = np.random.default_rng(random_state).permutation(np.flatnonzero(seed.hideable))[:n_leaves]
    return hide(seed, np.sort(leaves))


def ranks_with(model: Polaris, split: Split, how: Retrieval) -> np.ndarray:
    """Ranks of the true parents of the hidden leaves, by a fitted model with these pools."""
    fitted, ranks = model.fitted, []
    vectors = encode_text_vectors(fitted.encoder, split.queries)
    queries = encode_queries(fitted.network, split.queries, vectors)
    for start in range(0, len(queries), BLOCK):
        block = slice(start, start + BLOCK)
        part, ranker, index = queries.part(block), fitted.ranker, fitted.index
        shortlist = make_shortlist(index, part, ranker.families, ranker.first_stage, retrieval=how, all_scores=True)
        ranking = ranker.rank_shortlist(shortlist, part.points.z, index.points.z, index.radius_gaps, n_explained=0)
        ranks.append(best_true_ranks(scores_of_all(ranking), split.gold[block]))
    return np.concatenate(ranks)


def compare_fitted(folder: str, options: argparse.Namespace) -> None:
    """Print reciprocal ranks with and without retrieval, run by run."""
    encoder = text_encoders.load(options.encoder)
    differences: dict[str, list[float]] = {}
    for run in range(options.first_run, options.fitted):
        split = hidden_leaves(folder, options.leaves, 100 + run)
        model = Polaris().fit(split.seed, encoder=encoder, random_state=run)
        retrieved = 100 / ranks_with(model, split, Retrieval())
        others = {"all concepts asked": 100 / ranks_with(model, split, SETTINGS["all concepts"])}
        if options.dense_fit:
            with all_concepts_in_training():
                model = Polaris().fit(split.seed, encoder=encoder, random_state=run)
            others["all concepts asked and trained on"] = 100 / ranks_with(model, split, SETTINGS["all concepts"])
        for name, dense in others.items():
            each = retrieved - dense
            differences.setdefault(name, []).append(float(each.mean()))
            error = each.std(ddof=1) / np.sqrt(len(each))
            print(
                f"| {Path(folder).name} ({len(split.seed):,}) | {run} | {name} | {dense.mean():.2f} | "
                f"{retrieved.mean():.2f} | {each.mean():+.2f} ± {error:.2f} |",
                flush=True,
            )
    for name, means in differences.items():
        print(f"{Path(folder).name}, {name}: {np.mean(means):+.2f} in the mean of {len(means)} runs", flush=True)


@contextmanager
def all_concepts_in_training() -> Iterator[None]:
    """While a model is fitted, pools hold all concepts."""
    usual = crossfit.make_shortlist, crossfit.compute_features
    try:
        for function in usual:
            setattr(crossfit, function.__name__, partial(function, retrieval=SETTINGS["all concepts"]))
        yield
    finally:
        crossfit.make_shortlist, crossfit.compute_features = usual


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
    parser.add_argument("--fitted", type=int, default=0, metavar="RUNS")
    parser.add_argument("--first-run", type=int, default=0, metavar="RUN", help="go on from this run of --fitted")
    parser.add_argument("--dense-fit", action="store_true")
    options = parser.parse_args()
    if options.fitted:
        print("| taxonomy | run | beside | its MRR | MRR with retrieval | difference |")
        for folder in options.folders:
            compare_fitted(folder, options)
        return
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
