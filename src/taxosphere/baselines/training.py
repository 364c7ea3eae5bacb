"""One trainer for all compared systems: batches of edges with negatives, early stopping on queries from the seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils import clip_grad_norm_

from taxosphere.baselines.network import Batch, Network
from taxosphere.baselines.seed import Seed
from taxosphere.baselines.settings import Settings
from taxosphere.errors import TaxosphereError
from taxosphere.model.negatives import Lineage, Mix, sample
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide

Longs = NDArray[np.int64]


_MOST_QUERIES = 300  # a validation set beyond this costs time and decides nothing
_FEWEST_QUERIES = 5


def carve(taxonomy: Taxonomy, settings: Settings, random_state: int) -> Split | None:
    """Validation queries out of the seed's leaves; None where there are too few to learn anything from."""
    leaves = np.flatnonzero((taxonomy.child_csr.counts == 0) & (taxonomy.parent_csr.counts > 0))
    count = min(_MOST_QUERIES, round(settings.validation * len(leaves)))
    if count < _FEWEST_QUERIES:
        return None
    chosen = np.random.default_rng(random_state).choice(leaves, count, replace=False)
    return hide(taxonomy, np.sort(chosen), name="validation")


def mean_reciprocal_rank(scores: NDArray[np.float32], gold: tuple[NDArray[np.int64], ...]) -> float:
    """Of the best-ranked gold parent; equal scores share their mean rank."""
    total = 0.0
    for row, answers in zip(scores, gold, strict=True):
        best = row[answers].max()
        total += 1 / ((row > best).sum() + ((row == best).sum() + 1) / 2)
    return total / max(1, len(gold))


def batches(seed: Seed, settings: Settings, rng: np.random.Generator) -> Iterator[Batch]:
    """Endless: each epoch runs through all edges in a new order, with new negatives."""
    lineage, hard = Lineage(seed.taxonomy), settings.hard
    mix = Mix(siblings=0.5 * hard, cousins=0.25 * hard, uncles=0.25 * hard)
    edges = seed.taxonomy.edge_array.astype(np.int64)
    edges = edges[lineage.ancestors.counts[edges[:, 1]] < len(seed) - 1]  # a child below all others has no negative
    if len(edges) == 0:
        raise TaxosphereError("the seed has no edge whose parent could be told from another concept; nothing to learn")
    while True:
        parent, child = edges[rng.permutation(len(edges))].T
        wrong = sample(seed.taxonomy, lineage, child, settings.negatives, mix, rng)
        candidate = np.column_stack([parent, lift(seed.taxonomy, lineage, child, wrong, settings.above, rng)])
        for start in range(0, len(edges), settings.batch_size):
            part = slice(start, start + settings.batch_size)
            query, options = torch.from_numpy(child[part].copy()), torch.from_numpy(candidate[part])
            yield Batch(query, options, *seed.views(query, options))


def lift(
    taxonomy: Taxonomy, lineage: Lineage, child: Longs, wrong: Longs, share: float, rng: np.random.Generator
) -> Longs:
    """Replace a share of the negatives (b, k) by ancestors of the child that are not its parents.

    The compared systems count every concept but the parents as wrong. Without this a root would never be one: it is
    above everything, and a system that can prefer candidates learns to answer it always.
    """
    rows, parents = lineage.ancestors, taxonomy.parent_csr
    row, column = np.nonzero((rng.random(wrong.shape) < share) & (rows.counts[child] > parents.counts[child])[:, None])
    below = child[row]
    place = rows.indptr[below] + (rng.random(len(row)) * rows.counts[below]).astype(np.int64)
    found = rows.indices[place].astype(np.int64)
    edges = np.sort(taxonomy.edge_array[:, 1].astype(np.int64) * len(taxonomy) + taxonomy.edge_array[:, 0])
    keys = below * len(taxonomy) + found
    strict = edges[np.minimum(np.searchsorted(edges, keys), len(edges) - 1)] != keys
    wrong[row[strict], column[strict]] = found[strict]
    return wrong


def train(
    network: Network,
    settings: Settings,
    rng: np.random.Generator,
    steps: int,
    evaluate: Callable[[], float] | None = None,
) -> int:
    """Run the optimiser; with ``evaluate``, until it no longer improves. Returns the number of steps that was best."""
    optimiser = torch.optim.AdamW(network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay)
    every = max(1, settings.steps // settings.evaluations)
    best, best_step = -np.inf, steps
    source = batches(network.seed, settings, rng)
    network.train()
    for step in range(1, steps + 1):
        loss = network.loss(next(source))
        if not torch.isfinite(loss):
            raise TaxosphereError("training diverged; try a smaller learning_rate")
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(network.parameters(), settings.clip)
        optimiser.step()
        if evaluate is not None and step % every == 0:
            network.eval()
            with torch.no_grad():
                value = evaluate()
            network.train()
            if value > best:
                best, best_step = value, step
            elif step - best_step >= settings.patience * every:
                break
    network.eval()
    return best_step
