"""The embedding alone as a method: concepts on the sphere, ranked by cosine behind the orbital gate.

There is no learned ranker; this is what the paper's ablations vary.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from taxosphere.errors import InputError
from taxosphere.model import gamma, presets
from taxosphere.model.config import PolarisConfig
from taxosphere.model.early_stopping import fit_head
from taxosphere.model.history import Epoch, collapsed
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainingRun, train_head
from taxosphere.orbit import gate
from taxosphere.orbit.gate import Gate
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder

PRESETS = (*presets.NAMES, "column", "paper")


class Configured:
    """A method with the settings of `PolarisConfig`.

    Parameters
    ----------
    settings : mapping, optional
        ``section.key`` of the config, and ``preset``: a name of `presets.NAMES`, "column" for the column
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
        if self._preset == "paper":
            config = presets.paper(presets.nearest(seed))
        elif self._preset == "column":
            config = presets.column(presets.nearest(seed))
        else:
            config = presets.preset(self._preset, seed)
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
        self.history, self.collapsed = curves(head.history), collapsed(head.history)
        self.gamma = gamma.gamma(head, seed, config.orbit)
        others = range(random_state + 1, random_state + self._heads)
        more = [train_head(vectors, seed, config, random_state=n, epochs=head.epochs).network for n in others]
        seed_gate = Gate(gate.thresholds(gate.delta(seed), self.gamma), config.orbit.gate)
        self._scorer = SphereScorer(encoder, (head.network, *more), vectors, seed_gate)
        return self

    def score(self, queries: Sequence[Concept]) -> Floats:
        """Scores (queries, seed concepts), higher is better."""
        return self._scorer.score(queries)

    def sphere(self) -> Floats:
        """Points (n, d) of the concepts of the seed."""
        return np.asarray(self._scorer.points.numpy(), np.float32)


class SphereScorer:
    """Cosines between queries and candidates on the sphere, behind a gate.

    Parameters
    ----------
    encoder : TextEncoder
    networks : sequence of SphereNetwork
        Heads whose cosines are averaged.
    vectors : Tensor of shape (n, m)
        The encoder's vectors of the candidates.
    gate : Gate
    """

    def __init__(self, encoder: TextEncoder, networks: Sequence[SphereNetwork], vectors: Tensor, gate: Gate) -> None:
        self.encoder, self.networks, self.gate = encoder, networks, gate
        self.points = _points(networks, vectors)

    def cosines(self, queries: Sequence[Concept]) -> Floats:
        """Cosines (q, n)."""
        vectors = torch.from_numpy(self.encoder.encode([query.text for query in queries]))
        return np.asarray((_points(self.networks, vectors) @ self.points.T).numpy(), np.float32)

    def score(self, queries: Sequence[Concept]) -> Floats:
        """Scores (q, n), higher is better."""
        return np.asarray(self.gate.scores(self.cosines(queries)), np.float32)


def _points(networks: Sequence[SphereNetwork], vectors: Tensor) -> Tensor:
    """Points (n, heads · d) whose dot products are the mean cosine over the heads."""
    with torch.no_grad():
        points = [network.points(network.lift(vectors)) for network in networks]
    return torch.cat(points, dim=1) / math.sqrt(len(points))


def curves(history: Sequence[Epoch]) -> dict[str, list[float]]:
    """Losses, seconds, validation MRR and mean cosine of each epoch, as lists by name."""
    curves: dict[str, list[float]] = {}
    for epoch in history:
        validated = {} if epoch.mrr is None else {"mrr": epoch.mrr}
        spread = {} if epoch.mean_cosine is None else {"mean_cosine": epoch.mean_cosine}
        for name, value in {**epoch.terms, "seconds": epoch.seconds, **validated, **spread}.items():
            curves.setdefault(name, []).append(value)
    return curves
