"""Settings by name: the paper's table, our own choice by size, and the formulas and numbers the paper prints."""

from __future__ import annotations

from typing import Any

from taxosphere.errors import InputError
from taxosphere.model.config import PolarisConfig
from taxosphere.taxonomy import Taxonomy

# The paper's table of hyper-parameters: d, epochs, accumulation, batch, negatives, κ_repel, Welsch c.
_PAPER_TABLE: dict[str, tuple[int, int, int, int, int, float, float]] = {
    "science": (128, 50, 3, 64, 50, 2.0, 0.7),
    "environment": (64, 50, 3, 64, 50, 2.0, 0.4),
    "wordnet": (128, 30, 5, 128, 10, 2.0, 0.4),
    "mesh": (128, 75, 5, 128, 20, 4.5, 0.4),
    "verb": (256, 75, 5, 128, 20, 4.5, 0.4),
    "food": (128, 50, 5, 64, 20, 2.0, 0.4),
    "birds": (64, 50, 3, 32, 5, 4.5, 0.4),
}
_PREFIX = "paper-"
NAMES = ("auto", *(_PREFIX + name for name in _PAPER_TABLE))


def preset(name: str, seed: Taxonomy) -> PolarisConfig:
    """Settings by name.

    Parameters
    ----------
    name : str
        "auto" for our choice by the size of the seed, or "paper-" and the data set that heads a column of the paper's
        table of hyper-parameters, for example "paper-food".
    seed : Taxonomy

    Raises
    ------
    InputError
        There is no preset of that name.
    """
    if name not in NAMES:
        raise InputError(f"there is no preset '{name}'; there are {', '.join(NAMES)}")
    return auto(seed) if name == "auto" else column(name.removeprefix(_PREFIX))


def column(name: str) -> PolarisConfig:
    """A column of the paper's table: its sizes, losses and weights, with our corrections of the losses."""
    dim, epochs, accumulation, batch, negatives, kappa_repel, welsch_c = _PAPER_TABLE[name]
    values: dict[str, Any] = {
        "network": {"dim": dim, "hidden": 64, "layers": 2},
        "loss": {
            "listwise": 0.0,
            "geometric": 0.7,
            "geometric_margin": 0.5,
            "welsch_c": welsch_c,
            "probabilistic": 0.3,
            "probabilistic_margin": 0.3,
            "svgd": 0.1,
            "kappa_repel": kappa_repel,
            "kappa_align": 1.0,
        },
        "training": {
            "epochs": epochs,
            "batch": batch,
            "accumulation": accumulation,
            "negatives": negatives,
            "tuned_batch": batch,
            "tuned_negatives": negatives,
            "learning_rate": 1e-3,
            "encoder_learning_rate": 9e-5,
        },
    }
    return PolarisConfig.from_mapping(values)


def paper(name: str) -> PolarisConfig:
    """A column with every formula as printed: plain tanh, approximate Bessel terms, norm of the field, hard gate.

    The paper does not say where κ begins. Its approximation A ≈ 1 − (d−1)/2κ is negative below κ = (d−1)/2, where the
    probabilistic loss pushes children away from their parents and training collapses; κ begins at 2(d−1), A at 3/4.
    """
    settings = column(name)
    return settings.with_overrides(
        (
            f"network.kappa_start={2 * (settings.network.dim - 1)}",
            "network.tanh_gain=unit",
            "loss.bessel=paper",
            "loss.svgd_variant=paper",
            "training.warmup=0",
            "training.decay=false",
            "training.noise=0",
            "orbit.gate=hard",
        )
    )


def nearest(seed: Taxonomy) -> str:
    """The column of the table whose data set resembles this seed most: by its number of edges."""
    sizes = {"environment": 209, "science": 353, "food": 1227, "wordnet": 1782, "mesh": 8700, "verb": 11000}
    edges = max(1, len(seed.edge_array))
    return min(sizes, key=lambda name: abs(sizes[name] / edges - 1) + abs(edges / sizes[name] - 1))


def auto(seed: Taxonomy) -> PolarisConfig:
    """Our own settings, by the number of edges.

    Small seeds take small batches and many epochs, large seeds large batches and few: the number of optimiser steps
    stays between some dozens and some thousands.
    """
    edges = len(seed.edge_array)
    if edges < 1000:
        return PolarisConfig()
    if edges < 5000:
        return PolarisConfig().with_overrides(("training.batch=128", "training.epochs=15"))
    return PolarisConfig().with_overrides(("training.batch=256", "training.epochs=10", "training.negatives=5"))
