"""Adam on the sphere for matrices with unit rows, plain Adam for everything else.

For a row w with Euclidean gradient ∇: g = ∇ − ⟨∇,w⟩w, m ← β₁ m + (1−β₁) g, v ← β₂ v + (1−β₂)‖g‖² (one number per
row, so it needs no transport), w⁺ = exp_w(−η m̂ / (√v̂ + ε)); m is then carried along to the tangent space at w⁺.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from taxosphere.model.layers import SphereParameter
from taxosphere.sphere import maps


class RiemannianAdam(Optimizer):
    """Groups may carry their own ``lr``; ``SphereParameter`` tensors move on the sphere, others in flat space."""

    def __init__(
        self,
        params: Iterable[nn.Parameter] | Iterable[dict[str, Any]],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
    ) -> None:
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps})

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        if closure is not None:
            raise ValueError("RiemannianAdam takes no closure")
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    spherical = isinstance(parameter, SphereParameter)
                    state["step"] = torch.zeros(())
                    state["mean"] = torch.zeros_like(parameter)
                    state["square"] = torch.zeros_like(parameter[..., :1] if spherical else parameter)
                move = _spherical_step if isinstance(parameter, SphereParameter) else _flat_step
                move(parameter, parameter.grad, state, group)
        return None


def _spherical_step(w: Tensor, grad: Tensor, state: dict[str, Tensor], group: dict[str, Any]) -> None:
    gradient = maps.project_tangent(w, grad)
    mean, scale = _moments(gradient, gradient.square().sum(-1, keepdim=True), state, group)
    velocity = mean * scale
    moved = maps.expmap(w, velocity)
    # The exponential map stays on the sphere to rounding only; 1,000 roundings would add up.
    moved /= torch.linalg.vector_norm(moved, dim=-1, keepdim=True)
    state["mean"].copy_(maps.transport(w, moved, state["mean"]))
    w.copy_(moved)


def _flat_step(w: Tensor, grad: Tensor, state: dict[str, Tensor], group: dict[str, Any]) -> None:
    mean, scale = _moments(grad, grad.square(), state, group)
    w.addcmul_(mean, scale)


def _moments(
    gradient: Tensor, square: Tensor, state: dict[str, Tensor], group: dict[str, Any]
) -> tuple[Tensor, Tensor]:
    """The mean and the factor −η / ((1−β₁ᵗ)(√v̂ + ε)) that makes a step of it."""
    first, second = group["betas"]
    state["step"] += 1
    count = state["step"].item()
    mean = state["mean"].lerp_(gradient, 1 - first)
    variance = state["square"].lerp_(square, 1 - second)
    deviation = variance.sqrt().div_(math.sqrt(1 - second**count)).add_(group["eps"])
    return mean, deviation.reciprocal_().mul_(-group["lr"] / (1 - first**count))
