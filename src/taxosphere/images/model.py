"""The image side of a model: ranks candidates, and recognises concepts, by images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.device import CPU
from taxosphere.encoders.image import registry as image_encoders
from taxosphere.errors import InputError
from taxosphere.images import collection
from taxosphere.images.ranker import ImageIndex, fit_image_ranker, query_directions, rank_by_images
from taxosphere.images.recognition import PROMPT, Recogniser, ancestor_rows
from taxosphere.images.whitening import WithinClassWhitening, label_means, unit
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.ranking.ranker import Ranker, Ranking
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    from taxosphere.model.config import PolarisConfig

_REPORTED = 0.5  # probability above which a recognised concept is reported
_MOST_WITHOUT_IMAGES = 2000  # leaves without images that can be recognised by their text


@dataclass(frozen=True)
class ImageRanking:
    """Rankings of q queries by their images.

    Attributes
    ----------
    ranking
        The rankings.
    directions
        (q, m) mean directions of the queries' images.
    recognised
        For each query, existing concepts that its images probably show: (position, probability).
    """

    ranking: Ranking
    directions: Floats
    recognised: list[tuple[tuple[int, float], ...]]


@dataclass(frozen=True, kw_only=True)
class ImageModel:
    """All parts of a model that read images.

    Attributes
    ----------
    encoder_name
        Name, folder or file of the image encoder.
    index
        The taxonomy's concepts as candidates.
    ranker
        Trained for images.
    recogniser
        None where there were too few images to train it.
    faults
        Images that could not be used, in the taxonomy or in new concepts.
    device
        Where images are encoded.
    """

    encoder_name: str
    index: ImageIndex
    ranker: Ranker
    recogniser: Recogniser | None
    faults: tuple[image_encoders.Fault, ...] = ()
    device: str = CPU

    @classmethod
    def fit(
        cls,
        taxonomy: Taxonomy,
        encoder_name: str,
        texts: Floats,
        config: PolarisConfig,
        random_state: int,
        device: str = CPU,
    ) -> Self | None:
        """Encode the images of a taxonomy and train on them.

        Parameters
        ----------
        taxonomy
            With images as `collection.locate` returns them.
        encoder_name, device
            The image encoder by name, and where it computes.
        texts
            (n, t) text vectors of the concepts, for encoders that read images alone.
        config
            All settings.
        random_state
            The same one gives the same model.

        Returns
        -------
        None where fewer than two concepts have images.
        """
        encoder = image_encoders.load(encoder_name, device=device)
        gallery = image_encoders.gallery(encoder, taxonomy.images, broken=config.images.broken)
        if np.count_nonzero(gallery.shown) < 2:
            return None
        vectors, concept = gallery.vectors, gallery.owner
        tower = image_encoders.text_tower(encoder)
        shared = tower is not None
        if tower is not None:
            texts = tower.encode([each.text for each in taxonomy.concepts()])
        settings = config.ranking
        ranker = fit_image_ranker(taxonomy, vectors, concept, texts, settings, shared=shared, random_state=random_state)
        index = ImageIndex.build(taxonomy, vectors, concept, texts, shared=shared)
        without_images = _recognisable_without_images(index)
        labels = np.union1d(np.flatnonzero(gallery.shown), without_images)
        recogniser = Recogniser.fit(
            vectors,
            concept,
            texts[labels] if tower is None else tower.encode([PROMPT.format(taxonomy.names[i]) for i in labels]),
            ancestors=ancestor_rows(taxonomy, labels),
            shared=shared,
            without_images=without_images,
            random_state=random_state,
        )
        return cls(
            encoder_name=encoder_name,
            device=device,
            index=index,
            ranker=ranker,
            recogniser=recogniser,
            faults=gallery.faults,
        )

    @cached_property
    def encoder(self) -> image_encoders.FileEncoder | image_encoders.TableEncoder:
        """The image encoder; loaded for the first image, as queries by text do not need it."""
        return image_encoders.load(self.encoder_name, device=self.device)

    def summary(self) -> list[str]:
        """What was trained, in a few lines."""
        held_out = self.ranker.out_of_fold
        lines = [self.ranker.note]
        if len(held_out.n_gold):
            right = held_out.labels[:, 0].mean()
            lines.append(f"of {len(held_out.n_gold):,} queries by image {right:.0%} had a true parent at first place")
        return lines

    def rank(self, queries: Sequence[Concept]) -> ImageRanking:
        """Rank all candidates by the images of each query, of which there is at least one.

        Raises
        ------
        InputError
            An image cannot be read.
        """
        gallery = image_encoders.gallery(self.encoder, [concept.images for concept in queries])
        image_rows = [np.flatnonzero(gallery.owner == i) for i in range(len(queries))]
        directions = query_directions(self.index.whitening, gallery.vectors, image_rows)
        ranking = rank_by_images(self.ranker, self.index, directions)
        return ImageRanking(ranking, directions, self._recognise(gallery.vectors, image_rows))

    def _recognise(self, vectors: Floats, image_rows: Sequence[Longs]) -> list[tuple[tuple[int, float], ...]]:
        if self.recogniser is None:
            return [()] * len(image_rows)
        probabilities = self.recogniser.probabilities(vectors, image_rows)
        probabilities = np.where(self.recogniser.labels >= 0, probabilities, 0)  # (q, labels)
        best = probabilities.argmax(1)
        highest = probabilities[np.arange(len(best)), best]
        positions = self.recogniser.labels[best].tolist()
        return [((where, float(p)),) if p > _REPORTED else () for where, p in zip(positions, highest)]

    def without_broken(self, queries: Sequence[Concept]) -> tuple[list[Concept], tuple[image_encoders.Fault, ...]]:
        """Queries with the images that can be used, and what is wrong with the others.

        Raises
        ------
        InputError
            A query has no name and no image that can be used.
        """
        entries = [(entry,) for concept in queries for entry in concept.images]
        gallery = image_encoders.gallery(self.encoder, entries, broken="skip")
        usable = iter(gallery.shown.tolist())
        kept = [replace(q, images=tuple(entry for entry in q.images if next(usable))) for q in queries]
        empty = next((q for q in kept if not q.name and not q.images), None)
        if empty is not None:
            raise InputError(f"'{empty.id}' has no name and no usable image")
        return kept, gallery.faults

    def adopt(self, taxonomy: Taxonomy, texts: Floats) -> Self:
        """The model for a changed taxonomy: old concepts keep their directions, images of new ones are encoded.

        Images that cannot be used join the `faults`, as a taxonomy may have come without its files.

        Parameters
        ----------
        taxonomy
            The changed taxonomy.
        texts
            (n, t) text vectors of its concepts, for encoders that read images alone.
        """
        old = self.index.taxonomy
        new_positions = np.array([taxonomy.position(id) if id in taxonomy else -1 for id in old.ids], np.int64)
        means = np.zeros((len(taxonomy), self.index.means.shape[1]), np.float32)
        means[new_positions[new_positions >= 0]] = self.index.means[new_positions >= 0]
        located, _ = collection.locate(taxonomy, self.encoder_name)
        new = [() if id in old else entries for id, entries in zip(taxonomy.ids, located.images, strict=True)]
        faults = self.faults
        if any(new):
            gallery = image_encoders.gallery(self.encoder, new, broken="skip")
            faults += gallery.faults
            of_new = label_means(self.index.whitening(gallery.vectors), gallery.owner, len(taxonomy))
            means += unit(np.where(gallery.shown[:, None], of_new, 0))
        if self.index.text_whitening is not None:
            tower = image_encoders.text_tower(self.encoder)
            assert tower is not None
            texts = tower.encode([each.text for each in taxonomy.concepts()])
        index = replace(self.index, taxonomy=taxonomy, means=means, texts=texts)
        recogniser = None if self.recogniser is None else self.recogniser.with_positions(new_positions)
        return replace(self, index=index, recogniser=recogniser, faults=faults)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """What a model folder stores: arrays, and settings as JSON."""
        index, whitening = self.index, self.index.whitening
        ranker_arrays, ranker_notes = self.ranker.to_arrays()
        arrays: dict[str, NDArray[Any]] = {f"ranker.{key}": value for key, value in ranker_arrays.items()}
        arrays |= {"centre": whitening.centre, "matrix": whitening.matrix, "means": index.means}
        if index.text_whitening is not None:
            arrays |= {"texts": index.texts, "text_centre": index.text_whitening.centre}
        if self.recogniser is not None:
            arrays |= {f"recogniser.{key}": value for key, value in self.recogniser.to_arrays().items()}
        notes = {
            "encoder": self.encoder_name,
            "square_root": whitening.square_root,
            "shared": index.text_whitening is not None,
            "ranker": ranker_notes,
        }
        return arrays, notes

    @classmethod
    def from_arrays(
        cls,
        arrays: Mapping[str, NDArray[Any]],
        notes: Mapping[str, Any],
        taxonomy: Taxonomy,
        texts: Floats,
        device: str = CPU,
    ) -> Self:
        """The model that `to_arrays` wrote.

        Parameters
        ----------
        arrays, notes
            What `to_arrays` returned.
        taxonomy
            The one the model was saved with.
        texts
            (n, t) text vectors of its concepts, for encoders that read images alone.
        device
            Where images are encoded.
        """
        whitening = WithinClassWhitening(notes["square_root"], arrays["centre"], arrays["matrix"])
        by_text = whitening.with_centre(arrays["text_centre"]) if notes["shared"] else None
        recogniser = strip_prefix("recogniser.", arrays)
        return cls(
            encoder_name=notes["encoder"],
            index=ImageIndex(taxonomy, whitening, arrays["means"], arrays.get("texts", texts), by_text),
            ranker=Ranker.from_arrays(strip_prefix("ranker.", arrays), notes["ranker"]),
            recogniser=Recogniser.from_arrays(recogniser) if recogniser else None,
            device=device,
        )


def _recognisable_without_images(index: ImageIndex) -> Longs:
    """Leaves without images whose text can take the place of images. Inner concepts are kinds that no image shows."""
    leaves = np.flatnonzero(~index.has_images & (index.taxonomy.child_csr.counts == 0))
    return leaves if index.texts_match and len(leaves) <= _MOST_WITHOUT_IMAGES else leaves[:0]


def title(concept: Concept) -> str:
    """What to call a query: its name, else the file names of its images, else its id."""
    return concept.name or ", ".join(PurePath(entry).name for entry in concept.images) or concept.id
