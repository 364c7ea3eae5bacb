"""Arborist (Manzoor et al., 2020): edges mean different things in different places.

s(q, p) = h_qᵀ (Σ_k w_p,k M_k) h_p with weights that depend on the parent, and margins that grow with the distance of a
negative from the true parent. Weights are w_p = U h_p + u, so that a new concept has some too; the score is squashed
and distances are divided by the longest, both for stability and both as in TMN's re-implementation.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from scipy.sparse import csr_array
from torch import Tensor, nn

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.taxonomy import Taxonomy

_SOURCES = 256  # searched from at once


class ArboristSettings(Settings):
    """Settings of Arborist."""

    steps: int = Field(200, ge=1)
    epochs: int = Field(15, ge=0)
    maps: int = Field(5, ge=1, description="number of edge meanings")
    noise: float = Field(0.02, ge=0, description="of the maps around the identity at the start")
    sharpness: float = Field(5.0, gt=0, description="slope of the squashed score at the start")
    margin: float = Field(1.0, gt=0, description="of the farthest negative")


class ArboristNetwork(Network):
    """Score and loss of Arborist; the formula is in the docstring of the module."""

    def __init__(self, settings: ArboristSettings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.settings = settings
        identity = torch.eye(seed.dim).expand(settings.maps, -1, -1)
        self.maps = nn.Parameter(identity + settings.noise * torch.randn(settings.maps, seed.dim, seed.dim))
        self.weights = nn.Linear(seed.dim, settings.maps)
        nn.init.constant_(self.weights.bias, 1 / settings.maps)
        self.sharpness = nn.Parameter(torch.tensor(settings.sharpness))
        parents = np.flatnonzero(seed.taxonomy.child_csr.counts)
        self._row = np.full(len(seed), -1)
        self._row[parents] = np.arange(len(parents))
        distance = path_distances(seed.taxonomy, parents)
        self._distance, self._longest = distance, max(1, int(distance.max(initial=1)))

    @property
    def width(self) -> int:
        return self.seed.dim

    def query(self, vectors: Tensor) -> Tensor:
        return vectors

    def candidate(self, views: MaskedCandidates) -> Tensor:
        """(Σ_k w_p,k M_k) h_p, so that a match is one dot product."""
        vectors = self.seed.vectors[views.position]
        return torch.einsum("kde,me,mk->md", self.maps, vectors, self.weights(vectors))

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        return self.sharpness * (query * candidate).sum(-1)

    def match_all(self, query: Tensor, candidate: Tensor) -> Tensor:
        return self.sharpness * query @ candidate.T

    def loss(self, batch: Batch) -> Tensor:
        parent, wrong = batch.candidate[:, :1].numpy(), batch.candidate[:, 1:].numpy()
        distance = torch.from_numpy(self._distance[self._row[parent], wrong]).float()
        return losses.margin(torch.sigmoid(self.scores(batch)), self.settings.margin * distance / self._longest)


def path_distances(taxonomy: Taxonomy, sources: NDArray[np.integer]) -> NDArray[np.uint8]:
    """Undirected path lengths (sources, concepts); what cannot be reached is one farther than the farthest that can."""
    size = len(taxonomy)
    parent, child = taxonomy.edge_array.T
    ones = np.ones(2 * len(parent), np.float32)
    ends = (np.concatenate([parent, child]), np.concatenate([child, parent]))
    graph = csr_array((ones, ends), shape=(size, size))
    distances = np.full((len(sources), size), 255, np.uint8)
    for start in range(0, len(sources), _SOURCES):
        block = sources[start : start + _SOURCES]
        front = np.zeros((size, len(block)), np.float32)
        front[block, np.arange(len(block))] = 1
        steps = distances[start : start + _SOURCES].T
        for level in range(254):
            fresh = (front > 0) & (steps == 255)
            if not fresh.any():
                break
            steps[fresh] = level
            front = graph @ fresh.astype(np.float32)
    reached = distances[distances < 255]
    distances[distances == 255] = int(reached.max(initial=0)) + 1
    return distances


class Arborist(Baseline):
    """Arborist as a method."""

    name = "arborist"
    settings_type = ArboristSettings
    network_type = ArboristNetwork
