"""Whether the probabilities mean what they say on queries of the published split.

    python benchmarks/bench_confidence.py FOLDER… [--runs 1] [--out docs/results/confidence.md]

Two models per run. The first is asked all queries: expected calibration error of the first place, precision and share
of what it is at least 90 % sure of. A few hundred answers in fifteen bins show an error even when every probability is
right; "by chance" is that error, from answers drawn with the probabilities themselves. For the second model, the true
parents of every other query are taken out of the seed, where their children move up to the grandparents: how often does
"none of these" stand higher for a query that lost its parents than for one that did not (AUROC)?
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from taxosphere import Polaris, Taxonomy, atomic
from taxosphere.encoders import text
from taxosphere.evaluation.reliability import auroc, expected_calibration_error
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import Split, published, read_parts

SURE = 0.9


def asked(split: Split, state: int, encoder: text.TextEncoder) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """P(first place) and whether it is a true parent."""
    model = Polaris().fit(split.seed, encoder=encoder, random_state=state)
    first = [found[0] for found in model.suggest_many(split.queries, k=1)]
    true = [{split.seed.ids[p] for p in gold} for gold in split.gold]
    right = [best.id in gold for best, gold in zip(first, true, strict=True)]
    return np.array([best.probability for best in first]), np.array(right)


def orphaned(taxonomy: Taxonomy, parts: dict[str, str], state: int, encoder: text.TextEncoder) -> float:
    """AUROC of "none" between queries whose parents were taken out of the seed and the others."""
    whole = published(taxonomy, parts)
    chosen = np.random.default_rng(state).permutation(len(whole.queries))[: len(whole.queries) // 2]
    lost = {whole.seed.ids[p] for i in chosen for p in whole.gold[i]}
    split = published(taxonomy, parts | dict.fromkeys(lost, "withheld"))
    gone = {
        whole.queries[i].id for i in range(len(whole.queries)) if lost >= {whole.seed.ids[p] for p in whole.gold[i]}
    }
    some = {whole.queries[i].id for i in range(len(whole.queries)) if lost & {whole.seed.ids[p] for p in whole.gold[i]}}
    queries = [query for query in whole.queries if query.id in gone or query.id not in some]
    model = Polaris().fit(split.seed, encoder=encoder, random_state=state)
    none = [found.none_probability for found in model.suggest_many(queries, k=1)]
    return auroc(none, [query.id in gone for query in queries])


def row(folder: str, runs: int, encoder: text.TextEncoder) -> str:
    taxonomy, _ = repair(Taxonomy.read(folder))
    parts = read_parts(folder)
    split = published(taxonomy, parts)
    found = [asked(split, state, encoder) for state in range(runs)]
    sure, right = (np.concatenate(column) for column in zip(*found, strict=True))
    none = np.mean([orphaned(taxonomy, parts, state, encoder) for state in range(runs)])
    certain = sure >= SURE
    precision = f"{right[certain].mean():.3f}" if certain.any() else "–"
    error = expected_calibration_error(sure, right)
    draws = np.random.default_rng(0).random((200, len(sure))) < sure
    chance = np.mean([expected_calibration_error(sure, drawn) for drawn in draws])
    figures = f"{error:.3f} | {chance:.3f} | {precision} | {certain.mean():.3f} | {none:.3f}"
    return f"| {Path(folder).name} | {len(sure):,} | {figures} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    encoder = text.load("minilm")
    lines = [
        "| set | answers | ECE | precision at ≥ 0.9 | coverage at ≥ 0.9 | none, AUROC |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for folder in options.folders:
        lines.append(row(folder, options.runs, encoder))
        print(lines[-1], flush=True)
    if options.out is not None:
        names = " ".join(f"$TAXOSPHERE_DATA/{Path(folder).name}" for folder in options.folders)
        command = f"`python benchmarks/bench_confidence.py {names} --runs {options.runs} --out {options.out}`"
        body = ["# Confidence", "", command, "", *lines, ""]
        with atomic.file(options.out) as temporary:
            temporary.write_text("\n".join(body), encoding="utf-8")


if __name__ == "__main__":
    main()
