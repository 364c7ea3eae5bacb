"""Recognition: does an image show a concept that is in the taxonomy already, and which one?

The two towers name the label; a logistic model predicts whether any label is right. It is trained on images of leaves
that were hidden and on held-out images of the others: the former resemble their nearest label less, and the nearest one
leads by less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.images.towers import Towers, drop_labels, hold_out
from taxosphere.images.whitening import unit
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.ranking import calibration
from taxosphere.ranking.calibration import Logistic
from taxosphere.taxonomy import Taxonomy
from taxosphere.typing import Floats, Longs

PROMPT = "A label of {}"  # how the paper shows a label to a text encoder
_HIDDEN = 0.2  # share of labels that are hidden, and of the other labels' images that are held out
_FEWEST = 20  # images of either kind
_RIDGE = 0.02
_SHARPNESS = 20.0  # cosines of towers differ by little


@dataclass(frozen=True)
class Recogniser:
    """Names the label that images show, with a probability.

    Attributes
    ----------
    towers
        Score labels.
    labels
        (k,) position of each label in the taxonomy; -1 for one that is no longer there.
    temperature
        Divides the scores before the softmax.
    any_label
        Predicts whether any label is right.
    """

    towers: Towers
    labels: Longs
    temperature: float
    any_label: Logistic

    @classmethod
    def fit(
        cls,
        vectors: Floats,
        concept: Longs,
        texts: Floats,
        *,
        ancestors: Floats | None,
        random_state: int,
        shared: bool = False,
        without_images: Longs | None = None,
    ) -> Self | None:
        """Fit towers on all images, and the probabilities on held-out ones.

        Parameters
        ----------
        vectors
            (i, m) of images.
        concept
            (i,) position of the concept that each image shows.
        texts, ancestors
            (k, t) and (k, …): a row per label, as for `Towers.fit`, in the order of the positions. Labels are the
            concepts with images and those of ``without_images``.
        random_state
            Chooses what is hidden and held out.
        shared
            Texts and images are vectors of one space.
        without_images
            Positions of concepts without images that can be recognised by their text.

        Returns
        -------
        None where too few images can be held out.
        """
        with_images = np.unique(concept)
        labels = with_images if without_images is None else np.union1d(with_images, without_images)
        label = np.searchsorted(labels, concept)
        rng = np.random.default_rng([random_state, 5])
        hidden = with_images[rng.permutation(len(with_images))[: round(_HIDDEN * len(with_images))]]
        kept = np.flatnonzero(~np.isin(labels, hidden))
        of_kept = np.flatnonzero(np.isin(label, kept))
        kept_label = np.searchsorted(kept, label[of_kept])
        train, test = hold_out(kept_label, _HIDDEN, random_state)
        of_hidden = np.setdiff1d(np.arange(len(label)), of_kept)
        if min(len(test), len(of_hidden)) < _FEWEST or len(kept) < 2:
            return None
        train = drop_labels(kept_label, train, len(kept), random_state)
        trial = Towers.fit(
            vectors[of_kept[train]],
            kept_label[train],
            texts[kept],
            ancestors=None if ancestors is None else ancestors[kept],
            shared=shared,
            random_state=random_state,
        )
        right, wrong = (_SHARPNESS * trial.score(vectors[rows]) for rows in (of_kept[test], of_hidden))
        inputs = np.concatenate([_best_and_lead(right), _best_and_lead(wrong)])
        any_label = Logistic.fit(inputs, np.arange(len(inputs)) < len(right), ridge=_RIDGE, positive_share=0.5)
        temperature = calibration.fit_temperature(right, np.arange(len(kept)) == kept_label[test][:, None])
        towers = Towers.fit(vectors, label, texts, ancestors=ancestors, shared=shared, random_state=random_state)
        return cls(towers, labels, temperature, any_label)

    def probabilities(self, vectors: Floats, image_rows: Sequence[Longs]) -> Floats:
        """(q, k): probability that a query shows each label; a row adds up to that of any label being right.

        Parameters
        ----------
        vectors
            (i, m) of images.
        image_rows
            For each query its images, as rows of ``vectors``.
        """
        by_image = _SHARPNESS * self.towers.score(vectors)
        scores = np.stack([by_image[rows].mean(0) for rows in image_rows])
        any_label = self.any_label.probability(_best_and_lead(scores))
        return np.asarray(calibration.softmax(scores, self.temperature) * any_label[:, None], np.float32)

    def with_positions(self, new_positions: Longs) -> Self:
        """For a changed taxonomy: ``new_positions`` (n,) of every old position, -1 where the concept is gone."""
        return replace(self, labels=np.where(self.labels >= 0, new_positions[self.labels], -1))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays for a model folder."""
        arrays: dict[str, NDArray[Any]] = {f"towers.{key}": value for key, value in self.towers.to_arrays().items()}
        arrays |= {f"any_label.{key}": value for key, value in self.any_label.to_arrays().items()}
        return arrays | {"labels": self.labels, "temperature": np.array([self.temperature])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        """The recogniser that `to_arrays` wrote."""
        return cls(
            Towers.from_arrays(strip_prefix("towers.", arrays)),
            arrays["labels"],
            float(arrays["temperature"][0]),
            Logistic(**strip_prefix("any_label.", arrays)),
        )


def _best_and_lead(scores: Floats) -> Floats:
    """(q, 2): best score, and its lead over the second."""
    best = -np.sort(-scores, axis=1)[:, :2]
    return np.column_stack([best[:, 0], best[:, 0] - best[:, 1]]).astype(np.float32)


def ancestor_rows(taxonomy: Taxonomy, labels: Longs) -> Floats | None:
    """Labels as sets of themselves and their ancestors, as unit rows: cosines say how many ancestors two labels share.

    Parameters
    ----------
    taxonomy
        The taxonomy.
    labels
        (k,) positions.

    Returns
    -------
    (k, used concepts), or None where no label has an ancestor other than a root.
    """
    rows, size = taxonomy.ancestor_csr, len(taxonomy)
    label, ancestor = rows.expand(labels)
    inner = ~np.isin(ancestor, taxonomy.roots)
    if not inner.any():
        return None
    members = np.zeros((len(labels), size), np.float32)
    members[np.arange(len(labels)), labels] = 1
    members[label[inner], ancestor[inner]] = 1
    return unit(members[:, members.any(0)])
