import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from taxosphere.sphere import maps, svgd

KERNELS: list[svgd.Kernel] = ["vmf", "vmf+score", "rbf", "imq"]
VARIANTS: list[svgd.Variant] = ["paper", "corrected"]

every_kernel = pytest.mark.parametrize("kernel", KERNELS)
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def points(n: int, dim: int, seed: int, spread: float = math.inf) -> Tensor:
    """Uniform on the sphere, or a cluster of this width around one point."""
    generator = torch.Generator().manual_seed(seed)
    noise = normalize(torch.randn(n, dim, generator=generator, dtype=torch.float64), dim=-1)
    if spread == math.inf:
        return noise
    centre = normalize(torch.randn(dim, generator=generator, dtype=torch.float64), dim=-1)
    return normalize(centre + spread * noise, dim=-1)


def mean_angle(z: Tensor) -> float:
    rows, columns = torch.triu_indices(len(z), len(z), 1)
    return maps.angle(z[rows], z[columns]).mean().item()


def kernel_value(kernel: svgd.Kernel, a: Tensor, b: Tensor, kappa: float, width: float) -> Tensor:
    if kernel == "rbf":
        return torch.exp(-(a - b).square().sum() / width)
    if kernel == "imq":
        return (1 + kappa * (a - b).square().sum()) ** -0.5
    return torch.exp(kappa * (a @ b) - kappa)


def naive_field(
    z: Tensor, mu: Tensor, kernel: svgd.Kernel, kappa: float, align: float, variant: svgd.Variant
) -> Tensor:
    """The definition, pair by pair, with the kernel differentiated by autograd."""
    distances = sorted((a - b).square().sum().item() for i, a in enumerate(z) for b in z[:i])
    width = distances[(len(distances) - 1) // 2] / math.log(len(z))
    rows = []
    for receiver in z:
        total = torch.zeros_like(receiver)
        for source, anchor in zip(z, mu, strict=True):
            moving = source.clone().requires_grad_()
            value = kernel_value(kernel, moving, receiver, kappa, width)
            (gradient,) = torch.autograd.grad(value, moving)
            if variant == "corrected":
                gradient = gradient - (gradient @ source) * source
            score = align * anchor
            if kernel == "vmf+score":
                height = source[-1].item()
                pull = height / (1 - height**2 + svgd.POLE_EPSILON)
                clip = svgd.POLE_CLIP[variant]
                score = score + max(-clip, min(clip, pull)) * maps.pole(len(source), dtype=source.dtype)
            total = total + value.detach() * score + gradient
        rows.append((total - (total @ receiver) * receiver) / len(z))
    return torch.stack(rows)


@every_kernel
@every_variant
@pytest.mark.parametrize(("n", "dim"), [(2, 2), (6, 3), (9, 16)])
def test_field_is_the_definition(kernel: svgd.Kernel, variant: svgd.Variant, n: int, dim: int) -> None:
    z, mu = points(n, dim, 0), points(n, dim, 1)
    got = svgd.field(z, mu, kernel=kernel, kappa_repel=1.7, kappa_align=0.6, variant=variant)
    torch.testing.assert_close(got, naive_field(z, mu, kernel, 1.7, 0.6, variant))
    torch.testing.assert_close((got * z).sum(-1), torch.zeros(n, dtype=z.dtype))


@every_kernel
@every_variant
def test_field_is_finite_and_differentiable_for_degenerate_sets(kernel: svgd.Kernel, variant: svgd.Variant) -> None:
    north = maps.pole(4)
    for rows in ([north], [north, north, north], [north, -north], [north, -north, torch.eye(4)[0]]):
        z = torch.stack(rows).requires_grad_()
        phi = svgd.field(z, z, kernel=kernel, kappa_repel=2.0, kappa_align=1.0, variant=variant)
        (gradient,) = torch.autograd.grad(svgd.norm_loss(phi) + svgd.transport_loss(z, phi), z)
        assert torch.isfinite(phi).all()
        assert torch.isfinite(gradient).all()


@every_variant
def test_gradients_of_the_field_are_right(variant: svgd.Variant) -> None:
    z, mu = points(5, 4, 3).requires_grad_(), points(5, 4, 4).requires_grad_()
    for kernel in ("vmf", "vmf+score", "imq"):

        def on_the_sphere(a: Tensor, b: Tensor, kernel: svgd.Kernel = kernel) -> Tensor:
            return svgd.field(normalize(a, dim=-1), b, kernel=kernel, variant=variant)

        assert torch.autograd.gradcheck(on_the_sphere, (z, mu))


@pytest.mark.parametrize("kernel", ["vmf", "rbf", "imq"])
@every_variant
def test_fields_without_a_pole_turn_with_the_particles(kernel: svgd.Kernel, variant: svgd.Variant) -> None:
    z, mu = points(8, 5, 0), points(8, 5, 1)
    rotation = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64))[0]
    turned = svgd.field(z @ rotation, mu @ rotation, kernel=kernel, variant=variant)
    torch.testing.assert_close(turned, svgd.field(z, mu, kernel=kernel, variant=variant) @ rotation)


def test_paper_does_not_repel() -> None:
    z = points(20, 6, 0, spread=0.3)
    only_repulsion = svgd.field(z, z, kernel="vmf", kappa_repel=3.0, kappa_align=0.0, variant="paper")
    assert not only_repulsion.any()


@every_kernel
def test_corrected_repels(kernel: svgd.Kernel) -> None:
    z = points(20, 6, 0, spread=0.3)
    only_repulsion = svgd.field(z, z, kernel=kernel, kappa_repel=3.0, kappa_align=0.0, variant="corrected")
    assert mean_angle(maps.expmap(z, 0.1 * only_repulsion)) > mean_angle(z)


@pytest.mark.parametrize("kernel", ["vmf", "rbf", "imq"])
@every_variant
def test_components_can_be_removed(kernel: svgd.Kernel, variant: svgd.Variant) -> None:
    z, mu = points(12, 5, 0, spread=0.5), points(12, 5, 1)

    def part(repel: float, align: float) -> Tensor:
        return svgd.field(z, mu, kernel=kernel, kappa_repel=repel, kappa_align=align, variant=variant)

    assert not part(0.0, 0.0).any()
    torch.testing.assert_close(part(2.0, 3.0) - part(2.0, 0.0), 3 * (part(2.0, 1.0) - part(2.0, 0.0)))
    if kernel == "vmf":  # a constant kernel: every particle feels the mean anchor
        torch.testing.assert_close(part(0.0, 1.0), maps.project_tangent(z, mu.mean(0)))


@pytest.mark.parametrize("dim", [3, 8, 64])
@pytest.mark.parametrize("anchor", ["self", "first"])
@pytest.mark.parametrize("seed", range(3))
def test_following_corrected_spreads_a_cluster_and_uses_the_latitude(dim: int, anchor: str, seed: int) -> None:
    z = start = points(40, dim, seed, spread=0.15)
    for _ in range(150):
        phi = svgd.field(z, z if anchor == "self" else start, kernel="vmf+score", variant="corrected")
        z = normalize(maps.expmap(z, 0.1 * phi), dim=-1)
    assert mean_angle(z) > 1.5 * mean_angle(start)
    assert z[:, -1].abs().mean() > start[:, -1].abs().mean()


def test_minimising_the_norm_leads_to_the_equator() -> None:
    z = start = points(40, 8, 1, spread=0.3)
    leads = svgd.field(start, start, kernel="vmf+score", kappa_align=0.0, variant="paper")
    assert maps.expmap(start, 0.1 * leads)[:, -1].abs().mean() > start[:, -1].abs().mean() > 0.25
    for _ in range(100):
        free = z.clone().requires_grad_()
        phi = svgd.field(free, free, kernel="vmf+score", kappa_align=0.0, variant="paper")
        (gradient,) = torch.autograd.grad(svgd.norm_loss(phi) * len(z), free)
        z = normalize(maps.expmap(z, -0.01 * maps.project_tangent(z, gradient)), dim=-1)
    # What becomes zero is the pull averaged over the kernel, so the cluster lies across the equator.
    assert z[:, -1].abs().mean() < 0.1
    assert z[:, -1].mean().abs() < 0.01


def test_a_step_on_the_transport_loss_moves_along_the_field() -> None:
    z = points(6, 5, 0).requires_grad_()
    phi = svgd.field(z, z, kernel="vmf+score", variant="corrected")
    (gradient,) = torch.autograd.grad(svgd.transport_loss(z, phi), z)
    torch.testing.assert_close(gradient, -phi.detach() / len(z))


def test_unknown_names_are_refused() -> None:
    z = points(4, 3, 0)
    with pytest.raises(ValueError, match=r"no kernel 'gauss'; choose one of: vmf, vmf\+score, rbf, imq"):
        svgd.field(z, z, kernel="gauss")
    with pytest.raises(ValueError, match="no variant of the field 'foo'; choose one of: paper, corrected"):
        svgd.field(z, z, variant="foo")


@every_kernel
def test_whole_numbers_are_computed_as_decimals(kernel: svgd.Kernel) -> None:
    z = torch.eye(3, dtype=torch.int64)
    got, want = (svgd.field(a, a.flip(0), kernel=kernel) for a in (z, z.float()))
    torch.testing.assert_close(got, want, rtol=0, atol=0)
