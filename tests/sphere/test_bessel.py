"""Bessel functions against mpmath with 50 digits."""

import math
from collections.abc import Callable
from functools import lru_cache

import mpmath
import pytest
import torch
from torch import Tensor

from taxosphere.sphere import bessel

DIMENSIONS = [2, 3, 8, 64, 128, 256, 1024]
KAPPAS = torch.logspace(-6, 6, 37, dtype=torch.float64)
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


@lru_cache
def reference(dim: int, dtype: torch.dtype) -> tuple[list[mpmath.mpf], list[mpmath.mpf], list[mpmath.mpf]]:
    """κ as the dtype rounds it, I_{d/2−1}(κ), I_{d/2}(κ)"""
    with mpmath.workdps(50):
        order = mpmath.mpf(dim) / 2 - 1
        kappas = [mpmath.mpf(k.item()) for k in KAPPAS.to(dtype)]
        low = [mpmath.besseli(order, k) for k in kappas]
        return kappas, low, [mpmath.besseli(order + 1, k) for k in kappas]


def relative_error(got: torch.Tensor, want: list[mpmath.mpf]) -> float:
    with mpmath.workdps(50):
        return max(float(abs(mpmath.mpf(g) / w - 1)) for g, w in zip(got.double().tolist(), want, strict=True))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("dim", DIMENSIONS)
def test_values_agree_with_mpmath(dim: int, dtype: torch.dtype) -> None:
    kappa = KAPPAS.to(dtype)
    with mpmath.workdps(50):
        _, low, high = reference(dim, dtype)
        logs = [mpmath.log(value) for value in low]
        ratios = [b / a for a, b in zip(low, high, strict=True)]
        complements = [1 - r for r in ratios]
    got = bessel.log_iv(dim / 2 - 1, kappa)
    assert got.dtype is dtype
    assert relative_error(got, logs) < TOLERANCE[dtype]
    assert relative_error(bessel.ratio(dim, kappa), ratios) < TOLERANCE[dtype]
    assert relative_error(bessel.complement(dim, kappa), complements) < TOLERANCE[dtype]


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("dim", DIMENSIONS)
def test_gradients_agree_with_mpmath(dim: int, dtype: torch.dtype) -> None:
    kappa = KAPPAS.to(dtype).requires_grad_()
    with mpmath.workdps(50):
        kappas, low, high = reference(dim, dtype)
        ratios = [b / a for a, b in zip(low, high, strict=True)]
        log_slopes = [r + (mpmath.mpf(dim) / 2 - 1) / k for r, k in zip(ratios, kappas, strict=True)]
        slopes = [1 - r**2 - (dim - 1) * r / k for r, k in zip(ratios, kappas, strict=True)]
    (log_gradient,) = torch.autograd.grad(bessel.log_iv(dim / 2 - 1, kappa).sum(), kappa)
    (ratio_gradient,) = torch.autograd.grad(bessel.ratio(dim, kappa).sum(), kappa)
    assert relative_error(log_gradient, log_slopes) < TOLERANCE[dtype]
    assert relative_error(ratio_gradient, slopes) < TOLERANCE[dtype]


@pytest.mark.parametrize("dim", [2, 3, 40, 51, 128])
def test_derivatives_pass_gradcheck_twice(dim: int) -> None:
    kappa = torch.tensor([0.05, 1.5, 9.0, 300.0], dtype=torch.float64, requires_grad=True)
    for function in (
        lambda x: bessel.log_iv(dim / 2 - 1, x),
        lambda x: bessel.ratio(dim, x),
        lambda x: bessel.complement(dim, x),
        lambda x: bessel.ratio_slope(dim, x),
    ):
        assert torch.autograd.gradcheck(function, kappa)
        assert torch.autograd.gradgradcheck(function, kappa)


@pytest.mark.parametrize("order", [23.75, 24.0, 24.25, 35.9, 36.1, 55.9, 56.1, 99.9, 100.1, 399.9, 400.1])
def test_every_switch_of_method_keeps_the_digits(order: float) -> None:
    x = torch.tensor([1e-3, 5.0, 7.1, 30.0, 400.0, 1e4], dtype=torch.float64)
    with mpmath.workdps(50):
        want = [mpmath.log(mpmath.besseli(mpmath.mpf(order), mpmath.mpf(value))) for value in x.tolist()]
    assert relative_error(bessel.log_iv(order, x), want) < 1e-13


def test_zero_argument() -> None:
    zero = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    assert bessel.log_iv(0.0, zero).item() == 0
    assert bessel.log_iv(3.0, zero).item() == -torch.inf
    assert bessel.ratio(8, zero).item() == 0
    (slope,) = torch.autograd.grad(bessel.ratio(8, zero), zero, create_graph=True)
    (curvature,) = torch.autograd.grad(slope, zero)
    assert slope.item() == pytest.approx(1 / 8)  # A_d(κ) ≈ κ/d
    assert curvature.item() == 0


def test_orders_broadcast_against_arguments() -> None:
    dims, kappa = torch.tensor([[2.0], [8.0], [128.0]]), torch.tensor([0.5, 20.0], requires_grad=True)
    both = bessel.ratio(dims, kappa)
    rows = torch.stack([bessel.ratio(d, kappa) for d in (2, 8, 128)])
    assert torch.equal(both, rows)
    gradients = [torch.autograd.grad(values.sum(), kappa)[0] for values in (both, rows)]
    torch.testing.assert_close(*gradients)
    assert torch.equal(bessel.log_iv(dims / 2 - 1, kappa)[2], bessel.log_iv(63.0, kappa))
    assert bessel.log_iv(torch.tensor(63.0), kappa[:0]).shape == (0,)


def test_a_dimension_below_two_is_refused() -> None:
    with pytest.raises(ValueError, match="dimension at least 2"):
        bessel.ratio(1, torch.ones(1))


@pytest.mark.parametrize("function", [bessel.log_iv, bessel.log_iv_reduced, bessel.ratio, bessel.complement])
@pytest.mark.parametrize("order", [8, torch.tensor([8, 60])], ids=["number", "tensor"])
def test_whole_numbers_are_computed_as_decimals(function: Callable[..., Tensor], order: int | Tensor) -> None:
    whole = torch.tensor([3, 50])
    got = function(order, whole)
    assert got.dtype is torch.get_default_dtype()
    torch.testing.assert_close(got, function(order, whole.float()), rtol=0, atol=0)


def test_whole_numbers_agree_with_mpmath() -> None:
    with mpmath.workdps(50):
        ratio = float(mpmath.besseli(4, 3) / mpmath.besseli(3, 3))
        logarithm = float(mpmath.log(mpmath.besseli(2, 3)))
    assert bessel.ratio(8, torch.tensor([3])).item() == pytest.approx(ratio, rel=1e-6)
    assert bessel.log_iv(2, torch.tensor([3])).item() == pytest.approx(logarithm, rel=1e-6)
    assert bessel.log_scaled(2, torch.tensor([3])).item() == pytest.approx(logarithm - 2 * math.log(3) - 3, rel=1e-12)
