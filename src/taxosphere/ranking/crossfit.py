"""Training examples for the ranker, made from the seed: hide leaves, train without them, ask where they belong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking.context import Context, Points
from taxosphere.ranking.features import Queries
from taxosphere.ranking.shortlist import blocks, shortlist
from taxosphere.ranking.spaces import Refit
from taxosphere.ranking.views import Views
from taxosphere.ranking.words import read
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.taxonomy.split import hide

Floats = NDArray[np.float32]
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Examples:
    """Features (t, k, f), which candidates are true parents (t, k), and how many true parents there are (t,)."""

    names: tuple[str, ...]
    table: Floats
    labels: NDArray[np.bool_]
    golds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.table)


def points(network: SphereNetwork, vectors: Floats) -> Points:
    with torch.no_grad():
        embedding = network(torch.from_numpy(vectors))
    return Points(*(part.numpy() for part in embedding))


def queries_of(network: SphereNetwork, concepts: Sequence[Concept], views: Views) -> Queries:
    return Queries([read(concept) for concept in concepts], views, points(network, views.full))


def examples(
    seed: Taxonomy, refit: Refit, config: PolarisConfig, *, random_state: int, progress: Progress | None
) -> Examples | None:
    """Every fold of leaves is asked of a head trained without it; None when the seed has no leaf to hide."""
    settings = config.ranking
    rng = np.random.default_rng([random_state, 1])
    leaves = rng.permutation(np.flatnonzero((seed.child_csr.counts == 0) & (seed.parent_csr.counts > 0)))
    folds = min(settings.folds, len(leaves))
    if folds < 2:
        return None
    names: tuple[str, ...] = ()
    tables, labels, golds = [], [], []
    for number in range(folds):
        if progress is not None:
            progress(number, folds, f"hiding fold {number + 1} of {folds} for the ranker")
        fold = np.sort(leaves[number::folds])
        asked = np.sort(rng.permutation(fold)[: -(-settings.examples // folds)])
        part = hide(seed, fold, asked)
        if not part.queries:
            continue
        kept = np.delete(np.arange(len(seed)), fold)
        views, network = refit(part.seed, kept, 1000 + number + random_state)
        own = views.take(kept)
        context = Context(part.seed, own, points(network, own.full), len(part.seed))
        rows = np.array([seed.position(query.id) for query in part.queries])
        for block in blocks(len(rows), len(part.seed)):
            asking = queries_of(network, part.queries[block], views.take(rows[block]))
            found = shortlist(context, asking, settings.families)
            names = found.names
            tables.append(found.features)
            labels.append(np.stack([np.isin(p, g) for p, g in zip(found.positions, part.gold[block], strict=True)]))
            golds.append(np.array([len(g) for g in part.gold[block]]))
    if not tables:
        return None
    width = min(table.shape[1] for table in tables)  # folds of a tiny seed may differ in their number of candidates
    return Examples(
        names,
        np.concatenate([table[:, :width] for table in tables]),
        np.concatenate([label[:, :width] for label in labels]),
        np.concatenate(golds),
    )
