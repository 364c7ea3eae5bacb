"""Trains the usual model of `placing.near_duplicates` on several taxonomies, and says what can be told.

    python benchmarks/bench_near_duplicates.py so.obo eco.owl unescothes.ttl

Prints the model, and for each taxonomy how many misspelt names and hidden synonyms score above all but 1, 3, 5 and 10 %
of the pairs of siblings.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from taxosphere.encoders.text import registry
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.placing.near_duplicates import NearDuplicates
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Taxonomy

POSITIVE_SHARE = 0.02


def main(paths: Sequence[str]) -> None:
    encoder = registry.load()
    pairs = {}
    for path in paths:
        taxonomy = Taxonomy.read(path)
        near = NearDuplicates(taxonomy, encode_text_vectors(encoder, list(taxonomy.concepts())), encoder)
        pairs[path] = np.array(near.different()), np.array(near.same())
    rows = np.concatenate([part for both in pairs.values() for part in both])
    labels = np.concatenate([np.full(len(part), same) for both in pairs.values() for same, part in enumerate(both)])
    model = Logistic.fit(rows, labels.astype(bool), ridge=1e-3, positive_share=POSITIVE_SHARE)
    print({name: values.round(3).tolist() for name, values in model.to_arrays().items()})
    for path, (different, same) in pairs.items():
        lines = np.quantile(model.probability(different), [0.99, 0.97, 0.95, 0.9])
        above = ", ".join(f"{np.mean(model.probability(same) > line):.0%}" for line in lines)
        print(f"{path}: of {len(same)} above 99, 97, 95 and 90 % of {len(different)} pairs of siblings: {above}")


if __name__ == "__main__":
    main(sys.argv[1:])
