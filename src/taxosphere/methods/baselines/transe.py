"""TransE (Bordes et al., 2013): a child moved along one learned direction lands on its parent.

s(q, p) = −‖e_q + r − e_p‖, entities on the unit sphere as in the paper. Entities are projected text vectors, since a
table of free vectors cannot place an unseen concept.
"""

from __future__ import annotations

from typing import Literal

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import Head
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings


class TransESettings(Settings):
    """Settings of TransE."""

    dim: int = Field(128, ge=1)
    hidden: int = Field(0, ge=0)
    norm: Literal[1, 2] = 2
    objective: Literal["margin", "self-adversarial"] = "margin"
    margin: float = Field(0.5, gt=0)
    temperature: float = Field(1.0, ge=0)
    offset: float = Field(12.0, gt=0, description="g of the self-adversarial form, s = g − distance")


class TransENetwork(Network):
    """Score and loss of TransE; the formula is in the docstring of the module."""

    def __init__(self, settings: TransESettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.head = Head(seed.dim, settings.dim, settings.hidden)
        self.relation = nn.Parameter(torch.empty(settings.dim).uniform_(-1, 1) * 0.1 / settings.dim**0.5)

    @property
    def width(self) -> int:
        return self.settings.dim

    def entity(self, vectors: Tensor) -> Tensor:
        return F.normalize(self.head(vectors), dim=-1)

    def query(self, vectors: Tensor) -> Tensor:
        return self.entity(vectors) + self.relation

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self.entity(self.seed.vectors[views.position])

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        distance: Tensor = torch.linalg.vector_norm(query - candidate, ord=self.settings.norm, dim=-1)
        return -distance

    def loss(self, batch: Batch) -> Tensor:
        scores = self.scores(batch)
        if self.settings.objective == "margin":
            return losses.margin(scores, self.settings.margin)
        return losses.self_adversarial(self.settings.offset + scores, self.settings.temperature)


class TransE(Baseline):
    """TransE as a method."""

    name = "transe"
    settings_type = TransESettings
    network_type = TransENetwork
