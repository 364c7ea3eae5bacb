"""The paper's system on images: every image is a concept below its label, all labels are the candidates.

Both encoders are frozen, as in the paper. `PaperLabels.fit` is honest; `PaperLabels.fit_both` also gives the scorer of
the paper's own protocol, which picks the checkpoint on the test images; both come from one training.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch

from taxosphere.errors import TaxosphereError
from taxosphere.images.towers import hold_out
from taxosphere.methods.image_task import LabelledImages
from taxosphere.methods.joined_vectors import JoinedVectors, label_taxonomy
from taxosphere.methods.polaris_cosine import curves
from taxosphere.model import presets
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainedHead, train_head
from taxosphere.model.validation import Validation
from taxosphere.orbit import gate
from taxosphere.orbit.gate import Gate
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs


@dataclass(frozen=True)
class LabelScorer:
    """Cosines of images and labels on the sphere, behind the gate."""

    joined: JoinedVectors
    network: SphereNetwork
    gate: Gate

    @torch.no_grad()
    def cosines(self, vectors: Floats) -> Floats:
        """Cosines (images, labels) of image vectors."""
        images, labels = (
            self.network.points(self.network.lift(rows)) for rows in (self.joined.images(vectors), self.joined.labels())
        )
        return np.asarray((images @ labels.T).numpy(), np.float32)

    def score(self, vectors: Floats) -> Floats:
        """Scores (images, labels) of image vectors, higher is better."""
        return np.asarray(self.gate.scores(self.cosines(vectors)), np.float32)


class PaperLabels:
    """The paper's column for birds with every formula as printed; the negatives of an image are other labels."""

    def __init__(self) -> None:
        self.config = presets.paper("birds").with_overrides(("training.siblings=0.0", "training.uncles=1.0"))
        self.epochs = self.config.training.epochs
        self.gamma = gate.GAMMAS[-1]
        self._scorer: LabelScorer | None = None

    def fit(self, task: LabelledImages, *, random_state: int) -> Self:
        """Choose epochs and γ with some images held out, then train that long on all of them."""
        self._fit(task, random_state, None)
        return self

    def fit_both(self, task: LabelledImages, *, random_state: int, answers: LabelledImages) -> LabelScorer:
        """`fit`, and a scorer as the paper measures it: the epoch that names the images of ``answers`` best.

        Its gate counts these images below their labels; γ is that of `fit`.
        """
        scorer = self._fit(task, random_state, answers)
        assert scorer is not None
        return scorer

    def score(self, vectors: Floats) -> Floats:
        """Scores (images, labels) of image vectors, higher is better."""
        if self._scorer is None:
            raise TaxosphereError("polaris-paper must be fitted before it can score")
        return self._scorer.score(vectors)

    def _fit(self, task: LabelledImages, random_state: int, answers: LabelledImages | None) -> LabelScorer | None:
        joined = JoinedVectors.fit(task)
        self._choose(task, joined, random_state)
        full_gate = None
        if answers is not None:
            full_gate = self._gate(np.concatenate([task.label, answers.label]), len(task.texts))
        final = self._train(task, joined, random_state, answers, full_gate)
        self.history, self.collapsed = curves(final.history), final.collapsed
        honest = (final.kept or final).network
        self._scorer = LabelScorer(joined, honest, self._gate(task.label, len(task.texts)))
        return None if full_gate is None else LabelScorer(joined, final.network, full_gate)

    def _choose(self, task: LabelledImages, joined: JoinedVectors, random_state: int) -> None:
        """Set the number of epochs and γ by images held out of ``task``; without any, they stay as they are."""
        inner, outer = hold_out(task.label, self.config.training.validation, random_state)
        if len(outer) == 0:
            return
        learned, asked = task.take(inner), task.take(outer)
        trial = self._train(learned, joined, random_state, asked)
        self.epochs = trial.best
        gaps = _radius_gaps(learned.label, len(task.texts))
        ungated = LabelScorer(joined, trial.network, Gate(np.zeros(len(gaps)), "off"))
        answered = (ungated.cosines(asked.vectors), tuple(asked.label[:, None]))
        self.gamma = gate.choose_gamma([answered], gaps, self.config.orbit.gate)

    def _gate(self, label: Longs, labels: int) -> Gate:
        return Gate(gate.thresholds(_radius_gaps(label, labels), self.gamma), self.config.orbit.gate)

    def _train(
        self,
        task: LabelledImages,
        joined: JoinedVectors,
        random_state: int,
        asked: LabelledImages | None,
        behind: Gate | None = None,
    ) -> TrainedHead:
        """Train for the chosen epochs; with images to ask, the best epoch for them, and the chosen one is kept.

        Without a gate, which is how epochs are chosen, nothing is kept.
        """
        labels = joined.labels()
        root = torch.zeros(1, labels.shape[1])  # at the pole of the sphere, where the lift puts the zero vector
        validation = None
        if asked is not None:
            gold, rows = tuple(asked.label[:, None]), np.arange(len(labels))
            validation = Validation(gold, joined.images(asked.vectors), gate=behind, candidates=rows)
        return train_head(
            torch.cat([labels, joined.images(task.vectors), root]),
            _rooted(task.label, len(labels)),
            self.config,
            random_state=random_state,
            validation=validation,
            epochs=self.epochs if asked is None else None,
            keep=0 if behind is None else self.epochs,
        )


def _rooted(label: Longs, labels: int) -> Taxonomy:
    """Labels, images below them, and last a root above all labels, so that other labels are an image's uncles."""
    below = label_taxonomy(label, labels)
    root = np.stack([np.full(labels, len(below)), np.arange(labels)], axis=1)
    taxonomy = Taxonomy.from_concepts([*below.concepts(), Concept("root", "root")], [])
    return taxonomy.with_edges(np.concatenate([below.edge_array, root]))


def _radius_gaps(label: Longs, labels: int) -> Floats:
    """Δr (k,) of the labels, with the images (i,) below them."""
    return np.asarray(gate.delta(_rooted(label, labels))[:labels], np.float32)
