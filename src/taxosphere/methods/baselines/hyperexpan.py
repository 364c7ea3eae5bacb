"""HyperExpan (Ma et al., 2021): a hyperbolic graph network over a candidate's neighbourhood, matched by an MLP.

Text vectors are mapped into the Poincaré ball; each layer works in the tangent space at the origin and returns to a
ball of its own learned curvature (HGCN with local_agg = 0 and no attention, as in the released configurations).
"""

from __future__ import annotations

import math
from itertools import pairwise

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import start_at_similarity
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import EgoNets, MaskedCandidates, Seed, segment_mean
from taxosphere.methods.baselines.settings import Settings

_EDGE = 4e-3  # distance kept from the rim of the ball in float32
_TINY = 1e-15


class HyperExpanSettings(Settings):
    """Settings of HyperExpan."""

    steps: int = Field(180, ge=1)
    epochs: int = Field(12, ge=0)
    hidden: int = Field(100, ge=1)
    layers: int = Field(2, ge=1)
    matcher: int = Field(100, ge=1, description="width of the matching network")
    slices: int = Field(5, ge=1)
    curvature: float = Field(1.0, gt=0)
    dropout: float = Field(0.1, ge=0, lt=1)
    sharpness: float = Field(5.0, ge=0, description="of the likeness the matcher starts with; 0: random start")


def norm(x: Tensor) -> Tensor:
    """Length of the last dimension, kept as a dimension, never 0."""
    length: Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    return length.clamp(min=_TINY)


def project(x: Tensor, c: Tensor) -> Tensor:
    """Points moved back into the ball of curvature −c."""
    return x * ((1 - _EDGE) / (torch.sqrt(c) * norm(x))).clamp(max=1)


def exp0(v: Tensor, c: Tensor) -> Tensor:
    """Exponential map at the origin of the Poincaré ball of curvature −c."""
    length = torch.sqrt(c) * norm(v)
    return v * (torch.tanh(length).clamp(max=1 - _EDGE) / length)


def log0(y: Tensor, c: Tensor) -> Tensor:
    """Inverse of `exp0`."""
    length = torch.sqrt(c) * norm(y)
    return y * (torch.atanh(length.clamp(max=1 - 1e-5)) / length)


def within_ball(v: Tensor, c: Tensor) -> Tensor:
    """log_0(exp_0(v)) without going there and back: v, cut where the rim of the ball is."""
    return v * (math.atanh(1 - _EDGE) / (torch.sqrt(c) * norm(v))).clamp(max=1)


def mobius_add(x: Tensor, y: Tensor, c: Tensor) -> Tensor:
    """Möbius addition in the Poincaré ball of curvature −c."""
    xy, xx, yy = (x * y).sum(-1, keepdim=True), (x * x).sum(-1, keepdim=True), (y * y).sum(-1, keepdim=True)
    above = (1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y
    return above / (1 + 2 * c * xy + c * c * xx * yy).clamp(min=_TINY)


class HyperbolicLayer(nn.Module):
    """exp_0(act(mean over neighbours of log_0(W ⊗ x ⊕ b))); points go in and come out as tangent vectors."""

    def __init__(self, dim: int, out: int, dropout: float) -> None:
        super().__init__()
        self.linear = nn.Linear(dim, out, bias=False)
        self.bias = nn.Parameter(torch.randn(out) * 0.01)  # a tangent vector, added in the ball
        self.dropout = dropout

    def transform(self, tangent: Tensor, c: Tensor) -> Tensor:
        """log_0(W ⊗ x ⊕ b) of points x = exp_0(tangent)."""
        kept = F.dropout(tangent, self.dropout, self.training)
        moved = mobius_add(exp0(self.linear(kept), c), exp0(self.bias, c), c)
        return log0(project(moved, c), c)

    @staticmethod
    def gather(tangent: Tensor, nets: EgoNets, c: Tensor) -> Tensor:
        """act(mean over neighbours), as far as a ball of curvature −c holds it."""
        return within_ball(F.relu(segment_mean(tangent[nets.source], nets.target, len(tangent))), c)


class HyperExpanNetwork(Network):
    """Score and loss of HyperExpan; the formula is in the docstring of the module."""

    def __init__(self, settings: HyperExpanSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        s = self.settings = settings
        dims = [seed.dim] + [s.hidden] * s.layers
        self.graph = nn.ModuleList(HyperbolicLayer(a, b, s.dropout) for a, b in pairwise(dims))
        # softplus keeps curvatures positive
        self.raw_curvature = nn.Parameter(torch.full((s.layers + 1,), s.curvature).expm1().log())
        self.of_candidate = nn.Linear(seed.dim + s.hidden, s.matcher, bias=False)
        self.of_query = nn.Linear(seed.dim, s.matcher)
        self.mix = nn.Linear(s.matcher, s.slices)
        self.out = nn.Linear(s.slices, 1, bias=False)
        if s.sharpness:
            with torch.no_grad():
                likeness = start_at_similarity(self.of_query, self.of_candidate, 1.0)
                self.mix.weight.copy_(
                    likeness + 0.1 * likeness.norm() * torch.randn_like(self.mix.weight) / s.matcher**0.5
                )
                self.mix.bias.fill_(0.0)
                self.out.weight.fill_(s.sharpness / s.slices)

    @property
    def width(self) -> int:
        return 2 * self.settings.matcher

    def query(self, vectors: Tensor) -> Tensor:
        out: Tensor = self.of_query(self.seed.dim**0.5 * vectors)
        return out

    def candidate(self, views: MaskedCandidates) -> Tensor:
        nets, curvature = self.seed.ego_nets(views), F.softplus(self.raw_curvature)
        members, place = torch.unique(nets.member, return_inverse=True)
        x = within_ball(self.seed.vectors[members], curvature[0])
        for i, layer in enumerate(self.graph):
            assert isinstance(layer, HyperbolicLayer)
            tangent = layer.transform(x, curvature[i])
            # Before the first exchange a concept is the same in every neighbourhood.
            x = layer.gather(tangent[place] if i == 0 else tangent, nets, curvature[i + 1])
        readout = segment_mean(x, nets.owner, len(views.position))
        vectors = self.seed.dim**0.5 * self.seed.vectors[views.position]
        out: Tensor = self.of_candidate(torch.cat([vectors, readout], dim=-1))
        return out

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        scores: Tensor = self.out(torch.tanh(self.mix(F.relu(query + candidate)))).squeeze(-1)
        return scores

    def loss(self, batch: Batch) -> Tensor:
        return losses.contrast(self.scores(batch))


class HyperExpan(Baseline):
    """HyperExpan as a method."""

    name = "hyperexpan"
    settings_type = HyperExpanSettings
    network_type = HyperExpanNetwork
