"""Hyperbolic entailment cones (Ganea et al., 2018): each parent spans a cone in the Poincaré ball, children lie inside.

E(p, q) = max(0, Ξ(p, q) − ψ(p)): the angle at p between its axis and q, minus the half-aperture. The score is ψ − Ξ: it
equals −E outside the cone and tells candidates apart inside, where E is 0 for all.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import Head
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings

_EDGE = 1e-5  # cosines and radii keep this far from ±1


class EntailmentConesSettings(Settings):
    """Settings of hyperbolic entailment cones."""

    learning_rate: float = Field(3e-4, gt=0)
    above: float = Field(0.4, ge=0, le=1)
    dim: int = Field(384, ge=2)
    hidden: int = Field(0, ge=0)
    space: Literal["hyperbolic", "euclidean"] = "hyperbolic"
    aperture: float = Field(0.1, gt=0, description="K")
    margin: float = Field(2.0, gt=0)
    radius: float = Field(0.5, gt=0, description="of the tangent vectors at the start")


class EntailmentConesNetwork(Network):
    """Score and loss of hyperbolic entailment cones; the formula is in the docstring of the module."""

    def __init__(self, settings: EntailmentConesSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.head = Head(seed.dim, settings.dim, settings.hidden, settings.radius / settings.dim**0.5)

    @property
    def width(self) -> int:
        return 2 * self.settings.dim

    def point(self, vectors: Tensor) -> Tensor:
        """exp_0 of the head's output, kept outside the ball in which no cone is defined."""
        tangent: Tensor = self.head(vectors)
        length: Tensor = torch.linalg.vector_norm(tangent, dim=-1, keepdim=True)
        direction = tangent / length.clamp(min=1e-9)
        k = self.settings.aperture
        if self.settings.space == "euclidean":
            return direction * length.clamp(min=k + _EDGE)
        inner = 2 * k / (1 + math.sqrt(1 + 4 * k * k))
        return direction * torch.tanh(length).clamp(inner + _EDGE, 1 - _EDGE)

    def query(self, vectors: Tensor) -> Tensor:
        return self.point(vectors)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self.point(self.seed.vectors[views.position])

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        """ψ(parent) − Ξ(parent, child)."""
        dot = (query * candidate).sum(-1)
        y, x = (query**2).sum(-1), (candidate**2).sum(-1)  # squared norms of child and parent
        apart = torch.sqrt((x + y - 2 * dot).clamp(min=1e-12))
        if self.settings.space == "euclidean":
            cosine = (dot - x) / (torch.sqrt(x) * apart)  # = (|y|² − |x|² − |x−y|²) / (2 |x| |x−y|)
            aperture = torch.asin((self.settings.aperture / torch.sqrt(x)).clamp(max=1 - _EDGE))
        else:
            below = torch.sqrt(x) * apart * torch.sqrt((1 + x * y - 2 * dot).clamp(min=1e-12))
            cosine = (dot * (1 + x) - x * (1 + y)) / below
            aperture = torch.asin((self.settings.aperture * (1 - x) / torch.sqrt(x)).clamp(max=1 - _EDGE))
        return aperture - torch.acos(cosine.clamp(-1 + _EDGE, 1 - _EDGE))

    def loss(self, batch: Batch) -> Tensor:
        energy = F.relu(-self.scores(batch))
        return (energy[:, 0] + F.relu(self.settings.margin - energy[:, 1:]).sum(1)).mean()


class EntailmentCones(Baseline):
    """Hyperbolic entailment cones as a method."""

    name = "entailment-cones"
    settings_type = EntailmentConesSettings
    network_type = EntailmentConesNetwork
