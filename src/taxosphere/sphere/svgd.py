"""Stein variational gradient descent on the sphere, as a regulariser that spreads embeddings.

The velocity of particle i is the tangent part at z_i of φ(z_i) = mean_j [k(z_j, z_i) s(z_j) + ∇_{z_j} k(z_j, z_i)],
with the score s(z) = (0, …, 0, z_d/(1−z_d²+ε)) + κ_align μ.

Two variants differ in the kernel gradient. `paper` takes it in the ambient space, `corrected` in the tangent
space at z_j, where particle j lives. Two facts about `paper`:

1. For the vmf kernel the ambient gradient is κ k z_i, parallel to z_i: the tangent projection at z_i removes all
   of it and nothing repels. The corrected gradient κ k (z_i − ⟨z_i,z_j⟩ z_j) survives and does repel.
2. It is used through `norm_loss`, and the shortest field is not where the field leads: the pole part vanishes at
   the equator, so minimising its norm pulls particles there, away from the poles it points to.
   `transport_loss` follows the field instead.
"""

import math
from typing import Literal, get_args

import torch
from torch import Tensor

from taxosphere.sphere.maps import check_choice, floating, norm, project_tangent

Kernel = Literal["vmf", "vmf+score", "rbf", "imq"]
Variant = Literal["paper", "corrected"]

POLE_EPSILON = 1e-6
# Largest pole term of the score. For `paper` it only keeps numbers finite (reached at |z_d| ≈ 0.95). Followed as a
# flow, a pole term above κ_repel − κ_align outweighs all repulsion and the particles of a hemisphere end in one
# point, its pole (measured in docs/method/svgd.md), so `corrected` stays below that (reached at |z_d| ≈ 0.41).
POLE_CLIP: dict[str, float] = {"paper": 10.0, "corrected": 0.5}


def field(
    z: Tensor,
    mu: Tensor,
    *,
    kernel: Kernel = "vmf+score",
    kappa_repel: float = 2.0,
    kappa_align: float = 1.0,
    variant: Variant = "corrected",
    pole_clip: float | None = None,
) -> Tensor:
    """The velocity of every particle, tangent to the sphere.

    Parameters
    ----------
    z
        (n, d) particles, unit vectors.
    mu
        (n, d) anchors; ``mu = z`` anchors every particle to itself.
    kernel
        `vmf` exp(κ_repel (z'·z − 1)), `imq` (1 + κ_repel ‖z'−z‖²)^−½, `rbf` exp(−‖z'−z‖²/h) with the median bandwidth
        h, for which κ_repel is only on or off; `vmf+score` is the vmf kernel, and the only one with the structural
        (pole) part of the score.
    kappa_repel
        Strength of the repulsion; 0 removes the kernel gradient.
    kappa_align
        Strength of the pull to the anchors.
    variant
        How the kernel gradient is taken, see the head of this module.
    pole_clip
        Largest pole part of the score; None takes `POLE_CLIP`.

    Returns
    -------
    (n, d) tangent vectors.

    Raises
    ------
    ValueError
        There is no such kernel or variant.
    """
    check_choice("kernel", kernel, get_args(Kernel))
    check_choice("variant of the field", variant, get_args(Variant))
    z, mu = floating(z), floating(mu)
    cosine = z @ z.mT  # (n, n), symmetric
    k, along_i, along_j = _kernel(cosine, kernel, kappa_repel)
    # Whatever is parallel to z_i drops out of the projection below. Of the ambient gradient a z_i + b z_j that leaves
    # b z_j; of its tangent part at z_j, a (z_i − ⟨z_i,z_j⟩ z_j), it leaves −a ⟨z_i,z_j⟩ z_j.
    away = -along_j if variant == "paper" else along_i * cosine
    score = kappa_align * mu
    if kernel == "vmf+score":
        score = score + _structural_score(z, POLE_CLIP[variant] if pole_clip is None else pole_clip)
    phi = k @ score
    if kappa_repel > 0:
        phi = phi - away @ z
    return project_tangent(z, phi / z.shape[-2])


def norm_loss(field: Tensor) -> Tensor:
    """The paper's loss: mean length of the field.

    Parameters
    ----------
    field : Tensor of shape (n, d)
        Tangent vectors of `field`.

    Returns
    -------
    Tensor
        A scalar.
    """
    return norm(field).mean()


def transport_loss(z: Tensor, field: Tensor) -> Tensor:
    """−mean ⟨stopgrad φ̂(z_i), z_i⟩: a gradient step on it moves the points ``z`` (n, d) along the ``field`` (n, d).

    Parameters
    ----------
    z : Tensor of shape (n, d)
        Points.
    field : Tensor of shape (n, d)
        Tangent vectors at them; no gradient flows through.

    Returns
    -------
    Tensor
        A scalar.
    """
    return -(field.detach() * z).sum(-1).mean()


def _structural_score(z: Tensor, clip: float) -> Tensor:
    height = z[..., -1:]
    pull = (height / (1 - height.square() + POLE_EPSILON)).clamp(-clip, clip)
    return torch.cat([torch.zeros_like(z[..., :-1]), pull], dim=-1)


def _kernel(cosine: Tensor, kernel: Kernel, kappa: float) -> tuple[Tensor, Tensor, Tensor]:
    """k(z_j, z_i), and the coefficients a, b of its ambient gradient ∇_{z_j} k = a z_i + b z_j."""
    if kernel in ("vmf", "vmf+score"):
        # On the sphere the largest exponent is κ, particle i with itself. In place: n × n numbers are slow to allocate.
        k = torch.sub(cosine, 1).mul_(kappa).exp_()
        return k, kappa * k, k.new_zeros(()).expand_as(k)
    square = (2 - 2 * cosine).clamp_min(0)  # ‖z_j − z_i‖²
    if kernel == "rbf":
        width = _median_bandwidth(square.detach())
        k = torch.exp(-square / width)
        slope = 2 * k / width
    else:
        k = torch.rsqrt(1 + kappa * square)
        slope = kappa * k**3
    return k, slope, -slope


def _median_bandwidth(square: Tensor) -> Tensor:
    """h = median ‖z_i−z_j‖² / log n over distinct pairs (Liu and Wang, 2016); one when most particles coincide."""
    n = square.shape[-1]
    if n < 2:
        return square.new_ones(())
    rows, columns = torch.triu_indices(n, n, 1)
    median = square[rows, columns].median()
    return torch.where(median > 0, median / math.log(n), torch.ones_like(median))
