"""Does a picture show a concept that is there already, and which?

The two towers name the label; a logistic model says how probably it is known at all. It learns from pictures of
leaves that were hidden and from pictures of the others that were set aside: the former resemble their nearest label
less, and lead less clearly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.images.towers import Towers, hold_out, strip
from taxosphere.images.whitening import unit
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.ranking import calibration
from taxosphere.ranking.logistic import Logistic
from taxosphere.taxonomy import Taxonomy

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

PROMPT = "A label of {}"  # how the paper shows a label to a text encoder
_HIDDEN = 0.2  # labels, and pictures of the other labels, that are set aside to learn from
_FEWEST = 20  # pictures of either kind
_RIDGE = 0.02
_SHARPNESS = 20.0  # cosines of towers differ by little


@dataclass(frozen=True)
class Recogniser:
    towers: Towers
    labels: Longs  # position of each label in the taxonomy
    temperature: float
    known: Logistic

    @classmethod
    def fit(
        cls,
        vectors: Floats,
        owner: Longs,
        texts: Floats,
        *,
        places: Floats | None,
        random_state: int,
        shared: bool = False,
        unpictured: Longs | None = None,
    ) -> Self | None:
        """``texts`` and ``places`` hold a row per concept that can be named, by position: the pictured ones, and in a
        ``shared`` space those ``unpictured`` whose text says how they look. None where too few pictures can be set
        aside."""
        pictured = np.unique(owner)
        labels = pictured if unpictured is None else np.union1d(pictured, unpictured)
        label = np.searchsorted(labels, owner)
        chance = np.random.default_rng([random_state, 5])
        hidden = pictured[chance.permutation(len(pictured))[: round(_HIDDEN * len(pictured))]]
        kept = np.flatnonzero(~np.isin(labels, hidden))
        old = np.flatnonzero(np.isin(label, kept))
        place = np.searchsorted(kept, label[old])
        inner, outer = hold_out(place, _HIDDEN, random_state)
        new = np.setdiff1d(np.arange(len(label)), old)
        if min(len(outer), len(new)) < _FEWEST or len(kept) < 2:
            return None
        rows = None if places is None else places[kept]
        inner = strip(place, inner, len(kept), random_state)
        fewer = (vectors[old[inner]], place[inner], texts[kept])
        trial = Towers.fit(*fewer, places=rows, shared=shared, random_state=random_state)
        seen, unseen = _SHARPNESS * trial.score(vectors[old[outer]]), _SHARPNESS * trial.score(vectors[new])
        signals = np.concatenate([_signals(seen), _signals(unseen)])
        known = Logistic.fit(signals, np.arange(len(signals)) < len(seen), ridge=_RIDGE, share=0.5)
        heat = calibration.temperature(seen, np.arange(len(kept)) == place[outer][:, None])
        towers = Towers.fit(vectors, label, texts, places=places, shared=shared, random_state=random_state)
        return cls(towers, labels, heat, known)

    def probabilities(self, vectors: Floats, asked: Sequence[Longs]) -> Floats:
        """(queries, labels) that a query, a set of rows of ``vectors``, shows the label; they add up to P(known)."""
        every = _SHARPNESS * self.towers.score(vectors)
        scores = np.stack([every[rows].mean(0) for rows in asked])
        known = self.known.probability(_signals(scores))
        return np.asarray(calibration.softmax(scores, self.temperature) * known[:, None], np.float32)

    def moved(self, place: Longs) -> Self:
        """For a changed taxonomy: ``place`` is the new position of every old one, -1 where it is gone."""
        return replace(self, labels=np.where(self.labels >= 0, place[self.labels], -1))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        arrays: dict[str, NDArray[Any]] = {f"towers.{key}": value for key, value in self.towers.arrays().items()}
        arrays |= {f"known.{key}": value for key, value in self.known.to_arrays().items()}
        return arrays | {"labels": self.labels, "temperature": np.array([self.temperature])}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Self:
        heat = float(arrays["temperature"][0])
        return cls(
            Towers.from_arrays(strip_prefix("towers.", arrays)),
            arrays["labels"],
            heat,
            Logistic(**strip_prefix("known.", arrays)),
        )


def _signals(scores: Floats) -> Floats:
    """Best score and its lead."""
    best = -np.sort(-scores, axis=1)[:, :2]
    return np.column_stack([best[:, 0], best[:, 0] - best[:, 1]]).astype(np.float32)


def places(taxonomy: Taxonomy, labels: Longs) -> Floats | None:
    """Each label as the set of itself and all above it (unit rows); None where they have nothing above but roots."""
    rows, size = taxonomy.ancestor_csr, len(taxonomy)
    which, above = rows.expand(labels)
    inner = ~np.isin(above, taxonomy.roots)
    if not inner.any():
        return None
    found = np.zeros((len(labels), size), np.float32)
    found[np.arange(len(labels)), labels] = 1
    found[which[inner], above[inner]] = 1
    return unit(found[:, found.any(0)])
