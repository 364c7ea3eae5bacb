"""STEAM (Yu et al., 2020): attach a query to one concept of a mini-path, seen from several views that must agree.

NOT REPRODUCED: the contextual view of the paper needs a large parsed corpus (dependency paths between all pairs of
terms) and two of its seven string features need that corpus' counts. Definition overlap takes the place of the view,
the two features are left out; the paper's numbers therefore cannot be compared with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.methods.baselines import strings
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.ego_graph import EgoEncoder, EgoSettings
from taxosphere.methods.baselines.mini_paths import MiniPaths
from taxosphere.methods.baselines.network import BLOCK, Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.taxonomy import Concept

LENGTH = 3  # concepts of a mini-path
_FEATURES = (1, len(strings.TEXT_FEATURES), len(strings.NAME_FEATURES))  # per anchor and view


class SteamSettings(EgoSettings):
    """Settings of STEAM."""

    steps: int = Field(150, ge=1)
    epochs: int = Field(8, ge=0)
    learning_rate: float = Field(3e-3, gt=0)
    negatives: int = Field(7, ge=1)
    hidden: int = Field(50, ge=1)
    dropout: float = Field(0.1, ge=0, lt=1)
    gamma: float = Field(5.0, ge=0, description="how strongly a view's deviation from the mean changes its weight")
    view_weight: float = Field(0.1, ge=0)
    agreement: float = Field(0.1, ge=0)
    sharpness: float = Field(10.0, gt=0)


class Logits(NamedTuple):
    """Class logits of the fused classifier, and of every view."""

    fused: Tensor  # (…, L + 1): child of the i-th anchor, or of none
    views: Tensor  # (…, 3, L + 1)


class SteamNetwork(Network):
    """Score and loss of STEAM; the formula is in the docstring of the module."""

    def __init__(self, settings: SteamSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = s = settings
        self.paths = MiniPaths(seed.taxonomy)
        concepts = list(seed.taxonomy.concepts())
        self._names = strings.Names.of([concept.name for concept in concepts])
        self._definitions = strings.Definitions(concepts)
        self._texts = self._definitions.matrices(concepts)
        self.ego = EgoEncoder(seed.dim, s)
        self.bilinear = nn.Linear(s.ego_out, seed.dim, bias=False)
        self.direct = nn.Parameter(s.sharpness * torch.eye(seed.dim))
        self.mlps = nn.ModuleList(
            nn.Sequential(
                nn.Linear(LENGTH * (count + 1), s.hidden),
                nn.ReLU(),
                nn.Dropout(s.dropout),
                nn.Linear(s.hidden, LENGTH + 1),
            )
            for count in _FEATURES
        )
        inputs = len(_FEATURES) * (LENGTH + 1)
        self.attention = nn.Sequential(nn.Linear(inputs, 2 * inputs), nn.Linear(2 * inputs, len(_FEATURES), bias=False))

    @property
    def width(self) -> int:
        return 4 * self.settings.hidden + 2 * LENGTH * (sum(_FEATURES) + 3)

    def query(self, vectors: Tensor) -> Tensor:
        return vectors

    def candidate(self, views: MaskedCandidates) -> Tensor:
        readout = self.ego(self.seed.vectors, self.seed.ego_nets(views), len(views.position))
        out: Tensor = self.bilinear(readout) + self.seed.vectors[views.position] @ self.direct
        return out

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        """The distributed view's one number per anchor, as in the released code."""
        return (query * candidate).sum(-1)

    def classify(self, features: Tensor, there: Tensor) -> Logits:
        """From features (…, L, 9) of a query and the anchors; ``there`` (…, L) is False where a path is short."""
        there = there[..., None].to(features.dtype)
        parts = torch.split(features * there, list(_FEATURES), dim=-1)
        inputs = (torch.cat([part, there], dim=-1).flatten(-2) for part in parts)
        views = torch.stack([mlp(x) for mlp, x in zip(self.mlps, inputs, strict=True)], dim=-2)
        soft = F.softmax(views, dim=-1)
        apart = torch.exp(-self.settings.gamma * (soft - soft.mean(-2, keepdim=True)))
        weight = F.softmax(self.attention(apart.flatten(-2)), dim=-1)
        return Logits((weight[..., None] * views).sum(-2), views)

    def loss(self, batch: Batch) -> Tensor:
        s = self.settings
        path, label, usable = self.paths.cases(batch.query, batch.candidate)
        there, query = path >= 0, batch.query[:, None, None].expand_as(path)
        views, place = self.seed.mask(batch.query, path.clamp(min=0).flatten(1))
        anchors = self.candidate(views)[place].reshape(*path.shape, -1)  # (b, k, L, d)
        matched = self.match(self.seed.vectors[batch.query][:, None, None], anchors)
        q, a = query.flatten().numpy(), path.clamp(min=0).flatten().numpy()
        texts = strings.text_features(*(tuple(m[rows] for m in self._texts) for rows in (q, a)))
        plain = np.concatenate([texts, strings.name_features(self._names[q], self._names[a])], axis=1)
        features = torch.cat([matched[..., None], torch.from_numpy(plain).reshape(*path.shape, -1)], dim=-1)
        logits = self.classify(features[usable], there[usable])
        count = torch.bincount(label[usable], minlength=LENGTH + 1)
        weight = count.max() / count.clamp(min=1).to(features.dtype)
        loss = F.cross_entropy(logits.fused, label[usable], weight)
        soft = F.softmax(logits.views, dim=-1)
        for v in range(len(_FEATURES)):
            loss = loss + s.view_weight * F.cross_entropy(logits.views[:, v], label[usable], weight)
            loss = loss + s.agreement * sum(F.mse_loss(soft[:, v], soft[:, w]) for w in range(v))
        return loss

    def rank(self, queries: Sequence[Concept], vectors: Tensor, candidates: Tensor) -> NDArray[np.float32]:
        """Mean of log P(child of p) over all mini-paths through p."""
        names = strings.Names.of([query.name for query in queries])
        texts = self._definitions.matrices(queries)
        rows = max(1, BLOCK // (self.width * len(self.paths.anchors)))
        blocks = []
        for start in range(0, len(queries), rows):
            part = np.arange(start, min(start + rows, len(queries)))
            by_name = np.stack([strings.name_features(names[part[i : i + 1]], self._names) for i in range(len(part))])
            by_text = strings.all_text_features(tuple(m[part] for m in texts), self._texts)
            plain = torch.from_numpy(np.concatenate([by_text, by_name], axis=2))
            matched = vectors[part] @ candidates.T
            blocks.append(self._over_paths(torch.cat([matched[..., None], plain], dim=-1)))
        return torch.cat(blocks).numpy() if blocks else np.zeros((0, len(self.seed)), np.float32)

    def _over_paths(self, features: Tensor) -> Tensor:
        """(b, n, f) → (b, n)"""
        anchors = self.paths.anchors
        there = (anchors >= 0).expand(len(features), -1, -1)
        log_p = F.log_softmax(self.classify(features[:, anchors.clamp(min=0)], there).fused, dim=-1)
        slot = (anchors >= 0).flatten()
        member = anchors.flatten()[slot]
        total = features.new_zeros(len(features), len(self.seed))
        total.index_add_(1, member, log_p[..., :LENGTH].flatten(1)[:, slot])
        return total / torch.bincount(member, minlength=len(self.seed))


class Steam(Baseline):
    """STEAM as a method."""

    name = "steam"
    settings_type = SteamSettings
    network_type = SteamNetwork
