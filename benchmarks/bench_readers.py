"""What a second reader of the shortlist is worth, on leaves hidden from the seed; test queries are never looked at.

    python benchmarks/bench_readers.py FOLDER --reader cross [--queries 100] [--depth 15] [--runs 1] [--keep DIR]
    python benchmarks/bench_readers.py FOLDER --reader lm=SmolLM2-135M-Instruct.Q4_1.gguf
    python benchmarks/bench_readers.py FOLDER --reader chat=http://localhost:11434/v1 --model smollm2:135m --cache DIR
    python benchmarks/bench_readers.py FOLDER --reader paper --runs 4 --set training.epochs=12 training.bf16=true

Polaris ranks all candidates, the reader reads the first ``depth``. Its scores, standardised within a query, are added
to Polaris's with a weight that is chosen on one half of the queries and measured on the other, both ways. "paper" is
the paper's system, whose encoder learns along: its gated cosine on a sphere of its own, learned without the queries.
Runs hide other leaves and are pooled; with ``--keep`` a run that stands there is not repeated.
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
from taxosphere.methods.polaris_paper import PolarisPaper
from taxosphere.model.presets import auto
from taxosphere.readers.cross_encoder import CrossEncoder
from taxosphere.readers.endpoint import EndpointReader
from taxosphere.readers.language_model import LanguageModelReader
from taxosphere.readers.reader import Reader, candidates_at
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import Split, leaves, published, read_parts

WEIGHTS = (0.0, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
PAPER = "paper"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--reader", required=True)
    parser.add_argument("--model", default="")
    parser.add_argument("--cache", type=Path, default=Path("reader-answers"))
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--depth", type=int, default=15)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--set", nargs="*", default=[], dest="changes", metavar="KEY=VALUE")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    runs = [kept_run(number, options) for number in range(options.runs)]
    first, read, right, seconds = (np.concatenate(parts) for parts in zip(*runs, strict=True))
    made, asked = seconds.reshape(-1, 2).sum(0)
    print(f"{options.folder.name}: {len(first)} queries, {right.any(1).mean():.1%} have a parent in the shortlist")
    print(f"{options.reader}: {made / options.runs:.0f} CPU s to make, {asked / len(first):.2f} CPU s a query")
    print("Hit@1 and MRR within the shortlist, and the weight")
    for name, figures in (
        ("Polaris", figures_of(first, right)),
        ("reader alone", figures_of(read, right)),
        ("both, out of fold", out_of_fold(first, read, right)),
    ):
        print(f"  {name:20} " + " ".join(f"{figure:6.1f}" for figure in figures), flush=True)


Run = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Scores (q, k) of Polaris and the reader, which candidates are right (q, k), CPU seconds to make and to ask (2,)."""


def kept_run(number: int, options: argparse.Namespace) -> Run:
    """One run, from the folder of kept ones where it stands there."""
    name = f"{options.folder.name}-{options.reader.partition('=')[0]}-{options.encoder}-{number}.npz"
    if options.keep is not None and (options.keep / name).exists():
        with np.load(options.keep / name) as kept:
            return kept["first"], kept["read"], kept["right"], kept["seconds"]
    first, read, right, seconds = one_run(number, options)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        np.savez(options.keep / name, first=first, read=read, right=right, seconds=seconds)
    return first, read, right, seconds


def one_run(number: int, options: argparse.Namespace) -> Run:
    """Hide leaves, rank their parents with Polaris, and let the reader read the first of each list."""
    seed = published(repair(Taxonomy.read(options.folder))[0], read_parts(options.folder)).seed
    split = leaves(seed, 0.2, 100 + number)
    queries, gold = split.queries[: options.queries], split.gold[: options.queries]
    encoder = text_encoders.load(options.encoder)
    model = Polaris(auto(split.seed)).fit(split.seed, encoder=encoder, random_state=number)
    scores = model.score(queries)
    shortlist = np.argsort(-scores, axis=1, kind="stable")[:, : options.depth]
    first = np.take_along_axis(scores, shortlist, 1)
    right = np.stack([np.isin(row, parents) for row, parents in zip(shortlist, gold, strict=True)])
    began = time.process_time()
    if options.reader == PAPER:
        changes = dict(change.split("=", 1) for change in options.changes)
        paper = PolarisPaper({"orbit.gate": "hybrid", **changes})
        paper.fit(split.seed, encoder=text_encoders.load("minilm"), random_state=number)
        made = time.process_time()
        read = np.take_along_axis(paper.score(queries), shortlist, 1)
    else:
        reader = make(options, split, number)
        made = time.process_time()
        lists = [candidates_at(split.seed, row.tolist()) for row in shortlist]
        if isinstance(reader, EndpointReader):
            print(reader.estimate(list(zip(queries, lists, strict=True))), flush=True)
        read = np.stack([reader.score(query, each) for query, each in zip(queries, lists, strict=True)])
    read = (read - read.mean(1, keepdims=True)) / (read.std(1, keepdims=True) + 1e-6)
    return first, read, right, np.array([made - began, time.process_time() - made])


def make(options: argparse.Namespace, split: Split, random_state: int) -> Reader:
    """The reader that is asked for; a cross-encoder learns from the seed without the queries."""
    kind, _, source = options.reader.partition("=")
    if kind == "cross":
        return CrossEncoder.fit(split.seed, TransformerEncoder(locate("minilm")), random_state=random_state)
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
