"""Compared systems on images: each image is a query, its label the parent, all labels the candidates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Self

import numpy as np
import torch
from torch import Tensor

from taxosphere.errors import TaxosphereError
from taxosphere.images.towers import hold_out
from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.methods.baselines.training import mean_reciprocal_rank, train
from taxosphere.methods.image_task import LabelledImages
from taxosphere.methods.joined_vectors import JoinedVectors, label_taxonomy
from taxosphere.model.threads import one_thread
from taxosphere.typing import Floats

# Where settings found on texts fail on images: chosen on validation images of two samples of 20 birds.
IMAGE_SETTINGS: Mapping[str, dict[str, object]] = {
    "box": {"width_start": 0.0, "contain": 1.0, "separate": 1.0, "probability": 0.1, "negative_weight": 1.0}
}


class OnImages:
    """A trained system asked for labels of images instead of parents of concepts."""

    def __init__(self, system: type[Baseline], settings: dict[str, object] | None = None) -> None:
        self.system = system(settings)
        self.network: Network | None = None
        self.steps = 0

    def fit(self, task: LabelledImages, *, random_state: int) -> Self:
        """Choose the number of steps on held-out images, then train on all of them for that long."""
        self.joined = JoinedVectors.fit(task)
        settings = self.system.settings
        inner, outer = hold_out(task.label, settings.validation, random_state)
        self.steps = max(settings.steps, settings.epochs * -(-len(inner) // settings.batch_size))
        with one_thread(), torch.random.fork_rng(devices=[]):
            if len(outer):
                self.steps = self._train(task.take(inner), random_state, task.take(outer))[1]
            self.network = self._train(task, random_state)[0]
        return self

    def _train(
        self, task: LabelledImages, random_state: int, held: LabelledImages | None = None
    ) -> tuple[Network, int]:
        """Network and best number of steps; with ``held``, training stops when those images are ranked no better."""
        torch.manual_seed(random_state)
        network = self.system.network_type(self.system.settings, self._seed(task))
        rng, source = np.random.default_rng(random_state), partial(_batches, task)
        judge = None if held is None else partial(_judge, network, self.joined.images(held.vectors), held)
        return network, train(network, self.system.settings, rng, self.steps, judge, source)

    def _seed(self, task: LabelledImages) -> Seed:
        vectors = torch.cat([self.joined.labels(), self.joined.images(task.vectors)])
        return Seed(label_taxonomy(task.label, len(task.texts)), vectors)

    def score(self, vectors: Floats) -> Floats:
        if self.network is None:
            raise TaxosphereError(f"{self.system.name} must be fitted before it can score")
        return score(self.network, self.joined.images(vectors), len(self.joined.texts))


@torch.no_grad()
def score(network: Network, queries: Tensor, labels: int) -> Floats:
    """Scores (images, labels) of every image with every label."""
    candidates = network.seed.all_candidates()
    views = type(candidates)(candidates.position[:labels], candidates.hidden[:labels])
    scores: Floats = network.match_all(network.query(queries), network.candidate(views)).numpy()
    return scores


def _judge(network: Network, queries: Tensor, held: LabelledImages) -> float:
    """Mean reciprocal rank of held-out images among all labels."""
    return mean_reciprocal_rank(score(network, queries, len(held.texts)), tuple(held.label[:, None]))


def _batches(task: LabelledImages, seed: Seed, settings: Settings, rng: np.random.Generator) -> Iterator[Batch]:
    """Endless batches of random images, each with its label in column 0 and other labels behind."""
    labels, size = len(task.texts), settings.batch_size
    while True:
        row = rng.integers(0, len(task.label), size)
        label = task.label[row]
        ahead = rng.permuted(np.tile(np.arange(1, labels), (size, 1)), axis=1)[:, : settings.negatives]
        candidate = torch.from_numpy(np.column_stack([label, (label[:, None] + ahead) % labels]))
        query = torch.from_numpy(labels + row)
        yield Batch(query, candidate, *seed.mask(query, candidate))
