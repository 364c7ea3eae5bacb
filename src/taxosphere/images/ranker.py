"""The ranker for queries that are images.

Concepts with images are mean directions on the sphere of `whitening`. A query is the mean direction of its own images.
The concepts most similar to it vote for their parents, for all their ancestors, and for the neighbours of those; the
gate and the candidate's structure are used as for texts. The nets are the same listwise ones, trained on leaves that
are hidden together with their images.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.images.whitening import WithinClassWhitening, label_means, texts_match_images, unit
from taxosphere.model.config import RankingConfig
from taxosphere.orbit import gate
from taxosphere.ranking.crossfit import AskedBlock, Examples, join_blocks
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.compute import N_ORPHAN_FEATURES, most_similar_child_dense, vote_weights
from taxosphere.ranking.features.shortlist import Shortlist, query_blocks
from taxosphere.ranking.folds import Kind
from taxosphere.ranking.queries import SpherePoints
from taxosphere.ranking.ranker import Ranker, Ranking
from taxosphere.ranking.ranker_training import fit_ranker_on_examples
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import hide
from taxosphere.typing import Booleans, Floats, Longs, Matrix

_IMAGES_PER_QUERY = (1, 1, 3, None)  # in the queries made of each hidden leaf; None takes all it has
_LENGTH = 300  # of the shortlist: the first stage is weaker than that for texts
_VOTERS, _SHARPNESS = 10, 20.0
_GAMMA = 10.0  # of the gate
_LOWEST = -1.0  # similarity to a concept without images
# Weights of the first stage, and those that join where texts match images. They add up in this order.
_FIRST_STAGE = {
    "parent of similar concepts, by image": 1.0,
    "votes at or below its parent, by image": 0.5,
    "votes at or below it, by image": 0.3,
    "image similarity to descendants": 0.5,
    "image similarity": 0.5,
}
_FIRST_STAGE_TEXTS = {"parent of similar concepts, by text and image": 1.0, "text to image similarity": 0.5}


@dataclass(frozen=True)
class ImageIndex:
    """A taxonomy some of whose n concepts have images, as candidates.

    Attributes
    ----------
    taxonomy
        The candidates.
    whitening
        Image vectors to directions.
    means
        (n, m) mean directions of the concepts' images; zero without images.
    texts
        (n, t) text vectors, in the space of the images where it is shared.
    text_whitening
        Text vectors to directions where the space is shared, else None.
    """

    taxonomy: Taxonomy
    whitening: WithinClassWhitening
    means: Floats
    texts: Floats
    text_whitening: WithinClassWhitening | None = None

    @classmethod
    def build(cls, taxonomy: Taxonomy, vectors: Floats, concept: Longs, texts: Floats, *, shared: bool = False) -> Self:
        """From image vectors.

        Parameters
        ----------
        taxonomy
            The candidates.
        vectors
            (i, m) of images.
        concept
            (i,) position of the concept that each image shows.
        texts
            (n, t) text vectors of the concepts.
        shared
            Texts and images are vectors of one space.
        """
        whitening = WithinClassWhitening.fit(vectors, concept, len(taxonomy), shared=shared)
        means = unit(label_means(whitening(vectors), concept, len(taxonomy)))
        return cls(taxonomy, whitening, means, texts, whitening.for_texts(texts, concept) if shared else None)

    @cached_property
    def text_directions(self) -> Floats | None:
        """(n, m) directions of the concepts' texts, with images or without, where the space is shared."""
        return None if self.text_whitening is None else self.text_whitening(self.texts)

    @cached_property
    def texts_match(self) -> bool:
        """Whether the texts of concepts with images tell what the images show."""
        return self.text_directions is not None and texts_match_images(self.text_directions, self.means)

    @cached_property
    def directions(self) -> Floats:
        """(n, m) `means`, with the text's direction for leaves without images where `texts_match`."""
        if self.text_directions is None or not self.texts_match:
            return self.means
        by_text = ~self.has_images & (self.taxonomy.child_csr.counts == 0)
        return np.where(by_text[:, None], self.text_directions, self.means).astype(np.float32)

    @cached_property
    def has_images(self) -> Booleans:
        """(n,)."""
        return np.asarray(self.means.any(1))

    @cached_property
    def candidates(self) -> CandidateIndex:
        """The taxonomy's structure, as the features of texts use it too."""
        return CandidateIndex(
            taxonomy=self.taxonomy,
            text_vectors=TextVectors(self.means, self.means),
            points=SpherePoints(self.means, self.means, np.ones(len(self.means), np.float32)),
        )

    @cached_property
    def subtree_means(self) -> Floats:
        """(n, m) unit mean direction of all concepts with images at or below each concept."""
        total = self.means + self.candidates.ancestors.T @ self.means
        return unit(np.asarray(total, np.float32))


def image_features(index: ImageIndex, directions: Floats) -> dict[str, Floats]:
    """Features (q, n) of queries, given as directions (q, m), for all candidates; by name."""
    candidates = index.candidates
    present = index.directions.any(1)
    similarity = np.where(present, directions @ index.directions.T, -np.inf).astype(np.float32)
    votes = vote_weights(similarity, min(_VOTERS, int(present.sum())), _SHARPNESS).matrix(similarity.shape[1])
    at_or_below = _dense(votes @ candidates.ancestors) + _dense(votes)
    subtree = directions @ index.subtree_means.T
    no_images = ~index.subtree_means.any(1)
    subtree[:, no_images] = _of_parents(index, subtree)[:, no_images]
    features = {
        "image similarity": np.where(present, similarity, subtree),
        "image similarity to descendants": subtree,
        "parent of similar concepts, by image": _dense(votes @ candidates.parents),
        "grandparent of similar concepts, by image": _dense(votes @ candidates.parents @ candidates.parents),
        "votes at or below it, by image": at_or_below,
        "votes at or below its parent, by image": _of_parents(index, at_or_below),
        "votes at or below its grandparent, by image": _of_parents(index, _of_parents(index, at_or_below)),
        "most similar child, by image": most_similar_child_dense(candidates, np.maximum(similarity, _LOWEST)),
        "image similarity to its parent": _of_parents(index, subtree),
        "gate margin, by image": subtree - gate.thresholds(candidates.radius_gaps, _GAMMA).astype(np.float32),
        "text like that of similar images": unit(_dense(votes) @ index.texts) @ unit(index.texts).T,
    }
    if index.text_directions is not None:
        by_text = np.asarray(directions @ index.text_directions.T, np.float32)
        text_votes = vote_weights(by_text, _VOTERS, _SHARPNESS).matrix(by_text.shape[1])
        features["text to image similarity"] = by_text
        features["parent of similar concepts, by text and image"] = _dense(text_votes @ candidates.parents)
        features["most similar child, by text and image"] = most_similar_child_dense(candidates, by_text)
    return {name: np.asarray(values, np.float32) for name, values in features.items()}


def _of_parents(index: ImageIndex, values: Floats) -> Floats:
    """(q, n) mean of the values of each candidate's parents; a root's own."""
    parents = index.candidates.parents
    counts = np.asarray(parents.sum(axis=1)).ravel()
    means = np.asarray((parents @ values.T).T, np.float32) / np.maximum(counts, 1).astype(np.float32)
    return np.where(counts > 0, means, values).astype(np.float32)


def _dense(matrix: Matrix) -> Floats:
    return np.asarray(matrix.toarray(), np.float32)


def make_image_shortlist(index: ImageIndex, directions: Floats, *, length: int = _LENGTH) -> Shortlist:
    """The candidates that the image first stage scores highest for queries given as directions (q, m)."""
    by_name = image_features(index, directions)
    weights = {**_FIRST_STAGE, **_FIRST_STAGE_TEXTS} if index.texts_match else _FIRST_STAGE
    scores = sum((weight * by_name[name] for name, weight in weights.items()), np.zeros(1, np.float32))  # (q, n)
    k = min(length, scores.shape[1])
    positions = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    features = {name: np.take_along_axis(values, positions, 1) for name, values in by_name.items()}
    static = {"has images": index.has_images.astype(np.float32), **index.candidates.static_features}
    features |= {name: values[positions] for name, values in static.items()}
    return Shortlist(
        feature_names=tuple(features),
        features=np.stack(list(features.values()), axis=-1).astype(np.float32),
        positions=positions.astype(np.int64),
        scores=np.take_along_axis(scores, positions, 1),
        orphan_features=np.zeros((len(scores), N_ORPHAN_FEATURES), np.float32),  # left to the ranker of texts
        all_scores=scores,
    )


def make_image_examples(
    seed: Taxonomy,
    vectors: Floats,
    concept: Longs,
    texts: Floats,
    settings: RankingConfig,
    *,
    shared: bool,
    random_state: int,
) -> Examples | None:
    """Hide leaves with images fold by fold, and rank the parents of their images in the taxonomy without them.

    Parameters
    ----------
    seed, vectors, concept, texts, shared
        As for `ImageIndex.build`.
    settings
        How many leaves in how many folds.
    random_state
        Chooses leaves and images.

    Returns
    -------
    None where fewer than two leaves with images can be hidden.
    """
    rng = np.random.default_rng([random_state, 3])
    has_images = np.bincount(concept, minlength=len(seed)) > 0
    leaves = rng.permutation(np.flatnonzero(has_images & seed.hideable))[: settings.most_examples]
    folds = min(settings.folds, len(leaves))
    blocks: list[AskedBlock] = []
    for number in range(folds if folds > 1 else 0):
        fold = np.sort(leaves[number::folds])
        kept = np.setdiff1d(np.arange(len(seed)), fold)
        place = np.full(len(seed), -1)
        place[kept] = np.arange(len(kept))
        rows = np.flatnonzero(place[concept] >= 0)
        part = hide(seed, fold)
        if not part.queries or len(np.unique(concept[rows])) < 2:
            continue
        index = ImageIndex.build(part.seed, vectors[rows], place[concept[rows]], texts[kept], shared=shared)
        hidden = [seed.position(query.id) for query in part.queries]
        image_rows, parents = _image_queries(hidden, part.gold, concept, rng)
        directions = query_directions(index.whitening, vectors, image_rows)
        for block in query_blocks(len(image_rows), len(part.seed)):
            shortlist = make_image_shortlist(index, directions[block])
            novelty = np.zeros((len(shortlist.positions), 0), np.float32)
            asked = np.array([concept[rows[0]] for rows in image_rows[block]])
            blocks.append(AskedBlock(Kind.LEAF, shortlist, novelty, parents[block], asked, kept))
    return join_blocks(blocks) if blocks else None


def _image_queries(
    leaves: Sequence[int], gold: Sequence[Longs], concept: Longs, rng: np.random.Generator
) -> tuple[list[Longs], list[Longs]]:
    """Sets of images to ask with, as rows, and the true parents of each; a leaf with one image is asked once."""
    image_rows: list[Longs] = []
    parents_of: list[Longs] = []
    for leaf, parents in zip(leaves, gold, strict=True):
        rows = np.flatnonzero(concept == leaf)
        sizes = [min(size or len(rows), len(rows)) for size in _IMAGES_PER_QUERY]
        for size in dict.fromkeys(sizes) if len(rows) < 3 else sizes:
            image_rows.append(np.sort(rng.permutation(rows)[:size]))
            parents_of.append(parents)
    return image_rows, parents_of


def query_directions(whitening: WithinClassWhitening, vectors: Floats, image_rows: Sequence[Longs]) -> Floats:
    """Mean direction (q, m) of the images of each query.

    Parameters
    ----------
    whitening
        Image vectors to directions.
    vectors
        (i, m) of images.
    image_rows
        For each query its images, as rows of ``vectors``.
    """
    rows = np.concatenate(image_rows)
    query = np.repeat(np.arange(len(image_rows)), [len(part) for part in image_rows])
    return unit(label_means(whitening(vectors)[rows], query, len(image_rows)))


def fit_image_ranker(
    seed: Taxonomy,
    vectors: Floats,
    concept: Longs,
    texts: Floats,
    settings: RankingConfig,
    *,
    shared: bool = False,
    random_state: int = 0,
) -> Ranker:
    """Train a ranker for images; with too few leaves that have images its first stage ranks alone.

    Parameters
    ----------
    seed, vectors, concept, texts, shared
        As for `ImageIndex.build`.
    settings, random_state
        As for `fit_ranker_on_examples`.
    """
    examples = make_image_examples(seed, vectors, concept, texts, settings, shared=shared, random_state=random_state)
    note = "image ranker trained on {:,} queries about hidden leaves"
    return fit_ranker_on_examples(examples, settings, None, gamma=_GAMMA, note=note, random_state=random_state)


def rank_by_images(ranker: Ranker, index: ImageIndex, directions: Floats) -> Ranking:
    """Rank all candidates for one block of queries, given as directions (q, m) (`query_directions`)."""
    shortlist = make_image_shortlist(index, directions)
    return ranker.rank_shortlist(shortlist, directions, index.subtree_means, index.candidates.radius_gaps)
