"""What a second reader of the shortlist is worth, on leaves hidden from the seed; test queries are never looked at.

    python benchmarks/bench_readers.py FOLDER --reader cross [--queries 100] [--depth 15] [--run 0]
    python benchmarks/bench_readers.py FOLDER --reader lm=SmolLM2-135M-Instruct.Q4_1.gguf
    python benchmarks/bench_readers.py FOLDER --reader chat=http://localhost:11434/v1 --model smollm2:135m --cache DIR

Polaris ranks all candidates, the reader reads the first ``depth``. Its scores, standardised within a query, are added
to Polaris's with a weight that is chosen on one half of the queries and measured on the other, both ways.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from taxosphere import Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model.presets import auto
from taxosphere.readers.cross_encoder import CrossEncoder
from taxosphere.readers.endpoint import EndpointReader
from taxosphere.readers.language_model import LanguageModelReader
from taxosphere.readers.reader import Reader, candidates_at
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import Split, leaves, published, read_parts

WEIGHTS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", required=True)
    parser.add_argument("--model", default="")
    parser.add_argument("--cache", type=Path, default=Path("reader-answers"))
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--depth", type=int, default=15)
    parser.add_argument("--run", type=int, default=0)
    options = parser.parse_args()
    seed = published(repair(Taxonomy.read(options.folder))[0], read_parts(options.folder)).seed
    split = leaves(seed, 0.2, 100 + options.run)
    queries, gold = split.queries[: options.queries], split.gold[: options.queries]
    model = Polaris(auto(split.seed)).fit(split.seed, encoder=text_encoders.load("minilm"), random_state=options.run)
    scores = model.score(queries)
    shortlist = np.argsort(-scores, axis=1, kind="stable")[:, : options.depth]
    first = np.take_along_axis(scores, shortlist, 1)
    right = np.stack([np.isin(row, parents) for row, parents in zip(shortlist, gold, strict=True)])
    began = time.process_time()
    reader = make(options, split)
    trained = time.process_time()
    lists = [candidates_at(split.seed, row.tolist()) for row in shortlist]
    if isinstance(reader, EndpointReader):
        print(reader.estimate(list(zip(queries, lists, strict=True))), flush=True)
    read = np.stack([reader.score(query, each) for query, each in zip(queries, lists, strict=True)])
    asked = (time.process_time() - trained) / len(queries)
    read = (read - read.mean(1, keepdims=True)) / (read.std(1, keepdims=True) + 1e-6)
    print(f"{options.folder.name}: {len(queries)} queries, {right.any(1).mean():.1%} have a parent in the shortlist")
    print(f"{reader.name}: {trained - began:.0f} CPU s to make, {asked:.2f} CPU s a query")
    print("Hit@1 and MRR within the shortlist, and the weight")
    for name, figures in (
        ("Polaris", figures_of(first, right)),
        ("reader alone", figures_of(read, right)),
        ("both, out of fold", out_of_fold(first, read, right)),
    ):
        print(f"  {name:20} " + " ".join(f"{figure:6.1f}" for figure in figures), flush=True)


def make(options: argparse.Namespace, split: Split) -> Reader:
    """The reader that is asked for; a cross-encoder learns from the seed without the queries."""
    kind, _, source = options.reader.partition("=")
    if kind == "cross":
        return CrossEncoder.fit(split.seed, TransformerEncoder(locate("minilm")), random_state=options.run)
    if kind == "lm":
        return LanguageModelReader.load(source)
    return EndpointReader(source, options.model, cache=options.cache)


def reciprocal_ranks(scores: np.ndarray, right: np.ndarray) -> np.ndarray:
    """1 / rank (q,) of the best right candidate in scores (q, n); 0 where there is none."""
    best = np.where(right, scores, -np.inf).max(1, keepdims=True)
    ranks = 1 + (scores > best).sum(1)
    return np.where(right.any(1), 1 / ranks, 0.0)


def figures_of(scores: np.ndarray, right: np.ndarray) -> tuple[float, float]:
    reciprocal = reciprocal_ranks(scores, right)
    return 100 * float((reciprocal == 1).mean()), 100 * float(reciprocal.mean())


def out_of_fold(first: np.ndarray, read: np.ndarray, right: np.ndarray) -> tuple[float, ...]:
    """Hit@1 and MRR of the sum, and the mean weight, each half measured with the weight of the other."""
    halves = np.arange(len(first)) % 2 == 0
    reciprocal, weights = np.zeros(len(first)), []
    for chosen, measured in ((halves, ~halves), (~halves, halves)):
        tried = [reciprocal_ranks(first[chosen] + w * read[chosen], right[chosen]).mean() for w in WEIGHTS]
        weights.append(WEIGHTS[int(np.argmax(tried))])
        reciprocal[measured] = reciprocal_ranks(first[measured] + weights[-1] * read[measured], right[measured])
    return 100 * float((reciprocal == 1).mean()), 100 * float(reciprocal.mean()), float(np.mean(weights))


if __name__ == "__main__":
    main()
