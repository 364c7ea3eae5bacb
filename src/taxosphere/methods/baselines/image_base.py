"""Compared systems on images: each image is a query, its label the parent, all labels the candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
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

IMAGE_SETTINGS: Mapping[str, Sequence[dict[str, object]]] = {
    "box": (
        {"width_start": 0.0, "contain": 1.0, "separate": 1.0, "probability": 0.1, "negative_weight": 1.0},
        {"steps": 3000},
    )
}
"""Settings to choose from where those found on texts do not serve every set of labels: the first ranks held-out images
of 20 birds better, the second, those of texts with more steps, images of all 200."""


class OnImages:
    """A trained system asked for labels of images instead of parents of concepts."""

    def __init__(self, system: type[Baseline], choices: Sequence[dict[str, object]] = ()) -> None:
        self.choices = [system(settings) for settings in choices] or [system()]
        self.system = self.choices[0]
        self.network: Network | None = None
        self.steps = 0

    def fit(self, task: LabelledImages, *, random_state: int) -> Self:
        """Choose settings and the number of steps on held-out images, then train on all of them."""
        self.joined = JoinedVectors.fit(task)
        with one_thread(), torch.random.fork_rng(devices=[]):
            trials = [self._try(system, task, random_state) for system in self.choices]
            _, self.steps, self.system = max(trials, key=itemgetter(0))
            self.network = self._train(self.system, task, random_state, self.steps)[0]
        return self

    def _try(self, system: Baseline, task: LabelledImages, random_state: int) -> tuple[float, int, Baseline]:
        """How well held-out images are ranked at best, after how many steps, and the system that was tried.

        Where no image can be held out, all steps of the first one count.
        """
        settings = system.settings
        inner, outer = hold_out(task.label, settings.validation, random_state)
        most = max(settings.steps, settings.epochs * -(-len(inner) // settings.batch_size))
        if len(outer) == 0:
            return 0.0, most, system
        values, held = [], task.take(outer)

        def judge(network: Network) -> float:
            scores = score(network, self.joined.images(held.vectors), len(held.texts))
            values.append(mean_reciprocal_rank(scores, tuple(held.label[:, None])))
            return values[-1]

        steps = self._train(system, task.take(inner), random_state, most, judge)[1]
        return max(values), steps, system

    def _train(
        self,
        system: Baseline,
        task: LabelledImages,
        random_state: int,
        steps: int,
        judge: Callable[[Network], float] | None = None,
    ) -> tuple[Network, int]:
        """Network and best number of steps; with ``judge``, training stops when that value grows no more."""
        torch.manual_seed(random_state)
        network = system.network_type(system.settings, self._seed(task))
        rng, source = np.random.default_rng(random_state), partial(_batches, task)
        evaluate = None if judge is None else partial(judge, network)
        return network, train(network, system.settings, rng, steps, evaluate, source)

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
