"""The prior: a ranker trained on other taxonomies, for seeds too small to train one on.

Features are standardised within each taxonomy, so weights carry over from one to another. The file holds a few thousand
weights and the names of the columns they belong to; no concept of any taxonomy is in it.
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
from taxosphere.ranking.calibration import NoneOfThese, n_none_inputs
from taxosphere.ranking.features.catalogue import feature_of
from taxosphere.ranking.features.compute import N_ORPHAN_FEATURES
from taxosphere.ranking.features.novelty import NOVELTY_FEATURES
from taxosphere.ranking.net import NetEnsemble, RankingNet

FILE = files("taxosphere.ranking") / "prior.safetensors"


@dataclass(frozen=True)
class Prior:
    """Trained nets with their calibration.

    Attributes
    ----------
    columns
        Names of the columns that the nets read.
    nets
        The nets, with the usual mean and scale of the columns.
    temperature
        Calibrates their probabilities.
    none_model
        "None of these".

    Raises
    ------
    TaxosphereError
        A column comes from no feature of the catalogue.
    """

    columns: tuple[str, ...]
    nets: NetEnsemble
    temperature: float
    none_model: NoneOfThese

    def __post_init__(self) -> None:
        for column in self.columns:
            feature_of(column)

    @property
    def hidden(self) -> int:
        """Width of the nets' hidden layer."""
        return len(self.nets.nets[0].bias)

    @property
    def uses_novelty(self) -> bool:
        """Whether "none of these" reads the novelty of queries."""
        n_query_features = N_ORPHAN_FEATURES + len(NOVELTY_FEATURES)
        return self.none_model.n_inputs == n_none_inputs(len(self.columns), n_query_features)


def load_prior(settings: RankingConfig) -> Prior | None:
    """The prior that a ranker with these settings starts from; None where it is switched off.

    Raises
    ------
    InputError
        The settings ask for another width of the hidden layer.
    """
    prior = read_prior() if settings.prior else None
    if prior is not None and prior.hidden != settings.hidden:
        raise InputError(f"ranking.hidden is {settings.hidden}, the prior has {prior.hidden}: set ranking.prior=false")
    return prior


def read_prior() -> Prior | None:
    """The prior that comes with the package; None where its file is missing."""
    if not FILE.is_file():
        return None
    with safe_open(str(FILE), framework="np") as stored:
        arrays = {key: stored.get_tensor(key) for key in stored.keys()}  # noqa: SIM118 - not a mapping
        notes = json.loads(stored.metadata()["notes"])
    return Prior(
        columns=tuple(notes["columns"]),
        nets=NetEnsemble.from_arrays(strip_prefix("nets.", arrays)),
        temperature=notes["temperature"],
        none_model=NoneOfThese.from_arrays(strip_prefix("none_model.", arrays)),
    )


def save_prior(prior: Prior, path: str | PathLike[str]) -> None:
    """Write a prior as one safetensors file."""
    arrays = {f"nets.{key}": np.ascontiguousarray(value) for key, value in prior.nets.to_arrays().items()}
    arrays |= {f"none_model.{key}": value for key, value in prior.none_model.to_arrays().items()}
    notes = {"columns": prior.columns, "temperature": prior.temperature}
    with atomic.file(path) as temporary:
        save_file(arrays, temporary, {"notes": json.dumps(notes)})


def nets_for_columns(prior: Prior | None, columns: Sequence[str]) -> NetEnsemble | None:
    """The prior's nets for these columns; None without a prior.

    Parameters
    ----------
    prior
        Its columns that are not wanted here are dropped: their family is switched off.
    columns
        A column that the prior does not have starts with weight zero.

    Raises
    ------
    TaxosphereError
        A column comes from no feature of the catalogue.
    """
    if prior is None:
        return None
    place = {column: number for number, column in enumerate(prior.columns)}
    shared = [(i, place[column]) for i, column in enumerate(columns) if feature_of(column) and column in place]
    here, there = (torch.tensor(side) for side in zip(*shared, strict=True))
    nets = []
    for old in prior.nets.nets:
        net = RankingNet(len(columns), len(old.bias), 0.0, torch.Generator())
        with torch.no_grad():
            for parameter, source in ((net.linear, old.linear), (net.into, old.into)):
                parameter.zero_()
                parameter[..., here] = source[..., there]
            net.bias.copy_(old.bias)
            net.out.copy_(old.out)
        nets.append(net)
    mean, scale = np.zeros(len(columns), np.float32), np.ones(len(columns), np.float32)
    mean[here], scale[here] = prior.nets.mean[there], prior.nets.scale[there]
    return NetEnsemble(mean, scale, tuple(nets))
