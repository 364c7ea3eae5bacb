"""The strength of the gate, chosen where the answers are known: on the leaves that were hidden from the trial."""

from __future__ import annotations

import torch

from taxosphere.model.config import OrbitConfig
from taxosphere.model.early_stopping import SelectedHead
from taxosphere.orbit import gate
from taxosphere.taxonomy import Taxonomy


def gamma(head: SelectedHead, seed: Taxonomy, config: OrbitConfig) -> float:
    """γ as set, or chosen on the trial's hidden leaves; the mildest when the seed could spare none."""
    if config.gamma is not None:
        return config.gamma
    if head.trial is None or head.split is None:
        return gate.GAMMAS[-1]
    kept = torch.tensor([seed.position(id) for id in head.split.seed.ids])
    asked = torch.tensor([seed.position(query.id) for query in head.split.queries])
    with torch.no_grad():
        points = head.trial.points(head.trial.lift(head.vectors))
    cosine = (points[asked] @ points[kept].T).numpy()
    return gate.choose_gamma(cosine, gate.delta(head.split.seed), head.split.gold, config.gate)
