"""What image methods learn from and are asked, and the two protocols they follow.

A label method names images: each image has one of the labels. A placement method finds parents in a taxonomy for
concepts that it has never seen, by their images, their texts or both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


@dataclass(frozen=True)
class LabelledImages:
    """Images with their labels.

    Attributes
    ----------
    vectors : float array of shape (n, m)
        Image vectors.
    label : integer array of shape (n,)
        The row of ``texts`` that is each image's label.
    texts : float array of shape (k, t)
        Text vectors of the labels.
    ancestors : float array of shape (k, p), optional
        Which ancestors each label has, as unit rows; None where the taxonomy is flat.
    shared : bool
        Whether one encoder with two towers made both kinds of vectors.
    """

    vectors: Floats
    label: Longs
    texts: Floats
    ancestors: Floats | None = None
    shared: bool = False

    def take(self, rows: Longs) -> LabelledImages:
        """Some of the images, with all labels."""
        return replace(self, vectors=self.vectors[rows], label=self.label[rows])


class LabelScorer(Protocol):
    """Scores every label for images."""

    def score(self, vectors: Floats) -> Floats:
        """Scores (images, labels) of image vectors, higher is better."""
        ...


class LabelMethod(LabelScorer, Protocol):
    """Learns from labelled images, then scores every label for other images."""

    def fit(self, task: LabelledImages, *, random_state: int) -> Self:
        """Learn; the same ``random_state`` gives the same scores."""
        ...


@runtime_checkable
class LabelsMeasuredTwice(Protocol):
    """A label method that can also be measured as the paper measures, which is not honest."""

    def fit_both(self, task: LabelledImages, *, random_state: int, answers: LabelledImages) -> LabelScorer:
        """`LabelMethod.fit`, and a scorer whose checkpoint was picked on ``answers``."""
        ...


@dataclass(frozen=True)
class SeedImages:
    """A seed taxonomy and the images of its concepts.

    Attributes
    ----------
    taxonomy : Taxonomy
    vectors : float array of shape (n, m)
        Image vectors.
    owner : integer array of shape (n,)
        Position in the taxonomy of the concept that each image shows.
    encoder_name : str
        The image encoder that made the vectors.
    shared : bool
        Whether the text encoder is the other tower of the image encoder.
    """

    taxonomy: Taxonomy
    vectors: Floats
    owner: Longs
    encoder_name: str
    shared: bool


@dataclass(frozen=True)
class ImageQueries:
    """New concepts with images: ``rows[i]`` are the rows of ``vectors`` that show ``concepts[i]``."""

    concepts: Sequence[Concept]
    vectors: Floats
    rows: Sequence[Longs]


class PlacementMethod(Protocol):
    """Learns from a seed with images, then scores every seed concept as a parent of new concepts with images."""

    whole_concepts: bool
    """Whether a query has all images of its concept, never some of them."""

    def fit(self, seed: SeedImages, *, encoder: TextEncoder, random_state: int) -> Self:
        """Learn; the same ``random_state`` gives the same scores."""
        ...

    def score(self, queries: ImageQueries) -> Floats:
        """Scores (queries, seed concepts), higher is better."""
        ...
