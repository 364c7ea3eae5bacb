"""How long a suggestion takes from a loaded model, beside a plain matrix product over the same candidates.

    taxosphere fit FOLDER -o MODEL && python benchmarks/bench_suggest.py MODEL

One new concept with its encoding; then one, and 64 at once, whose vectors are known already. The reference is what any
system must do: multiply 64 vectors with those of all candidates and sort the first hundred out, in numpy.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from taxosphere import Concept, Polaris
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.ranking.features.shortlist import LENGTH

WORDS = "acute chronic renal viral cell protein surgical nursing digital rural".split()


def fresh(count: int, start: int) -> list[Concept]:
    """Names and descriptions nobody asked before, so that no cache answers."""
    return [
        Concept(
            f"new{start + i}",
            f"{WORDS[i % 10]} {WORDS[i // 10 % 10]} syndrome {start + i}",
            f"a made-up disorder, number {start + i}",
        )
        for i in range(count)
    ]


def median_of(repeats: int, action: Callable[[int], object]) -> float:
    """Milliseconds."""
    taken = []
    for number in range(repeats):
        began = time.perf_counter()
        action(number)
        taken.append(time.perf_counter() - began)
    return 1e3 * float(np.median(taken))


class Known:
    """An encoder whose answers are there already: what is measured is the ranking."""

    def __init__(self, encoder: TextEncoder, texts: list[str]) -> None:
        self.name, self.dim = encoder.name, encoder.dim
        self.place = {text: row for row, text in enumerate(texts)}
        self.vectors = encoder.encode(texts)

    def encode(self, texts: list[str]) -> np.ndarray:
        return self.vectors[[self.place[text] for text in texts]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    model = Polaris.load(options.model)
    model.suggest("warm up", "the first one builds the word index")
    one = median_of(options.repeats, lambda number: model.suggest(fresh(1, 100_000 + number)[0]))
    batch = fresh(64, 0)
    texts = sorted({text for c in batch for text in (c.text, c.name)})
    known = Polaris.load(options.model, encoder=Known(text_encoders.load(), texts))
    list(known.suggest_many(batch))
    many = median_of(options.repeats, lambda _: list(known.suggest_many(batch))) / 64
    alone = median_of(len(batch), lambda number: known.suggest(batch[number]))
    rng = np.random.default_rng(0)
    candidates = rng.normal(size=(len(model.taxonomy), 384)).astype(np.float32)
    queries = candidates[:64] + 0.1

    def brute(_: int) -> object:
        similarity = queries @ candidates.T
        near = np.argpartition(-similarity, LENGTH, axis=1)[:, :LENGTH]
        return np.argsort(-np.take_along_axis(similarity, near, 1), axis=1)

    plain = median_of(options.repeats, brute) / 64
    print(f"{len(model.taxonomy):,} candidates")
    print(f"one suggestion with its encoding: {one:.1f} ms")
    print(f"one suggestion without encoding: {alone:.1f} ms")
    print(f"in batches of 64 without encoding: {many:.2f} ms a query")
    print(f"ratio to a numpy brute-force search ({plain:.2f} ms): {many / plain:.1f}")


if __name__ == "__main__":
    main()
