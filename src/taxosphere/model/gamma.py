"""The strength γ of the gate, chosen on the leaves that were held out of the trial."""

from __future__ import annotations

import numpy as np
import torch

from taxosphere.model.config import OrbitConfig
from taxosphere.model.early_stopping import SelectedHead
from taxosphere.orbit import gate
from taxosphere.taxonomy import Taxonomy

_QUERIES = 512  # held-out leaves that are asked at most
_BLOCK = 1 << 16  # concepts that are embedded at once
_CELLS = 1 << 24  # cosines held at once


def gamma(head: SelectedHead, seed: Taxonomy, config: OrbitConfig) -> float:
    """γ as set, or the best for the trial's held-out leaves; the mildest where there was no trial."""
    if config.gamma is not None:
        return config.gamma
    if head.trial is None or head.split is None:
        return gate.GAMMAS[-1]
    kept = torch.tensor([seed.position(id) for id in head.split.seed.ids])
    queries = torch.tensor([seed.position(query.id) for query in head.split.queries])
    with torch.no_grad():
        parts = torch.split(head.vectors, _BLOCK)  # hidden layers of all concepts would fill the memory
        points = torch.cat([head.trial.points(head.trial.lift(part)) for part in parts])
    candidates = points[kept]
    asked = np.linspace(0, len(queries) - 1, min(len(queries), _QUERIES)).astype(np.int64)
    blocks = (
        ((points[queries[part]] @ candidates.T).numpy(), [head.split.gold[i] for i in part])
        for part in np.array_split(asked, -(-len(asked) * len(candidates) // _CELLS) or 1)
    )
    return gate.choose_gamma(blocks, gate.delta(head.split.seed), config.gate)
