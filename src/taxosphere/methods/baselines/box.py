"""BoxTaxo (Jiang et al., 2023): concepts are boxes, a child's box lies inside its parent's.

P(p | q) = Π_j max(0, I_j) / o_q,j with I the half-widths of the intersection. Two things of the released code are not
repeated: its size term reads the child's centre instead of its width, and its negative term carries another's weight.
"""

from __future__ import annotations

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

_APART = -1e3  # all disjoint pairs score below all overlapping ones


class BoxSettings(Settings):
    """Settings of BoxTaxo."""

    dim: int = Field(64, ge=1)
    hidden: int = Field(0, ge=0)
    centre_scale: float = Field(0.2, gt=0, description="spread of the centres at the start")
    width_start: float = Field(1.0, description="log half-width at the start")
    contain: float = Field(0.1, ge=0)
    separate: float = Field(0.0, ge=0)
    size: float = Field(1.0, ge=0)
    probability: float = Field(1.0, ge=0)
    negative_weight: float = Field(31.0, gt=0, description="of the mean over the negatives in the probability term")
    inset: float = Field(0.05, ge=0, description="how far inside its parent a child should lie")
    gap: float = Field(0.03, ge=0, description="how far apart a negative should lie")
    smallest: float = Field(0.03, ge=0, description="half-width below which a box is pushed to grow")
    volume: float = Field(
        1e-4, ge=0, description="price of a large parent in log volume; tiny: it only breaks ties, as published"
    )
    disjoint: Literal["volume", "gap"] = Field(
        "volume", description="order of candidates that do not overlap the query"
    )


class BoxNetwork(Network):
    """Score and loss of BoxTaxo; the formula is in the docstring of the module."""

    def __init__(self, settings: BoxSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.centre = Head(seed.dim, settings.dim, settings.hidden, settings.centre_scale)
        self.log_width = Head(seed.dim, settings.dim, settings.hidden, 0.1)

    @property
    def width(self) -> int:
        return 4 * self.settings.dim

    def box(self, vectors: Tensor) -> Tensor:
        """[centre ; half-width]"""
        width = torch.exp((self.settings.width_start + self.log_width(vectors)).clamp(max=5))
        return torch.cat([self.centre(vectors), width], dim=-1)

    def query(self, vectors: Tensor) -> Tensor:
        return self.box(vectors)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self.box(self.seed.vectors[views.position])

    @staticmethod
    def overlap(query: Tensor, candidate: Tensor) -> tuple[Tensor, Tensor]:
        """Half-widths of the intersection (negative: a gap) and those of the query."""
        (c, o), (d, w) = query.chunk(2, dim=-1), candidate.chunk(2, dim=-1)
        return (torch.minimum(c + o, d + w) - torch.maximum(c - o, d - w)) / 2, o

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        shared, half_width = self.overlap(query, candidate)
        log_p = torch.log((shared / half_width).clamp(1e-30, 1)).sum(-1)
        volume = torch.log(candidate.chunk(2, dim=-1)[1]).sum(-1)
        beyond = volume if self.settings.disjoint == "volume" else F.relu(-shared).sum(-1)
        return torch.where((shared > 0).all(-1), log_p - self.settings.volume * volume, _APART - beyond)

    def loss(self, batch: Batch) -> Tensor:
        s = self.settings
        query, candidate = self.pairs(batch)
        shared, half_width = self.overlap(query, candidate)
        p = (F.relu(shared) / half_width).prod(-1)
        (c, o), (d, w) = query[:, 0].chunk(2, dim=-1), candidate[:, 0].chunk(2, dim=-1)
        left, right = F.relu(s.inset - ((c - o) - (d - w))), F.relu(s.inset - ((d + w) - (c + o)))
        contain = 0.5 * (left**2 + right**2).mean()
        separate = (F.relu(shared[:, 1:] + s.gap) ** 2).mean()
        probability = ((p[:, 0] - 1) ** 2).mean() + s.negative_weight * (p[:, 1:] ** 2).mean()
        widths = candidate.chunk(2, dim=-1)[1]
        small = (F.relu(s.smallest - widths) ** 2).mean() + (F.relu(s.smallest - o) ** 2).mean()
        return s.contain * contain + s.separate * separate + s.size * small + s.probability * probability


class Box(Baseline):
    """BoxTaxo as a method."""

    name = "box"
    settings_type = BoxSettings
    network_type = BoxNetwork
