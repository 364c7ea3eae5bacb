"""Training batches: edges with other candidates as negatives."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from taxosphere.errors import TaxosphereError
from taxosphere.methods.baselines.network import Batch
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.model.negatives import Lineage, Mix, sample
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import Longs


def batches(seed: Seed, settings: Settings, rng: np.random.Generator) -> Iterator[Batch]:
    """Endless batches: each epoch runs through all edges in a new order, with new negatives.

    Raises
    ------
    TaxosphereError
        No edge of the seed has a negative.
    """
    lineage, hard = Lineage(seed.taxonomy), settings.hard
    mix = Mix(siblings=0.5 * hard, cousins=0.25 * hard, uncles=0.25 * hard)
    edges = seed.taxonomy.edge_array.astype(np.int64)
    edges = edges[lineage.ancestors.counts[edges[:, 1]] < len(seed) - 1]  # a child below all others has no negative
    if len(edges) == 0:
        raise TaxosphereError("no edge of the seed has a concept that could be its negative; nothing to learn from")
    while True:
        parent, child = edges[rng.permutation(len(edges))].T
        wrong = sample(seed.taxonomy, lineage, child, settings.negatives, mix, rng)
        candidate = np.column_stack(
            [parent, replace_by_ancestors(seed.taxonomy, lineage, child, wrong, settings.above, rng)]
        )
        for start in range(0, len(edges), settings.batch_size):
            part = slice(start, start + settings.batch_size)
            query, options = torch.from_numpy(child[part].copy()), torch.from_numpy(candidate[part])
            yield Batch(query, options, *seed.mask(query, options))


def replace_by_ancestors(
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
    ancestor = rows.indices[place].astype(np.int64)
    edges = np.sort(taxonomy.edge_array[:, 1].astype(np.int64) * len(taxonomy) + taxonomy.edge_array[:, 0])
    keys = below * len(taxonomy) + ancestor
    strict = edges[np.minimum(np.searchsorted(edges, keys), len(edges) - 1)] != keys
    wrong[row[strict], column[strict]] = ancestor[strict]
    return wrong
