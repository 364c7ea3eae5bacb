"""The embedding alone as a method: concepts on the sphere, ranked by cosine behind the orbital gate.

There is no learned ranker; this is what the paper's ablations vary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taxosphere.errors import InputError
from taxosphere.model import gamma, presets
from taxosphere.model.checkpoint import Epoch
from taxosphere.model.config import PolarisConfig
from taxosphere.model.early_stopping import fit_head
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainingRun, train_head
from taxosphere.orbit import gate
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder

PRESETS = (*presets.NAMES, "column", "paper")


class Configured:
    """A method with the settings of `PolarisConfig`.

    Parameters
    ----------
    settings : mapping, optional
        ``section.key`` of the config, and ``preset``: "auto", a data set of the paper's table, "column" for the column
        whose data set is nearest in size, or "paper" for that column with every formula as printed.
    """

    preset: ClassVar[str] = "auto"
    changes: ClassVar[tuple[str, ...]] = ()

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        wanted = dict(settings or {})
        self._preset = str(wanted.pop("preset", self.preset))
        if self._preset not in PRESETS:
            raise InputError(f"there is no preset '{self._preset}'; known: {', '.join(PRESETS)}")
        refused = next((key for key in wanted if key == "seed" or key.startswith("encoder.")), None)
        if refused is not None:
            raise InputError(f"'{refused}' is no setting of a method: encoder and random state are given to all alike")
        self._changes = [*self.changes, *(f"{key}={value}" for key, value in wanted.items())]
        PolarisConfig().with_overrides(self._changes)  # a misspelt setting is better refused before any work
        self.config: PolarisConfig | None = None

    def configure(self, seed: Taxonomy) -> PolarisConfig:
        """The settings for a seed, kept in ``config``."""
        nearest = presets.nearest(seed)
        if self._preset == "paper":
            config = presets.paper(nearest)
        else:
            config = presets.preset(nearest if self._preset == "column" else self._preset, seed)
        self.config = config.with_overrides(self._changes)
        return self.config


class PolarisCosine(Configured):
    """Cosine on the sphere; the hybrid gate ranks accepted candidates before the others and drops none.

    The setting ``heads`` (default 1) trains several heads from different initial weights and averages their cosines:
    on a small seed heads differ a lot from one initialisation to the next.
    """

    changes: ClassVar[tuple[str, ...]] = ("loss.logit=cosine",)

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        wanted = dict(settings or {})
        heads = str(wanted.pop("heads", 1))
        if not heads.isdigit() or int(heads) < 1:
            raise InputError(f"heads must be a number above 0, not '{heads}'")
        self._heads = int(heads)
        super().__init__(wanted)

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        """Choose epochs and γ with some leaves of the seed held out, then train that long on all of it."""
        config = self.configure(seed)
        if config.training.fine_tune:
            raise InputError("this method keeps the encoder frozen; leave training.fine_tune out")
        vectors = torch.from_numpy(encoder.encode([concept.text for concept in seed.concepts()]))
        head = fit_head(vectors, seed, config, TrainingRun(random_state))
        self.history = curves(head.history)
        self.gamma = gamma.gamma(head, seed, config.orbit)
        self._mode, self._thresholds = config.orbit.gate, gate.thresholds(gate.delta(seed), self.gamma)
        others = range(random_state + 1, random_state + self._heads)
        more = [train_head(vectors, seed, config, random_state=n, epochs=head.epochs).network for n in others]
        self._encoder, self._networks = encoder, (head.network, *more)
        self._points = _points(self._networks, vectors)
        return self

    def score(self, queries: Sequence[Concept]) -> NDArray[np.float32]:
        """Scores (queries, seed concepts), higher is better."""
        vectors = torch.from_numpy(self._encoder.encode([query.text for query in queries]))
        cosine = (_points(self._networks, vectors) @ self._points.T).numpy()
        return np.asarray(gate.gated_scores(cosine, self._thresholds, self._mode), np.float32)

    def sphere(self) -> NDArray[np.float32]:
        """Points (n, d) of the concepts of the seed."""
        return np.asarray(self._points.numpy(), np.float32)


class PolarisPaper(PolarisCosine):
    """Every formula as printed, hard gate, the paper's settings for a data set of this size."""

    preset: ClassVar[str] = "paper"


def _points(networks: Sequence[SphereNetwork], vectors: Tensor) -> Tensor:
    """Points (n, heads · d) whose dot products are the mean cosine over the heads."""
    with torch.no_grad():
        points = [network.points(network.lift(vectors)) for network in networks]
    return torch.cat(points, dim=1) / math.sqrt(len(points))


def curves(history: Sequence[Epoch]) -> dict[str, list[float]]:
    """Losses, seconds and validation MRR of each epoch, as lists by name."""
    curves: dict[str, list[float]] = {}
    for epoch in history:
        validated = {} if epoch.mrr is None else {"mrr": epoch.mrr}
        for name, value in {**epoch.terms, "seconds": epoch.seconds, **validated}.items():
            curves.setdefault(name, []).append(value)
    return curves
