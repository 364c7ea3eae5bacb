"""Ranking queries with a fitted model, and suggestions from the rankings.

A query is described by its text, by images, or by both; queries of one kind are ranked together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from taxosphere import memory
from taxosphere.artifact import FileCheck
from taxosphere.encoders.text import registry as text_encoders
from taxosphere.encoders.text.registry import TextEncoder, TextVectors, encode_text_vectors
from taxosphere.errors import InputError
from taxosphere.images import fusion
from taxosphere.images.model import ImageModel, ImageRanking
from taxosphere.model.history import Epoch
from taxosphere.model.network import SphereNetwork
from taxosphere.model.threads import one_thread
from taxosphere.percent import percent
from taxosphere.placing.duplicates import Match, NameIndex
from taxosphere.placing.insertion import Insertion
from taxosphere.placing.near_duplicates import NearDuplicates
from taxosphere.placing.new_parents import USUAL, NewParents
from taxosphere.placing.suggestions import Suggestions, make_suggestions, places_needed
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.shortlist import query_blocks
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.parent_set import ParentSet
from taxosphere.ranking.queries import embed, encode_queries
from taxosphere.ranking.ranker import Ranker, Ranking
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

_BLOCK = 256  # queries whose suggestions are held at once
# Memory of a query in a block: for its candidates, and for each concept that its words or vectors are compared with.
_QUERY_BYTES, _CONCEPT_BYTES, _MOST_CONCEPTS = 300_000, 8, 1 << 19


@dataclass(frozen=True, kw_only=True)
class Fitted:
    """All parts of a fitted model, and the taxonomy it answers for.

    Attributes
    ----------
    encoder
        Text encoder, fine-tuned where that was better.
    network
        The head that embeds its vectors on the sphere.
    ranker
        Ranks candidates for queries with a text.
    insertion
        Says which children of a parent belong below a new concept; None where the taxonomy was too small to train it.
    history
        Losses of the head, epoch by epoch.
    index
        The taxonomy's concepts as candidates.
    names
        Finds concepts by name.
    new_parents
        Says which concept of a list is the parent of another.
    image_model
        Ranks candidates for queries with images; None where the taxonomy has none.
    start_digest
        Digest of the network that training started from, where it was an earlier model's.
    check
        Of the files that the model was loaded from; None where it was fitted in this process.
    """

    encoder: TextEncoder
    network: SphereNetwork
    ranker: Ranker
    insertion: Insertion | None
    history: tuple[Epoch, ...]
    index: CandidateIndex
    names: NameIndex
    new_parents: NewParents = USUAL
    image_model: ImageModel | None = None
    start_digest: str | None = None
    check: FileCheck | None = None

    @cached_property
    def near(self) -> NearDuplicates:
        """Finds concepts by the meaning of names."""
        return NearDuplicates(self.index.taxonomy, self.index.text_vectors, self.encoder)

    @cached_property
    def untuned_encoder(self) -> TextEncoder:
        """The encoder as it was before fine-tuning on this taxonomy."""
        return text_encoders.untuned(self.encoder)

    @cached_property
    def untuned_vectors(self) -> TextVectors:
        """Text vectors (n, m) of the taxonomy's concepts by that encoder."""
        if self.untuned_encoder is self.encoder:
            return self.index.text_vectors
        return encode_text_vectors(self.untuned_encoder, list(self.index.taxonomy.concepts()))


def assemble(
    *,
    encoder: TextEncoder,
    network: SphereNetwork,
    ranker: Ranker,
    history: tuple[Epoch, ...],
    taxonomy: Taxonomy,
    text_vectors: TextVectors,
    insertion: Insertion | None = None,
    tokens: ConceptTokens | None = None,
    index: CandidateIndex | None = None,
    names: NameIndex | None = None,
) -> Fitted:
    """A fitted model for a taxonomy, from trained parts.

    Parameters
    ----------
    encoder, network, ranker, history, insertion
        As in `Fitted`.
    taxonomy
        The model will answer for it; it need not be the one the parts were trained on.
    text_vectors
        (n, m) of its concepts, by this encoder.
    tokens
        The words of its concepts where they were parsed before.
    index, names
        Its concepts as candidates, and its names, where these were computed before.
    """
    index = index or CandidateIndex(
        taxonomy=taxonomy,
        text_vectors=text_vectors,
        points=embed(network, text_vectors.full),
        parsed_tokens=tokens,
    )
    return Fitted(
        encoder=encoder,
        network=network,
        ranker=ranker,
        insertion=insertion,
        history=history,
        index=index,
        names=names or NameIndex(taxonomy),
    )


def adopt(fitted: Fitted, taxonomy: Taxonomy) -> Fitted:
    """The same trained parts, answering for another taxonomy, whose concepts are encoded anew."""
    place = {id: position for position, id in enumerate(taxonomy.ids)}
    positions = np.array([place.get(id, -1) for id in fitted.index.taxonomy.ids], np.int64)
    moved = assemble(
        encoder=fitted.encoder,
        network=fitted.network,
        ranker=replace(fitted.ranker, out_of_fold=fitted.ranker.out_of_fold.moved(positions)),
        insertion=fitted.insertion,
        history=fitted.history,
        taxonomy=taxonomy,
        text_vectors=encode_text_vectors(fitted.encoder, list(taxonomy.concepts())),
    )
    images = None if fitted.image_model is None else fitted.image_model.adopt(taxonomy, moved.untuned_vectors.full)
    return replace(
        moved,
        new_parents=fitted.new_parents,
        image_model=images,
        start_digest=fitted.start_digest,
        check=fitted.check,
    )


@dataclass(frozen=True, kw_only=True)
class RankedBatch:
    """Rankings of some of the queries.

    Attributes
    ----------
    rows
        (q,) which of the queries these are.
    index
        The candidates they were ranked among.
    vectors
        (q, m) of the queries, in the space in which siblings are compared with them.
    ranking
        The rankings.
    duplicates
        For each query, existing concepts that it may be.
    parent_set
        Which further parents a query gets beside the best one.
    """

    rows: Longs
    index: CandidateIndex
    vectors: Floats
    ranking: Ranking
    duplicates: Sequence[tuple[Match, ...]]
    parent_set: ParentSet


def rank_queries(
    fitted: Fitted,
    queries: Sequence[Concept],
    *,
    n_explained: int | None = None,
    all_scores: bool = False,
) -> Iterator[RankedBatch]:
    """Rank queries in blocks; a block has queries of one kind: with text, with images, or with both.

    Parameters
    ----------
    fitted
        The model.
    queries
        New concepts.
    n_explained
        How many of each list, from the first, get contributions of features; None for all.
    all_scores
        Whether to score all candidates, not only those on the shortlists.

    Raises
    ------
    InputError
        A query has neither a name nor images that the model can read; several queries need more memory than is free; or
        a file of the model is damaged: for several queries all files are compared with their digests before the first
        answer.
    """
    if len(queries) > 1:
        _require_memory(len(queries), len(fitted.index.taxonomy))
    if fitted.check is not None:
        fitted.check.refuse_damage(wait=len(queries) > 1)
    kinds = np.array([(bool(q.name), bool(q.images and fitted.image_model)) for q in queries], bool).reshape(-1, 2)
    empty = np.flatnonzero(~kinds.any(1))
    if len(empty):
        first = queries[empty[0]]
        why = "and this model was fitted without images" if first.images else "and no image"
        raise InputError(f"the new concept '{first.id}' has no name, {why}")
    for with_text, with_images in ((False, True), (True, False), (True, True)):
        same_kind = np.flatnonzero((kinds[:, 0] == with_text) & (kinds[:, 1] == with_images))
        image_model = fitted.image_model if with_images else None
        for block in query_blocks(len(same_kind), len(fitted.index.taxonomy)):
            rows = same_kind[block]
            batch = [queries[i] for i in rows]
            if image_model is not None and not with_text:
                yield _rank_images(image_model, batch, rows)
            else:
                yield _rank_texts(fitted, image_model, batch, rows, n_explained, all_scores)


def _require_memory(n_queries: int, n_concepts: int) -> None:
    """Refuse a block of queries for which the memory is not there."""
    block = max((part.stop - part.start for part in query_blocks(n_queries, n_concepts)), default=0)
    memory.require(
        min(block, n_queries) * (_QUERY_BYTES + _CONCEPT_BYTES * min(n_concepts, _MOST_CONCEPTS)),
        f"placing {n_queries:,} concepts among {n_concepts:,}",
        "free memory, raise the limit, or ask for fewer at a time",
    )


def _rank_images(image_model: ImageModel, queries: Sequence[Concept], rows: Longs) -> RankedBatch:
    by_image = image_model.rank(queries)
    return RankedBatch(
        rows=rows,
        index=image_model.index.candidates,
        vectors=by_image.directions,
        ranking=by_image.ranking,
        duplicates=_recognised(by_image, image_model.index.candidates.taxonomy),
        parent_set=image_model.ranker.parent_set,
    )


def _rank_texts(
    fitted: Fitted,
    image_model: ImageModel | None,
    queries: Sequence[Concept],
    rows: Longs,
    n_explained: int | None,
    all_scores: bool,
) -> RankedBatch:
    """Rank by text; with an ``image_model`` by text and images."""
    if image_model is not None:  # images may bring any candidate to the front
        n_explained, all_scores = (None if n_explained else n_explained), True
    vectors = encode_text_vectors(fitted.encoder, queries)
    # After a product over a batch numpy's BLAS threads still spin and slow torch's small nets, so torch gets one thread
    # here. The products of a single query leave none behind.
    with one_thread() if len(queries) > 1 else nullcontext():
        encoded = encode_queries(fitted.network, queries, vectors)
        ranking = fitted.ranker.rank(fitted.index, encoded, n_explained=n_explained, all_scores=all_scores)
    asked = n_explained != 0  # rankings alone need no names
    duplicates = _named_alike(fitted, queries, vectors, ranking) if asked else [()] * len(queries)
    if image_model is not None:
        by_image = image_model.rank(queries)
        ranking = fusion.fuse(ranking, by_image.ranking, fitted.ranker.none_share)
        duplicates = [(*a, *b) for a, b in zip(duplicates, _recognised(by_image, fitted.index.taxonomy), strict=True)]
    return RankedBatch(
        rows=rows,
        index=fitted.index,
        vectors=vectors.full,
        ranking=ranking,
        duplicates=duplicates,
        parent_set=fitted.ranker.parent_set,
    )


def _named_alike(
    fitted: Fitted, queries: Sequence[Concept], vectors: TextVectors, ranking: Ranking
) -> list[tuple[Match, ...]]:
    """Existing concepts that each query may be, by its names and by their meaning."""
    matches = []
    for query, near in zip(queries, fitted.near.find(queries, vectors, ranking.positions[:, 0]), strict=True):
        named = fitted.names.find(query)
        ids = {match.id for match in named}
        matches.append((*named, *(match for match in near if match.id not in ids)))
    return matches


def _recognised(by_image: ImageRanking, taxonomy: Taxonomy) -> list[tuple[Match, ...]]:
    """Existing concepts that the images of each query show."""
    return [
        tuple(
            Match(
                taxonomy.ids[position], taxonomy.names[position], f"looks like it, {percent(probability)}", probability
            )
            for position, probability in row
        )
        for row in by_image.recognised
    ]


def suggest_many(fitted: Fitted, queries: Sequence[Concept], *, k: int) -> Iterator[Suggestions]:
    """Suggestions for each query, computed block by block as they are asked for.

    Parameters
    ----------
    fitted
        The model.
    queries
        New concepts, each with an id of its own.
    k
        How many parents to suggest for each.

    Yields
    ------
    Suggestions
        One for each query, in the order of `queries`.
    """
    blocks = (queries[start : start + _BLOCK] for start in range(0, len(queries), _BLOCK))
    return chain.from_iterable(_suggest_block(fitted, block, k=k) for block in blocks)


def _suggest_block(fitted: Fitted, queries: Sequence[Concept], *, k: int) -> list[Suggestions]:
    """Suggestions for a block of queries; parameters as for `rank_queries` and `suggest_many`."""
    by_row: dict[int, Suggestions] = {}
    for batch in rank_queries(fitted, queries, n_explained=places_needed(k)):
        suggestions = make_suggestions(batch, [queries[i] for i in batch.rows], k=k)
        by_row |= zip(batch.rows.tolist(), suggestions, strict=True)
    return [by_row[i] for i in range(len(queries))]
