import math

import mpmath
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import normalize

from taxosphere.sphere import vmf

DIMENSIONS = [2, 3, 8, 64, 128, 256, 1024]


def directions(n: int, dim: int, seed: int, dtype: torch.dtype = torch.float64) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return normalize(torch.randn(n, dim, generator=generator, dtype=torch.float64), dim=-1).to(dtype)


def log_normalizer(dim: int, kappa: float) -> mpmath.mpf:
    order, k = mpmath.mpf(dim) / 2 - 1, mpmath.mpf(kappa)
    return order * mpmath.log(k) - (order + 1) * mpmath.log(2 * mpmath.pi) - mpmath.log(mpmath.besseli(order, k))


def mean_length(dim: int, kappa: float) -> mpmath.mpf:
    order, k = mpmath.mpf(dim) / 2 - 1, mpmath.mpf(kappa)
    return mpmath.besseli(order + 1, k) / mpmath.besseli(order, k)


def test_normalizer_in_three_dimensions_is_elementary() -> None:
    kappa = torch.tensor([0.1, 1.0, 5.0, 20.0], dtype=torch.float64)
    torch.testing.assert_close(vmf.log_normalizer(3, kappa), torch.log(kappa / (4 * math.pi * torch.sinh(kappa))))


@pytest.mark.parametrize("dim", DIMENSIONS)
def test_normalizer_and_entropy_agree_with_mpmath(dim: int) -> None:
    kappas = [1e-6, 0.3, 7.0, 150.0, 4e3, 1e6]
    kappa = torch.tensor(kappas, dtype=torch.float64, requires_grad=True)
    with mpmath.workdps(50):
        logs = [log_normalizer(dim, k) for k in kappas]
        lengths = [mean_length(dim, k) for k in kappas]
        entropies = [-c - mpmath.mpf(k) * a for c, k, a in zip(logs, kappas, lengths, strict=True)]
        slopes = [-mpmath.mpf(k) * (1 - a**2) + (dim - 1) * a for k, a in zip(kappas, lengths, strict=True)]
    log_normalizers, entropy = vmf.log_normalizer(dim, kappa), vmf.entropy(dim, kappa)
    assert log_normalizers.tolist() == pytest.approx([float(c) for c in logs], rel=1e-12, abs=1e-12)
    assert entropy.tolist() == pytest.approx([float(e) for e in entropies], rel=1e-11, abs=1e-11)
    # d log C/dκ = −A, to its own precision even where A is 1e-9; dH/dκ = −κ A'.
    (slope,) = torch.autograd.grad(log_normalizers.sum(), kappa)
    assert slope.tolist() == pytest.approx([-float(a) for a in lengths], rel=1e-13, abs=0)
    (slope,) = torch.autograd.grad(entropy.sum(), kappa)
    assert slope.tolist() == pytest.approx([float(s) for s in slopes], rel=1e-10, abs=0)


@pytest.mark.parametrize("dim", DIMENSIONS)
@pytest.mark.parametrize("a", [1e-3, 2.0, 60.0, 1e4, 1e6])
def test_kl_agrees_with_mpmath(dim: int, a: float) -> None:
    b = [a * factor for factor in (0.2, 0.99, 1.0, 1.0001, 3.0) if a * factor <= 1e6]
    mu_a, mu_b = directions(len(b), dim, 0), directions(len(b), dim, 1)
    mu_b = normalize(mu_a + 1e-3 * mu_b, dim=-1)
    got = vmf.kl(mu_a, torch.full((len(b),), a, dtype=torch.float64), mu_b, torch.tensor(b, dtype=torch.float64))
    with mpmath.workdps(50):
        offsets = [[mpmath.mpf(p) - mpmath.mpf(q) for p, q in zip(*rows)] for rows in zip(mu_a.tolist(), mu_b.tolist())]
        gaps = [sum(o**2 for o in row) / 2 for row in offsets]
        want = [
            log_normalizer(dim, a) - log_normalizer(dim, k) + mean_length(dim, a) * (a - mpmath.mpf(k) * (1 - gap))
            for k, gap in zip(b, gaps, strict=True)
        ]
    assert got.tolist() == pytest.approx([float(w) for w in want], rel=1e-9, abs=1e-11)


@settings(max_examples=60, deadline=None)
@given(
    dim=st.sampled_from(DIMENSIONS),
    exponents=st.tuples(st.floats(-6, 6), st.floats(-1, 1), st.floats(-16, 0)),
    seed=st.integers(0, 100),
)
def test_kl_is_never_negative(dim: int, exponents: tuple[float, float, float], seed: int) -> None:
    kappa, step, apart = 10 ** exponents[0], exponents[1] * 1e-3, 10 ** exponents[2]
    for dtype in (torch.float64, torch.float32):
        mu_a = directions(4, dim, seed, dtype)
        mu_b = normalize(mu_a + apart * directions(4, dim, seed + 1, dtype), dim=-1)
        kappa_a = torch.full((4,), kappa, dtype=dtype)
        kappa_b = kappa_a * (1 + step)
        assert (vmf.kl(mu_a, kappa_a, mu_b, kappa_b) >= 0).all()
        assert vmf.kl(mu_a, kappa_a, mu_a, kappa_a).abs().max() <= 1e-9
        assert (vmf.kl_matrix(mu_a, kappa_a, mu_b, kappa_b) >= 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extreme_rows_stay_finite_with_their_gradients(dtype: torch.dtype) -> None:
    mu = directions(4, 128, 0, dtype)
    pairs = torch.cartesian_prod(*[torch.tensor([1e-6, 1.0, 100.0, 1e6], dtype=dtype)] * 2)
    for other in (mu, -mu):
        for variant in ("exact", "paper"):
            inputs = [mu.repeat(4, 1), pairs[:, 0].clone(), other.repeat(4, 1), pairs[:, 1].clone()]
            inputs = [tensor.requires_grad_() for tensor in inputs]
            value = vmf.kl(*inputs, variant=variant)
            gradients = torch.autograd.grad(value.sum(), inputs)
            assert value.dtype is dtype
            assert torch.isfinite(value).all()
            assert all(torch.isfinite(g).all() for g in gradients)


@pytest.mark.parametrize("variant", ["exact", "paper"])
def test_kl_gradients_are_right(variant: vmf.Variant) -> None:
    mu_a, mu_b = directions(3, 4, 0).requires_grad_(), directions(3, 4, 1).requires_grad_()
    kappa_a = torch.tensor([0.2, 8.0, 300.0], dtype=torch.float64, requires_grad=True)
    kappa_b = torch.tensor([0.5, 2.0, 310.0], dtype=torch.float64, requires_grad=True)

    def value(*inputs: Tensor) -> Tensor:
        return vmf.kl(*inputs, variant=variant)

    assert torch.autograd.gradcheck(value, (mu_a, kappa_a, mu_b, kappa_b))
    assert torch.autograd.gradgradcheck(value, (mu_a, kappa_a, mu_b, kappa_b), fast_mode=True)
    assert torch.autograd.gradcheck(lambda k: vmf.entropy(4, k), kappa_a)


def test_matrix_holds_every_pair() -> None:
    mu_a, mu_b = directions(3, 16, 0), directions(5, 16, 1)
    kappa_a, kappa_b = torch.rand(3, dtype=torch.float64) * 50, torch.rand(5, dtype=torch.float64) * 50
    for variant in ("exact", "paper"):
        pairs = vmf.kl(mu_a[:, None], kappa_a[:, None], mu_b[None], kappa_b[None], variant=variant)
        torch.testing.assert_close(vmf.kl_matrix(mu_a, kappa_a, mu_b, kappa_b, variant=variant), pairs)


def test_kl_does_not_change_under_rotation() -> None:
    mu_a, mu_b = directions(6, 8, 0), directions(6, 8, 1)
    kappa_a, kappa_b = torch.linspace(1, 90, 6, dtype=torch.float64), torch.linspace(50, 2, 6, dtype=torch.float64)
    rotation = torch.linalg.qr(torch.randn(8, 8, dtype=torch.float64))[0]
    torch.testing.assert_close(
        vmf.kl(mu_a @ rotation, kappa_a, mu_b @ rotation, kappa_b), vmf.kl(mu_a, kappa_a, mu_b, kappa_b)
    )


def test_the_papers_forms_fail_where_the_method_says_so() -> None:
    mu = directions(1, 128, 0)
    narrow, wide = torch.tensor([60.0], dtype=torch.float64), torch.tensor([50.0], dtype=torch.float64)
    assert vmf.kl(mu, narrow, mu, wide, variant="paper").item() < -30
    # far above the dimension both agree
    high, higher = torch.tensor([1e5], dtype=torch.float64), torch.tensor([2e5], dtype=torch.float64)
    exact, paper = (vmf.kl(mu[:, :3], high, mu[:, :3], higher, variant=v) for v in ("exact", "paper"))
    torch.testing.assert_close(exact, paper, rtol=1e-3, atol=0)


def test_whole_numbers_are_computed_as_decimals() -> None:
    kappa, axes = torch.tensor([3, 50]), torch.eye(8, dtype=torch.int64)[:2]
    wide, mu = kappa.float(), axes.float()
    pairs = [
        (vmf.log_normalizer(8, kappa), vmf.log_normalizer(8, wide)),
        (vmf.entropy(8, kappa), vmf.entropy(8, wide)),
        (vmf.kl(axes, kappa, axes.flip(0), kappa), vmf.kl(mu, wide, mu.flip(0), wide)),
        (vmf.kl_matrix(axes, kappa, axes, kappa), vmf.kl_matrix(mu, wide, mu, wide)),
    ]
    for got, want in pairs:
        torch.testing.assert_close(got, want, rtol=0, atol=0)
    whole, exact = vmf.concentration_kl(8, kappa, kappa + 1), vmf.concentration_kl(8, kappa.double(), kappa + 1.0)
    torch.testing.assert_close(whole, exact, rtol=1e-6, atol=0)
    assert float(log_normalizer(8, 3)) == pytest.approx(vmf.log_normalizer(8, torch.tensor(3)).item(), rel=1e-6)


def test_an_unknown_variant_is_refused() -> None:
    mu, kappa = directions(2, 4, 0), torch.ones(2, dtype=torch.float64)
    for function in (vmf.kl, vmf.kl_matrix):
        with pytest.raises(ValueError, match="no variant of the divergence 'papre'; choose one of: exact, paper"):
            function(mu, kappa, mu, kappa, variant="papre")
