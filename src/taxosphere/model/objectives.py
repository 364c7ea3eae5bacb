"""The losses: pure functions of a batch of embeddings, each a named scalar; the trainer adds them up.

z are points on the unit sphere, μ and κ the mean direction and concentration of a von Mises–Fisher distribution.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from taxosphere.model.batches import Batch
from taxosphere.model.config import LossConfig
from taxosphere.model.negatives import NONE
from taxosphere.model.network import Embedding
from taxosphere.sphere import maps, svgd, vmf


def terms(embedding: Embedding, batch: Batch, config: LossConfig) -> dict[str, Tensor]:
    """The unweighted value of every loss whose weight is above zero, by name.

    Parameters
    ----------
    embedding : Embedding
        Of the p distinct concepts of the batch.
    batch : Batch
        Pairs of child and parent with negatives, as rows of the embedding.
    config : LossConfig
        Weights and settings of the losses.

    Returns
    -------
    dict of str to scalar Tensor
        Means over pairs (listwise), triplets (geometric, probabilistic) or concepts (svgd).
    """
    values = {}
    if config.listwise:
        values["listwise"] = listwise(embedding, batch, config)
    if config.geometric:
        values["geometric"] = geometric(embedding.z, batch, config)
    if config.probabilistic:
        values["probabilistic"] = probabilistic(embedding, batch, config)
    if config.svgd:
        values["svgd"] = spread(embedding, config)
    return values


def total(values: dict[str, Tensor], config: LossConfig) -> Tensor:
    """λ_list L_list + λ_geo L_geom + λ_prob L_vMF + λ_svgd L_svgd: ``values`` of `terms` by weights in ``config``.

    Parameters
    ----------
    values : dict of str to scalar Tensor
        What `terms` returned.
    config : LossConfig
        The weights.

    Returns
    -------
    Tensor
        A scalar.
    """
    weighted = [getattr(config, name) * value for name, value in values.items()]
    return torch.stack(weighted).sum()


def listwise(embedding: Embedding, batch: Batch, config: LossConfig) -> Tensor:
    """Cross entropy of the parent among all distinct concepts of the batch.

    Formula: ``L = −mean_i log softmax_j(a_ij)[parent of i]`` with a = `affinity`; the child itself and its other
    ancestors are left out of the softmax, because they are not wrong.

    Relations: InfoNCE over the batch (`taxosphere.methods.baselines.losses.contrast` has the same form over drawn
    negatives alone). It is the default objective; `geometric` and `probabilistic` are the paper's triplet losses.

    Parameters
    ----------
    embedding : Embedding
        Of the p distinct concepts of the batch.
    batch : Batch
        (child, parent) pairs; every other concept is a negative.
    config : LossConfig
        Temperature and what is compared.

    Returns
    -------
    Tensor
        A scalar.
    """
    logits = affinity(embedding.z.index_select(0, batch.child), embedding, config)  # (b, p)
    return F.cross_entropy(logits.masked_fill(batch.forbidden, -torch.inf), batch.parent)


def affinity(child: Tensor, candidates: Embedding, config: LossConfig) -> Tensor:
    """How well each candidate fits as parent of each child, as a log probability up to a constant of the child.

    Parameters
    ----------
    child : Tensor of shape (b, d)
        Points z of the children.
    candidates : Embedding
        Of p candidates.
    config : LossConfig
        ``comparison`` decides: "cosine" gives z_c·z_p / τ, "vmf" the log density κ_p μ_p·z_c + log C_d(κ_p) of the
        child's point under the candidate's von Mises–Fisher distribution.

    Returns
    -------
    Tensor of shape (b, p)
    """
    return affinity_to(candidates, config)(child)


def affinity_to(candidates: Embedding, config: LossConfig) -> Callable[[Tensor], Tensor]:
    """`affinity` as a function of the children alone: what depends on the candidates is computed once.

    Parameters
    ----------
    candidates : Embedding
        Of p candidates.
    config : LossConfig
        As for `affinity`.

    Returns
    -------
    Callable
        From points (b, d) of children to affinities (b, p).
    """
    if config.comparison == "cosine":
        return lambda child: child @ candidates.z.T / config.temperature
    pull = candidates.mu * candidates.kappa.unsqueeze(1)
    constant = vmf.log_normalizer(candidates.mu.shape[1], candidates.kappa)
    return lambda child: child @ pull.T + constant


def geometric(z: Tensor, batch: Batch, config: LossConfig) -> Tensor:
    """Triplet margin loss on angles between points, the paper's geodesic triplet.

    Formula: ``mean max(0, γ + W(θ_cp) − W(θ_cn))`` with θ the angle between two points and W = `welsch`, which levels
    off, so that far negatives stop counting.

    Relations: `probabilistic` is the same triplet with a divergence between distributions in place of W(θ).

    Parameters
    ----------
    z : Tensor of shape (p, d)
        Points of the distinct concepts.
    batch : Batch
        (child, parent, negative) triplets.
    config : LossConfig
        Margin γ and c.

    Returns
    -------
    Tensor
        A scalar.
    """
    child = z.index_select(0, batch.child)  # (b, d)
    parent = z.index_select(0, batch.parent)
    negative = z.index_select(0, batch.negative.clamp(min=0).flatten()).view(*batch.negative.shape, -1)  # (b, k, d)
    near = welsch(maps.angle(child, parent), config).unsqueeze(1)
    far = welsch(maps.angle(child.unsqueeze(1), negative), config)
    return _mean_over_triplets(F.relu(config.geometric_margin + near - far), batch)


def welsch(angle: Tensor, config: LossConfig) -> Tensor:
    """W(θ) = 1 − exp(−θ² / 2c²) of each ``angle``, or its logarithm with ``loss.welsch = "log"`` in ``config``.

    Parameters
    ----------
    angle : Tensor
        Of any shape.
    config : LossConfig
        c, and whether the logarithm is taken.

    Returns
    -------
    Tensor
        Of the shape of ``angle``.
    """
    value = -torch.expm1(-angle.square() / (2 * config.welsch_c**2))
    if config.welsch == "plain":
        return value
    return torch.log(value.clamp(min=torch.finfo(value.dtype).eps))  # two equal texts have W = 0


def probabilistic(embedding: Embedding, batch: Batch, config: LossConfig) -> Tensor:
    """Triplet margin loss on divergences between von Mises–Fisher distributions.

    Formula: ``mean max(0, γ + KL(c‖p) − KL(c‖n))`` where every concept is the distribution vMF(μ, κ).

    Relations: the probabilistic counterpart of `geometric`; only this loss and `listwise` with "vmf" train κ.

    Parameters
    ----------
    embedding : Embedding
        With μ (p, d) and κ (p,).
    batch : Batch
        (child, parent, negative) triplets.
    config : LossConfig
        Margin γ.

    Returns
    -------
    Tensor
        A scalar.
    """
    mu, kappa = embedding.mu, embedding.kappa
    # All pairs of the batch at once: the Bessel functions are needed once per concept, not once per triplet.
    divergence = vmf.kl_matrix(
        mu.index_select(0, batch.child), kappa.index_select(0, batch.child), mu, kappa, config.bessel
    )  # (b, p)
    near = divergence.gather(1, batch.parent.unsqueeze(1))  # (b, 1)
    far = divergence.gather(1, batch.negative.clamp(min=0))  # (b, k)
    return _mean_over_triplets(F.relu(config.probabilistic_margin + near - far), batch)


def spread(embedding: Embedding, config: LossConfig) -> Tensor:
    """Stein variational regulariser that spreads concepts over the sphere and pulls each to its anchor.

    Formula: with φ = `taxosphere.sphere.svgd.field`, the mean of ‖φ(z_i)‖ (variant "paper", which shrinks the field)
    or −⟨z_i, φ(z_i)⟩ with φ held constant (variant "corrected", whose gradient moves points along the field).

    Relations: no pairs or negatives are used; it is added to one of the other losses.

    Parameters
    ----------
    embedding : Embedding
        Of the distinct concepts of a batch.
    config : LossConfig
        Kernel, strengths, anchor and variant.

    Returns
    -------
    Tensor
        A scalar.
    """
    anchor = embedding.z if config.anchor == "self" else embedding.mu
    with torch.set_grad_enabled(config.svgd_variant == "paper"):  # transport goes along the field, not through it
        field = svgd.field(
            embedding.z,
            anchor,
            kernel=config.kernel,
            kappa_repel=config.kappa_repel,
            kappa_align=config.kappa_align,
            variant=config.svgd_variant,
        )
    if config.svgd_variant == "paper":
        return svgd.norm_loss(field)
    return svgd.transport_loss(embedding.z, field)


def _mean_over_triplets(loss: Tensor, batch: Batch) -> Tensor:
    """Mean over the (child, parent, negative) triplets that exist, pairs weighing alike."""
    exists = (batch.negative != NONE).to(loss.dtype)
    per_pair = (loss * exists).sum(1) / exists.sum(1).clamp(min=1)
    return per_pair.mean()
