"""RotatE (Sun et al., 2019): a child turned by one learned angle per complex coordinate lands on its parent.

s(q, p) = g − Σ_j |e_q,j · exp(iθ_j) − e_p,j|, trained with self-adversarial negatives. Entities are projected text
vectors read as complex numbers, scaled to the range the paper starts its free vectors in.
"""

from __future__ import annotations

import math

import torch
from pydantic import Field
from torch import Tensor, nn

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import Head
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings

_EPSILON = 2.0  # of the range (g + ε) / d
_TINY = 1e-12  # under the root: a modulus has no gradient at 0


class RotatESettings(Settings):
    """Settings of RotatE."""

    dim: int = Field(64, ge=1, description="complex coordinates")
    hidden: int = Field(0, ge=0)
    offset: float = Field(12.0, gt=0)
    temperature: float = Field(1.0, ge=0)


class RotatENetwork(Network):
    """Score and loss of RotatE; the formula is in the docstring of the module."""

    def __init__(self, settings: RotatESettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.range = (settings.offset + _EPSILON) / settings.dim
        self.head = Head(seed.dim, 2 * settings.dim, settings.hidden, scale=self.range / math.sqrt(3))
        self.phase = nn.Parameter(torch.empty(settings.dim).uniform_(-self.range, self.range))

    @property
    def width(self) -> int:
        return 2 * self.settings.dim

    def query(self, vectors: Tensor) -> Tensor:
        real, imaginary = self.head(vectors).chunk(2, dim=-1)
        angle = self.phase * (math.pi / self.range)
        cos, sin = torch.cos(angle), torch.sin(angle)
        return torch.cat([real * cos - imaginary * sin, real * sin + imaginary * cos], dim=-1)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        entity: Tensor = self.head(self.seed.vectors[views.position])
        return entity

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        real, imaginary = (query - candidate).chunk(2, dim=-1)
        return self.settings.offset - torch.sqrt(real**2 + imaginary**2 + _TINY).sum(-1)

    def loss(self, batch: Batch) -> Tensor:
        return losses.self_adversarial(self.scores(batch), self.settings.temperature)


class RotatE(Baseline):
    """RotatE as a method."""

    name = "rotate"
    settings_type = RotatESettings
    network_type = RotatENetwork
