"""From a candidate's features to its score: linear plus one small hidden layer, the mean of several such nets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.model.config import RankingConfig
from taxosphere.model.riemannian import Group, RiemannianAdam
from taxosphere.model.threads import one_thread
from taxosphere.model.training import rate
from taxosphere.ranking.logistic import moments

Floats = NDArray[np.float32]
_CLIP = 6.0  # standard deviations: an odd feature must not decide alone


class RankingNet(nn.Module):
    """w·x + v·gelu(Vx + b), scored per candidate."""

    def __init__(self, features: int, hidden: int, dropout: float, generator: torch.Generator) -> None:
        super().__init__()
        self.dropout = dropout
        self.linear = nn.Parameter(torch.zeros(features))
        self.into = nn.Parameter(torch.randn(hidden, features, generator=generator) / features**0.5)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.out = nn.Parameter(torch.randn(hidden, generator=generator) / hidden**0.5)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        hidden = F.gelu(F.linear(x, self.into, self.bias))
        return x @ self.linear + (hidden if keep is None else hidden * keep) @ self.out


@dataclass(frozen=True)
class NetEnsemble:
    """Standardisation and the weights of the nets, as arrays: nothing else is kept."""

    mean: Floats
    scale: Floats
    nets: tuple[RankingNet, ...]

    def standardise(self, table: Floats) -> Tensor:
        return torch.from_numpy(((table - self.mean) / self.scale).clip(-_CLIP, _CLIP).astype(np.float32))

    def scores(self, table: Floats) -> Floats:
        """(q, k) from (q, k, f): the mean of the nets' log probabilities."""
        return self.scores_of(self.standardise(table))

    @cached_property
    def _together(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """The nets as one with a score for each: linear, into, bias, out."""
        with torch.no_grad():
            owner = torch.repeat_interleave(torch.eye(len(self.nets)), len(self.nets[0].out), 1)
            return (
                torch.stack([net.linear for net in self.nets]),
                torch.cat([net.into for net in self.nets]),
                torch.cat([net.bias for net in self.nets]),
                torch.cat([net.out for net in self.nets]) * owner,
            )

    def scores_of(self, x: Tensor) -> Floats:
        """The same from features that are standardised already."""
        linear, into, bias, out = self._together
        with torch.no_grad():
            each = F.linear(x, linear) + F.linear(F.gelu(F.linear(x, into, bias)), out)
            return F.log_softmax(each, 1).mean(2).numpy()

    def contributions(self, x: Tensor, places: NDArray[np.int64]) -> Floats:
        """What each standardised feature adds compared with the average of the list (gradient × difference).

        (q, e, f) of the candidates at ``places`` (q, e) of the lists ``x`` (q, k, f).
        """
        linear, into, bias, out = self._together
        with torch.no_grad():
            shown = x[torch.arange(len(x))[:, None], torch.from_numpy(places)]
            h = F.linear(shown, into, bias)
            slope = torch.special.ndtr(h) + h * torch.exp(-h * h / 2) / math.sqrt(2 * math.pi)  # of gelu(h) = hΦ(h)
            gradient = linear.mean(0) + (slope * out.mean(0)) @ into
            found: Floats = (gradient * (shown - x.mean(1, keepdim=True))).numpy()
            return found

    def to_arrays(self) -> dict[str, NDArray[np.floating]]:
        arrays: dict[str, NDArray[np.floating]] = {"mean": self.mean, "scale": self.scale}
        for number, net in enumerate(self.nets):
            arrays |= {f"net{number}.{key}": value.detach().numpy() for key, value in net.state_dict().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> NetEnsemble:
        nets: list[RankingNet] = []
        while f"net{len(nets)}.linear" in arrays:
            prefix = f"net{len(nets)}."
            weights = {
                k.removeprefix(prefix): torch.from_numpy(v.copy()) for k, v in arrays.items() if k.startswith(prefix)
            }
            net = RankingNet(len(weights["linear"]), len(weights["bias"]), 0.0, torch.Generator())
            net.load_state_dict(weights)
            nets.append(net)
        return cls(arrays["mean"].astype(np.float32), arrays["scale"].astype(np.float32), tuple(nets))


def train(
    table: Floats,
    labels: NDArray[np.bool_],
    config: RankingConfig,
    *,
    nets: int,
    random_state: int,
    prior: NetEnsemble | None,
) -> NetEnsemble:
    """Listwise: the probability of the true parents among the shortlist is made large.

    With a prior the nets begin at its weights and are pulled back to them instead of to zero; the more queries there
    are to learn from, the weaker the pull.
    """
    flat = table.reshape(-1, table.shape[2])
    mean, scale = moments(flat)
    scorer = NetEnsemble(mean, scale, ())
    x, y = scorer.standardise(table), torch.from_numpy(labels)
    made = []
    for number in range(nets):
        generator = torch.Generator().manual_seed(1000 * random_state + number)
        net = RankingNet(x.shape[2], config.hidden, config.dropout, generator)
        if prior is not None:
            net.load_state_dict(prior.nets[number % len(prior.nets)].state_dict())
        with one_thread():
            _optimise(net, x, y, config, generator, prior is not None)
        made.append(net.eval())
    return NetEnsemble(mean, scale, tuple(made))


def _optimise(
    net: RankingNet, x: Tensor, y: Tensor, config: RankingConfig, generator: torch.Generator, pulled: bool
) -> None:
    home = [parameter.detach().clone() for parameter in net.parameters()]
    optimiser = RiemannianAdam([Group(list(net.parameters()), config.learning_rate)])
    starts = range(0, len(x), config.batch)
    # The pull to a prior is strong where there are few examples and soon fades as there are more.
    decay = config.weight_decay * ((config.prior_pull / len(x)) ** 2 if pulled else 1.0)
    for epoch in range(config.epochs):
        shuffled = torch.randperm(len(x), generator=generator)
        for step, start in enumerate(starts):
            rows = shuffled[start : start + config.batch]
            share = rate(epoch * len(starts) + step, config.epochs * len(starts), 0.1, decay=True)
            keep = torch.rand(len(net.bias), generator=generator) >= net.dropout
            loss = listwise(net(x[rows], keep / (1 - net.dropout)), y[rows])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step(share)
            with torch.no_grad():  # decoupled decay, towards zero or towards the prior
                for parameter, origin in zip(net.parameters(), home, strict=True):
                    parameter.sub_(
                        parameter - origin if pulled else parameter,
                        alpha=min(1.0, decay * config.learning_rate * share),
                    )


def listwise(scores: Tensor, labels: Tensor) -> Tensor:
    """−log of the probability that falls on true parents."""
    true = torch.logsumexp(scores.masked_fill(~labels, -torch.inf), 1)
    return (torch.logsumexp(scores, 1) - true).mean()
