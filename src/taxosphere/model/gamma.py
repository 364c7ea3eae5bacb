"""The strength γ of the gate, chosen on the leaves that were held out of the trial."""

from __future__ import annotations

import torch

from taxosphere.model.config import OrbitConfig
from taxosphere.model.early_stopping import SelectedHead
from taxosphere.orbit import gate
from taxosphere.taxonomy import Taxonomy


def gamma(head: SelectedHead, seed: Taxonomy, config: OrbitConfig) -> float:
    """γ as set, or the best for the trial's held-out leaves; the mildest where there was no trial."""
    if config.gamma is not None:
        return config.gamma
    if head.trial is None or head.split is None:
        return gate.GAMMAS[-1]
    kept = torch.tensor([seed.position(id) for id in head.split.seed.ids])
    queries = torch.tensor([seed.position(query.id) for query in head.split.queries])
    with torch.no_grad():
        points = head.trial.points(head.trial.lift(head.vectors))
    cosine = (points[queries] @ points[kept].T).numpy()
    return gate.choose_gamma(cosine, gate.delta(head.split.seed), head.split.gold, config.gate)
