"""TaxoExpan (Shen et al., 2020): graph attention over a candidate's neighbourhood, matched with the query's text.

Position-enhanced graph attention (each layer also sees whether a member is parent, self or child), a position-weighted
mean as readout, a bilinear match, InfoNCE. A query under training is taken out of every neighbourhood.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.ego_graph import EgoEncoder, EgoSettings
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed


class TaxoExpanSettings(EgoSettings):
    """Settings of TaxoExpan."""

    steps: int = Field(120, ge=1)
    epochs: int = Field(8, ge=0)
    learning_rate: float = Field(5e-4, gt=0)
    raw: bool = Field(True, description="join the candidate's text vector to the readout")
    sharpness: float = Field(10.0, gt=0, description="of the match with that vector at the start")


class TaxoExpanNetwork(Network):
    """Score and loss of TaxoExpan; the formula is in the docstring of the module."""

    def __init__(self, settings: TaxoExpanSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.ego = EgoEncoder(seed.dim, settings)
        self.bilinear = nn.Linear(settings.ego_out, seed.dim, bias=False)
        self.direct = nn.Parameter(settings.sharpness * torch.eye(seed.dim)) if settings.raw else None

    @property
    def width(self) -> int:
        return self.seed.dim

    def query(self, vectors: Tensor) -> Tensor:
        return vectors

    def candidate(self, views: MaskedCandidates) -> Tensor:
        """W a_p, so that a match is one dot product with the query's vector."""
        readout = self.ego(self.seed.vectors, self.seed.ego_nets(views), len(views.position))
        out: Tensor = self.bilinear(readout)
        return out if self.direct is None else out + self.seed.vectors[views.position] @ self.direct

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        return (query * candidate).sum(-1)

    def match_all(self, query: Tensor, candidate: Tensor) -> Tensor:
        return query @ candidate.T

    def loss(self, batch: Batch) -> Tensor:
        return losses.contrast(self.scores(batch))


class TaxoExpan(Baseline):
    """TaxoExpan as a method."""

    name = "taxoexpan"
    settings_type = TaxoExpanSettings
    network_type = TaxoExpanNetwork
