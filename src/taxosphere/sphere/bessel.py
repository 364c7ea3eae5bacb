"""Logarithm and ratio of modified Bessel functions of the first kind, accurate and differentiable.

Everything is evaluated in float64 and returned in the dtype of the argument, for whole numbers in torch's default.
With R = sqrt(ν² + x²) and t = ν/R, the uniform (Debye) expansion, DLMF 10.41.3, written for the logarithm, is

    log I_ν(x) = R + ν log(x / (ν + R)) − ½ log(2πR) + Σ_k D_k(t) / ν^k.

It holds for every x ≥ 0 at once when ν is large; a small order is reached from a large one by the recurrence
I_{k−1} = I_{k+1} + (2k/x) I_k, which is stable downwards. The power series takes over where log I_0 is close to zero.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import Function

from taxosphere.sphere.maps import floating

# Smallest order the expansion is used at, and for each order from which on how many terms leave less than 1e-16.
_SMALLEST_ORDER = 24
_TERMS = ((400, 5), (100, 7), (56, 8), (36, 10), (0, 12))
_SERIES_TERMS = 15

Polynomial = dict[int, Fraction]


def log_iv(order: float | Tensor, x: Tensor) -> Tensor:
    """log I_ν(x) for ν ≥ 0, x ≥ 0; differentiable in x, not in the order.

    Parameters
    ----------
    order : float or Tensor
        ν.
    x : Tensor
        Broadcasts with ``order``.

    Returns
    -------
    Tensor
        Of the dtype of ``x``.
    """
    x = floating(x)
    y = x.double()  # the two terms nearly cancel where I_ν crosses one
    power = torch.xlogy(torch.as_tensor(order, dtype=y.dtype, device=y.device), y)
    return (log_iv_reduced(order, y) + power).to(x.dtype)


def log_iv_reduced(order: float | Tensor, x: Tensor) -> Tensor:
    """log(I_ν(x) / x^ν) for ν = ``order`` and any ``x`` ≥ 0: finite at 0, its derivative is I_{ν+1}/I_ν exactly.

    Parameters
    ----------
    order : float or Tensor
        ν.
    x : Tensor
        Broadcasts with ``order``.

    Returns
    -------
    Tensor
        Of the dtype of ``x``.
    """
    return _each_order("log", order, x)


def ratio(dim: float | Tensor, kappa: Tensor) -> Tensor:
    """A_d(κ) = I_{d/2}(κ) / I_{d/2−1}(κ) for d = ``dim``, κ = ``kappa``: mean resultant length of a vMF in R^d.

    Parameters
    ----------
    dim : float or Tensor
        d, at least 2.
    kappa : Tensor
        κ, broadcasts with ``dim``.

    Returns
    -------
    Tensor
        In [0, 1).
    """
    return _each_order("ratio", dim / 2 - 1, kappa)


def complement(dim: float | Tensor, kappa: Tensor) -> Tensor:
    """1 − A_d(κ) for d = ``dim`` and κ = ``kappa`` to full relative precision, also where A_d rounds to one.

    Parameters
    ----------
    dim : float or Tensor
        d, at least 2.
    kappa : Tensor
        κ, broadcasts with ``dim``.

    Returns
    -------
    Tensor
        In (0, 1].
    """
    return _each_order("complement", dim / 2 - 1, kappa)


def ratio_slope(dim: float | Tensor, kappa: Tensor) -> Tensor:
    """A_d'(κ) = 1 − A_d² − (d−1) A_d/κ for d = ``dim``, κ = ``kappa``, without its cancellation at large κ.

    Parameters
    ----------
    dim : float or Tensor
        d, at least 2.
    kappa : Tensor
        κ, broadcasts with ``dim``.

    Returns
    -------
    Tensor
        Above 0.
    """
    return _each_order("slope", dim / 2 - 1, kappa)


def _each_order(kind: str, order: float | Tensor, x: Tensor) -> Tensor:
    x = floating(x)
    if not isinstance(order, Tensor) or order.ndim == 0:
        return _apply(kind, float(order), x)
    points = x + torch.zeros_like(order, dtype=x.dtype)
    orders = order.expand_as(points)
    out = torch.zeros_like(points)
    for value in sorted(set(orders.flatten().tolist())):
        chosen = orders == value
        out = out.masked_scatter(chosen, _apply(kind, value, points[chosen]))
    return out


def _apply(kind: str, order: float, x: Tensor) -> Tensor:
    if not order >= 0:
        raise ValueError(f"the order of a Bessel function must be at least 0 (dimension at least 2), got order {order}")
    return cast(Tensor, _Bessel.apply(kind, order, x))  # type: ignore[no-untyped-call]


class _Bessel(Function):
    """log → ratio → slope is the chain of derivatives, so every order of differentiation is analytic."""

    @staticmethod
    def forward(ctx: Any, kind: str, order: float, x: Tensor) -> Tensor:
        ctx.kind, ctx.order = kind, order
        ctx.save_for_backward(x)
        return _KERNELS[kind](order, x.double()).to(x.dtype)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, None, Tensor]:
        (x,), (grad,) = ctx.saved_tensors, grads
        if ctx.kind == "log":
            return None, None, grad * _apply("ratio", ctx.order, x)
        if ctx.kind == "slope":
            return None, None, grad * _curvature(ctx.order, x)
        factor = -1 if ctx.kind == "complement" else 1
        return None, None, factor * grad * _apply("slope", ctx.order, x)


def _curvature(order: float, x: Tensor) -> Tensor:
    """A'' by differentiating A' = 1 − A² − (2ν+1) A/x once more; zero at x = 0, where A is odd."""
    y = torch.where(x > 0, x, 1).double()
    a, slope = _apply("ratio", order, y), _apply("slope", order, y)
    value = -2 * a * slope - (2 * order + 1) * (slope - a / y) / y
    return torch.where(x > 0, value, 0).to(x.dtype)


# ---- the expansion at one large order


@lru_cache(maxsize=256)
def _coefficients(order: float) -> tuple[list[float], list[float], list[float]]:
    """P(t) = Σ D_k/ν^k, Q(t) = t/2ν + t² P'(t)/ν and Q'(t), each as coefficients of t^0, t^1, …"""
    terms = next(count for least, count in _TERMS if order >= least)
    p = [0.0] * (3 * terms + 1)
    for k, polynomial in enumerate(_debye(terms), start=1):
        for power, coefficient in polynomial.items():
            p[power] += float(coefficient) / order**k
    q = [0.0, 0.5 / order, *(power * c / order for power, c in enumerate(p) if power)]
    return p, q, [power * c for power, c in enumerate(q) if power]


@lru_cache
def _debye(terms: int) -> list[Polynomial]:
    """D_1 … of the module docstring: u_k by DLMF 10.41.9, then the logarithm of the series Σ u_k / ν^k."""
    u: list[Polynomial] = [{0: Fraction(1)}]
    for _ in range(terms):
        following: Polynomial = {}
        for p, c in u[-1].items():
            following[p + 1] = following.get(p + 1, Fraction(0)) + c * (Fraction(p, 2) + Fraction(1, 8 * (p + 1)))
            following[p + 3] = following.get(p + 3, Fraction(0)) - c * (Fraction(p, 2) + Fraction(5, 8 * (p + 3)))
        u.append(following)
    logarithm: list[Polynomial] = []
    for k in range(1, terms + 1):
        d = dict(u[k])
        for j, earlier in enumerate(logarithm, start=1):
            for p, c in earlier.items():
                for q, e in u[k - j].items():
                    d[p + q] = d.get(p + q, Fraction(0)) - Fraction(j, k) * c * e
        logarithm.append(d)
    return logarithm


def _horner(coefficients: list[float], t: Tensor) -> Tensor:
    value = torch.full_like(t, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        value.mul_(t).add_(c)
    return value


def _top_log(order: float, x: Tensor) -> Tensor:
    """log(I_ν(x) x^−ν e^−x)"""
    radius = torch.sqrt(x * x + order * order)
    series = _horner(_coefficients(order)[0], order / radius)
    growth = order * order / (radius + x)  # R − x, the exponent that is left once e^x is taken out
    return growth - order * torch.log(order + radius) - 0.5 * torch.log(2 * math.pi * radius) + series


def _top_ratio(order: float, x: Tensor) -> Tensor:
    # d/dx of x + _top_log with dt/dx = −x t³/ν² collected so that nothing cancels for small or large x.
    radius = torch.sqrt(x * x + order * order)
    t = order / radius
    return x / radius * (1 / (1 + t) - _horner(_coefficients(order)[1], t))


def _top_complement(order: float, x: Tensor) -> Tensor:
    radius = torch.sqrt(x * x + order * order)
    t, w = order / radius, x / radius
    leading = 2 * t / (1 + t + w)  # 1 − w/(1+t), since w² = 1 − t²
    return leading + w * _horner(_coefficients(order)[1], t)


def _top_slope(order: float, x: Tensor) -> Tensor:
    radius = torch.sqrt(x * x + order * order)
    t = order / radius
    _, q, dq = _coefficients(order)
    return t * t / order * (1 / (1 + t) - t * _horner(q, t) + (1 - t * t) * _horner(dq, t))


# ---- any order: start at a large one and come down


def _steps(order: float) -> list[float]:
    """The orders k, from the top downwards, at which I_{k−1} is computed from I_k."""
    count = max(0, math.ceil(_SMALLEST_ORDER - order))
    return [order + k for k in range(count, 0, -1)]


def _ratio(order: float, x: Tensor) -> Tensor:
    steps = _steps(order)
    value = _top_ratio(steps[0] if steps else order, x)
    for k in steps:
        torch.div(x, value.mul_(x).add_(2 * k), out=value)
    return value


def _complement(order: float, x: Tensor) -> Tensor:
    steps = _steps(order)
    value = _top_complement(steps[0] if steps else order, x)
    for k in steps:
        rest = 2 * k - x * value
        value = rest / (rest + x)
    return value


def _slope(order: float, x: Tensor) -> Tensor:
    steps = _steps(order)
    top = steps[0] if steps else order
    value, slope = _top_ratio(top, x), _top_slope(top, x)
    for k in steps:
        inverse = 1 / (2 * k + x * value)
        value, slope = x * inverse, inverse * inverse * (2 * k - x * x * slope)
    return slope


def _log(order: float, x: Tensor) -> Tensor:
    value = x + _descended_log(order, x)
    return value if order >= _SMALLEST_ORDER else torch.where(_near_zero(order, x), _log_series(order, x), value)


def log_scaled(order: float, x: Tensor) -> Tensor:
    """log(I_ν(x) x^−ν e^−x), ν = ``order``, in float64, outside autograd; keeps its digits at large ``x``.

    Parameters
    ----------
    order : float
        ν.
    x : Tensor
        At least 0.

    Returns
    -------
    Tensor
        float64, of the shape of ``x``.
    """
    x = x.double()
    value = _descended_log(order, x)
    return value if order >= _SMALLEST_ORDER else torch.where(_near_zero(order, x), _log_series(order, x) - x, value)


def _descended_log(order: float, x: Tensor) -> Tensor:
    steps = _steps(order)
    if not steps:
        return _top_log(order, x)
    value, product = _top_ratio(steps[0], x), torch.ones_like(x)
    for k in steps:
        denominator = 2 * k + x * value
        product *= denominator
        value = x / denominator
    return _top_log(steps[0], x) + torch.log(product)


def _near_zero(order: float, x: Tensor) -> Tensor:
    return x * x <= 2 * (order + 1)


def _log_series(order: float, x: Tensor) -> Tensor:
    quarter = x * x / 4
    total = torch.zeros_like(x)
    for k in range(_SERIES_TERMS, 0, -1):
        total = (1 + total) * quarter / (k * (order + k))
    return torch.log1p(total) - order * math.log(2) - math.lgamma(order + 1)


_KERNELS: dict[str, Callable[[float, Tensor], Tensor]] = {
    "log": _log,
    "ratio": _ratio,
    "complement": _complement,
    "slope": _slope,
}
