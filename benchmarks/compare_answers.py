"""Whether two versions of the code answer alike: the first ten parents of several hundred queries, from one model.

    python benchmarks/compare_answers.py write MODEL FILE [--queries 400]
    python benchmarks/compare_answers.py compare MODEL FILE

`write` is run with one version of the code on the path, `compare` with the other. Queries are made from names and
descriptions of the model's own taxonomy: two names joined, so that nothing has the name already. A third has
no description. Vectors are those of the model's encoder; for a model made by `bench_load.py` they are drawn,
and the time of a query is printed too.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import made_up
import numpy as np

from taxosphere import Concept, Polaris, artifact, atomic
from taxosphere.taxonomy import Taxonomy

K = 10
BATCH = 64


def queries(taxonomy: Taxonomy, count: int) -> list[Concept]:
    """Made from the taxonomy's own texts; the same for every version of the code."""
    rng = np.random.default_rng(7)
    concepts = []
    for number, (first, second) in enumerate(rng.integers(0, len(taxonomy), (count, 2)).tolist()):
        name = f"{taxonomy.names[first].split()[0]} {taxonomy.names[second]}"
        description = "" if number % 3 == 0 else f"{taxonomy.descriptions[second]}, {taxonomy.names[first]}"
        concepts.append(Concept(f"query{number}", name, description))
    return concepts


def answers(folder: Path, count: int) -> list[dict[str, object]]:
    """The first parents of each query, in batches and, for every tenth, alone."""
    manifest = json.loads((folder / artifact.MANIFEST).read_text(encoding="utf-8"))
    made = manifest["encoder"]["name"] == made_up.Known.name
    model = Polaris.load(folder, encoder=made_up.Known() if made else None)
    asked = queries(model.taxonomy, count)
    batch = list(model.suggest_many(asked, k=K))
    if made:  # vectors are known now
        began = time.process_time()
        for start in range(0, count, BATCH):
            list(model.suggest_many(asked[start : start + BATCH], k=K))
        print(f"{1e3 * (time.process_time() - began) / count:.1f} CPU ms a query in batches of {BATCH}")
    alone = [model.suggest(concept, k=K) for concept in asked[::10]]
    return [
        {
            "parents": [suggestion.id for suggestion in one],
            "probabilities": [suggestion.probability for suggestion in one],
            "none": one.none_probability,
            "siblings": [suggestion.siblings for suggestion in one],
            "already": [match.id for match in one.already],
        }
        for one in [*batch, *alone]
    ]


def compare(before: list[dict[str, object]], now: list[dict[str, object]]) -> None:
    """Print in how many answers anything differs."""
    pairs = list(zip(before, now, strict=True))
    for key in ("parents", "siblings", "already"):
        different = sum(json.dumps(a[key]) != json.dumps(b[key]) for a, b in pairs)
        print(f"{key}: {different} of {len(pairs)} answers differ")
    for key in ("probabilities", "none"):
        change = max(float(np.abs(np.subtract(a[key], b[key])).max()) for a, b in pairs)
        print(f"{key}: largest difference {change:.2g}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["write", "compare"])
    parser.add_argument("model", type=Path)
    parser.add_argument("file", type=Path)
    parser.add_argument("--queries", type=int, default=400)
    options = parser.parse_args()
    if options.what == "write":
        atomic.write_text(options.file, json.dumps(answers(options.model, options.queries)))
        return
    before = json.loads(options.file.read_text(encoding="utf-8"))
    compare(before, answers(options.model, options.queries))


if __name__ == "__main__":
    main()
