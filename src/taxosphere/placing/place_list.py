"""Placing a whole list: rank each new concept, then again among the other new ones, decide, propose insertions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from taxosphere.encoders.text.vectors import TextVectors, encode_text_vectors
from taxosphere.placing import expansion, inference, list_effect
from taxosphere.placing.duplicates import fold
from taxosphere.placing.expansion import Expansion, Placement
from taxosphere.placing.inference import Fitted
from taxosphere.placing.suggestions import Suggestions
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.queries import embed
from taxosphere.taxonomy import Concept
from taxosphere.typing import Progress

PROPOSE = 0.5  # least probability of a child that is proposed to move below a new concept


def place_list(
    fitted: Fitted, queries: Sequence[Concept], *, accept: float, insert: float | None, progress: Progress
) -> Expansion:
    """Attach what is sure enough and leave the rest to a person.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    queries : sequence of Concept
        New concepts, each with an id of its own.
    accept : float
        Least probability of the best parent with which a concept is attached.
    insert : float or None
        Least probability with which an existing child is moved below a new concept; None moves none.
    progress : callable
        Called as ``progress(done, total, what)``.

    Returns
    -------
    Expansion
        The grown taxonomy, and what became of each new concept.
    """
    taxonomy = fitted.index.taxonomy
    alone: list[Suggestions] = []
    step = "placing among the existing concepts"
    progress(0, len(queries), step)  # the first block may take a while
    for ranked in inference.suggest_many(fitted, queries, k=10):
        alone.append(ranked)
        progress(len(alone), len(queries), step)
    progress(0, 1, "placing among the new concepts")
    duplicates = expansion.find_duplicates(alone, taxonomy, fitted.names)
    free = [i for i in range(len(queries)) if i not in duplicates]
    reranked = _among_each_other(fitted, [queries[i] for i in free], [alone[i] for i in free])
    joined = dict(enumerate(alone))
    joined |= {i: list_effect.choose(alone[i], ranked, taxonomy) for i, ranked in zip(free, reranked, strict=True)}
    placements = expansion.decide(
        list(joined.values()), alone, accept=accept, ids=set(taxonomy.ids), duplicates=duplicates
    )
    progress(0, 1, "looking for insertions")
    least = PROPOSE if insert is None else min(PROPOSE, insert)
    placements = [_with_insertions(fitted, placement, least) for placement in placements]
    grown = expansion.grow(taxonomy, placements, insert=insert)
    progress(1, 1, "done")
    return grown


def _among_each_other(fitted: Fitted, queries: Sequence[Concept], alone: Sequence[Suggestions]) -> list[Suggestions]:
    """Rank again with all new concepts, provisionally attached, among the candidates; none is its own candidate."""
    if len(queries) < 2:
        return list(alone)
    seed = fitted.index.taxonomy
    edges = [(ranked[0].id, query.id) for query, ranked in zip(queries, alone, strict=True) if ranked]
    grown = seed.add(queries, edges)
    new = encode_text_vectors(fitted.encoder, queries)
    existing = fitted.index.text_vectors.to_arrays()
    vectors = TextVectors(**{name: np.concatenate([existing[name], rows]) for name, rows in new.to_arrays().items()})
    index = CandidateIndex(grown, vectors, embed(fitted.network, vectors.full), len(seed))
    return inference.suggest_block(fitted, index, queries, k=10, exclude=np.arange(len(seed), len(grown)))


@dataclass(frozen=True, slots=True)
class ChildProposal:
    """An existing concept that may belong below a new one.

    Attributes
    ----------
    parent, child : str
        Ids of the new concept's parent and of that parent's child.
    probability : float
        That the child belongs below the new concept, if the new concept belongs below the parent.
    score : float
        The same times the probability of the parent.
    proposed : bool
        Whether `expand` would propose the move.
    """

    parent: str
    child: str
    probability: float
    score: float
    proposed: bool


def propose_children(fitted: Fitted, suggestions: Suggestions, least: float = PROPOSE) -> list[ChildProposal]:
    """Children of the suggested parents that may belong below the query, the most probable first.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    suggestions : Suggestions
        Of the query; ``parents`` are those it would be attached to.
    least : float
        Probability from which a child of such a parent is proposed.
    """
    query, taxonomy = suggestions.query, fitted.index.taxonomy
    if fitted.insertion is None or not query.name:
        return []
    vector = fitted.untuned_encoder.encode([query.text])[0]
    name = fold(query.name)
    attached = {parent.id for parent in suggestions.parents}
    proposals = []
    for parent in suggestions:
        if parent.id not in taxonomy:
            continue
        children, probabilities = fitted.insertion.probabilities(
            taxonomy, fitted.untuned_vectors, taxonomy.position(parent.id), query, vector
        )
        for child, probability in zip(children.tolist(), probabilities.tolist(), strict=True):
            if fold(taxonomy.names[child]) == name:  # of two concepts with one name, neither lies below the other
                continue
            proposed = parent.id in attached and probability >= least
            score = parent.probability * probability
            proposals.append(ChildProposal(parent.id, taxonomy.ids[child], probability, score, proposed))
    return sorted(proposals, key=lambda proposal: -proposal.score)


def duplicates_of(fitted: Fitted, suggestions: Suggestions) -> tuple[str, ...]:
    """Ids of the existing concepts that the query is taken for, so that `expand` would not attach it."""
    if not expansion.find_duplicates([suggestions], fitted.index.taxonomy, fitted.names):
        return ()
    return tuple(id for id, _, _ in suggestions.already)


def _with_insertions(fitted: Fitted, placement: Placement, least: float) -> Placement:
    """The placement with children of its parents that belong below the new concept with probability ``least``."""
    if not placement.attached:
        return placement
    suggestions = replace(placement.suggestions, ranked=placement.parents, parents=placement.parents)
    takes: dict[str, float] = {}
    for proposal in propose_children(fitted, suggestions, least):
        if proposal.proposed:
            takes[proposal.child] = proposal.probability
    return replace(placement, takes=tuple(sorted(takes.items(), key=lambda item: -item[1])))
