"""What the bounds of a large fit cost in accuracy, on taxonomies where it can be done without them too.

    python benchmarks/bench_caps.py TAXONOMY… [--leaves 600] [--runs 1] [--encoder minilm] [--shared-only]

Leaves of the published seed are hidden as queries; test queries are not touched. The ranker learns from at most a
fifteenth of the other leaves, so that one head could serve all folds, as above 24,000 leaves:

- one head for all folds and one for the queries,
- one head for all folds and the queries (as in a large fit),
- a head for each fold and one for the queries (as in a small fit),
- the same with an eighth of the validation leaves and of the leaves that choose γ.

All are asked the same queries; differences are means over them with their standard errors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from bench_retrieval import hidden_leaves, ranks_with

from taxosphere import Polaris
from taxosphere.encoders.text import registry
from taxosphere.model import early_stopping, embedding, gamma
from taxosphere.model.presets import auto
from taxosphere.placing.inference import assemble
from taxosphere.ranking.features.gather import Retrieval


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


class BothHeads:
    """`embedding.fit_head` that always trains a head on the whole seed too, and keeps what it returned."""

    def __init__(self) -> None:
        self._fit_head = embedding.fit_head
        self.head: early_stopping.SelectedHead | None = None

    def __call__(self, *args: Any, **options: Any) -> early_stopping.SelectedHead:
        self.head = self._fit_head(*args, **(options | {"once": False}))
        return self.head


def with_head_of_folds(model: Polaris, both: BothHeads) -> Polaris:
    """The model with the head of the folds in place of the one that was trained on the whole seed."""
    fitted, other = model.fitted, Polaris(model.config)
    assert both.head is not None
    assert both.head.trial is not None
    other._fitted = assemble(
        encoder=fitted.encoder,
        network=both.head.trial,
        ranker=fitted.ranker,
        history=fitted.history,
        taxonomy=fitted.index.taxonomy,
        text_vectors=fitted.index.text_vectors,
        tokens=fitted.index.tokens,
    )
    return other


def rows_of(folder: str, run: int, options: argparse.Namespace) -> Iterator[tuple[str, Polaris, np.ndarray]]:
    """What was done, the model, and reciprocal ranks of the true parents."""
    encoder = registry.load(options.encoder)
    split = hidden_leaves(folder, options.leaves, 100 + run)
    leaves = int(np.count_nonzero(split.seed.hideable))
    config = auto(split.seed)
    config = config.with_overrides([f"ranking.examples={min(config.ranking.most_examples, leaves // 15)}"])
    few = round(config.training.validation * leaves) // 8
    apart = {"has_many_leaves": lambda *_: False}
    both = BothHeads()
    ways = {
        "one for all folds": [(embedding, {"fit_head": both})],
        "one for each fold": [(embedding, apart)],
        f"one for each fold, {few} validation leaves": [
            (embedding, apart),
            (early_stopping, {"_VALIDATED": few}),
            (gamma, {"_QUERIES": few}),
        ],
    }
    for name, changes in list(ways.items())[: 1 if options.shared_only else None]:
        with ExitStack() as stack:
            for owner, values in changes:
                stack.enter_context(changed(owner, **values))
            model = Polaris(config).fit(split.seed, encoder=encoder, random_state=run)
        yield name, model, 100 / ranks_with(model, split, Retrieval())
        if name == "one for all folds":
            model = with_head_of_folds(model, both)
            yield "one for folds and queries", model, 100 / ranks_with(model, split, Retrieval())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--leaves", type=int, default=600)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--encoder", default="minilm")
    parser.add_argument("--shared-only", action="store_true", help="only the two ways with one head for all folds")
    options = parser.parse_args()
    print("| taxonomy | run | heads | epochs tried | γ | MRR | beside the first |")
    for folder, run in product(options.folders, range(options.runs)):
        first = None
        for name, model, reciprocal in rows_of(folder, run, options):
            first = reciprocal if first is None else first
            each = reciprocal - first
            fitted, error = model.fitted, each.std(ddof=1) / np.sqrt(len(each))
            print(
                f"| {Path(folder).name} ({len(fitted.index.taxonomy):,}) | {run} | {name} | {len(fitted.history)} | "
                f"{fitted.ranker.gamma:g} | {reciprocal.mean():.2f} | {each.mean():+.2f} ± {error:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
