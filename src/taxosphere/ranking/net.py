"""The ranker's nets: from the features of a candidate to its score, linear plus one small hidden layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from taxosphere.model.config import RankingConfig
from taxosphere.model.riemannian import Group, RiemannianAdam, rate
from taxosphere.model.threads import one_thread
from taxosphere.ranking.calibration import moments
from taxosphere.typing import Booleans, Floats, Longs

_CLIP = 6.0  # standard deviations, so that one extreme feature does not decide alone


class RankingNet(nn.Module):
    """Scores candidates one by one: w·x + v·gelu(Vx + b), where x are standardised features.

    Parameters
    ----------
    n_features
        Length of x.
    hidden
        Width of the hidden layer.
    dropout
        Share of the hidden layer that is switched off in each training step.
    generator
        Draws the initial weights.
    """

    def __init__(self, n_features: int, hidden: int, dropout: float, generator: torch.Generator) -> None:
        super().__init__()
        self.dropout = dropout
        self.linear = nn.Parameter(torch.zeros(n_features))
        self.into = nn.Parameter(torch.randn(hidden, n_features, generator=generator) / n_features**0.5)
        self.bias = nn.Parameter(torch.zeros(hidden))
        self.out = nn.Parameter(torch.randn(hidden, generator=generator) / hidden**0.5)

    def forward(self, x: Tensor, keep: Tensor | None = None) -> Tensor:
        """Scores (…) of features (…, f); ``keep`` (hidden,) are factors of the hidden layer."""
        hidden = F.gelu(F.linear(x, self.into, self.bias))
        return x @ self.linear + (hidden if keep is None else hidden * keep) @ self.out


@dataclass(frozen=True)
class NetEnsemble:
    """Several nets whose log probabilities are averaged.

    Attributes
    ----------
    mean, scale
        (f,) of their features.
    nets
        At least one, but for a ranker that was not trained.
    shares
        (nets,) how much each counts in the average; they add up to one. None: all the same.
    """

    mean: Floats
    scale: Floats
    nets: tuple[RankingNet, ...]
    shares: Floats | None = None

    def standardise(self, table: Floats, *, overwrite: bool = False) -> Tensor:
        """Features (q, k, f) minus mean, divided by scale and clipped; with ``overwrite`` in the table's own memory."""
        x = (
            np.subtract(table, self.mean, out=table)
            if overwrite
            else (table - self.mean).astype(np.float32, copy=False)
        )
        x /= self.scale
        return torch.from_numpy(x.clip(-_CLIP, _CLIP, out=x))

    @cached_property
    def _stacked(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """All nets as one with a score for each: linear, into, bias, out."""
        with torch.no_grad():
            block = torch.repeat_interleave(torch.eye(len(self.nets)), len(self.nets[0].out), 1)
            return (
                torch.stack([net.linear for net in self.nets]),
                torch.cat([net.into for net in self.nets]),
                torch.cat([net.bias for net in self.nets]),
                torch.cat([net.out for net in self.nets]) * block,
            )

    def scores(self, x: Tensor) -> Floats:
        """Log probabilities (q, k), averaged over the nets, from standardised features (q, k, f)."""
        with torch.no_grad():
            return self._average(self.by_net(x), 2).numpy()

    def by_net(self, x: Tensor) -> Tensor:
        """Log probabilities (q, k, nets) of each net, from standardised features (q, k, f)."""
        linear, into, bias, out = self._stacked
        with torch.no_grad():
            scores = F.linear(x, linear) + F.linear(F.gelu(F.linear(x, into, bias)), out)
            return F.log_softmax(scores, 1)

    def _average(self, values: Tensor, axis: int) -> Tensor:
        """Over the nets, which stand along an axis."""
        if self.shares is None:
            return values.mean(axis)
        average: Tensor = torch.tensordot(values, torch.from_numpy(self.shares), ([axis], [0]))
        return average

    def contributions(self, x: Tensor, places: Longs) -> Floats:
        """How much each feature raises a candidate's score above the average of its list: gradient × difference.

        Parameters
        ----------
        x
            (q, k, f) standardised features of the lists.
        places
            (q, e) places in the lists of the candidates to explain.

        Returns
        -------
        (q, e, f).
        """
        linear, into, bias, out = self._stacked
        with torch.no_grad():
            explained = x[torch.arange(len(x))[:, None], torch.from_numpy(places)]  # (q, e, f)
            h = F.linear(explained, into, bias)
            slope = torch.special.ndtr(h) + h * torch.exp(-h * h / 2) / math.sqrt(2 * math.pi)  # of gelu(h) = hΦ(h)
            gradient = self._average(linear, 0) + (slope * self._average(out, 0)) @ into
            contributions: Floats = (gradient * (explained - x.mean(1, keepdim=True))).numpy()
            return contributions

    def to_arrays(self) -> dict[str, NDArray[np.floating]]:
        """Arrays for a model folder."""
        arrays: dict[str, NDArray[np.floating]] = {"mean": self.mean, "scale": self.scale}
        if self.shares is not None:
            arrays["shares"] = self.shares
        for number, net in enumerate(self.nets):
            arrays |= {f"net{number}.{key}": value.detach().numpy() for key, value in net.state_dict().items()}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[np.floating]]) -> NetEnsemble:
        """The nets that `to_arrays` wrote."""
        nets: list[RankingNet] = []
        while f"net{len(nets)}.linear" in arrays:
            prefix = f"net{len(nets)}."
            weights = {
                k.removeprefix(prefix): torch.from_numpy(v.copy()) for k, v in arrays.items() if k.startswith(prefix)
            }
            net = RankingNet(len(weights["linear"]), len(weights["bias"]), 0.0, torch.Generator())
            net.load_state_dict(weights)
            nets.append(net)
        shares = arrays.get("shares")
        return cls(
            arrays["mean"].astype(np.float32),
            arrays["scale"].astype(np.float32),
            tuple(nets),
            None if shares is None else shares.astype(np.float32),
        )


def join_ensembles(ensembles: Sequence[NetEnsemble], columns: Sequence[Longs], n_features: int) -> NetEnsemble:
    """One ensemble of all nets of several, each of which reads some of the features.

    Parameters
    ----------
    ensembles
        Their moments agree where they read the same feature.
    columns
        For each ensemble, which of the features it reads.
    n_features
        How many there are; the weights of those that a net does not read are zero.
    """
    mean, scale = np.zeros(n_features, np.float32), np.ones(n_features, np.float32)
    nets = []
    for ensemble, read in zip(ensembles, columns, strict=True):
        mean[read], scale[read] = ensemble.mean, ensemble.scale
        for narrow in ensemble.nets:
            net = RankingNet(n_features, len(narrow.bias), narrow.dropout, torch.Generator())
            with torch.no_grad():
                for wide, source in ((net.linear, narrow.linear), (net.into, narrow.into)):
                    wide.zero_()
                    wide[..., torch.from_numpy(read)] = source
                net.bias.copy_(narrow.bias)
                net.out.copy_(narrow.out)
            nets.append(net.eval())
    return NetEnsemble(mean, scale, tuple(nets))


def train_nets(
    table: Floats,
    labels: Booleans,
    config: RankingConfig,
    *,
    n_nets: int,
    random_state: int,
    prior: NetEnsemble | None,
    weights: Floats | None = None,
    overwrite: bool = False,
) -> NetEnsemble:
    """Train nets listwise: the total probability of the true parents among the shortlist is made large.

    With a prior the nets start from its weights and decay towards them instead of towards zero; the more lists there
    are, the weaker the decay.

    Parameters
    ----------
    table
        (t, k, f) features of the lists.
    labels
        (t, k): the true parents, at least one on each list.
    config
        Size of the nets, epochs, learning rate, decay.
    n_nets
        How many nets to train.
    random_state
        Initial weights, order of the lists and dropout.
    prior
        Nets for the same columns, or None.
    weights
        (t,) how much each list counts; None: all the same.
    overwrite
        Whether the memory of ``table`` may be written to, which spares a copy of it.
    """
    flat = table.reshape(-1, table.shape[2])
    mean, scale = moments(flat)
    x, y = NetEnsemble(mean, scale, ()).standardise(table, overwrite=overwrite), torch.from_numpy(labels)
    importance = torch.ones(len(x)) if weights is None else torch.from_numpy(np.asarray(weights, np.float32))
    nets = []
    for number in range(n_nets):
        generator = torch.Generator().manual_seed(1000 * random_state + number)
        net = RankingNet(x.shape[2], config.hidden, config.dropout, generator)
        if prior is not None:
            net.load_state_dict(prior.nets[number % len(prior.nets)].state_dict())
        with one_thread():
            _optimise(net, x, y, importance, config, generator, to_prior=prior is not None)
        nets.append(net.eval())
    return NetEnsemble(mean, scale, tuple(nets))


def _optimise(
    net: RankingNet,
    x: Tensor,
    y: Tensor,
    importance: Tensor,
    config: RankingConfig,
    generator: torch.Generator,
    *,
    to_prior: bool,
) -> None:
    """Train one net on standardised lists (t, k, f); ``to_prior``: weights decay towards where they start."""
    start_weights = [parameter.detach().clone() for parameter in net.parameters()]
    optimiser = RiemannianAdam([Group(list(net.parameters()), config.learning_rate)])
    starts = range(0, len(x), config.batch)
    # The decay towards a prior is strong with few lists and fades with the square of their number.
    decay = config.weight_decay * ((config.prior_pull / len(x)) ** 2 if to_prior else 1.0)
    for epoch in range(config.epochs):
        shuffled = torch.randperm(len(x), generator=generator)
        for step, start in enumerate(starts):
            rows = shuffled[start : start + config.batch]
            share = rate(epoch * len(starts) + step, config.epochs * len(starts), 0.1, decay=True)
            keep = torch.rand(len(net.bias), generator=generator) >= net.dropout
            loss = listwise_loss(net(x[rows], keep / (1 - net.dropout)), y[rows], importance[rows])
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step(share)
            with torch.no_grad():  # decoupled decay, towards zero or towards the prior
                for parameter, origin in zip(net.parameters(), start_weights, strict=True):
                    parameter.sub_(
                        parameter - origin if to_prior else parameter,
                        alpha=min(1.0, decay * config.learning_rate * share),
                    )


def listwise_loss(scores: Tensor, labels: Tensor, importance: Tensor | None = None) -> Tensor:
    """Mean of −log of the probability on the true parents; scores and labels (b, k), importance (b,) of the lists."""
    true = torch.logsumexp(scores.masked_fill(~labels, -torch.inf), 1)
    losses = torch.logsumexp(scores, 1) - true
    return losses.mean() if importance is None else (losses * importance).mean()
