"""One trainer for all compared systems, with early stopping on queries taken out of the seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.utils import clip_grad_norm_

from taxosphere.errors import TaxosphereError
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.sampling import batches
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.ranks import best_true_ranks
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide

Source = Callable[[Seed, Settings, np.random.Generator], Iterator[Batch]]

_MOST_QUERIES = 300  # a validation set beyond this costs time and decides nothing
_FEWEST_QUERIES = 5
_DIVERGED = "training diverged; try a smaller learning_rate"


def validation_split(taxonomy: Taxonomy, settings: Settings, random_state: int) -> Split | None:
    """Hold out leaves of the seed as validation queries; None where there are too few of them."""
    leaves = np.flatnonzero(taxonomy.hideable)
    count = min(_MOST_QUERIES, round(settings.validation * len(leaves)))
    if count < _FEWEST_QUERIES:
        return None
    chosen = np.random.default_rng(random_state).choice(leaves, count, replace=False)
    return hide(taxonomy, np.sort(chosen), name="validation")


def mean_reciprocal_rank(scores: NDArray[np.float32], gold: tuple[NDArray[np.int64], ...]) -> float:
    """Mean reciprocal rank of the best-ranked gold parents of scores (q, n); equal scores share their mean rank."""
    if not np.isfinite(scores).all():
        raise TaxosphereError(_DIVERGED)
    return float((1 / best_true_ranks(scores, gold)).sum() / max(1, len(gold)))


def budget(taxonomy: Taxonomy, settings: Settings) -> int:
    """Most optimiser steps: ``epochs`` passes over the edges, but at least ``steps``, which small seeds need."""
    return max(settings.steps, settings.epochs * math.ceil(len(taxonomy.edge_array) / settings.batch_size))


def train(
    network: Network,
    settings: Settings,
    rng: np.random.Generator,
    steps: int,
    evaluate: Callable[[], float] | None = None,
    source: Source = batches,
) -> int:
    """Train a network with AdamW.

    Parameters
    ----------
    network : Network
    settings : Settings
    rng : numpy Generator
        Draws the batches.
    steps : int
        Optimiser steps at most.
    evaluate : callable, optional
        Returns a value to maximise; training stops when it has not improved for ``settings.patience`` evaluations.
    source : callable
        Makes the batches.

    Returns
    -------
    int
        The number of steps with the best value; ``steps`` without ``evaluate``.

    Raises
    ------
    TaxosphereError
        The loss is no longer finite.
    """
    optimiser = torch.optim.AdamW(network.parameters(), settings.learning_rate, weight_decay=settings.weight_decay)
    every = max(1, steps // settings.evaluations)
    best, best_step = -np.inf, steps
    batch = source(network.seed, settings, rng)
    network.train()
    for step in range(1, steps + 1):
        loss = network.loss(next(batch))
        if not torch.isfinite(loss):
            raise TaxosphereError(_DIVERGED)
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
