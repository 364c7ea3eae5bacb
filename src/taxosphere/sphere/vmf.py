"""The von Mises–Fisher distribution on S^{d−1}: density C_d(κ) exp(κ μ·z).

κ has one value per row of μ: shapes (…,) beside (…, d).
"""

import math
from typing import Any, Literal, cast, get_args

import torch
from torch import Tensor
from torch.autograd import Function

from taxosphere.sphere import bessel
from taxosphere.sphere.maps import check_choice, floating

Variant = Literal["exact", "paper"]

# The paper's FAQ names a threshold β "well below overflow" and an ε in the logarithm without their values.
PAPER_THRESHOLD = 50.0
PAPER_EPSILON = 1e-8


def log_normalizer(dim: int, kappa: Tensor) -> Tensor:
    """log C_d(κ) = (d/2−1) log κ − (d/2) log 2π − log I_{d/2−1}(κ); its derivative is −A_d(κ), also at κ = 0.

    Parameters
    ----------
    dim
        Dimension d of the space, at least 2.
    kappa
        (…) concentrations, at least 0.

    Returns
    -------
    Tensor
        Of the shape of ``kappa``.
    """
    return -dim / 2 * math.log(2 * math.pi) - bessel.log_iv_reduced(dim / 2 - 1, kappa)


def entropy(dim: int, kappa: Tensor) -> Tensor:
    """Differential entropy of vMF distributions in R^``dim`` with concentrations ``kappa`` (any shape).

    It is the log of the area of the sphere at κ = 0, and falls below any bound as κ grows.

    Parameters
    ----------
    dim : int
        Dimension d of the space, at least 2.
    kappa : Tensor
        Concentrations of any shape, at least 0.

    Returns
    -------
    Tensor
        Of the shape of ``kappa``.
    """
    log_area = math.log(2) + dim / 2 * math.log(math.pi) - math.lgamma(dim / 2)
    kappa = floating(kappa)
    return (log_area - concentration_kl(dim, kappa, torch.zeros_like(kappa))).to(kappa.dtype)


def kl(mu_a: Tensor, kappa_a: Tensor, mu_b: Tensor, kappa_b: Tensor, variant: Variant = "exact") -> Tensor:
    """KL(a‖b) = log C_d(κ_a) − log C_d(κ_b) + A_d(κ_a)(κ_a − κ_b μ_a·μ_b), row by row.

    Parameters
    ----------
    mu_a
        (…, d) mean directions of a, unit vectors.
    kappa_a
        (…) concentrations of a.
    mu_b
        (…, d) mean directions of b.
    kappa_b
        (…) concentrations of b.
    variant
        `exact` sums two parts that are never negative: the divergence of the concentrations alone, and
        A_d(κ_a) κ_b (1 − μ_a·μ_b) with 1 − μ_a·μ_b = ½‖μ_a − μ_b‖². `paper` uses the piecewise approximations of the
        paper's FAQ, which can be far from the truth, and negative, where κ is not much larger than the dimension.

    Returns
    -------
    (…) divergences.

    Raises
    ------
    ValueError
        There is no such variant.
    """
    gap = (mu_a - mu_b).square().sum(-1) / 2
    return _kl(mu_a.shape[-1], kappa_a, kappa_b, gap, variant)


def kl_matrix(mu_a: Tensor, kappa_a: Tensor, mu_b: Tensor, kappa_b: Tensor, variant: Variant = "exact") -> Tensor:
    """KL of every row of a (n rows) from every row of b (m rows) as an (n, m) matrix.

    It takes one matrix product, and Bessel functions only n + m times. 1 − μ_a·μ_b is rounded to the precision of μ
    here, so for nearly equal directions `kl` is more accurate. ``mu_a`` is (n, d), ``kappa_a`` (n,), ``mu_b`` (m, d),
    ``kappa_b`` (m,), and ``variant`` as for `kl`.

    Parameters
    ----------
    mu_a : Tensor of shape (n, d)
        Unit mean directions.
    kappa_a : Tensor of shape (n,)
        Concentrations.
    mu_b : Tensor of shape (m, d)
        Unit mean directions.
    kappa_b : Tensor of shape (m,)
        Concentrations.
    variant : str
        "exact" or "paper", as for `kl`.

    Returns
    -------
    Tensor of shape (n, m)
        Divergences.
    """
    gap = (1 - mu_a @ mu_b.mT).clamp_min(0)
    return _kl(mu_a.shape[-1], kappa_a.unsqueeze(-1), kappa_b.unsqueeze(-2), gap, variant)


def concentration_kl(dim: int, kappa_a: Tensor, kappa_b: Tensor) -> Tensor:
    """KL between vMF distributions in R^``dim`` with one mean direction, ``kappa_a`` from ``kappa_b``, in float64.

    Parameters
    ----------
    dim : int
        Dimension d of the space.
    kappa_a : Tensor
    kappa_b : Tensor
        Broadcasts with ``kappa_a``.

    Returns
    -------
    Tensor
        Divergences, float64.
    """
    return cast(Tensor, _ConcentrationKL.apply(dim, kappa_a.double(), kappa_b.double()))  # type: ignore[no-untyped-call]


def _kl(dim: int, kappa_a: Tensor, kappa_b: Tensor, gap: Tensor, variant: Variant) -> Tensor:
    check_choice("variant of the divergence", variant, get_args(Variant))
    gap = floating(gap)
    a, b, wide = kappa_a.double(), kappa_b.double(), gap.double()
    if variant == "exact":
        value = concentration_kl(dim, a, b) + bessel.ratio(dim, a) * b * wide
    else:
        value = _paper_log_normalizer(dim, a) - _paper_log_normalizer(dim, b)
        value = value + _paper_ratio(dim, a) * (a - b * (1 - wide))
    return value.to(gap.dtype)


class _ConcentrationKL(Function):
    """F(b) − F(a) − F'(a)(b − a) for the convex F(κ) = −log C_d(κ), F' = A_d.

    Written with log e^−κ I and 1 − A, because a linear part of F drops out: at κ = 1e6 the plain formula loses the
    difference in numbers of the size of a million, this one does not.
    """

    @staticmethod
    def forward(ctx: Any, dim: int, a: Tensor, b: Tensor) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(a, b)
        order = dim / 2 - 1
        difference = bessel.log_scaled(order, b) - bessel.log_scaled(order, a)
        return (difference + bessel.complement(dim, a) * (b - a)).clamp_min(0)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[None, Tensor, Tensor]:
        (a, b), (grad,) = ctx.saved_tensors, grads
        below_a = bessel.complement(ctx.dim, a)
        grad_a = grad * bessel.ratio_slope(ctx.dim, a) * (a - b)
        grad_b = grad * (below_a - bessel.complement(ctx.dim, b))
        return None, grad_a.sum_to_size(a.shape), grad_b.sum_to_size(b.shape)


def _paper_log_normalizer(dim: int, kappa: Tensor) -> Tensor:
    order = dim / 2 - 1
    low = torch.logaddexp(bessel.log_iv(order, kappa), torch.tensor(math.log(PAPER_EPSILON), dtype=kappa.dtype))
    high = kappa - 0.5 * torch.log(2 * math.pi * kappa)
    log_bessel = torch.where(kappa <= PAPER_THRESHOLD, low, high)
    return order * torch.log(kappa) - dim / 2 * math.log(2 * math.pi) - log_bessel


def _paper_ratio(dim: int, kappa: Tensor) -> Tensor:
    """Negative for κ < (d−1)/2."""
    return 1 - (dim - 1) / (2 * kappa)
