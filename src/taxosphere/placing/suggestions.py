"""What a person sees of a ranking: parents with probability, path, siblings and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from taxosphere.errors import require
from taxosphere.placing.duplicates import Match
from taxosphere.ranking.calibration import PLACES
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    import pandas as pd

    from taxosphere.ranking.features.candidates import CandidateIndex
    from taxosphere.ranking.ranker import Ranking

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


@dataclass(frozen=True, slots=True, repr=False)
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

    def to_frame(self) -> pd.DataFrame:
        """A table with a row per suggested parent: parent (its id), name, path, probability, cosine, gate, siblings."""
        columns = ("name", "path", "probability", "score", "cosine", "gate", "siblings")
        rows = [{"parent": s.id, **{column: getattr(s, column) for column in columns}} for s in self.ranked]
        frame: pd.DataFrame = require("pandas", "frames").DataFrame(rows, columns=["parent", *columns])
        return frame

    def __repr__(self) -> str:
        lines = [f"{s.probability:6.1%}  {' › '.join(s.path)}" for s in self.ranked]
        return "\n".join([f"Parents of '{self.query.name}':", *lines, f"{self.none_probability:6.1%}  none of these"])

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        rows = [(f"{s.probability:.1%}", " › ".join(s.path)) for s in self.ranked]
        rows.append((f"{self.none_probability:.1%}", "none of these"))
        cells = "".join(f"<tr><td>{escape(share)}</td><td>{escape(where)}</td></tr>" for share, where in rows)
        head = "<tr><th>probability</th><th>parent</th></tr>"
        return f"<table><caption>Parents of {escape(self.query.name)}</caption>{head}{cells}</table>"

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
    context: CandidateIndex,
    queries: Sequence[Concept],
    query_vectors: np.ndarray[Any, np.dtype[np.float32]],
    ranked: Ranking,
    matches: Sequence[tuple[Match, ...]],
    *,
    k: int,
    cutoff: float,
) -> list[Suggestions]:
    """Turn the arrays of a ranking into suggestions, ``k`` of each; ``cutoff`` is the joint one of `parent_cutoff`."""
    taxonomy = context.taxonomy
    shown = min(places_needed(k), ranked.shortlist.shape[1])
    places = ranked.shortlist[:, :shown]
    scores = np.take_along_axis(ranked.scores, places, 1)
    figures = (places, ranked.probabilities[:, :shown], scores, ranked.cosine[:, :shown], ranked.gate[:, :shown])
    rows = zip(*(figure.tolist() for figure in figures), _reasons(ranked, shown), strict=True)
    paths = {p: _path(taxonomy, p) for p in np.unique(places).tolist()}
    found = []
    siblings = _siblings(context, query_vectors, places)
    for i, (query, row) in enumerate(zip(queries, rows, strict=True)):
        wanted = [
            Suggestion(
                position=position,
                id=taxonomy.ids[position],
                name=taxonomy.names[position],
                path=paths[position],
                probability=probability,
                score=score,
                cosine=cosine,
                gate=gate,
                siblings=near,
                reasons=reasons,
            )
            for position, probability, score, cosine, gate, reasons, near in zip(*row, siblings[i], strict=True)
        ]
        strong = [s for s in wanted[:PLACES] if s.probability >= cutoff * wanted[0].probability]
        already = tuple((taxonomy.ids[m.position], taxonomy.names[m.position], m.how) for m in matches[i])
        found.append(
            Suggestions(query, float(ranked.none[i]), tuple(wanted[:k]), tuple(_independent(taxonomy, strong)), already)
        )
    return found


def places_needed(k: int) -> int:
    """How many places of a list are looked at to show ``k`` of them: which parents belong together is no question of
    how many are shown."""
    return max(k, PLACES)


def _path(taxonomy: Taxonomy, position: int) -> tuple[str, ...]:
    return tuple(taxonomy.names[p] for p in taxonomy.path_positions(position))


def _reasons(ranked: Ranking, shown: int) -> list[list[dict[str, float]]]:
    """The strongest contributions to each of the first ``shown`` of each list, by the name of their sign."""
    weights = ranked.contributions[:, :shown]
    strongest = np.argsort(-np.abs(weights), axis=2, kind="stable")[..., :_REASONS]
    values = np.take_along_axis(weights, strongest, 2).astype(np.float64).round(4)
    return [
        [{ranked.names[f]: v for f, v in zip(*pair, strict=True) if v != 0} for pair in zip(*row, strict=True)]
        for row in zip(strongest.tolist(), values.tolist(), strict=True)
    ]


def _siblings(
    context: CandidateIndex, vectors: np.ndarray[Any, Any], parents: np.ndarray[Any, np.dtype[np.int64]]
) -> list[list[tuple[str, ...]]]:
    """Names of the children of each parent (q, k) that are most similar to the query."""
    count = parents.shape[1]
    place, child = context.taxonomy.child_csr.expand(parents.ravel())
    ends = np.searchsorted(place, np.arange(parents.size + 1)).tolist()
    near = np.empty(len(child), np.float32)
    for vector, (start, end) in zip(vectors, pairwise(ends[::count]), strict=True):
        near[start:end] = np.einsum("cd,d->c", context.vectors[child[start:end]], vector)  # too little for threads
    nearest = child[np.lexsort((-near, place))].tolist()
    names = context.taxonomy.names
    found = [tuple([names[c] for c in nearest[s : min(s + _SIBLINGS, end)]]) for s, end in pairwise(ends)]
    return [found[start : start + count] for start in range(0, len(found), count)]


def _independent(taxonomy: Taxonomy, strong: Sequence[Suggestion]) -> list[Suggestion]:
    """Parents none of which is above another: the more probable of two on one path stays."""
    if len(strong) < 2:
        return list(strong)
    above = taxonomy.ancestor_csr
    kept: list[Suggestion] = []
    for one in strong:
        if not any(one.position in above.row(s.position) or s.position in above.row(one.position) for s in kept):
            kept.append(one)
    return kept
