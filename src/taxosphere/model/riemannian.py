"""Adam on the sphere for matrices with unit rows, plain Adam for everything else.

For a row w with Euclidean gradient ∇: g = ∇ − ⟨∇,w⟩w, m ← β₁ m + (1−β₁) g, v ← β₂ v + (1−β₂)‖g‖² (one number per
row, so it needs no transport), w⁺ = exp_w(−η m̂ / (√v̂ + ε)); m is then carried along to the tangent space at w⁺.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from taxosphere.model.network import SphereParameter
from taxosphere.sphere import maps

_FIRST, _SECOND = 0.9, 0.999  # β₁, β₂
_EPSILON = 1e-8


@dataclass
class Group:
    """Parameters that share a learning rate."""

    parameters: list[nn.Parameter]
    rate: float


@dataclass
class Moments:
    """Running means of a parameter's gradients and of their squares."""

    mean: Tensor
    square: Tensor
    steps: int = 0


@dataclass
class RiemannianAdam:
    """``SphereParameter`` tensors move on the sphere, others in flat space.

    Not a ``torch.optim.Optimizer``: making one of those imports the compiler, which takes longer than training the head
    on a small seed.
    """

    groups: list[Group]
    betas: tuple[float, float] = (_FIRST, _SECOND)
    moments: dict[int, Moments] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number, parameter in enumerate(self.parameters()):
            like = parameter[..., :1] if isinstance(parameter, SphereParameter) else parameter
            self.moments[number] = Moments(torch.zeros_like(parameter), torch.zeros_like(like))

    def parameters(self) -> list[nn.Parameter]:
        """Those of all groups, in order."""
        return [parameter for group in self.groups for parameter in group.parameters]

    def zero_grad(self) -> None:
        """Remove the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.grad = None

    @torch.no_grad()
    def step(self, share: float = 1.0) -> None:
        """Move all parameters that have a gradient, at ``share`` of the groups' learning rates."""
        number = 0
        for group in self.groups:
            for parameter in group.parameters:
                if parameter.grad is not None:
                    move = _spherical_step if isinstance(parameter, SphereParameter) else _flat_step
                    move(parameter, parameter.grad, self.moments[number], group.rate * share, self.betas)
                number += 1

    def state(self) -> dict[str, Tensor]:
        """All moments as tensors, for a checkpoint."""
        return {
            f"{number}.{name}": value
            for number, entry in self.moments.items()
            for name, value in (("mean", entry.mean), ("square", entry.square), ("steps", torch.tensor(entry.steps)))
        }

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Restore the moments that `state` returned."""
        for number, entry in self.moments.items():
            entry.mean.copy_(state[f"{number}.mean"])
            entry.square.copy_(state[f"{number}.square"])
            entry.steps = int(state[f"{number}.steps"])


@torch.no_grad()
def clip(parameters: Iterable[nn.Parameter], most: float) -> None:
    """Scale all gradients down together so that their common length is at most ``most``."""
    gradients = [parameter.grad for parameter in parameters if parameter.grad is not None]
    if not gradients:
        return
    length = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).norm().item()
    if length > most:
        for gradient in gradients:
            gradient.mul_(most / length)


def rate(step: int, steps: int, warmup: float, decay: bool) -> float:
    """Share of the full learning rate: a linear rise over the ``warmup`` part, then level or half a cosine down."""
    rising = max(1, round(warmup * steps))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, steps - rising))) if decay else 1.0


def _spherical_step(w: Tensor, grad: Tensor, moments: Moments, rate: float, betas: tuple[float, float]) -> None:
    gradient = maps.project_tangent(w, grad)
    factor = _update(moments, gradient, gradient.square().sum(-1, keepdim=True), rate, betas)
    moved = maps.expmap(w, moments.mean * factor)
    # The exponential map stays on the sphere to rounding only; 1,000 roundings would add up.
    moved /= torch.linalg.vector_norm(moved, dim=-1, keepdim=True)
    moments.mean = maps.transport(w, moved, moments.mean)
    w.copy_(moved)


def _flat_step(w: Tensor, grad: Tensor, moments: Moments, rate: float, betas: tuple[float, float]) -> None:
    factor = _update(moments, grad, grad.square(), rate, betas)
    w.addcmul_(moments.mean, factor)


def _update(moments: Moments, gradient: Tensor, square: Tensor, rate: float, betas: tuple[float, float]) -> Tensor:
    """Update the moments with a gradient; returns −η / ((1−β₁ᵗ)(√v̂ + ε)), the factor of the mean in a step."""
    first, second = betas
    moments.steps += 1
    moments.mean.lerp_(gradient, 1 - first)
    moments.square.lerp_(square, 1 - second)
    deviation = moments.square.sqrt().div_(math.sqrt(1 - second**moments.steps)).add_(_EPSILON)
    return deviation.reciprocal_().mul_(-rate / (1 - first**moments.steps))
