"""Graph attention over a candidate and its neighbours, as TaxoExpan introduced it and STEAM uses it."""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines.seed import EgoNets, segment_sum
from taxosphere.methods.baselines.settings import Settings


class EgoSettings(Settings):
    """Settings of the graph attention over neighbourhoods."""

    ego_hidden: int = Field(100, ge=1, description="of each attention head")
    ego_heads: int = Field(4, ge=1)
    ego_position: int = Field(50, ge=1, description="size of the embedding of a role")
    ego_out: int = Field(200, ge=1)
    ego_dropout: float = Field(0.1, ge=0, lt=1)


class PositionAttention(nn.Module):
    """One multi-head attention layer over ego-nets; members carry an embedding of their role."""

    def __init__(self, dim: int, out: int, heads: int, position_dim: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.position = nn.Embedding(3, position_dim)
        self.project = nn.Linear(dim + position_dim, heads * out, bias=False)
        self.attend = nn.Parameter(torch.empty(2, heads, out))  # of the receiving and the sending member
        nn.init.xavier_normal_(self.project.weight, gain=2**0.5)
        nn.init.xavier_normal_(self.attend)

    def forward(self, features: Tensor, nets: EgoNets) -> Tensor:
        x = torch.cat([features, self.position(nets.role)], dim=-1)
        x = self.project(F.dropout(x, self.dropout, self.training)).unflatten(-1, (self.heads, -1))
        to, by = (x * self.attend[0]).sum(-1), (x * self.attend[1]).sum(-1)  # (members, heads)
        logits = F.leaky_relu(to[nets.target] + by[nets.source], 0.2)
        weight = F.dropout(segment_softmax(logits, nets.target, len(x)), self.dropout, self.training)
        return segment_sum(weight[..., None] * x[nets.source], nets.target, len(x))  # (members, heads, out)


def segment_softmax(logits: Tensor, segment: Tensor, count: int) -> Tensor:
    """Softmax over the rows that share a segment, column by column."""
    top = logits.new_full((count, logits.shape[1]), -torch.inf)
    top = top.scatter_reduce(0, segment[:, None].expand_as(logits), logits.detach(), "amax")
    weight = torch.exp(logits - top[segment])
    return weight / segment_sum(weight, segment, count)[segment]


class EgoEncoder(nn.Module):
    """Two attention layers and the position-weighted mean: one vector per candidate."""

    def __init__(self, dim: int, settings: EgoSettings) -> None:
        super().__init__()
        s, shared = settings, (settings.ego_position, settings.ego_dropout)
        self.first = PositionAttention(dim, s.ego_hidden, s.ego_heads, *shared)
        self.second = PositionAttention(s.ego_heads * s.ego_hidden, s.ego_out, 1, *shared)
        self.importance = nn.Parameter(torch.zeros(3))

    def forward(self, vectors: Tensor, nets: EgoNets, count: int) -> Tensor:
        x = F.leaky_relu(self.first(vectors[nets.member], nets).flatten(1))
        x = self.second(x, nets).flatten(1)
        weight = F.softplus(self.importance)[nets.role, None]
        return segment_sum(weight * x, nets.owner, count) / segment_sum(weight, nets.owner, count)
