"""Images and their labels as one taxonomy with one kind of vector, for systems that were made for texts.

Image and label vectors come from different encoders, so they are joined: an image fills the first part of the joint
vector, a label the second. Any linear layer over it is then two layers, one per encoder.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from torch import Tensor

from taxosphere.images.whitening import WithinClassWhitening, unit
from taxosphere.methods.image_task import LabelledImages
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs


@dataclass(frozen=True)
class JoinedVectors:
    """Joint vectors of images (m numbers) and label texts (t numbers), both centred by what was learned from.

    Attributes
    ----------
    whitening : WithinClassWhitening
        Its centre is that of the images.
    texts : float array of shape (k, t)
        Centred unit vectors of the labels.
    """

    whitening: WithinClassWhitening
    texts: Floats

    @classmethod
    def fit(cls, task: LabelledImages) -> Self:
        """Find the centres of the images and of the label texts."""
        whitening = WithinClassWhitening.fit(task.vectors, task.label, len(task.texts))
        return cls(whitening, unit(task.texts - task.texts.mean(0)))

    def images(self, vectors: Floats) -> Tensor:
        """Joint vectors (n, m + t) of image vectors (n, m)."""
        points = self.whitening.centred_points(vectors)
        return torch.from_numpy(np.hstack([points, np.zeros((len(points), self.texts.shape[1]), np.float32)]))

    def labels(self) -> Tensor:
        """Joint vectors (k, m + t) of the labels."""
        empty = np.zeros((len(self.texts), len(self.whitening.centre)), np.float32)
        return torch.from_numpy(np.hstack([empty, self.texts]))


def label_taxonomy(label: Longs, labels: int) -> Taxonomy:
    """Labels first, then the images, each below its label (i,)."""
    concepts = [Concept(f"label {i}", f"label {i}") for i in range(labels)]
    concepts += [Concept(f"image {i}", f"image {i}") for i in range(len(label))]
    edges = np.stack([label, labels + np.arange(len(label))], axis=1)
    return Taxonomy.from_concepts(concepts, []).with_edges(edges)
