"""A method of your own on the frame of the compared systems: one learned projection for each side of an edge."""

from torch import Tensor, nn

from taxosphere.methods.baselines import losses
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings


class TwoTowersNetwork(Network):
    width = 64  # numbers a (query, candidate) pair needs; it bounds the memory of scoring

    def __init__(self, settings: Settings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.below, self.above = nn.Linear(seed.dim, 64), nn.Linear(seed.dim, 64)

    def query(self, vectors: Tensor) -> Tensor:
        return self.below(vectors)

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return self.above(self.seed.vectors[views.position])

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        return (query * candidate).sum(-1)

    def loss(self, batch: Batch) -> Tensor:
        return losses.contrast(self.scores(batch))


class TwoTowers(Baseline):
    """Dot product of two learned projections."""

    name, settings_type, network_type = "two-towers", Settings, TwoTowersNetwork
