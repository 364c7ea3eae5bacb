"""Trains the usual model of `placing.new_parents` on several taxonomies, and says how well each is told by the others.

    python benchmarks/bench_new_parents.py EDAM.tsv so.obo unescothes.ttl
    python benchmarks/bench_new_parents.py --few 5 10 20 iab_content_3.1.tsv audioset_ontology.json

Prints, for each taxonomy, the AUROC between true and other pairs by a model of the other taxonomies; then the model of
all, by feature. With ``--few``: what a taxonomy with so few branches learns, asked about other branches of it, six
times each: AUROC and log loss of the usual model, of one trained on the branches alone and of the one that is used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from taxosphere.encoders.text import registry
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.evaluation.reliability import auroc
from taxosphere.placing.new_parents import FEATURES, RIDGE, USUAL, NewParents, examples, training_lists
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Taxonomy


def main(paths: Sequence[str]) -> None:
    encoder = registry.load()
    parts = []
    for path in paths:
        taxonomy = Taxonomy.read(path)
        lists = training_lists(taxonomy, np.random.default_rng([0, 6]))
        parts.append(examples(taxonomy, encode_text_vectors(encoder, list(taxonomy.concepts())), lists))

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


def few(paths: Sequence[str], counts: Sequence[int]) -> None:
    encoder = registry.load()
    for path in paths:
        taxonomy = Taxonomy.read(path)
        vectors = encode_text_vectors(encoder, list(taxonomy.concepts()))
        for count in counts:
            figures: dict[str, list[tuple[float, float]]] = {}
            for repetition in range(6):
                rng = np.random.default_rng([repetition, count])
                lists = training_lists(taxonomy, rng)
                rng.shuffle(lists)  # type: ignore[arg-type]
                rows, labels, weights = examples(taxonomy, vectors, lists[:count])
                asked, right, importance = examples(taxonomy, vectors, lists[count : count + 60])
                models = {
                    "usual": USUAL.model,
                    "alone": Logistic.fit(rows, labels, ridge=RIDGE, weights=weights),
                    "used": NewParents.fit_examples(rows, labels, weights).model,
                }
                for name, model in models.items():
                    p = np.clip(model.probability(asked), 1e-9, 1 - 1e-9)
                    loss = -np.average(np.log(np.where(right, p, 1 - p)), weights=importance)
                    figures.setdefault(name, []).append((auroc(p, right), float(loss)))
            for name, values in figures.items():
                mean = np.mean(values, 0)
                print(f"{path}: {count} branches, {name}: AUROC {mean[0]:.3f}, log loss {mean[1]:.4f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--few", nargs="+", type=int, default=[])
    options = parser.parse_args()
    if options.few:
        few(options.paths, options.few)
    else:
        main(options.paths)
