"""ConE (Zhang et al., 2021): a parent is a product of planar cones, a child the product of their axes.

s(q, p) = g − k (Σ_j out_j + c Σ_j in_j): ``out`` is how far the child's axis lies outside the parent's cone, ``in`` how
far from its middle, at most the half-aperture. The loss weighs all negatives alike.
"""

from __future__ import annotations

import math

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import Head
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings

_EPSILON = 2.0


class ConESettings(Settings):
    """Settings of ConE."""

    dim: int = Field(128, ge=1)
    hidden: int = Field(0, ge=0)
    offset: float = Field(4.0, gt=0)
    centre: float = Field(0.02, ge=0, description="weight of the distance inside the cone")
    spread: float = Field(0.3, gt=0, description="of the axes at the start, as a share of π")


class ConENetwork(Network):
    """Score and loss of ConE; the formula is in the docstring of the module."""

    def __init__(self, settings: ConESettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.axis = Head(seed.dim, settings.dim, settings.hidden, settings.spread)
        self.aperture = Head(seed.dim, settings.dim, settings.hidden, settings.spread)
        scale = 0.5 * (settings.offset + _EPSILON) / settings.dim
        self.scale = nn.Parameter(torch.tensor(scale))

    @property
    def width(self) -> int:
        return 4 * self.settings.dim

    def query(self, vectors: Tensor) -> Tensor:
        return math.pi * torch.tanh(self.axis(vectors))

    def candidate(self, views: MaskedCandidates) -> Tensor:
        vectors = self.seed.vectors[views.position]
        aperture = math.pi / 2 * (1 + torch.tanh(2 * self.aperture(vectors)))
        return torch.cat([math.pi * torch.tanh(self.axis(vectors)), aperture], dim=-1)

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        axis, aperture = candidate.chunk(2, dim=-1)
        angle = query - axis
        to_axis, to_edge = torch.sin(angle / 2).abs(), torch.sin(aperture / 2).abs()
        rim = torch.minimum(torch.sin((angle + aperture) / 2).abs(), torch.sin((angle - aperture) / 2).abs())
        outside = torch.where(to_axis < to_edge, torch.zeros_like(rim), rim)
        inside = torch.minimum(to_axis, to_edge)
        return self.settings.offset - self.scale * (outside + self.settings.centre * inside).sum(-1)

    def loss(self, batch: Batch) -> Tensor:
        scores = self.scores(batch)
        return -(F.logsigmoid(scores[:, 0]) + F.logsigmoid(-scores[:, 1:]).mean(1)).mean()


class ConE(Baseline):
    """ConE as a method."""

    name = "cone"
    settings_type = ConESettings
    network_type = ConENetwork
