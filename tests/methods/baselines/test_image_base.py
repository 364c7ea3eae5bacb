"""Labels of images by a system whose scores are known at every step."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from taxosphere.methods.baselines.base import Baseline
from taxosphere.methods.baselines.image_base import OnImages
from taxosphere.methods.baselines.network import Batch, Network
from taxosphere.methods.baselines.seed import MaskedCandidates, Seed
from taxosphere.methods.baselines.settings import Settings
from taxosphere.methods.image_task import LabelledImages

LABELS = 3


class Sinking(Network):
    """The last label leads all others by 2.55, and by 0.1 less after every step."""

    width = 1

    def __init__(self, settings: Settings, seed: Seed) -> None:
        super().__init__(settings, seed)
        self.lead = nn.Parameter(torch.tensor(2.55))

    def query(self, vectors: Tensor) -> Tensor:
        return vectors[:, :1]

    def candidate(self, views: MaskedCandidates) -> Tensor:
        return (views.position[:, None] == LABELS - 1) * self.lead

    def match(self, query: Tensor, candidate: Tensor) -> Tensor:
        return (0 * query + candidate).squeeze(-1)

    def loss(self, batch: Batch) -> Tensor:
        assert (batch.candidate < LABELS).all()
        return self.lead


class Sinker(Baseline):
    name = "sinker"
    settings_type = Settings
    network_type = Sinking


def test_a_label_without_held_out_images_is_a_candidate_of_the_others() -> None:
    """Labels 0 and 1 have ten images, label 2 has one, which is not held out: it stands first until step 26."""
    rng = np.random.default_rng(0)
    label = np.array([0] * 10 + [1] * 10 + [2])
    vectors, texts = (rng.normal(size=(rows, 4)).astype(np.float32) for rows in (len(label), LABELS))
    settings: dict[str, object] = {"steps": 50, "epochs": 0, "evaluations": 5, "learning_rate": 0.1}
    method = OnImages(Sinker, [settings]).fit(LabelledImages(vectors, label, texts), random_state=0)
    assert method.steps == 30
    assert method.network is not None
    assert not method.network.training
    np.testing.assert_allclose(method.score(vectors[:2]), [[0, 0, 2.55 - 30 * 0.1]] * 2, atol=1e-3)


def test_settings_are_chosen_by_how_held_out_images_are_ranked() -> None:
    """Label 2, of which no image is held out, stands in front of all for 25 steps: ten steps are not enough."""
    rng = np.random.default_rng(0)
    label = np.array([0] * 10 + [1] * 10 + [2])
    vectors, texts = (rng.normal(size=(rows, 4)).astype(np.float32) for rows in (len(label), LABELS))
    few, enough = ({"steps": n, "epochs": 0, "evaluations": 5, "learning_rate": 0.1} for n in (10, 50))
    for choices in ([few, enough], [enough, few]):
        method = OnImages(Sinker, choices).fit(LabelledImages(vectors, label, texts), random_state=0)
        assert (method.system.settings.steps, method.steps) == (50, 30)
