"""Training batches: the edges in random order with newly drawn negatives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator
from torch import Tensor

from taxosphere.model.config import TrainingConfig
from taxosphere.model.negatives import NONE, Lineage, Mix, sample
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
    """All edges in random order as batches, in groups of up to ``accumulation``: one optimiser step each."""
    edges = seed.edge_array[rng.permutation(len(seed.edge_array))].astype(np.int64)
    mix = Mix(config.siblings, config.cousins, config.uncles)
    negatives = sample(seed, lineage, edges[:, 1], config.negatives, mix, rng)
    starts = range(0, len(edges), config.batch)
    parts = (slice(start, start + config.batch) for start in starts)
    for group in _grouped(parts, config.accumulation):
        yield tuple(make(lineage, edges[part], negatives[part]) for part in group)


def make(lineage: Lineage, edges: Longs, negatives: Longs) -> Batch:
    """The batch of these edges (b, 2), parent first, with their negatives (b, k)."""
    parent, child = edges[:, 0], edges[:, 1]
    present = np.zeros(lineage.size, bool)
    present[edges] = True
    present[negatives[negatives != NONE]] = True
    concepts = np.flatnonzero(present)
    row_of = np.full(lineage.size + 1, NONE)  # indexed with NONE = -1, the last entry gives NONE
    row_of[concepts] = np.arange(len(concepts))
    forbidden = np.zeros((len(edges), len(concepts)), bool)
    row, above = lineage.ancestors.expand(child)
    inside = present[above]
    forbidden[row[inside], row_of[above[inside]]] = True
    rows = np.arange(len(edges))
    forbidden[rows, row_of[child]] = True
    forbidden[rows, row_of[parent]] = False
    return Batch(
        concepts=concepts,
        child=torch.from_numpy(row_of[child]),
        parent=torch.from_numpy(row_of[parent]),
        negative=torch.from_numpy(row_of[negatives]),
        forbidden=torch.from_numpy(forbidden),
    )


def _grouped(parts: Iterator[slice], size: int) -> Iterator[tuple[slice, ...]]:
    group: list[slice] = []
    for part in parts:
        group.append(part)
        if len(group) == size:
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)
