"""From text vectors to the space of a system."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Head(nn.Module):
    """``scale · (W h + b)``, or two layers when ``hidden`` > 0.

    A single layer starts as an orthogonal map: distances and angles between concepts begin as the encoder gives them,
    which no random start recovers from a few hundred edges. ``h`` is brought to unit variance per coordinate first.
    """

    def __init__(self, dim: int, out: int, hidden: int = 0, scale: float = 1.0) -> None:
        super().__init__()
        self.gain, self.scale = dim**0.5, scale
        self.layers = nn.Sequential(
            *([nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, out)] if hidden else [nn.Linear(dim, out)])
        )
        with torch.no_grad():
            for layer in self.layers:
                if isinstance(layer, nn.Linear):
                    nn.init.orthogonal_(layer.weight)
                    layer.bias.zero_()

    def forward(self, vectors: Tensor) -> Tensor:
        out: Tensor = self.scale * self.layers(self.gain * vectors)
        return out


@torch.no_grad()
def start_at_similarity(of_query: nn.Linear, of_candidate: nn.Linear, gain: float) -> Tensor:
    """Let relu(A q + B p) begin as a measure of likeness; returns the output weights that read it.

    For unit vectors Σ_w |w·(q + p)| − |w·(q − p)| over random directions w grows with their cosine, and |x| is two
    ReLUs: each direction takes four hidden units. A matcher of two joined vectors thereby starts where the encoder is,
    like the bilinear ones, instead of having to learn what "alike" means from a few hundred edges. Where the candidate
    brings more than its text vector, the further columns keep their small random start.
    """
    hidden, dim = of_query.weight.shape
    count = hidden // 4
    direction = torch.empty(count, dim)
    nn.init.orthogonal_(direction)
    corners = torch.tensor([[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0]])
    used = slice(0, 4 * count)
    of_query.weight[used] = (corners[:, 0, None, None] * direction).flatten(0, 1)
    of_candidate.weight[used, :dim] = (corners[:, 1, None, None] * direction).flatten(0, 1)
    if of_query.bias is not None:
        of_query.bias.zero_()
    weights = torch.zeros(hidden)
    weights[used] = gain * corners[:, 2].repeat_interleave(count) / max(1, count)
    return weights
