"""What a person sees of a ranking: parents with probability, path, siblings and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from taxosphere.placing.duplicates import Match
from taxosphere.taxonomy import Concept, Taxonomy, structure

if TYPE_CHECKING:
    from taxosphere.ranking.context import Context
    from taxosphere.ranking.ranker import Ranked

_REASONS = 5  # a person reads a handful
_SIBLINGS = 3


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One candidate parent of a new concept."""

    position: int
    id: str
    name: str
    path: tuple[str, ...]
    probability: float
    score: float
    cosine: float
    gate: bool
    siblings: tuple[str, ...]
    reasons: dict[str, float]

    def as_dict(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "name": self.name,
            "path": list(self.path),
            "probability": self.probability,
            "score": self.score,
            "cosine": self.cosine,
            "gate": self.gate,
            "siblings": list(self.siblings),
            "reasons": self.reasons,
        }


@dataclass(frozen=True, slots=True)
class Suggestions(Sequence[Suggestion]):
    """Ranked parents of one query; behaves as the list of them."""

    query: Concept
    none_probability: float
    ranked: tuple[Suggestion, ...]
    parents: tuple[Suggestion, ...]
    """The set of parents to attach together: one in a tree, several where the taxonomy has such concepts."""
    already: tuple[tuple[str, str, str], ...]
    """Existing concepts that the query may be: (id, name, how it was recognised)."""

    def __len__(self) -> int:
        return len(self.ranked)

    @overload
    def __getitem__(self, index: int) -> Suggestion: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Suggestion, ...]: ...
    def __getitem__(self, index: int | slice) -> Suggestion | tuple[Suggestion, ...]:
        return self.ranked[index]

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.ranked)

    def as_dict(self) -> dict[str, Any]:
        query: dict[str, Any] = {"id": self.query.id, "name": self.query.name, "description": self.query.description}
        query |= {"images": list(self.query.images)} if self.query.images else {}
        return {
            "query": query,
            "none_probability": self.none_probability,
            "parents": [parent.id for parent in self.parents],
            "already": [{"id": id, "name": name, "how": how} for id, name, how in self.already],
            "suggestions": [suggestion.as_dict() for suggestion in self.ranked],
        }


def assemble(
    context: Context,
    queries: Sequence[Concept],
    query_vectors: np.ndarray[Any, np.dtype[np.float32]],
    ranked: Ranked,
    matches: Sequence[tuple[Match, ...]],
    *,
    k: int,
    cutoff: float,
) -> list[Suggestions]:
    """Turn the arrays of a ranking into suggestions; ``cutoff`` is the joint one of `parent_cutoff`."""
    taxonomy = context.taxonomy
    found = []
    for i, query in enumerate(queries):
        wanted = [
            _suggestion(context, query_vectors[i], ranked, i, j) for j in range(min(k, ranked.shortlist.shape[1]))
        ]
        strong = [s for s in wanted if s.probability >= cutoff * wanted[0].probability] if wanted else []
        already = tuple((taxonomy.ids[m.position], taxonomy.names[m.position], m.how) for m in matches[i])
        found.append(
            Suggestions(query, float(ranked.none[i]), tuple(wanted), tuple(_independent(taxonomy, strong)), already)
        )
    return found


def _suggestion(context: Context, vector: np.ndarray[Any, Any], ranked: Ranked, i: int, j: int) -> Suggestion:
    taxonomy, position = context.taxonomy, int(ranked.shortlist[i, j])
    children = taxonomy.child_csr.row(position)
    nearest = children[np.argsort(-(context.vectors[children] @ vector), kind="stable")[:_SIBLINGS]]
    weights = ranked.contributions[i, j]
    strongest = np.argsort(-np.abs(weights), kind="stable")[:_REASONS]
    return Suggestion(
        position=position,
        id=taxonomy.ids[position],
        name=taxonomy.names[position],
        path=tuple(taxonomy.names[p] for p in taxonomy.path_positions(position)),
        probability=float(ranked.probabilities[i, j]),
        score=float(ranked.scores[i, position]),
        cosine=float(ranked.cosine[i, j]),
        gate=bool(ranked.gate[i, j]),
        siblings=tuple(taxonomy.names[c] for c in nearest),
        reasons={ranked.names[f]: round(float(weights[f]), 4) for f in strongest if weights[f] != 0},
    )


def _independent(taxonomy: Taxonomy, strong: Sequence[Suggestion]) -> list[Suggestion]:
    """Parents none of which is above another: the more probable of two on one path stays."""
    above = structure.ancestor_rows(
        taxonomy.parent_csr, np.array([s.position for s in strong], np.int64), taxonomy.longest
    )
    kept: list[int] = []
    for i, suggestion in enumerate(strong):
        if not any(suggestion.position in above.row(j) or strong[j].position in above.row(i) for j in kept):
            kept.append(i)
    return [strong[i] for i in kept]


def parent_cutoff(
    probabilities: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], golds: np.ndarray[Any, Any]
) -> float:
    """The share of the best probability from which further parents are taken along.

    Chosen on queries that were hidden from the ranker: the share with the best mean F1 between the parents taken and
    the gold parents. A taxonomy whose concepts have one parent each ends at 1, which takes the best alone.
    """
    if len(golds) == 0 or golds.max(initial=1) <= 1:
        return 1.0
    best, chosen = -1.0, 1.0
    for share in np.linspace(1.0, 0.05, 39):
        taken = probabilities >= share * probabilities[:, :1]
        hits = (taken & labels).sum(1)
        f1 = float((2 * hits / (taken.sum(1) + golds)).mean())
        if f1 > best + 1e-9:
            best, chosen = f1, float(share)
    return chosen
