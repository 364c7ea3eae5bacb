"""Whether the probabilities mean what they say on concepts that were hidden.

    python benchmarks/bench_confidence.py FOLDER… [--split leaves] [--answers 1000] [--out docs/results/confidence.md]

Random states are gone through until there are as many answers. 'leaves' hides another fifth of the leaves in each, so
that the answers are to different questions; 'published' asks the same queries again. Three models per state.

The first is asked all queries: expected calibration error of the first place (15 bins), precision and share of what it
is at least 90 % sure of. A few hundred answers in fifteen bins show an error even when every probability is right; "by
chance" is that error, from answers drawn with the probabilities themselves.

For the others, a fifth of the queries' true parents, drawn at random, are removed from the seed: how often does "none
of these" stand higher for a query that lost all its parents than for one that lost none (AUROC)? Once they are deleted
as from a file, and their children are left without them; once the children move up to the parents, which are then
a right answer by the protocol. Drawing queries instead of parents would take out the large families, and compare easy
queries with hard ones. "Held out" is the same question to the leaves the ranker learned from, asked of seeds that lack
half of their parents. "Foreign" compares the queries of the whole seed with 300 concepts of EDAM, which belong to
bioinformatics and nowhere here.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import page
from numpy.typing import NDArray

from taxosphere import Concept, Polaris, Taxonomy
from taxosphere.cli.commands.demo import hidden_edam
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.evaluation.reliability import auroc, expected_calibration_error
from taxosphere.ranking.folds import Kind
from taxosphere.taxonomy.checks import repair
from taxosphere.taxonomy.split import Split, hide, leaves, published, read_parts

SURE = 0.9
FOREIGN = 300


@dataclass(frozen=True)
class Answers:
    """P(first place), whether it is a true parent, and how well "none of these" tells held-out lists without a parent
    and foreign concepts."""

    sure: NDArray[np.float64]
    right: NDArray[np.bool_]
    none_held_out: float
    none_foreign: float


def asked(split: Split, state: int, encoder: text_encoders.TextEncoder, foreign: list[Concept]) -> Answers:
    model = Polaris().fit(split.seed, encoder=encoder, random_state=state)
    answers = list(model.suggest_many([*split.queries, *foreign], k=1))
    none = [found.none_probability for found in answers]
    first = [found[0] for found in answers[: len(split.queries)]]
    true = [{split.seed.ids[p] for p in gold} for gold in split.gold]
    right = [best.id in gold for best, gold in zip(first, true, strict=True)]
    held = model.out_of_fold
    leaves = np.isin(held.kind, (Kind.LEAF, Kind.PARENT_REMOVED, Kind.PARENT_KEPT))
    return Answers(
        np.array([best.probability for best in first]),
        np.array(right),
        auroc(held.none_probability[leaves], held.parent_removed[leaves]),
        auroc(none, np.arange(len(none)) >= len(first)),
    )


def removed(whole: Split, state: int, encoder: text_encoders.TextEncoder) -> tuple[float, float]:
    """AUROC of "none" between queries whose parents are missing and the others: parents deleted, children moved up."""
    parents = np.random.default_rng(state).permutation(np.unique(np.concatenate(whole.gold)))
    drawn = parents[: max(1, len(parents) // 5)]
    missing = np.array([np.isin(gold, drawn).mean() for gold in whole.gold])
    clear = np.flatnonzero((missing == 0) | (missing == 1))
    asking = [whole.queries[i] for i in clear]

    def told_apart(seed: Taxonomy) -> float:
        model = Polaris().fit(seed, encoder=encoder, random_state=state)
        none = [found.none_probability for found in model.suggest_many(asking, k=1)]
        return auroc(none, missing[clear] == 1)

    deleted = whole.seed.keep(np.delete(np.arange(len(whole.seed)), drawn))
    return told_apart(deleted), told_apart(hide(whole.seed, drawn).seed)


def edam() -> list[Concept]:
    concepts = [concept for concept in hidden_edam(0)[0].concepts() if concept.description]
    return [concepts[i] for i in np.random.default_rng(0).permutation(len(concepts))[:FOREIGN]]


def row(folder: str, split_name: str, answers: int, encoder: text_encoders.TextEncoder) -> str:
    taxonomy, _ = repair(Taxonomy.read(folder))
    foreign = edam()
    found: list[Answers] = []
    none: list[tuple[float, float]] = []
    while sum(len(each.sure) for each in found) < answers:
        state = len(found)
        split = published(taxonomy, read_parts(folder)) if split_name == "published" else leaves(taxonomy, 0.2, state)
        found.append(asked(split, state, encoder, foreign))
        none.append(removed(split, state, encoder))
    sure = np.concatenate([each.sure for each in found])
    right = np.concatenate([each.right for each in found])
    certain = sure >= SURE
    precision = f"{right[certain].mean():.3f}" if certain.any() else "–"
    draws = np.random.default_rng(0).random((200, len(sure))) < sure
    chance = np.mean([expected_calibration_error(sure, drawn) for drawn in draws])
    held = np.mean([[each.none_held_out, each.none_foreign] for each in found], 0)
    error = expected_calibration_error(sure, right)
    figures = [error, chance, sure.mean(), right.mean(), precision, certain.mean(), *np.mean(none, 0), *held]
    told = " | ".join(figure if isinstance(figure, str) else f"{figure:.3f}" for figure in figures)
    return f"| {Path(folder).name} | {len(found)} | {len(sure):,} | {told} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--split", choices=("leaves", "published"), default="leaves")
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    encoder = text_encoders.load("minilm")
    lines = [
        "| set | runs | answers | ECE | by chance | mean probability | right | precision at ≥ 0.9 "
        "| coverage at ≥ 0.9 | none: deleted | none: moved up | none: held out | none: foreign |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for folder in options.folders:
        lines.append(row(folder, options.split, options.answers, encoder))
        print(lines[-1], flush=True)
    if options.out is not None:
        notes = ["FixedVectors MiniLM; the script says what the columns mean."]
        flags = f"--split {options.split} --answers {options.answers}"
        page.write(options.out, "Confidence", Path(__file__).name, options.folders, flags, notes, lines)


if __name__ == "__main__":
    main()
