"""An epoch of training pairs: shuffled edges with fresh negatives, cut into batches of distinct concepts."""

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
    """b pairs over p distinct concepts; child, parent and negative count along ``concepts``."""

    concepts: Longs  # (p,) positions in the seed
    child: Tensor  # (b,)
    parent: Tensor  # (b,)
    negative: Tensor  # (b, k), NONE where the child has no admissible negative
    forbidden: Tensor  # (b, p) bool: the child itself and its ancestors, except the parent of the pair


def epoch(seed: Taxonomy, lineage: Lineage, config: TrainingConfig, rng: Generator) -> Iterator[tuple[Batch, ...]]:
    """Groups of up to ``accumulation`` batches; one optimiser step each."""
    edges = seed.edge_array[rng.permutation(len(seed.edge_array))].astype(np.int64)
    mix = Mix(config.siblings, config.cousins, config.uncles)
    negatives = sample(seed, lineage, edges[:, 1], config.negatives, mix, rng)
    starts = range(0, len(edges), config.batch)
    parts = (slice(start, start + config.batch) for start in starts)
    for group in _grouped(parts, config.accumulation):
        yield tuple(make(lineage, edges[part], negatives[part]) for part in group)


def make(lineage: Lineage, edges: Longs, negatives: Longs) -> Batch:
    """Number the concepts of these pairs from zero, each distinct one once."""
    parent, child = edges[:, 0], edges[:, 1]
    present = np.zeros(lineage.size, bool)
    present[edges] = True
    present[negatives[negatives != NONE]] = True
    concepts = np.flatnonzero(present)
    place = np.full(lineage.size + 1, NONE)  # the last entry answers for NONE
    place[concepts] = np.arange(len(concepts))
    forbidden = np.zeros((len(edges), len(concepts)), bool)
    row, above = lineage.ancestors.expand(child)
    inside = present[above]
    forbidden[row[inside], place[above[inside]]] = True
    rows = np.arange(len(edges))
    forbidden[rows, place[child]] = True
    forbidden[rows, place[parent]] = False
    return Batch(
        concepts,
        torch.from_numpy(place[child]),
        torch.from_numpy(place[parent]),
        torch.from_numpy(place[negatives]),
        torch.from_numpy(forbidden),
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
