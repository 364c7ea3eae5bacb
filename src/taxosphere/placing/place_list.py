"""Placing a whole list: rank each new concept, look for its parent among the other new ones, decide, insert."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from taxosphere import memory
from taxosphere.encoders.text.registry import TextVectors, encode_text_vectors
from taxosphere.placing import expansion, inference, list_effect
from taxosphere.placing.expansion import Expansion, Placement
from taxosphere.placing.groups import make_groups
from taxosphere.placing.inference import Fitted
from taxosphere.placing.name_keys import fold
from taxosphere.placing.suggestions import Suggestion, Suggestions
from taxosphere.ranking.calibration import N_PLACES
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Progress

_INSERTIONS = 1024  # concepts whose texts are encoded together
_VECTORS, _BYTES = 4, 25_000  # of a new concept: vectors that are held at once, and its suggestions of both passes


class Passes(Protocol):
    """Ranks the concepts of a list, in this process or elsewhere."""

    def alone(self, queries: Sequence[Concept]) -> Iterator[Suggestions]:
        """Suggestions of each of ``queries`` in the taxonomy alone, in their order."""

    def among(self, groups: Sequence[Group]) -> Iterator[list[Suggestions]]:
        """For each of ``groups``, the new concepts that may be parents of its queries (`rank_group`)."""


class LocalPasses:
    """Ranks in this process.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    """

    def __init__(self, fitted: Fitted) -> None:
        self.fitted = fitted

    def alone(self, queries: Sequence[Concept]) -> Iterator[Suggestions]:
        """Suggestions of each of ``queries`` in the taxonomy alone."""
        return inference.suggest_many(self.fitted, queries, k=10)

    def among(self, groups: Sequence[Group]) -> Iterator[list[Suggestions]]:
        """Suggestions of the queries of each of ``groups``."""
        return (rank_group(self.fitted, group) for group in groups)


def place_list(
    fitted: Fitted,
    queries: Sequence[Concept],
    *,
    accept: float,
    insert: float | None,
    progress: Progress,
    passes: Passes | None = None,
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
    passes : Passes, optional
        What ranks the queries; None does it in this process.

    Returns
    -------
    Expansion
        The grown taxonomy, and what became of each new concept.

    Raises
    ------
    InputError
        The list is too long for the memory that is free.
    """
    _require_memory(len(queries), fitted.encoder.dim)
    taxonomy = fitted.index.taxonomy
    passes = passes or LocalPasses(fitted)
    alone: list[Suggestions] = []
    step = "placing among the existing concepts"
    progress(0, len(queries), step)  # the first block may take a while
    for ranked in passes.alone(queries):
        alone.append(ranked)
        progress(len(alone), len(queries), step)
    duplicates = expansion.find_duplicates(alone, taxonomy, fitted.names)
    free = [i for i in range(len(queries)) if i not in duplicates]
    joined = list(alone)
    best = {ranked.query.id: ranked[0].id for ranked in alone if ranked}
    parent_set, several = fitted.ranker.parent_set, list_effect.several_parents(taxonomy)
    for i, ranked in _among_each_other(fitted, passes, queries, alone, free, progress):
        joined[i] = list_effect.choose(alone[i], ranked, taxonomy, parent_set, best, several=several)
    placements = expansion.decide(joined, alone, accept=accept, ids=set(taxonomy.ids), duplicates=duplicates)
    for start in range(0, len(placements), _INSERTIONS):
        progress(start, len(placements), "looking for insertions")
        part = placements[start : start + _INSERTIONS]
        placements[start : start + _INSERTIONS] = _with_insertions(fitted, part, insert)
    grown = expansion.grow(taxonomy, placements, insert=insert)
    progress(1, 1, "done")
    return grown


def _require_memory(n_queries: int, dim: int) -> None:
    memory.require(
        n_queries * (_BYTES + 4 * _VECTORS * dim),
        f"placing {n_queries:,} new concepts together",
        "divide the list, or use a machine with more memory",
    )


def _among_each_other(
    fitted: Fitted,
    passes: Passes,
    queries: Sequence[Concept],
    alone: Sequence[Suggestions],
    free: Sequence[int],
    progress: Progress,
) -> Iterator[tuple[int, Suggestions]]:
    """New parents of the ``free`` ones of the queries: numbers in the list, with suggestions."""
    if len(free) < 2:
        return
    step = "placing among the new concepts"
    progress(0, len(free), step)
    asked = [queries[i] for i in free]
    parents = [alone[i][0].id if alone[i] else "" for i in free]
    cells = make_groups(asked, lambda: encode_text_vectors(fitted.encoder, asked).full)
    groups = [_group(asked, parents, members, guests) for members, guests in cells]
    done = 0
    for (members, _), reranked in zip(cells, passes.among(groups), strict=True):
        for member, ranked in zip(members, reranked, strict=True):
            yield free[member], ranked
        done += len(members)
        progress(done, len(free), step)


@dataclass(frozen=True)
class Group:
    """New concepts that may be parents of each other.

    Attributes
    ----------
    queries : tuple of Concept
        Those whose parents are looked for.
    guests : tuple of Concept
        Further new concepts that are candidates.
    parents : tuple of str
        Ids of the best existing parents of queries and guests, which their paths are shown from; "" for none.
    """

    queries: tuple[Concept, ...]
    guests: tuple[Concept, ...]
    parents: tuple[str, ...]


def _group(concepts: Sequence[Concept], parents: Sequence[str], members: Sequence[int], guests: Sequence[int]) -> Group:
    return Group(
        queries=tuple(concepts[i] for i in members),
        guests=tuple(concepts[i] for i in guests),
        parents=tuple(parents[i] for i in (*members, *guests)),
    )


def rank_group(fitted: Fitted, group: Group) -> list[Suggestions]:
    """For each query of a group, the other new concepts that may be its parent (`NewParents`).

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    group : Group

    Returns
    -------
    list of Suggestions
        Of new concepts alone; what is missing to one is the probability that the parent is none of them.
    """
    seed, concepts = fitted.index.taxonomy, [*group.queries, *group.guests]
    listed = encode_text_vectors(fitted.untuned_encoder, concepts)
    likely = fitted.new_parents.probabilities(concepts, listed, fitted.untuned_vectors)
    return [_from_group(seed, group, concepts, listed, number, likely[number]) for number in range(len(group.queries))]


def _from_group(
    seed: Taxonomy,
    group: Group,
    concepts: Sequence[Concept],
    listed: TextVectors,
    number: int,
    likely: dict[int, float],
) -> Suggestions:
    """Suggestions of new concepts for the query of that number."""
    likeliest = sorted(likely.items(), key=lambda item: -item[1])[:N_PLACES]
    ranked = []
    for other, probability in likeliest:
        above = seed.path_positions(seed.position(group.parents[other])) if group.parents[other] else ()
        suggestion = Suggestion(
            position=-1,
            id=concepts[other].id,
            name=concepts[other].name,
            path=(*(seed.names[i] for i in above), concepts[other].name),
            probability=probability,
            score=math.log(max(probability, 1e-12)),
            cosine=float(listed.full[number] @ listed.full[other]),
            gate=True,
            siblings=(),
            reasons={},
        )
        ranked.append(suggestion)
    return Suggestions(concepts[number], 1 - sum(likely.values()), tuple(ranked), (), ())


@dataclass(frozen=True, slots=True)
class ChildProposal:
    """An existing concept that may belong below a new one.

    Attributes
    ----------
    parent, child : str
        Ids of the new concept's parent and of that parent's child.
    probability : float
        That the child belongs below the new concept; the parent is a suggestion and may be wrong.
    proposed : bool
        Whether `expand` would propose the move.
    """

    parent: str
    child: str
    probability: float
    proposed: bool


def propose_children(
    fitted: Fitted, suggestions: Suggestions, insert: float | None = None, query_vectors: TextVectors | None = None
) -> list[ChildProposal]:
    """Children of the suggested parents that may belong below the query, the most probable first.

    Parameters
    ----------
    fitted : Fitted
        What a fit returned.
    suggestions : Suggestions
        Of the query; ``parents`` are those it would be attached to.
    insert : float or None
        Probability from which a child of such a parent is proposed too; None proposes those alone that are sure enough
        by themselves (`Insertion.cut`).
    query_vectors : TextVectors, optional
        Of the query, (1, dim), by `Fitted.untuned_encoder`; None encodes it.

    Returns
    -------
    list of ChildProposal
    """
    query, taxonomy = suggestions.query, fitted.index.taxonomy
    if fitted.insertion is None or not query.name:
        return []
    least = fitted.insertion.cut if insert is None else min(fitted.insertion.cut, insert)
    if query_vectors is None:
        query_vectors = encode_text_vectors(fitted.untuned_encoder, [query])
    name = fold(query.name)
    attached = {parent.id for parent in suggestions.parents}
    proposals = []
    for parent in suggestions:
        if parent.id not in taxonomy:
            continue
        children, probabilities = fitted.insertion.probabilities(
            taxonomy, fitted.untuned_vectors, taxonomy.position(parent.id), query, query_vectors
        )
        probabilities = fitted.insertion.below_suggested(probabilities, parent.probability)
        for child, probability in zip(children.tolist(), probabilities.tolist(), strict=True):
            if fold(taxonomy.names[child]) == name:  # of two concepts with one name, neither lies below the other
                continue
            proposed = parent.id in attached and probability >= least
            proposals.append(ChildProposal(parent.id, taxonomy.ids[child], probability, proposed))
    return sorted(proposals, key=lambda proposal: -proposal.probability)


def duplicates_of(fitted: Fitted, suggestions: Suggestions) -> tuple[str, ...]:
    """Ids of the existing concepts that the query is taken for, so that `expand` would not attach it."""
    seed, names = fitted.index.taxonomy, fitted.names
    return tuple(m.id for m in suggestions.already if expansion.is_duplicate(suggestions, m, seed, names))


def _with_insertions(fitted: Fitted, placements: Sequence[Placement], insert: float | None) -> list[Placement]:
    """The placements with children of their parents that are proposed to move; ``insert`` as for `propose_children`."""
    attached = [number for number, placement in enumerate(placements) if placement.attached]
    result = list(placements)
    if fitted.insertion is None or not attached:
        return result
    vectors = encode_text_vectors(fitted.untuned_encoder, [placements[number].concept for number in attached])
    for row, number in enumerate(attached):
        placement = placements[number]
        suggestions = replace(placement.suggestions, ranked=placement.parents, parents=placement.parents)
        takes: dict[str, float] = {}
        for proposal in propose_children(fitted, suggestions, insert, vectors.take(np.array([row]))):
            if proposal.proposed:
                takes[proposal.child] = proposal.probability
        result[number] = replace(placement, takes=tuple(sorted(takes.items(), key=lambda item: -item[1])))
    return result
