"""What vectors of half the size would change: the first ten parents with all vectors of a model rounded to 16 bits.

    python benchmarks/bench_half_size.py MODEL [MODEL …] [--queries 400]

Encoder vectors and points of the candidates are rounded to float16, which is what a model folder of half the size would
hold, and computed with as float32. Queries are those of `compare_answers.py`; their own vectors stay as they are.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import compare_answers
import numpy as np

from taxosphere import Polaris
from taxosphere.encoders.text.registry import TextVectors
from taxosphere.placing.inference import suggest_many
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.queries import SpherePoints
from taxosphere.typing import Floats


def rounded(values: Floats) -> Floats:
    """The values with the eleven significant bits of float16."""
    return values.astype(np.float16).astype(np.float32)


def half_size(index: CandidateIndex) -> CandidateIndex:
    """The same candidates with rounded vectors."""
    texts, points = index.text_vectors, index.points
    return CandidateIndex(
        taxonomy=index.taxonomy,
        text_vectors=TextVectors(rounded(texts.full), rounded(texts.name)),
        points=SpherePoints(rounded(points.z), rounded(points.mu), points.kappa),
        parsed_tokens=index.tokens,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=Path, nargs="+")
    parser.add_argument("--queries", type=int, default=400)
    options = parser.parse_args()
    for folder in options.models:
        fitted = Polaris.load(folder).fitted
        asked = compare_answers.queries(fitted.index.taxonomy, options.queries)
        exact = list(suggest_many(fitted, asked, k=compare_answers.K))
        halved = list(suggest_many(replace(fitted, index=half_size(fitted.index)), asked, k=compare_answers.K))
        pairs = list(zip(exact, halved, strict=True))
        lists = sum([s.id for s in a] != [s.id for s in b] for a, b in pairs)
        sets = sum({s.id for s in a} != {s.id for s in b} for a, b in pairs)
        first = sum(a[0].id != b[0].id for a, b in pairs)
        change = max(abs(a[0].probability - b[0].probability) for a, b in pairs if a[0].id == b[0].id)
        print(
            f"{folder.name} ({len(fitted.index.taxonomy):,} concepts), {len(pairs)} queries: {lists} lists of "
            f"{compare_answers.K} differ in their order, {sets} in what they hold, {first} in the first place; "
            f"its probability by at most {change:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
