"""From encoder vectors to points and distributions on the sphere."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from taxosphere.model.config import NetworkConfig
from taxosphere.sphere import maps


class SphereParameter(nn.Parameter):
    """A matrix with rows of length one, which `RiemannianAdam` keeps on the sphere."""


def unit(x: Tensor) -> Tensor:
    """Rows scaled to length one; finite, with a finite gradient, for a zero row as well."""
    return F.normalize(x, dim=-1, eps=1e-12)


class SphereLinear(nn.Module):
    """y = Wx / ‖Wx‖ with unit rows of W and no bias, which would move the sphere off its centre."""

    def __init__(
        self, inputs: int, outputs: int, *, generator: Generator | None = None, identity: bool = False
    ) -> None:
        super().__init__()
        start = torch.eye(outputs, inputs) if identity else torch.randn(outputs, inputs, generator=generator)
        self.weight = SphereParameter(unit(start))

    def forward(self, x: Tensor) -> Tensor:
        return unit(F.linear(x, self.weight))


class Embedding(NamedTuple):
    """One concept per row: its point z (n, d), its mean direction mu (n, d) and its concentration kappa (n,)."""

    z: Tensor
    mu: Tensor
    kappa: Tensor

    def cpu(self) -> Embedding:
        """The same in the memory of the processor."""
        return Embedding(self.z.cpu(), self.mu.cpu(), self.kappa.cpu())


class SphereNetwork(nn.Module):
    """The head: encoder vectors to points on the sphere and the distribution of every concept.

    lift → spherical layers with tanh and re-projection between them → z, and from z the mean direction μ and the
    concentration κ of a von Mises–Fisher distribution.

    Parameters
    ----------
    input_dim : int
        Dimension m of the encoder's vectors.
    config : NetworkConfig
        Dimension d of the sphere, number and width of the layers, kinds of μ and κ.
    generator : torch.Generator, optional
        Draws the initial weights.
    part_dims : sequence of int
        Where several encoders stand side by side, the lengths of their vectors: each has a head of its own among
        ``parts``, beside the one for all of them together.
    """

    def __init__(
        self,
        input_dim: int,
        config: NetworkConfig,
        *,
        generator: Generator | None = None,
        part_dims: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.config = config
        self.input_dim = input_dim
        widths = [input_dim, *([config.hidden] * (config.layers - 1)), config.dim]
        self.layers = nn.ModuleList(SphereLinear(a, b, generator=generator) for a, b in pairwise(widths))
        self.mean = SphereLinear(config.dim, config.dim, identity=True) if config.mu == "learned" else nn.Identity()
        self.concentration = Concentration(config)
        self.parts = nn.ModuleList(SphereNetwork(dim, config, generator=generator) for dim in part_dims)

    @property
    def part_dims(self) -> tuple[int, ...]:
        """Lengths of the vectors that ``parts`` read."""
        return tuple(part.input_dim for part in self.heads_of_parts)

    @property
    def heads_of_parts(self) -> tuple[SphereNetwork, ...]:
        """The head of each encoder where several stand side by side."""
        return tuple(part for part in self.parts if isinstance(part, SphereNetwork))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def lift(self, e: Tensor) -> Tensor:
        """Encoder vectors (n, m) onto the sphere. Unit length first: a raw vector of length 14 would wrap around it."""
        return maps.lift(unit(e), self.config.lift)

    def points(self, lifted: Tensor) -> Tensor:
        """z (n, d) of lifted vectors."""
        z = lifted
        for number, layer in enumerate(self.layers):
            if number:
                gain = math.sqrt(z.shape[-1]) if self.config.tanh_gain == "sqrt" else 1.0
                z = unit(torch.tanh(z * gain))
            z = layer(z)
        return z

    def from_lifted(self, lifted: Tensor) -> Embedding:
        """z, μ and κ of lifted vectors (n, m)."""
        z = self.points(lifted)
        return Embedding(z, self.mean(z), self.concentration(z))

    def forward(self, e: Tensor) -> Embedding:
        """z, μ and κ of encoder vectors (n, m)."""
        return self.from_lifted(self.lift(e))

    def digest(self) -> str:
        """Hash of all weights."""
        digest = hashlib.blake2b(digest_size=16)
        for weight in self.state_dict().values():
            digest.update(weight.cpu().contiguous().numpy().tobytes())
        return digest.hexdigest()


class Concentration(nn.Module):
    """κ of a point: softplus(w·z + b) clipped to an interval, a sigmoid scaled to it, or one constant."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.kind = config.kappa
        self.least, self.most = config.kappa_min, config.kappa_max
        self.start = config.kappa_start
        if self.kind == "constant":
            return
        self.weight = nn.Parameter(torch.zeros(config.dim))
        self.bias = nn.Parameter(torch.tensor(self._bias()))

    def _bias(self) -> float:
        """The bias that makes every κ begin at ``kappa_start``."""
        if self.kind == "softplus":
            return self.start + math.log(-math.expm1(-self.start))
        share = (self.start - self.least) / (self.most - self.least)
        return math.log(share / (1 - share))

    def forward(self, z: Tensor) -> Tensor:
        if self.kind == "constant":
            return torch.full_like(z[..., 0], self.start)
        logit = z @ self.weight + self.bias
        if self.kind == "softplus":
            return F.softplus(logit).clamp(self.least, self.most)
        return self.least + (self.most - self.least) * torch.sigmoid(logit)
