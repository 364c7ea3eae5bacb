"""Trains the usual model of `placing.new_parents` on several taxonomies, and says how well each is told by the others.

    python benchmarks/bench_new_parents.py EDAM.tsv so.obo unescothes.ttl

Prints, for each taxonomy, the AUROC between true and other pairs by a model of the other taxonomies; then the model of
all, by feature.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from taxosphere.encoders.text import registry
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.evaluation.reliability import auroc
from taxosphere.placing.new_parents import FEATURES, RIDGE, examples
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Taxonomy


def main(paths: Sequence[str]) -> None:
    encoder = registry.load()
    parts = []
    for path in paths:
        taxonomy = Taxonomy.read(path)
        parts.append(examples(taxonomy, encode_text_vectors(encoder, list(taxonomy.concepts())), 0))

    def fit(numbers: Sequence[int]) -> Logistic:
        rows, labels, weights = (np.concatenate([parts[i][k] for i in numbers]) for k in range(3))
        return Logistic.fit(rows, labels.astype(bool), ridge=RIDGE, weights=weights)

    for number, path in enumerate(paths):
        others = [i for i in range(len(paths)) if i != number]
        if others:
            rows, labels, _ = parts[number]
            print(f"{path}: {auroc(fit(others).probability(rows), labels):.3f} of {labels.sum()} pairs")
    model = fit(range(len(paths)))
    for name, mean, scale, weight in zip(FEATURES, model.mean, model.scale, model.weights, strict=False):
        print(f"    ({mean:.3f}, {scale:.3f}, {weight:.3f}),  # {name}")
    print(f"constant {model.weights[-1]:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
