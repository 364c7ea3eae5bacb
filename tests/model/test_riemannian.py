from __future__ import annotations

import warnings

import numpy as np
import torch
from torch import nn

from taxosphere.model.network import SphereLinear, SphereParameter, unit
from taxosphere.model.riemannian import Group, RiemannianAdam, clip

with warnings.catch_warnings():  # it compiles its functions with a deprecated part of torch
    warnings.simplefilter("ignore", DeprecationWarning)
    import geoopt


def target_loss(weight: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return (weight - target).square().sum() + (weight[0] * weight[1]).sum() ** 2


def adam(weight: nn.Parameter, rate: float) -> RiemannianAdam:
    return RiemannianAdam([Group([weight], rate)])


def run(
    optimiser: RiemannianAdam | torch.optim.Optimizer, weight: nn.Parameter, target: torch.Tensor, steps: int
) -> torch.Tensor:
    for _ in range(steps):
        optimiser.zero_grad()
        target_loss(weight, target).backward()
        optimiser.step()
    return weight.detach()


def by_hand(start: np.ndarray, target: np.ndarray, lr: float, steps: int) -> np.ndarray:
    """Each row on its own; the momentum is carried by the rotation that takes the old row to the new one."""
    rows, momentum, square = start.copy(), np.zeros_like(start), np.zeros(len(start))
    for step in range(1, steps + 1):
        weight = torch.from_numpy(rows.copy()).requires_grad_()
        target_loss(weight, torch.from_numpy(target)).backward()
        gradients = weight.grad.numpy()
        for i, w in enumerate(rows.copy()):
            g = gradients[i] - gradients[i] @ w * w
            momentum[i] = 0.9 * momentum[i] + 0.1 * g
            square[i] = 0.999 * square[i] + 0.001 * (g @ g)
            v = -lr * momentum[i] / (1 - 0.9**step) / (np.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)
            length = np.linalg.norm(v)
            direction = v / length
            rows[i] = np.cos(length) * w + np.sin(length) * direction
            along = momentum[i] @ direction
            momentum[i] += along * ((np.cos(length) - 1) * direction - np.sin(length) * w)
    return rows


def points(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    start, target = torch.randn(2, 6, 10, generator=generator, dtype=torch.float64)
    return unit(start), unit(target)


def test_sphere_steps_follow_the_formulas_row_by_row() -> None:
    start, target = points(0)
    weight = SphereParameter(start.clone())
    found = run(adam(weight, 0.05), weight, target, 40)
    torch.testing.assert_close(found, torch.from_numpy(by_hand(start.numpy(), target.numpy(), 0.05, 40)))
    assert (found - start).norm() > 0.5


def test_without_momentum_geoopt_walks_the_same_way() -> None:
    """With momentum it would not: its transport is a projection, which shortens what it carries."""
    start, target = points(1)
    ours = SphereParameter(start.clone())
    theirs = geoopt.ManifoldParameter(start.clone(), manifold=geoopt.SphereExact())
    found = run(RiemannianAdam([Group([ours], 0.05)], betas=(0.0, 0.999)), ours, target, 40)
    expected = run(geoopt.optim.RiemannianAdam([theirs], lr=0.05, betas=(0.0, 0.999)), theirs, target, 40)
    torch.testing.assert_close(found, expected)


def test_other_parameters_take_plain_adam_steps() -> None:
    torch.manual_seed(1)
    start, target = torch.randn(4, 3), torch.randn(4, 3)
    ours, theirs = nn.Parameter(start.clone()), nn.Parameter(start.clone())
    found = run(adam(ours, 0.05), ours, target, 40)
    torch.testing.assert_close(
        found, run(torch.optim.Adam([theirs], lr=0.05), theirs, target, 40), rtol=1e-5, atol=1e-6
    )


def test_groups_keep_their_own_rate() -> None:
    slow, fast = SphereParameter(unit(torch.randn(3, 4))), nn.Parameter(torch.randn(3))
    before = slow.detach().clone(), fast.detach().clone()
    optimiser = RiemannianAdam([Group([slow], 0.0), Group([fast], 0.1)])
    (slow.sum() + fast.sum()).backward()
    optimiser.step()
    torch.testing.assert_close(slow.detach(), before[0])
    torch.testing.assert_close(fast.detach(), before[1] - 0.1)


def test_rows_are_unit_after_a_thousand_steps() -> None:
    torch.manual_seed(2)
    layer = SphereLinear(32, 16)
    optimiser = adam(layer.weight, 0.03)
    for _ in range(1000):
        optimiser.zero_grad()
        x = torch.randn(8, 32)
        layer(x).pow(3).sum().backward()
        optimiser.step()
    assert (layer.weight.detach().double().norm(dim=1) - 1).abs().max() < 1e-6
    assert (layer(torch.randn(50, 32)).detach().double().norm(dim=1) - 1).abs().max() < 1e-6


def test_the_momentum_stays_tangent() -> None:
    torch.manual_seed(3)
    weight = SphereParameter(unit(torch.randn(5, 8)))
    optimiser = adam(weight, 0.2)
    run(optimiser, weight, unit(torch.randn(5, 8)), 30)
    mean = optimiser.moments[0].mean
    assert mean.norm() > 1e-3
    assert (mean * weight).sum(1).abs().max() < 1e-5


def test_no_gradient_means_no_step() -> None:
    weight = SphereParameter(unit(torch.randn(2, 3)))
    before = weight.detach().clone()
    optimiser = adam(weight, 0.1)
    optimiser.step()
    weight.grad = torch.zeros_like(weight)
    optimiser.step()
    torch.testing.assert_close(weight.detach(), before)


def test_a_copied_state_continues_the_same_way() -> None:
    torch.manual_seed(4)
    target = unit(torch.randn(3, 6))
    one = SphereParameter(unit(torch.randn(3, 6)))
    first = adam(one, 0.05)
    run(first, one, target, 10)
    two = SphereParameter(one.detach().clone())
    second = adam(two, 0.05)
    second.load_state({name: value.clone() for name, value in first.state().items()})
    assert torch.equal(run(first, one, target, 10), run(second, two, target, 10))


def test_a_share_scales_every_rate() -> None:
    full, half = (nn.Parameter(torch.ones(2)) for _ in range(2))
    for weight, optimiser in ((full, adam(full, 0.1)), (half, adam(half, 0.2))):
        weight.sum().backward()
        optimiser.step(1.0 if weight is full else 0.5)
    torch.testing.assert_close(full, half)


def test_clipping_keeps_direction_and_bounds_the_common_length() -> None:
    first, second = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(1))
    first.grad, second.grad = torch.tensor([3.0, 0.0]), torch.tensor([4.0])
    clip([first, second, nn.Parameter(torch.zeros(1))], 10.0)
    torch.testing.assert_close(first.grad, torch.tensor([3.0, 0.0]))
    clip([first, second], 1.0)
    torch.testing.assert_close(first.grad, torch.tensor([0.6, 0.0]))
    torch.testing.assert_close(second.grad, torch.tensor([0.8]))
