"""What the bounds of a large fit cost in accuracy, on taxonomies where it can be done without them too.

    python benchmarks/bench_caps.py TAXONOMY… [--leaves 600] [--runs 1] [--encoder minilm]

Leaves of the published seed are hidden as queries; test queries are not touched. The ranker learns from a fifteenth of
the other leaves (at least ten times as many stay, as above 24,000 leaves), so that all ways can be compared:

- a head for each fold and one for the queries (as in a small fit),
- one head for all folds and one for the queries,
- one head for all folds and the queries (as in a large fit),
- the first way with an eighth of the validation leaves and of the leaves that choose γ.

All are asked the same queries; differences are means over them with their standard errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from bench_retrieval import hidden_leaves, ranks_with

from taxosphere import Polaris
from taxosphere.encoders.text import registry
from taxosphere.model import early_stopping, embedding, gamma
from taxosphere.model.presets import auto
from taxosphere.ranking.features.gather import Retrieval
from taxosphere.taxonomy import Taxonomy


@contextmanager
def changed(owner: Any, **values: Any) -> Iterator[None]:
    """Other values of a module while a model is fitted."""
    before = {name: getattr(owner, name) for name in values}
    try:
        for name, value in values.items():
            setattr(owner, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(owner, name, value)


def validation_leaves(seed: Taxonomy, share: float) -> int:
    """How many leaves validate a small fit."""
    return round(share * int(np.count_nonzero(seed.hideable)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--leaves", type=int, default=600)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--encoder", default="minilm")
    options = parser.parse_args()
    encoder, fit_head = registry.load(options.encoder), embedding.fit_head
    print("| taxonomy | run | heads | epochs | γ | MRR | difference |")
    for folder in options.folders:
        for run in range(options.runs):
            split = hidden_leaves(folder, options.leaves, 100 + run)
            leaves = int(np.count_nonzero(split.seed.hideable))
            config = auto(split.seed).with_overrides([f"ranking.examples={leaves // 15}"])
            few = validation_leaves(split.seed, config.training.validation) // 8
            apart = {"has_many_leaves": lambda *_: False}
            ways = {
                "one for each fold": [(embedding, apart)],
                "one for all folds": [(embedding, {"fit_head": lambda *a, **k: fit_head(*a, **(k | {"once": False}))})],
                "one for folds and queries": [],
                f"one for each fold, {few} validation leaves": [
                    (embedding, apart),
                    (early_stopping, {"_VALIDATED": few}),
                    (gamma, {"_QUERIES": few}),
                ],
            }
            usual = None
            for name, changes in ways.items():
                ranks, model = fit_and_ask(config, split, encoder, run, changes)
                reciprocal = 100 / ranks
                usual = reciprocal if usual is None else usual
                each = reciprocal - usual
                error = each.std(ddof=1) / np.sqrt(len(each))
                print(
                    f"| {Path(folder).name} ({len(split.seed):,}) | {run} | {name} | {len(model.fitted.history)} | "
                    f"{model.fitted.ranker.gamma:g} | {reciprocal.mean():.2f} | {each.mean():+.2f} ± {error:.2f} |",
                    flush=True,
                )


def fit_and_ask(
    config: Any, split: Any, encoder: Any, run: int, changes: list[tuple[Any, dict[str, Any]]]
) -> tuple[np.ndarray, Polaris]:
    """Ranks of the true parents by a model fitted with these changes."""
    with ExitStack() as stack:
        for owner, values in changes:
            stack.enter_context(changed(owner, **values))
        model = Polaris(config).fit(split.seed, encoder=encoder, random_state=run)
    return ranks_with(model, split, Retrieval()), model


if __name__ == "__main__":
    main()
