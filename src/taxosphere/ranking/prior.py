"""A ranker learned on other taxonomies, for seeds too small to learn one from.

Features are standardised within each taxonomy, so weights carry over from one to another. The file holds a few thousand
weights and the names of the features they belong to; no concept of any taxonomy is in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from os import PathLike

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save_file

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.model.config import RankingConfig
from taxosphere.ranking.logistic import Logistic
from taxosphere.ranking.net import NetEnsemble, RankingNet

FILE = files("taxosphere.ranking") / "prior.safetensors"


@dataclass(frozen=True)
class Prior:
    """Weights for the columns in ``names``, with the calibration that goes with them."""

    names: tuple[str, ...]
    scorer: NetEnsemble
    temperature: float
    none: Logistic

    @property
    def hidden(self) -> int:
        return len(self.scorer.nets[0].bias)


def wanted(settings: RankingConfig) -> Prior | None:
    """The prior a ranker with these settings begins from, if any."""
    found = load() if settings.prior else None
    if found is not None and found.hidden != settings.hidden:
        raise InputError(f"ranking.hidden is {settings.hidden}, the prior has {found.hidden}: set ranking.prior=false")
    return found


def load() -> Prior | None:
    """The prior that comes with the package."""
    if not FILE.is_file():
        return None
    with safe_open(str(FILE), framework="np") as stored:
        arrays = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118 - not a mapping
        notes = json.loads(stored.metadata()["notes"])
    none, own = Logistic(**strip_prefix("none.", arrays)), NetEnsemble.from_arrays(strip_prefix("scorer.", arrays))
    return Prior(tuple(notes["names"]), own, notes["temperature"], none)


def save(prior: Prior, path: str | PathLike[str]) -> None:
    arrays = {f"scorer.{key}": np.ascontiguousarray(value) for key, value in prior.scorer.to_arrays().items()}
    arrays |= {f"none.{key}": value for key, value in prior.none.to_arrays().items()}
    notes = {"names": prior.names, "temperature": prior.temperature}
    with atomic.file(path) as temporary:
        save_file(arrays, temporary, {"notes": json.dumps(notes)})


def aligned(prior: Prior | None, names: Sequence[str]) -> NetEnsemble | None:
    """The prior's nets for these columns: those it does not know begin at zero, those not wanted are dropped."""
    if prior is None:
        return None
    place = {name: column for column, name in enumerate(prior.names)}
    rows = [(i, place[name]) for i, name in enumerate(names) if name in place]
    here, there = (torch.tensor(side) for side in zip(*rows, strict=True))
    nets = []
    for old in prior.scorer.nets:
        net = RankingNet(len(names), len(old.bias), 0.0, torch.Generator())
        with torch.no_grad():
            for parameter, source in ((net.linear, old.linear), (net.into, old.into)):
                parameter.zero_()
                parameter[..., here] = source[..., there]
            net.bias.copy_(old.bias)
            net.out.copy_(old.out)
        nets.append(net)
    mean, scale = np.zeros(len(names), np.float32), np.ones(len(names), np.float32)
    mean[here], scale[here] = prior.scorer.mean[there], prior.scorer.scale[there]
    return NetEnsemble(mean, scale, tuple(nets))
