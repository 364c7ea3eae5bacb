"""The four losses the compared systems were published with.

Each takes scores s (b, 1 + k), higher is better: column 0 is the true parent s⁺, the others are negatives s⁻.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def margin(scores: Tensor, margin: float | Tensor) -> Tensor:
    """Margin ranking loss: ``mean max(0, m − s⁺ + s⁻)``.

    Parameters
    ----------
    scores : Tensor of shape (b, 1 + k)
    margin : float or Tensor of shape (b, k)
        m, for all negatives or one for each.
    """
    return F.relu(margin - scores[:, :1] + scores[:, 1:]).mean()


def self_adversarial(scores: Tensor, temperature: float) -> Tensor:
    """Logistic loss with weighted negatives (RotatE, Eq. 5): ``−½ mean(log σ(s⁺) + Σ_j w_j log σ(−s⁻_j))``.

    w = softmax(temperature · s⁻), held constant, so that negatives with high scores weigh more. With temperature 0 all
    weigh alike, which is `binary` with parent and negatives balanced.
    """
    weight = F.softmax(temperature * scores[:, 1:].detach(), dim=1)
    negative = (weight * F.logsigmoid(-scores[:, 1:])).sum(1)
    return -0.5 * (F.logsigmoid(scores[:, 0]) + negative).mean()


def contrast(scores: Tensor) -> Tensor:
    """InfoNCE: ``−mean log softmax(s)[0]``, the parent against its negatives as one classification."""
    return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))


def binary(scores: Tensor) -> Tensor:
    """Binary cross entropy of every pair alone: ``−mean(log σ(s⁺))`` and ``−mean(log(1 − σ(s⁻)))`` over all pairs."""
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, labels)
