"""CLIP as a compared system, in the three readings its descriptions allow.

On frozen unit vectors v of an image and t of a label. Zero-shot: s = ⟨v, t⟩, for towers that share a space.
CLIP-1: s = w₂ᵀ relu(W₁ [v ; t]) by logistic loss. CLIP-2: s = ⟨A v, B t⟩ / (‖A v‖ ‖B t‖) by margin.
"""

from __future__ import annotations

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.errors import InputError
from taxosphere.images.whitening import unit
from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.methods.image_task import LabelledImages
from taxosphere.typing import Floats


class ClipZeroShot:
    """Cosine of image and label vectors; nothing is learned from the images of the seed."""

    def fit(self, task: LabelledImages, *, random_state: int) -> ClipZeroShot:  # noqa: ARG002 - nothing is random
        if task.vectors.shape[1] != task.texts.shape[1]:
            raise InputError("clip-zero-shot needs towers that share a space: a CLIP or SigLIP image encoder")
        self.texts = unit(task.texts)
        return self

    def score(self, vectors: Floats) -> Floats:
        return unit(vectors) @ self.texts.T


class Clip1Settings(Settings):
    """Settings of CLIP-1."""

    hidden: int = Field(256, ge=1)
    dropout: float = Field(0.2, ge=0, lt=1)


class Clip1Network(Network):
    """Score and loss of CLIP-1; the formula is in the docstring of the module."""

    def __init__(self, settings: Clip1Settings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings, self.gain = settings, seed.dim**0.5
        self.of_image = nn.Linear(seed.dim, settings.hidden)
        self.of_label = nn.Linear(seed.dim, settings.hidden, bias=False)
        self.out = nn.Linear(settings.hidden, 1)

    @property
    def width(self) -> int:
        return 2 * self.settings.hidden

    def query(self, vectors: Tensor) -> Tensor:
        features: Tensor = self.of_image(self.gain * vectors)
        return features

    def candidate(self, views: MaskedCandidates) -> Tensor:
        features: Tensor = self.of_label(self.gain * self.seed.vectors[views.position])
        return features

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        layer = F.dropout(F.relu(query + candidate), self.settings.dropout, self.training)
        scores: Tensor = self.out(layer).squeeze(-1)
        return scores

    def loss(self, batch: Batch) -> Tensor:
        return losses.binary(self.scores(batch))


class Clip1(Baseline):
    """CLIP-1 as a method."""

    name = "clip-1"
    settings_type = Clip1Settings
    network_type = Clip1Network


class Clip2Settings(Settings):
    """Settings of CLIP-2."""

    dim: int = Field(256, ge=1)
    margin: float = Field(0.2, gt=0)


class Clip2Network(Network):
    """Score and loss of CLIP-2; the formula is in the docstring of the module."""

    def __init__(self, settings: Clip2Settings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        self.of_image = nn.Linear(seed.dim, settings.dim, bias=False)
        self.of_label = nn.Linear(seed.dim, settings.dim, bias=False)

    @property
    def width(self) -> int:
        return self.settings.dim

    def query(self, vectors: Tensor) -> Tensor:
        return F.normalize(self.of_image(vectors), dim=-1)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return F.normalize(self.of_label(self.seed.vectors[views.position]), dim=-1)

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        return torch.sum(query * candidate, dim=-1)

    def loss(self, batch: Batch) -> Tensor:
        return losses.margin(self.scores(batch), self.settings.margin)


class Clip2(Baseline):
    """CLIP-2 as a method."""

    name = "clip-2"
    settings_type = Clip2Settings
    network_type = Clip2Network
