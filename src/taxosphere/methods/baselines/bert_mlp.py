"""BERT+MLP: a small network over the two text vectors, as the taxonomy expansion literature uses it.

s(q, p) = w₂ᵀ relu(W₁ [h_q ; h_p]), optionally with |h_q − h_p| and h_q ∘ h_p joined to the input, trained pair by pair.
"""

from __future__ import annotations

import math

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.heads import start_at_similarity
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings


class BertMlpSettings(Settings):
    """Settings of BERT+MLP."""

    hidden: int = Field(200, ge=1)
    dropout: float = Field(0.2, ge=0, lt=1)
    interactions: bool = Field(False, description="also |h_q − h_p| and h_q ∘ h_p")
    sharpness: float = Field(5.0, ge=0, description="of the likeness the network starts with; 0: random start")


class BertMlpNetwork(Network):
    """Score and loss of BERT+MLP; the formula is in the docstring of the module."""

    def __init__(self, settings: BertMlpSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings, self.gain = settings, math.sqrt(seed.dim)
        self.of_query = nn.Linear(seed.dim, settings.hidden)
        self.of_candidate = nn.Linear(seed.dim, settings.hidden, bias=False)
        self.of_both = nn.Linear(2 * seed.dim, settings.hidden, bias=False) if settings.interactions else None
        self.out = nn.Linear(settings.hidden, 1)
        if settings.sharpness:
            with torch.no_grad():
                self.out.weight[0] = start_at_similarity(self.of_query, self.of_candidate, settings.sharpness)
        # Start at the rate of true pairs: otherwise training first shrinks every weight to say "no" to most of them.
        nn.init.constant_(self.out.bias, -math.log(settings.negatives) - 0.3 * settings.sharpness)

    @property
    def width(self) -> int:
        return 2 * self.settings.hidden + (4 * self.seed.dim if self.settings.interactions else 0)

    def query(self, vectors: Tensor) -> Tensor:
        return self._features(self.of_query, vectors)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self._features(self.of_candidate, self.seed.vectors[views.position])

    def _features(self, layer: nn.Linear, vectors: Tensor) -> Tensor:
        """A side's part of W₁ [h_q ; h_p], which needs no partner; joined with the vector where interactions do."""
        vectors = self.gain * vectors
        part: Tensor = layer(vectors)
        return part if self.of_both is None else torch.cat([part, vectors], dim=-1)

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        size = self.settings.hidden
        layer = query[..., :size] + candidate[..., :size]
        if self.of_both is not None:
            q, p = query[..., size:], candidate[..., size:]
            layer = layer + self.of_both(torch.cat([(q - p).abs(), q * p], dim=-1))
        layer = F.dropout(F.relu(layer), self.settings.dropout, self.training)
        scores: Tensor = self.out(layer).squeeze(-1)
        return scores

    def loss(self, batch: Batch) -> Tensor:
        return losses.binary(self.scores(batch))


class BertMlp(Baseline):
    """BERT+MLP as a method."""

    name = "bert-mlp"
    settings_type = BertMlpSettings
    network_type = BertMlpNetwork
