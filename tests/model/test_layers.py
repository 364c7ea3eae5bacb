from __future__ import annotations

import torch

from taxosphere.model.network import SphereLinear, SphereParameter, unit


def test_rows_are_points_of_the_sphere_and_outputs_too() -> None:
    layer = SphereLinear(7, 5, generator=torch.Generator().manual_seed(0))
    x = torch.randn(11, 7)
    assert isinstance(layer.weight, SphereParameter)
    torch.testing.assert_close(layer.weight.norm(dim=1), torch.ones(5))
    expected = (layer.weight @ x.T).T
    torch.testing.assert_close(layer(x), expected / expected.norm(dim=1, keepdim=True))
    assert [name for name, _ in layer.named_parameters()] == ["weight"]


def test_identity_start_is_the_identity() -> None:
    x = unit(torch.randn(3, 6))
    torch.testing.assert_close(SphereLinear(6, 6, identity=True)(x), x)


def test_the_same_generator_state_gives_the_same_rows() -> None:
    first, second = (SphereLinear(4, 3, generator=torch.Generator().manual_seed(1)).weight for _ in range(2))
    assert torch.equal(first, second)


def test_a_zero_vector_stays_finite() -> None:
    x = torch.zeros(2, 4, requires_grad=True)
    unit(x).sum().backward()
    assert x.grad is not None
    assert torch.isfinite(x.grad).all()
