"""Polaris on images: labels of images, and parents of unseen concepts by their images, their texts or both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

from taxosphere.errors import TaxosphereError
from taxosphere.images.ranker import ImageIndex, fit_image_ranker, image_features, query_directions, rank_by_images
from taxosphere.images.towers import Towers
from taxosphere.methods.image_task import ImageQueries, LabelledImages, SeedImages
from taxosphere.model import presets
from taxosphere.model.config import RankingConfig, literal
from taxosphere.polaris import Polaris
from taxosphere.ranking.ranker import scores_of_all
from taxosphere.typing import Floats

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


class PolarisLabels:
    """Labels of images by two sphere heads, or one where images and texts share a space."""

    def fit(self, task: LabelledImages, *, random_state: int) -> Self:
        self.towers = Towers.fit(
            task.vectors,
            task.label,
            task.texts,
            ancestors=task.ancestors,
            shared=task.shared,
            random_state=random_state,
        )
        return self

    def score(self, vectors: Floats) -> Floats:
        return self.towers.score(vectors)


class ImageSiblingVote:
    """Parents of the concepts with the most similar images vote; nothing is trained."""

    whole_concepts = False

    def fit(self, seed: SeedImages, *, encoder: TextEncoder, random_state: int) -> Self:  # noqa: ARG002
        texts = encoder.encode([concept.text for concept in seed.taxonomy.concepts()])
        self.index = ImageIndex.build(seed.taxonomy, seed.vectors, seed.owner, texts, shared=seed.shared)
        return self

    def score(self, queries: ImageQueries) -> Floats:
        return image_features(self.index, self.directions(queries))["parent of similar concepts, by image"]

    def directions(self, queries: ImageQueries) -> Floats:
        """Mean direction (q, m) of the images of each query."""
        return query_directions(self.index.whitening, queries.vectors, queries.rows)


class PolarisImages(ImageSiblingVote):
    """The ranker of the image side: parents by images alone."""

    def fit(self, seed: SeedImages, *, encoder: TextEncoder, random_state: int) -> Self:
        super().fit(seed, encoder=encoder, random_state=random_state)
        self.ranker = fit_image_ranker(
            seed.taxonomy,
            seed.vectors,
            seed.owner,
            self.index.texts,
            RankingConfig(),
            shared=seed.shared,
            random_state=random_state,
        )
        return self

    def score(self, queries: ImageQueries) -> Floats:
        return scores_of_all(rank_by_images(self.ranker, self.index, self.directions(queries)))


class PolarisBoth:
    """The whole model: parents by texts and images."""

    whole_concepts = True
    model: Polaris | None = None

    def fit(self, seed: SeedImages, *, encoder: TextEncoder, random_state: int) -> Self:
        config = presets.auto(seed.taxonomy).with_overrides([f"images.encoder={literal(seed.encoder_name)}"])
        # A text tower was trained on captions and reads descriptions badly, so texts get the default encoder.
        self.model = Polaris(config).fit(
            seed.taxonomy, encoder=None if seed.shared else encoder, random_state=random_state
        )
        return self

    def score(self, queries: ImageQueries) -> Floats:
        if self.model is None:
            raise TaxosphereError("polaris must be fitted before it can score")
        return self.model.score(queries.concepts)


class PolarisText(PolarisBoth):
    """The whole model, asked without images: parents by texts alone."""

    def score(self, queries: ImageQueries) -> Floats:
        return super().score(replace(queries, concepts=[replace(concept, images=()) for concept in queries.concepts]))
