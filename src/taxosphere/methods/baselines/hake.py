"""HAKE (Zhang et al., 2020): the modulus tells levels of the hierarchy apart, the phase concepts of one level.

s(q, p) = g − λ_m ‖m_q ∘ (|r_m| + r_b) − m_p ∘ (1 − r_b)‖₂ − λ_f Σ_j |sin((f_q + r_f − f_p)_j / 2)|, with r_b clamped to
[−|r_m|, 1] and both weights learned. Moduli are not forced to be positive, as in the released code.
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

_EPSILON = 2.0


class HakeSettings(Settings):
    """Settings of HAKE."""

    dim: int = Field(64, ge=1, description="of the modulus and of the phase")
    hidden: int = Field(0, ge=0)
    offset: float = Field(12.0, gt=0)
    temperature: float = Field(1.0, ge=0)
    modulus_weight: float = Field(1.0, gt=0)
    phase_weight: float = Field(0.5, gt=0, description="in units of the range")


class HakeNetwork(Network):
    """Score and loss of HAKE; the formula is in the docstring of the module."""

    def __init__(self, settings: HakeSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.range = (settings.offset + _EPSILON) / settings.dim
        self.head = Head(seed.dim, 2 * settings.dim, settings.hidden, scale=self.range / math.sqrt(3))
        self.modulus = nn.Parameter(torch.ones(settings.dim))
        self.bias = nn.Parameter(torch.zeros(settings.dim))
        self.phase = nn.Parameter(torch.empty(settings.dim).uniform_(-self.range, self.range))
        self.modulus_weight = nn.Parameter(torch.tensor(settings.modulus_weight))
        self.phase_weight = nn.Parameter(torch.tensor(settings.phase_weight * self.range))

    @property
    def width(self) -> int:
        return 2 * self.settings.dim

    def _relation(self) -> tuple[Tensor, Tensor]:
        modulus = self.modulus.abs()
        return modulus, torch.minimum(torch.maximum(self.bias, -modulus), torch.ones_like(modulus))

    def query(self, vectors: Tensor) -> Tensor:
        modulus, phase = self.head(vectors).chunk(2, dim=-1)
        scale, bias = self._relation()
        return torch.cat([modulus * (scale + bias), (phase + self.phase) * (math.pi / self.range)], dim=-1)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        modulus, phase = self.head(self.seed.vectors[views.position]).chunk(2, dim=-1)
        return torch.cat([modulus * (1 - self._relation()[1]), phase * (math.pi / self.range)], dim=-1)

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        modulus, phase = (query - candidate).chunk(2, dim=-1)
        level = torch.linalg.vector_norm(modulus, dim=-1)
        place = torch.sin(phase / 2).abs().sum(-1)
        scores: Tensor = self.settings.offset - self.modulus_weight * level - self.phase_weight * place
        return scores

    def loss(self, batch: Batch) -> Tensor:
        return losses.self_adversarial(self.scores(batch), self.settings.temperature)


class Hake(Baseline):
    """HAKE as a method."""

    name = "hake"
    settings_type = HakeSettings
    network_type = HakeNetwork
