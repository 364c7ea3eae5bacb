from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from taxosphere.model.config import NetworkConfig
from taxosphere.model.network import SphereNetwork


def network(**settings: object) -> SphereNetwork:
    config = NetworkConfig.model_validate({"dim": 6, "hidden": 9, **settings})
    return SphereNetwork(5, config, generator=torch.Generator().manual_seed(3))


def test_points_follow_the_formulas_step_by_step() -> None:
    net = network()
    e = torch.randn(4, 5)
    v = F.normalize(e, dim=1).clone()
    v[:, -1] = 0  # the tangent part at the pole
    length = v.norm(dim=1, keepdim=True)
    lifted = torch.sin(length) * v / length
    lifted[:, -1] += torch.cos(length[:, 0])
    first, second = (layer.weight for layer in net.layers)
    hidden = F.normalize(lifted @ first.T, dim=1)
    hidden = F.normalize(torch.tanh(math.sqrt(9) * hidden), dim=1)
    expected = F.normalize(hidden @ second.T, dim=1)
    found = net(e)
    torch.testing.assert_close(found.z, expected)
    torch.testing.assert_close(found.mu, expected)  # the mean direction starts as the identity
    torch.testing.assert_close(found.kappa, torch.full((4,), 50.0))


def test_unit_gain_and_retraction_are_other_networks() -> None:
    e = torch.randn(4, 5)
    default = network()(e).z
    assert not torch.allclose(network(tanh_gain="unit")(e).z, default)
    assert not torch.allclose(network(lift="retraction")(e).z, default)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_any_number_of_layers(layers: int) -> None:
    net = network(layers=layers)
    assert len(net.layers) == layers
    assert net(torch.randn(2, 5)).z.shape == (2, 6)


def test_the_length_of_a_vector_does_not_matter() -> None:
    e = torch.randn(4, 5)
    torch.testing.assert_close(network()(14 * e).z, network()(e).z)


def test_identity_mean_has_no_weights() -> None:
    net = network(mu="identity")
    found = net(torch.randn(3, 5))
    assert torch.equal(found.mu, found.z)
    assert not list(net.mean.parameters())


@pytest.mark.parametrize("kind", ["softplus", "sigmoid", "constant"])
def test_concentration_starts_where_told_and_stays_in_its_interval(kind: str) -> None:
    net = network(kappa=kind, kappa_min=2.0, kappa_max=80.0, kappa_start=7.0)
    z = net(torch.randn(20, 5)).z
    torch.testing.assert_close(net.concentration(z), torch.full((20,), 7.0))
    if kind == "constant":
        assert not list(net.concentration.parameters())
        return
    with torch.no_grad():
        net.concentration.weight.fill_(1000.0)
    wild = net.concentration(z)
    assert wild.min() >= 2.0
    assert wild.max() <= 80.0
    assert wild.std() > 1


def test_softplus_is_the_papers_formula() -> None:
    net = network(kappa_start=3.0)
    z = net(torch.randn(8, 5)).z
    with torch.no_grad():
        net.concentration.weight.normal_()
    expected = F.softplus(z @ net.concentration.weight + net.concentration.bias)
    torch.testing.assert_close(net.concentration(z), expected.clamp(1.0, 1000.0))


@pytest.mark.parametrize("case", ["pole", "antipole", "zero", "same"])
def test_special_inputs_have_finite_gradients(case: str) -> None:
    e = torch.zeros(3, 5)
    if case in ("pole", "antipole"):
        e[:, -1] = 1.0 if case == "pole" else -1.0
    elif case == "same":
        e[:] = torch.randn(5)
    e.requires_grad_()
    net = network()
    found = net(e)
    (found.z.sum() + found.mu.sum() + found.kappa.sum()).backward()
    assert all(torch.isfinite(x).all() for x in found)
    assert e.grad is not None
    assert torch.isfinite(e.grad).all()
    assert all(torch.isfinite(p.grad).all() for p in net.parameters() if p.grad is not None)
