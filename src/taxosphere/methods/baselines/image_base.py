"""Compared systems on pictures: each picture a query, its label the parent, all labels the candidates.

Picture and label vectors come from different encoders, so they are put side by side: a picture fills the first part of
the joint vector, a label the second. Any linear layer over it is then two, one per tower.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, Self

import numpy as np
import torch
from torch import Tensor

from taxosphere.errors import TaxosphereError
from taxosphere.images.towers import hold_out
from taxosphere.images.whitening import WithinClassWhitening, unit
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.methods.baselines.training import mean_reciprocal_rank, train
from taxosphere.model.threads import one_thread
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs


@dataclass(frozen=True)
class Labelled:
    """Pictures with the row of ``texts`` that is their label; ``places`` says where the labels hang in their tree, and
    ``shared`` that one encoder's two towers made both kinds of vectors."""

    vectors: Floats  # (n, m)
    label: Longs  # (n,)
    texts: Floats  # (k, t)
    places: Floats | None = None  # (k, p)
    shared: bool = False

    def part(self, rows: Longs) -> Labelled:
        return replace(self, vectors=self.vectors[rows], label=self.label[rows])


class ImageMethod(Protocol):
    """Learns from labelled pictures, then scores every label for new ones."""

    def fit(self, task: Labelled, *, random_state: int) -> Self: ...

    def score(self, vectors: Floats) -> Floats:
        """(pictures, labels), higher is better."""
        ...


class OnPictures:
    """A trained system of the frame, asked for labels instead of parents."""

    def __init__(self, system: type[Baseline], settings: dict[str, object] | None = None) -> None:
        self.system = system(settings)
        self.network: Network | None = None
        self.steps = 0

    def fit(self, task: Labelled, *, random_state: int) -> Self:
        """Find the number of steps on held-out pictures, then train on all of them for that long."""
        self.directions = WithinClassWhitening.fit(task.vectors, task.label, len(task.texts))
        self._texts = unit(task.texts - task.texts.mean(0))
        settings = self.system.settings
        inner, outer = hold_out(task.label, settings.validation, random_state)
        self.steps = max(settings.steps, settings.epochs * -(-len(inner) // settings.batch_size))
        with one_thread(), torch.random.fork_rng(devices=[]):
            if len(outer):
                self.steps = self._train(task.part(inner), random_state, task.part(outer))[1]
            self.network = self._train(task, random_state)[0]
        return self

    def _queries(self, vectors: Floats) -> Tensor:
        points = self.directions.centred_points(vectors)
        return torch.from_numpy(np.hstack([points, np.zeros((len(points), self._texts.shape[1]), np.float32)]))

    def _train(self, task: Labelled, random_state: int, held: Labelled | None = None) -> tuple[Network, int]:
        """With ``held``, until those pictures are ranked no better; the number of steps is the one that was best."""
        torch.manual_seed(random_state)
        network = self.system.network_type(self.system.settings, self._seed(task))
        rng, source = np.random.default_rng(random_state), partial(_batches, task)
        judge = None if held is None else partial(_judge, network, self._queries(held.vectors), held)
        return network, train(network, self.system.settings, rng, self.steps, judge, source)

    def _seed(self, task: Labelled) -> Seed:
        """Labels first, then the pictures below them."""
        labels, pictures = len(task.texts), len(task.vectors)
        concepts = [Concept(f"label {i}", f"label {i}") for i in range(labels)]
        concepts += [Concept(f"picture {i}", f"picture {i}") for i in range(pictures)]
        edges = np.stack([task.label, labels + np.arange(pictures)], axis=1)
        taxonomy = Taxonomy.from_concepts(concepts, []).with_edges(edges)
        texts = np.hstack([np.zeros((labels, task.vectors.shape[1]), np.float32), self._texts])
        return Seed(taxonomy, torch.cat([torch.from_numpy(texts), self._queries(task.vectors)]))

    def score(self, vectors: Floats) -> Floats:
        if self.network is None:
            raise TaxosphereError(f"{self.system.name} must be fitted before it can score")
        return score(self.network, self._queries(vectors), len(self._texts))


@torch.no_grad()
def score(network: Network, queries: Tensor, labels: int) -> Floats:
    """Every picture with every label."""
    everyone = network.seed.everyone()
    views = type(everyone)(everyone.position[:labels], everyone.hidden[:labels])
    found: Floats = network.match_all(network.query(queries), network.candidate(views)).numpy()
    return found


def _judge(network: Network, queries: Tensor, held: Labelled) -> float:
    """Mean reciprocal rank of held-out pictures among all labels."""
    return mean_reciprocal_rank(score(network, queries, len(held.texts)), tuple(held.label[:, None]))


def _batches(task: Labelled, seed: Seed, settings: Settings, rng: np.random.Generator) -> Iterator[Batch]:
    """Endless: random pictures, each with its label in front and other labels behind."""
    labels, size = len(task.texts), settings.batch_size
    while True:
        row = rng.integers(0, len(task.label), size)
        own = task.label[row]
        ahead = rng.permuted(np.tile(np.arange(1, labels), (size, 1)), axis=1)[:, : settings.negatives]
        candidate = torch.from_numpy(np.column_stack([own, (own[:, None] + ahead) % labels]))
        query = torch.from_numpy(labels + row)
        yield Batch(query, candidate, *seed.views(query, candidate))
