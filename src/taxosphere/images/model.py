"""The picture side of a model: concepts that are known by what they look like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.image import registry as image_encoders
from taxosphere.errors import InputError
from taxosphere.images import collection
from taxosphere.images.ranker import ImageIndex, ImageRanker, query
from taxosphere.images.recognition import PROMPT, Recogniser, places
from taxosphere.images.whitening import WithinClassWhitening, label_means, unit
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.ranking.parent_cutoff import parent_cutoff
from taxosphere.ranking.ranker import Ranker, Ranking
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.model.config import PolarisConfig

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

_SURE = 0.5  # a label that a picture shows more probably than not is pointed out
_MOST_UNPICTURED = 2000  # leaves without pictures that can be named where texts share the sphere


@dataclass(frozen=True)
class ImageRanking:
    """Queries as their pictures show them: rankings, directions, and concepts each may already be."""

    ranked: Ranking
    directions: Floats
    recognised: list[tuple[tuple[int, float], ...]]


@dataclass(frozen=True)
class ImageModel:
    encoder_name: str
    known: ImageIndex
    ranker: ImageRanker
    recogniser: Recogniser | None
    faults: tuple[image_encoders.Fault, ...] = ()
    """Pictures that were passed over: while fitting, or since then in new concepts."""

    @classmethod
    def fit(
        cls, taxonomy: Taxonomy, encoder_name: str, texts: Floats, config: PolarisConfig, state: int
    ) -> Self | None:
        """``taxonomy`` has its images where `collection.locate` puts them; None with fewer than two concepts shown."""
        encoder = image_encoders.load(encoder_name)
        gallery = image_encoders.gallery(encoder, taxonomy.images, broken=config.images.broken)
        if np.count_nonzero(gallery.shown) < 2:
            return None
        tower = image_encoders.text_tower(encoder)
        own = texts if tower is None else tower.encode([concept.text for concept in taxonomy.concepts()])
        vectors, owner, shared = gallery.vectors, gallery.owner, tower is not None
        ranker = ImageRanker.fit(taxonomy, vectors, owner, own, config.ranking, shared=shared, random_state=state)
        known = ImageIndex.of(taxonomy, vectors, owner, own, shared=shared)
        more = _unpictured(known)
        labels = np.union1d(np.flatnonzero(gallery.shown), more)
        names = own[labels] if tower is None else tower.encode([PROMPT.format(taxonomy.names[i]) for i in labels])
        where = places(taxonomy, labels)
        recogniser = Recogniser.fit(
            vectors, owner, names, places=where, shared=shared, unpictured=more, random_state=state
        )
        return cls(encoder_name, known, ranker, recogniser, gallery.faults)

    @cached_property
    def encoder(self) -> image_encoders.FileEncoder | image_encoders.TableEncoder:
        """Loaded when the first picture is asked about; questions in words need none of it."""
        return image_encoders.load(self.encoder_name)

    @cached_property
    def cutoff(self) -> float:
        held = self.ranker.learned.out_of_fold
        return parent_cutoff(held.probabilities, held.labels, held.golds)

    def summary(self) -> list[str]:
        held = self.ranker.learned.out_of_fold
        lines = [self.ranker.learned.note]
        if len(held.golds):
            right = held.labels[:, 0].mean()
            lines.append(f"of {len(held.golds):,} questions in pictures {right:.0%} found a true parent at first place")
        return lines

    def look(self, queries: Sequence[Concept]) -> ImageRanking:
        """Every query has at least one picture."""
        found = image_encoders.gallery(self.encoder, [concept.images for concept in queries])
        asked = [np.flatnonzero(found.owner == i) for i in range(len(queries))]
        directions = query(self.known.directions, found.vectors, asked)
        ranked = self.ranker.rank(self.known, found.vectors, asked)
        return ImageRanking(ranked, directions, self._recognise(found.vectors, asked))

    def _recognise(self, vectors: Floats, asked: Sequence[Longs]) -> list[tuple[tuple[int, float], ...]]:
        if self.recogniser is None:
            return [()] * len(asked)
        probability = self.recogniser.probabilities(vectors, asked)
        probability = np.where(self.recogniser.labels >= 0, probability, 0)
        best = probability.argmax(1)
        sure = probability[np.arange(len(best)), best]
        position = self.recogniser.labels[best].tolist()
        return [((where, float(p)),) if p > _SURE else () for where, p in zip(position, sure)]

    def without_broken(self, queries: Sequence[Concept]) -> tuple[list[Concept], tuple[image_encoders.Fault, ...]]:
        """Queries with the pictures that can be used, and what is wrong with the others."""
        found = image_encoders.gallery(
            self.encoder, [(entry,) for concept in queries for entry in concept.images], broken="skip"
        )
        usable = iter(found.shown.tolist())
        kept = [replace(q, images=tuple(entry for entry in q.images if next(usable))) for q in queries]
        lost = next((q for q in kept if not q.name and not q.images), None)
        if lost is not None:
            raise InputError(f"'{lost.id}' has no name and no usable picture")
        return kept, found.faults

    def adopt(self, taxonomy: Taxonomy, texts: Floats) -> Self:
        """For a changed taxonomy: concepts keep what they looked like, new ones with pictures are looked at.

        Pictures that cannot be used join the `faults`: a taxonomy may have come here without its files.
        """
        old = self.known.taxonomy
        place = np.array([taxonomy.position(id) if id in taxonomy else -1 for id in old.ids], np.int64)
        means = np.zeros((len(taxonomy), self.known.means.shape[1]), np.float32)
        means[place[place >= 0]] = self.known.means[place >= 0]
        located, _ = collection.locate(taxonomy, self.encoder_name)
        new = [() if id in old else entries for id, entries in zip(taxonomy.ids, located.images, strict=True)]
        faults = self.faults
        if any(new):
            found = image_encoders.gallery(self.encoder, new, broken="skip")
            faults += found.faults
            shown = label_means(self.known.directions(found.vectors), found.owner, len(taxonomy))
            means += unit(np.where(found.shown[:, None], shown, 0))
        if self.known.head is not None:
            tower = image_encoders.text_tower(self.encoder)
            assert tower is not None
            texts = tower.encode([concept.text for concept in taxonomy.concepts()])
        known = replace(self.known, taxonomy=taxonomy, means=means, texts=texts)
        recogniser = None if self.recogniser is None else self.recogniser.moved(place)
        return replace(self, known=known, recogniser=recogniser, faults=faults)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What an artifact keeps: arrays, and settings as JSON."""
        known = self.known
        learned, notes = self.ranker.learned.to_arrays()
        arrays: dict[str, NDArray[Any]] = {f"ranker.{key}": value for key, value in learned.items()}
        arrays |= {"centre": known.directions.centre, "even": known.directions.even, "means": known.means}
        arrays |= {"texts": known.texts, "text_centre": known.head.centre} if known.head is not None else {}
        if self.recogniser is not None:
            arrays |= {f"recogniser.{key}": value for key, value in self.recogniser.to_arrays().items()}
        settings = {"encoder": self.encoder_name, "rooted": known.directions.rooted, "shared": known.head is not None}
        return arrays, {**settings, "ranker": notes}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], notes: Mapping[str, Any], taxonomy: Taxonomy, texts: Floats
    ) -> Self:
        directions = WithinClassWhitening(notes["rooted"], arrays["centre"], arrays["even"])
        head = directions.around(arrays["text_centre"]) if notes["shared"] else None
        known = ImageIndex(taxonomy, directions, arrays["means"], arrays.get("texts", texts), head)
        ranker = ImageRanker(Ranker.from_arrays(strip_prefix("ranker.", arrays), notes["ranker"]))
        recogniser = strip_prefix("recogniser.", arrays)
        return cls(notes["encoder"], known, ranker, Recogniser.from_arrays(recogniser) if recogniser else None)


def _unpictured(known: ImageIndex) -> Longs:
    """Leaves that no picture shows, where their texts can stand in; concepts above them are kinds, not things."""
    leaves = np.flatnonzero(~known.shown & (known.taxonomy.child_csr.counts == 0))
    return leaves if known.heard and len(leaves) <= _MOST_UNPICTURED else leaves[:0]


def title(concept: Concept) -> str:
    """What to call a query: its name, else its pictures'."""
    return concept.name or ", ".join(PurePath(entry).name for entry in concept.images) or concept.id
