"""Gumbel boxes (Dasgupta et al., 2020): box corners are Gumbel variables, so disjoint boxes still have a gradient.

s(q, p) = log P(p | q) = log Vol(q ∩ p) − log Vol(q), with the expected volume in its softplus form.
"""

from __future__ import annotations

import math

import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import Head
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings

_EULER = 0.5772156649015329
_TINY = 1e-23
_LARGEST = -1e-7  # a probability of exactly 1 would make log(1 − P) infinite


class GumbelBoxSettings(Settings):
    """Settings of Gumbel boxes."""

    above: float = Field(0.3, ge=0, le=1)
    dim: int = Field(64, ge=1)
    hidden: int = Field(0, ge=0)
    centre_scale: float = Field(0.3, gt=0)
    side: float = Field(6.0, gt=0, description="full width of a box at the start")
    intersection: float = Field(0.1, gt=0, description="temperature t of the corners")
    volume: float = Field(1.0, gt=0, description="temperature of the softplus volume")
    negative_weight: float = Field(31.0, gt=0, description="of the mean over the negatives")


def log1mexp(x: Tensor) -> Tensor:
    """log(1 − exp(x)) for x < 0, without cancellation."""
    return torch.where(x > -math.log(2), torch.log(-torch.expm1(x)), torch.log1p(-torch.exp(x)))


class GumbelBoxNetwork(Network):
    """Score and loss of Gumbel boxes; the formula is in the docstring of the module."""

    def __init__(self, settings: GumbelBoxSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.centre = Head(seed.dim, settings.dim, settings.hidden, settings.centre_scale)
        self.side = Head(seed.dim, settings.dim, settings.hidden, 0.1)

    @property
    def width(self) -> int:
        return 6 * self.settings.dim

    def box(self, vectors: Tensor) -> Tensor:
        """[lower corner ; upper corner]"""
        centre = self.centre(vectors)
        half = F.softplus(self.side(vectors) + math.log(math.expm1(self.settings.side))) / 2
        return torch.cat([centre - half, centre + half], dim=-1)

    def query(self, vectors: Tensor) -> Tensor:
        return self.box(vectors)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self.box(self.seed.vectors[views.position])

    def log_volume(self, low: Tensor, high: Tensor) -> Tensor:
        s = self.settings
        side = F.softplus(high - low - 2 * _EULER * s.intersection, beta=1 / s.volume)
        return torch.log(side + _TINY).sum(-1)

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        t = self.settings.intersection
        (a, b), (c, d) = query.chunk(2, dim=-1), candidate.chunk(2, dim=-1)
        low = torch.maximum(t * torch.logaddexp(a / t, c / t), torch.maximum(a, c))
        high = torch.minimum(-t * torch.logaddexp(-b / t, -d / t), torch.minimum(b, d))
        return (self.log_volume(low, high) - self.log_volume(a, b)).clamp(max=_LARGEST)

    def loss(self, batch: Batch) -> Tensor:
        scores = self.scores(batch)
        return -(scores[:, 0] + self.settings.negative_weight * log1mexp(scores[:, 1:]).mean(1)).mean()


class GumbelBox(Baseline):
    """Gumbel boxes as a method."""

    name = "gumbel-box"
    settings_type = GumbelBoxSettings
    network_type = GumbelBoxNetwork
