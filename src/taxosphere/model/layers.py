"""Linear layers whose rows are points of the sphere."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F


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
