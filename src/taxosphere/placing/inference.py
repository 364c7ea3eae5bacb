"""What a fitted model answers from: the learned parts, the taxonomy they are applied to, and how queries are ranked.

A query is known by its text, by its pictures, or by both; each kind goes its own way to one ranking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.encoders.text.vectors import TextVectors, encode_text_vectors
from taxosphere.errors import InputError
from taxosphere.images import fusion
from taxosphere.images.model import ImageModel, ImageRanking
from taxosphere.model.checkpoint import Epoch
from taxosphere.model.network import SphereNetwork
from taxosphere.model.threads import one_thread
from taxosphere.placing.duplicates import Match, NameIndex
from taxosphere.placing.insertion import Insertion
from taxosphere.ranking.crossfit import points
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.shortlist import blocks
from taxosphere.ranking.lexical.index import ConceptTokens
from taxosphere.ranking.parent_cutoff import parent_cutoff
from taxosphere.ranking.ranker import Ranker, Ranking
from taxosphere.taxonomy import Concept, Taxonomy

Longs = NDArray[np.int64]


@dataclass(frozen=True)
class Fitted:
    """What fitting leaves behind: the learned parts, and the context they are applied to."""

    encoder: TextEncoder
    network: SphereNetwork
    ranker: Ranker
    insertion: Insertion | None
    history: tuple[Epoch, ...]
    context: CandidateIndex
    names: NameIndex
    cutoff: float
    image_model: ImageModel | None = None
    """The picture side, where the taxonomy has pictures."""
    began: str | None = None
    """Digest of the network that was begun from, where it was not a new one."""

    @cached_property
    def plain(self) -> TextEncoder:
        """The encoder as it was before it learned from this taxonomy."""
        return text_encoders.untuned(self.encoder)

    @cached_property
    def plain_vectors(self) -> NDArray[np.float32]:
        """The taxonomy's concepts as that encoder sees them."""
        plain, taxonomy = self.plain, self.context.taxonomy
        return self.context.vectors if plain is self.encoder else plain.encode([c.text for c in taxonomy.concepts()])


def assemble(
    encoder: TextEncoder,
    network: SphereNetwork,
    ranker: Ranker,
    insertion: Insertion | None,
    history: tuple[Epoch, ...],
    taxonomy: Taxonomy,
    views: TextVectors,
    tokens_read: ConceptTokens | None = None,
) -> Fitted:
    context = CandidateIndex(taxonomy, views, points(network, views.full), len(taxonomy), tokens_read)
    held = ranker.out_of_fold
    cutoff = parent_cutoff(held.probabilities, held.labels, held.golds)
    return Fitted(encoder, network, ranker, insertion, history, context, NameIndex(taxonomy), cutoff)


@dataclass(frozen=True)
class RankedBatch:
    """Some queries ranked, with the context and the vectors that say what stands near them."""

    rows: Longs
    context: CandidateIndex
    vectors: NDArray[np.float32]
    ranked: Ranking
    matches: Sequence[tuple[Match, ...]]
    cutoff: float


def rank_queries(
    fitted: Fitted,
    context: CandidateIndex,
    queries: Sequence[Concept],
    *,
    exclude: Longs | None = None,
    explained: int | None = None,
) -> Iterator[RankedBatch]:
    """Rank queries in blocks of those that are known in the same way; ``exclude`` is a candidate each must not see,
    ``explained`` says how many of each list (None: all) are given reasons."""
    kinds = np.array([(bool(q.name), bool(q.images and fitted.image_model)) for q in queries], bool).reshape(-1, 2)
    mute = np.flatnonzero(~kinds.any(1))
    if len(mute):
        first = queries[mute[0]]
        why = "and this model was fitted without pictures" if first.images else "and no picture"
        raise InputError(f"the new concept '{first.id}' has no name, {why}")
    for by_text, by_picture in np.unique(kinds, axis=0):
        rows = np.flatnonzero((kinds == (by_text, by_picture)).all(1))
        for block in blocks(len(rows), len(context.taxonomy)):
            part = rows[block]
            asked = [queries[i] for i in part]
            image_model = fitted.image_model if by_picture else None
            if image_model is not None and not by_text:
                seen = image_model.look(asked)
                yield RankedBatch(
                    part,
                    image_model.known.context,
                    seen.directions,
                    seen.ranked,
                    _shown_matches(seen),
                    image_model.cutoff,
                )
            else:
                hidden = None if exclude is None else exclude[part]
                yield _read(fitted, image_model, context, asked, part, hidden, explained)


def _read(
    fitted: Fitted,
    image_model: ImageModel | None,
    context: CandidateIndex,
    asked: Sequence[Concept],
    rows: Longs,
    exclude: Longs | None,
    explained: int | None,
) -> RankedBatch:
    """By text, and by pictures too where there is a ``image_model``."""
    if image_model is not None and explained:
        explained = None  # pictures may bring any of the list to the front
    views = encode_text_vectors(fitted.encoder, asked)
    # Threads of the nets would wait for cores that those of the matrix products hold, longer than the nets take; a
    # single query's products leave none behind.
    with one_thread() if len(asked) > 1 else nullcontext():
        ranked = fitted.ranker.rank(context, fitted.network, asked, views, exclude=exclude, explained=explained)
    matches = [fitted.names.find(query) for query in asked]
    if image_model is not None:
        seen = image_model.look(asked)
        ranked = fusion.fuse(ranked, seen.ranked, fitted.ranker.none_share)
        matches = [(*named, *shown) for named, shown in zip(matches, _shown_matches(seen), strict=True)]
    return RankedBatch(rows, context, views.full, ranked, matches, fitted.cutoff)


def _shown_matches(seen: ImageRanking) -> list[tuple[Match, ...]]:
    """Existing concepts that the images of each query show, as matches to warn of."""
    return [tuple(Match(where, f"looks like it, {p:.0%}") for where, p in row) for row in seen.recognised]
