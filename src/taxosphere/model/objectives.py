"""The losses: pure functions of a batch of embeddings, each a named scalar. The trainer adds them up."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from taxosphere.model.batches import Batch
from taxosphere.model.config import LossConfig
from taxosphere.model.negatives import NONE
from taxosphere.model.network import Embedding
from taxosphere.sphere import maps, svgd, vmf


def terms(embedding: Embedding, batch: Batch, config: LossConfig) -> dict[str, Tensor]:
    """Every term whose weight is above zero, unweighted; a mean over pairs, triplets or particles."""
    found = {}
    if config.listwise:
        found["listwise"] = listwise(embedding, batch, config)
    if config.geometric:
        found["geometric"] = geometric(embedding.z, batch, config)
    if config.probabilistic:
        found["probabilistic"] = probabilistic(embedding, batch, config)
    if config.svgd:
        found["svgd"] = spread(embedding, config)
    return found


def total(found: dict[str, Tensor], config: LossConfig) -> Tensor:
    """λ_list L_list + λ_geo L_geom + λ_prob L_vMF + λ_svgd L_svgd"""
    weighted = [getattr(config, name) * value for name, value in found.items()]
    return torch.stack(weighted).sum()


def listwise(embedding: Embedding, batch: Batch, config: LossConfig) -> Tensor:
    """Softmax over all distinct concepts of the batch: −log p(parent | child), the child's other ancestors left out."""
    logits = affinity(embedding.z.index_select(0, batch.child), embedding, config)  # (b, p)
    return F.cross_entropy(logits.masked_fill(batch.forbidden, -torch.inf), batch.parent)


def affinity(child: Tensor, candidates: Embedding, config: LossConfig) -> Tensor:
    """(b, p): cosine / τ, or the log density κ μ·z + log C_d(κ) of the child's point under each candidate."""
    if config.comparison == "cosine":
        return child @ candidates.z.T / config.temperature
    pull = candidates.mu * candidates.kappa.unsqueeze(1)
    return child @ pull.T + vmf.log_normalizer(child.shape[1], candidates.kappa)


def geometric(z: Tensor, batch: Batch, config: LossConfig) -> Tensor:
    """max(0, γ + W(θ_cp) − W(θ_cn)), Eq. of the geodesic triplet; W is the Welsch function or its logarithm."""
    child = z.index_select(0, batch.child)  # (b, d)
    parent = z.index_select(0, batch.parent)
    negative = z.index_select(0, batch.negative.clamp(min=0).flatten()).view(*batch.negative.shape, -1)  # (b, k, d)
    near = welsch(maps.angle(child, parent), config).unsqueeze(1)
    far = welsch(maps.angle(child.unsqueeze(1), negative), config)
    return _mean_over_triplets(F.relu(config.geometric_margin + near - far), batch)


def welsch(angle: Tensor, config: LossConfig) -> Tensor:
    """W(θ) = 1 − exp(−θ²/2c²)"""
    value = -torch.expm1(-angle.square() / (2 * config.welsch_c**2))
    if config.welsch == "plain":
        return value
    return torch.log(value.clamp(min=torch.finfo(value.dtype).eps))  # two equal texts have W = 0


def probabilistic(embedding: Embedding, batch: Batch, config: LossConfig) -> Tensor:
    """max(0, γ + KL(c‖p) − KL(c‖n)) between von Mises–Fisher distributions."""
    mu, kappa = embedding.mu, embedding.kappa
    # All pairs of the batch at once: the Bessel functions are needed once per concept, not once per triplet.
    divergence = vmf.kl_matrix(
        mu.index_select(0, batch.child), kappa.index_select(0, batch.child), mu, kappa, config.bessel
    )  # (b, p)
    near = divergence.gather(1, batch.parent.unsqueeze(1))  # (b, 1)
    far = divergence.gather(1, batch.negative.clamp(min=0))  # (b, k)
    return _mean_over_triplets(F.relu(config.probabilistic_margin + near - far), batch)


def spread(embedding: Embedding, config: LossConfig) -> Tensor:
    """SVGD over the distinct concepts of the batch: the paper's norm of the field, or transport along it."""
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
