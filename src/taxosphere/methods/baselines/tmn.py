"""TMN (Zhang et al., 2021): triplet matching of a query with a parent and a child below which it would be inserted.

A candidate is a pair (p, c); the pseudo-leaf, a zero vector, stands for "no child". Gates choose what of p, c and
[p ; c] matters for the query, neural tensor slices match each with it, auxiliary scores s_l, s_r, s_e train them and
the primal score s reads their slices without sending gradient back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.insertion_cases import Insertions
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import NOBODY, MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.taxonomy import Concept


class TmnSettings(Settings):
    """Settings of TMN."""

    steps: int = Field(200, ge=1)
    epochs: int = Field(10, ge=0)
    evaluations: int = Field(12, ge=1)
    patience: int = Field(4, ge=1)
    slices: int = Field(5, ge=1)
    sharpness: float = Field(5.0, ge=0, description="weight of the identity in each slice at the start")
    pairs: float = Field(0.2, ge=0, le=1, description="share of negatives with a real child")
    half_right: float = Field(0.1, ge=0, le=1, description="share of negatives with the true parent, wrong child")


class GatedMatch(nn.Module):
    """k slices of x̃ᵀ W q + V [x̃ ; q], x̃ = x ∘ σ(G [x ; q]); x is one concept or the pair [p ; c]."""

    def __init__(self, parts: int, dim: int, settings: TmnSettings) -> None:
        super().__init__()
        k, self.size = settings.slices, parts * dim
        self.gates = nn.ModuleList(nn.Linear(dim, self.size, bias=False) for _ in range(parts))
        self.query_gate = nn.Linear(dim, self.size)
        start = settings.sharpness * torch.eye(dim).repeat(parts, 1)
        self.tensor = nn.Parameter(start + torch.randn(k, self.size, dim) / dim**0.5)
        self.direct = nn.Parameter(torch.randn(k, self.size) / dim**0.5)
        self.constant = nn.Linear(dim, k)
        self.out = nn.Linear(k, 1)
        nn.init.constant_(self.out.weight, 1 / k)

    def of_query(self, q: Tensor) -> Tensor:
        weight = torch.einsum("ksd,bd->bks", self.tensor, q) + self.direct
        return torch.cat([self.query_gate(q), self.constant(q), weight.flatten(1)], dim=-1)

    def forward(self, x: Tensor, gate: Tensor, query: Tensor) -> Tensor:
        """(b, m, k) from x (·, m, s), its part of the gate, and `of_query` (b, 1, ·).

        ``s`` may be shorter than the match: what is missing belongs to the pseudo-leaf, whose vector is zero.
        """
        size, k = x.shape[-1], self.direct.shape[0]
        query_gate, constant, weight = torch.split(query, [self.size, k, k * self.size], dim=-1)
        kept = x * torch.sigmoid(gate[..., :size] + query_gate[..., :size])
        weight = weight.reshape(-1, k, self.size)[..., :size]  # (b, k, s)
        slices: Tensor = kept @ weight.mT + constant
        return slices


class Scores(NamedTuple):
    """The primal score of pairs, and the auxiliary scores of parent, child and edge."""

    primal: Tensor
    parent: Tensor
    child: Tensor
    edge: Tensor


class TmnNetwork(Network):
    """Score and loss of TMN; the formula is in the docstring of the module."""

    def __init__(self, settings: TmnSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.insertions = Insertions(seed.taxonomy, settings.pairs, settings.half_right)
        self.left = GatedMatch(1, seed.dim, settings)
        self.right = GatedMatch(1, seed.dim, settings)
        self.edge = GatedMatch(2, seed.dim, settings)
        self.out = nn.Linear(3 * settings.slices, 1)
        nn.init.constant_(self.out.weight, 1 / settings.slices)
        # Start at the rate of true pairs: otherwise training first shrinks every weight to say "no" to most of them.
        # A gate passes half at the start and two texts have a cosine about 0.25.
        rate, level = -math.log(settings.negatives), settings.sharpness / 8
        for out, matches in ((self.left.out, 1), (self.edge.out, 1), (self.out, 2)):
            nn.init.constant_(out.bias, rate - matches * level)

    @property
    def width(self) -> int:
        return 6 * self.seed.dim

    def query(self, vectors: Tensor) -> Tensor:
        return torch.cat([match.of_query(vectors) for match in (self.left, self.right, self.edge)], dim=-1)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self._as_parent(self.seed.vectors[views.position])

    def _as_parent(self, vectors: Tensor) -> Tensor:
        return torch.cat([vectors, self.left.gates[0](vectors), self.edge.gates[0](vectors)], dim=-1)

    def _as_child(self, vectors: Tensor) -> Tensor:
        return torch.cat([vectors, self.right.gates[0](vectors), self.edge.gates[1](vectors)], dim=-1)

    def all_scores(self, query: Tensor, parent: Tensor, child: Tensor | None = None) -> Scores:
        """All four scores of features from `query`, `_as_parent` and `_as_child` (None: the pseudo-leaf)."""
        d, k = self.seed.dim, self.settings.slices
        sizes = [match.size * (1 + k) + k for match in (self.left, self.right, self.edge)]
        for_left, for_right, for_edge = torch.split(query, sizes, dim=-1)
        p, left_gate, edge_gate = torch.split(parent, [d, d, 2 * d], dim=-1)
        left = self.left(p, left_gate, for_left)
        if child is None:
            edge = self.edge(p, edge_gate, for_edge)
            right = for_right[..., d : d + k].expand_as(left)
        else:
            c, right_gate, second_gate = torch.split(child, [d, d, 2 * d], dim=-1)
            right = self.right(c, right_gate, for_right)
            edge = self.edge(torch.cat([p, c], dim=-1), edge_gate + second_gate, for_edge)
        left, right, edge = (F.leaky_relu(slices, 0.2) for slices in (left, right, edge))
        primal = self.out(torch.cat([edge, left, right], dim=-1).detach())
        return Scores(
            *(x.squeeze(-1) for x in (primal, self.left.out(left), self.right.out(right), self.edge.out(edge)))
        )

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        return self.all_scores(query, candidate).primal

    def match_pairs(self, vectors: Tensor, pairs: Tensor) -> Tensor:
        """Primal scores (b, m) of insertions between (parent, child) positions; NOBODY as child is the pseudo-leaf."""
        query, rows = self.query(vectors), max(1, (1 << 22) // self.width)
        blocks = []
        for pair in torch.split(pairs, rows):
            parent = self._as_parent(self.seed.vectors[pair[:, 0]])[None]
            child = self._as_child(self._child_vectors(pair[:, 1]))[None]
            blocks.append(torch.cat([self.all_scores(q[None, None], parent, child).primal for q in query]))
        return torch.cat(blocks, dim=1)

    def _child_vectors(self, child: Tensor) -> Tensor:
        return torch.where((child == NOBODY)[..., None], 0.0, self.seed.vectors[child])

    def loss(self, batch: Batch) -> Tensor:
        parent, child, right_parent, right_child = self.insertions.cases(batch.query, batch.candidate)
        views, place = self.seed.mask(batch.query, parent)
        distinct, child_place = torch.unique(child, return_inverse=True)
        scores = self.all_scores(
            self.query(self.seed.vectors[batch.query])[:, None],
            self.candidate(views)[place],
            self._as_child(self._child_vectors(distinct))[child_place],
        )
        both = right_parent & right_child
        labels = (both, right_parent, right_child, both)
        return torch.stack(
            [F.binary_cross_entropy_with_logits(s, y.to(s.dtype)) for s, y in zip(scores, labels, strict=True)]
        ).sum()


class Tmn(Baseline):
    """TMN as a method."""

    name = "tmn"
    settings_type = TmnSettings
    network_type = TmnNetwork

    def score_pairs(self, queries: Sequence[Concept], pairs: NDArray[np.integer]) -> NDArray[np.float32]:
        """(queries, pairs): insertion of each query between (parent, child) positions of the seed; child -1: none."""
        network, vectors = self._ready(queries)
        assert isinstance(network, TmnNetwork)
        with torch.no_grad():
            scores: NDArray[np.float32] = network.match_pairs(
                vectors, torch.from_numpy(np.asarray(pairs, np.int64))
            ).numpy()
        return scores
