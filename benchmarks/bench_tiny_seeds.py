"""How well very small seeds are served, with and without the ranker prior that ships.

    python benchmarks/bench_tiny_seeds.py FOLDER… [--runs 10] [--sizes 20 50 100] [--encoder minilm]
        [--out docs/results/tiny-seeds.md]

Random concepts with everything above them are drawn from the seed of the published split until 20, 50 or 100 are there;
then leaves of the whole seed whose parent was drawn are asked. Test queries are never looked at.

"Probability" is the mean of the first place, which should be near Hit@1. "None" says how often "none of these" stands
higher for a concept of EDAM, which belongs to bioinformatics and nowhere here, than for one of these leaves (AUROC).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import page
from bench_confidence import edam

from taxosphere import Concept, Polaris, Taxonomy
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.evaluation import metrics
from taxosphere.evaluation.reliability import auroc
from taxosphere.methods.registry import get
from taxosphere.model.presets import auto
from taxosphere.taxonomy.split import Split, hide, published, read_parts

SIZES = (20, 50, 100)
ASKED = 60
ROWS = ("encoder-cosine", "without the prior", "with the prior")


def tiny(seed: Taxonomy, size: int, state: int) -> Split:
    """A small part of a taxonomy, and leaves outside it that belong below it."""
    rng = np.random.default_rng(state)
    kept = np.zeros(len(seed), bool)
    for position in rng.permutation(len(seed)).tolist():
        lineage = [position, *seed.ancestor_csr.row(position).tolist()]
        if kept.sum() + (~kept[lineage]).sum() <= size:
            kept[lineage] = True
        if kept.sum() >= size:
            break
    parents = np.zeros(len(seed), bool)
    parents[seed.edge_array[kept[seed.edge_array[:, 0]], 1]] = True
    leaf = seed.child_csr.counts == 0
    asked = rng.permutation(np.flatnonzero(parents & leaf & ~kept))[:ASKED]
    return hide(seed, ~kept, np.sort(asked))


def measure(
    split: Split, state: int, encoder: text_encoders.TextEncoder, foreign: list[Concept]
) -> list[dict[str, float]]:
    config = auto(split.seed)
    models = [
        get("encoder-cosine")().fit(split.seed, encoder=encoder, random_state=state),
        *(
            Polaris(config.with_overrides([f"ranking.prior={on}"])).fit(split.seed, encoder=encoder, random_state=state)
            for on in ("false", "true")
        ),
    ]
    found = [metrics.summary(metrics.judge(m.score(split.queries), split.gold, split.seed)) for m in models]
    for row, model in zip(found, models, strict=True):
        if isinstance(model, Polaris):
            row |= confidence(model, split, foreign)
    return found


def confidence(model: Polaris, split: Split, foreign: list[Concept]) -> dict[str, float]:
    answers = list(model.suggest_many([*split.queries, *foreign], k=1))
    none = [found.none_probability for found in answers]
    sure = [found[0].probability for found in answers[: len(split.queries)]]
    return {"sure": 100 * float(np.mean(sure)), "none": auroc(none, np.arange(len(none)) >= len(sure))}


def table(folders: Sequence[str], runs: int, sizes: Sequence[int], encoder: text_encoders.TextEncoder) -> list[str]:
    foreign = edam()
    lines = [
        "| set | concepts | ranking | Hit@1 | Hit@5 | MR | MRR | probability | none |",
        "|---|--:|---|--:|--:|--:|--:|--:|--:|",
    ]
    for folder in folders:
        seed = published(Taxonomy.read(folder), read_parts(folder)).seed
        for size in sizes:
            found = [measure(tiny(seed, size, state), state, encoder, foreign) for state in range(runs)]
            for row, name in enumerate(ROWS):
                mean = {key: np.mean([each[row][key] for each in found]) for key in found[0][row]}
                figures = [f"{mean[key]:.1f}" for key in ("hit@1", "hit@5", "mr", "mrr")]
                figures += [f"{mean['sure']:.1f}", f"{mean['none']:.2f}"] if "sure" in mean else ["–", "–"]
                lines.append(f"| {Path(folder).name} | {size} | {name} | {' | '.join(figures)} |")
                print(lines[-1], flush=True)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    lines = table(options.folders, options.runs, options.sizes, text_encoders.load(options.encoder))
    if options.out is not None:
        note = (
            f"Means of {options.runs} random parts of each seed, up to {ASKED} queries each, encoder {options.encoder}."
        )
        title = "Very small seeds, with and without the prior"
        page.write(
            options.out,
            title,
            Path(__file__).name,
            options.folders,
            f"--runs {options.runs} --encoder {options.encoder}",
            [note],
            lines,
        )


if __name__ == "__main__":
    main()
