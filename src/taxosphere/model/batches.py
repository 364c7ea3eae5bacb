"""Training batches: the edges in random order with newly drawn negatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from taxosphere.model.config import TrainingConfig
from taxosphere.model.negatives import NONE, Lineage, Mix, random_neighbours, sample, share
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import Longs


class Batch(NamedTuple):
    """b (child, parent) pairs with negatives; child, parent and negative are rows of the p distinct ``concepts``."""

    concepts: Longs  # (p,) positions in the seed
    child: Tensor  # (b,)
    parent: Tensor  # (b,)
    negative: Tensor  # (b, k), NONE where the child has no admissible negative
    forbidden: Tensor  # (b, p) bool: the child itself and its ancestors, except the parent of the pair

    def to(self, device: torch.device) -> Batch:
        """The same with its tensors on a device."""
        return Batch(self.concepts, *(tensor.to(device) for tensor in self[1:]))


def epoch(seed: Taxonomy, lineage: Lineage, config: TrainingConfig, rng: Generator) -> Iterator[tuple[Batch, ...]]:
    """Edges in random order as batches, in groups of up to ``accumulation``: one optimiser step each.

    All edges of the seed, or as many as ``epoch_steps`` hold. With ``shared_negatives`` the pairs of a step are
    relatives where there are enough, and share their negatives.
    """
    step = config.accumulation * config.batch
    most = config.epoch_steps * step
    edges = seed.edge_array[rng.permutation(len(seed.edge_array))[:most]].astype(np.int64)
    if config.shared_negatives:
        edges = _families_together(seed, edges, step, rng)
    mix = Mix(config.siblings, config.cousins, config.uncles)
    negatives = sample(seed, lineage, edges[:, 1], config.negatives, mix, rng)
    for start in range(0, len(edges), step):
        group = slice(start, start + step)
        pairs, wrong = edges[group], negatives[group]
        if config.shared_negatives:
            wrong = share(lineage, pairs, wrong, config.shared_negatives, rng)
        parts = [slice(at, at + config.batch) for at in range(0, len(pairs), config.batch)]
        yield tuple(make(lineage, pairs[part], wrong[part]) for part in parts)


def _families_together(seed: Taxonomy, edges: Longs, step: int, rng: Generator) -> Longs:
    """The edges with grandchildren of one concept next to each other, in random order within every ``step`` of them.

    Siblings and uncles of a child are then among the concepts of its own step.
    """
    parent = edges[:, 0]
    above = random_neighbours(seed.parent_csr, parent, rng)
    place = rng.permutation(len(seed))[np.where(above == NONE, parent, above)]
    edges = edges[np.argsort(place, kind="stable")]
    steps = np.arange(len(edges)) // step
    return edges[np.lexsort((rng.random(len(edges)), steps))]


def make(lineage: Lineage, edges: Longs, negatives: Longs) -> Batch:
    """The batch of these edges (b, 2), parent first, with their negatives (b, k)."""
    parent, child = edges[:, 0], edges[:, 1]
    concepts = np.unique(np.concatenate([edges.ravel(), negatives[negatives != NONE]]))
    forbidden = np.zeros((len(edges), len(concepts)), bool)
    row, above = lineage.ancestors.expand(child)
    place = np.minimum(np.searchsorted(concepts, above), len(concepts) - 1)
    inside = concepts[place] == above
    forbidden[row[inside], place[inside]] = True
    rows, child, parent = np.arange(len(edges)), np.searchsorted(concepts, child), np.searchsorted(concepts, parent)
    forbidden[rows, child] = True
    forbidden[rows, parent] = False
    return Batch(
        concepts=concepts,
        child=torch.from_numpy(child),
        parent=torch.from_numpy(parent),
        negative=torch.from_numpy(np.where(negatives == NONE, NONE, np.searchsorted(concepts, negatives))),
        forbidden=torch.from_numpy(forbidden),
    )
