"""The four losses the compared systems were published with.

Each takes scores (b, 1 + k), higher is better: column 0 is the true parent, the others are negatives.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F


def margin(scores: Tensor, margin: float | Tensor) -> Tensor:
    """Every negative stays ``margin`` below the parent; a tensor (b, k) gives each negative its own."""
    return F.relu(margin - scores[:, :1] + scores[:, 1:]).mean()


def self_adversarial(scores: Tensor, temperature: float) -> Tensor:
    """Logistic loss in which hard negatives weigh more (RotatE, Eq. 5): by softmax(temperature · score), detached."""
    weight = F.softmax(temperature * scores[:, 1:].detach(), dim=1)
    negative = (weight * F.logsigmoid(-scores[:, 1:])).sum(1)
    return -0.5 * (F.logsigmoid(scores[:, 0]) + negative).mean()


def contrast(scores: Tensor) -> Tensor:
    """InfoNCE: the parent against its negatives, as one classification."""
    return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long))


def binary(scores: Tensor) -> Tensor:
    """Each pair on its own: is this a parent or not?"""
    labels = torch.zeros_like(scores)
    labels[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, labels)
