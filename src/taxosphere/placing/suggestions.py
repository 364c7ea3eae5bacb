"""Suggestions: what a person sees of a ranking, namely parents with probability, path, siblings and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from taxosphere.errors import require
from taxosphere.orbit.search import largest_columns, products_of_pairs
from taxosphere.percent import percent
from taxosphere.placing.duplicates import Match, weigh_place
from taxosphere.ranking.calibration import N_PLACES
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

if TYPE_CHECKING:
    import pandas as pd

    from taxosphere.placing.inference import RankedBatch
    from taxosphere.ranking.features.candidates import CandidateIndex
    from taxosphere.ranking.ranker import Ranking

_REASONS = 5  # shown per suggestion
_SIBLINGS = 3  # shown per suggestion


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One candidate parent of a new concept.

    Attributes
    ----------
    position, id, name
        Of the candidate in the taxonomy.
    path
        Names from a root down to it.
    probability
        That it is a right parent.
    score
        Orders the candidates.
    cosine, gate
        Cosine of query and candidate on the sphere, and whether the orbital gate accepts it.
    siblings
        Names of the candidate's children that are most like the query.
    reasons
        Contributions to the score by feature, the largest first; see docs/method/features.md.
    """

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
        """As JSON values.

        Returns
        -------
        dict
            Its fields by name.
        """
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
    """Ranked parents of one query; behaves as the list of them.

    Attributes
    ----------
    query
        The new concept.
    none_probability
        That none of the candidates is right.
    ranked
        Best first.
    parents
        Those to attach together: one in a tree, several where the taxonomy has concepts with several parents.
    already
        Existing concepts that the query may be, the surest first.
    list_effect
        How the other new concepts of a list changed these answers; empty where they are those for the query alone.
    """

    query: Concept
    none_probability: float
    ranked: tuple[Suggestion, ...]
    parents: tuple[Suggestion, ...]
    already: tuple[Match, ...]
    list_effect: str = ""

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
        """A table with a row per suggested parent: parent (its id), name, path, probability, cosine, gate, siblings.

        Returns
        -------
        pandas.DataFrame
            Best first.
        """
        columns = ("name", "path", "probability", "score", "cosine", "gate", "siblings")
        rows = [{"parent": s.id, **{column: getattr(s, column) for column in columns}} for s in self.ranked]
        frame: pd.DataFrame = require("pandas", "frames").DataFrame(rows, columns=["parent", *columns])
        return frame

    def __repr__(self) -> str:
        lines = [f"{percent(s.probability, 1):>6}  {' › '.join(s.path)}" for s in self.ranked]
        return "\n".join(
            [f"Parents of '{self.query.name}':", *lines, f"{percent(self.none_probability, 1):>6}  none of these"]
        )

    def _repr_html_(self) -> str:
        """The table that notebooks show."""
        rows = [(percent(s.probability, 1), " › ".join(s.path)) for s in self.ranked]
        rows.append((percent(self.none_probability, 1), "none of these"))
        cells = "".join(f"<tr><td>{escape(share)}</td><td>{escape(where)}</td></tr>" for share, where in rows)
        head = "<tr><th>probability</th><th>parent</th></tr>"
        return f"<table><caption>Parents of {escape(self.query.name)}</caption>{head}{cells}</table>"

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], query: Concept, taxonomy: Taxonomy) -> Suggestions:
        """Suggestions from what `as_dict` made of them.

        Parameters
        ----------
        values : mapping
            JSON values; the query in them is not looked at.
        query : Concept
        taxonomy : Taxonomy
            The one they refer to; suggested concepts that are not in it get the position −1.

        Returns
        -------
        Suggestions
        """
        ranked = tuple(
            Suggestion(
                position=taxonomy.position(one["id"]) if one["id"] in taxonomy else -1,
                **{name: one[name] for name in ("id", "name", "probability", "score", "cosine", "gate", "reasons")},
                path=tuple(one["path"]),
                siblings=tuple(one["siblings"]),
            )
            for one in values["suggestions"]
        )
        by_id = {one.id: one for one in ranked}
        return cls(
            query=query,
            none_probability=values["none_probability"],
            ranked=ranked,
            parents=tuple(by_id[id] for id in values["parents"]),
            already=tuple(Match(**match) for match in values["already"]),
        )

    def as_dict(self) -> dict[str, Any]:
        """As JSON values.

        Returns
        -------
        dict
            What ``taxosphere suggest --json`` prints.
        """
        query: dict[str, Any] = {"id": self.query.id, "name": self.query.name, "description": self.query.description}
        query |= {"images": list(self.query.images)} if self.query.images else {}
        return {
            "query": query,
            "none_probability": self.none_probability,
            "parents": [parent.id for parent in self.parents],
            "already": [match._asdict() for match in self.already],
            "suggestions": [suggestion.as_dict() for suggestion in self.ranked],
        }


def make_suggestions(batch: RankedBatch, queries: Sequence[Concept], *, k: int) -> list[Suggestions]:
    """Suggestions for each query of a ranked batch.

    Parameters
    ----------
    batch
        Rankings of the queries, with contributions for the first `places_needed` of each list.
    queries
        The queries of the batch, in its order.
    k
        How many candidates to suggest for each.
    """
    taxonomy, ranking = batch.index.taxonomy, batch.ranking
    n_places = min(places_needed(k), ranking.positions.shape[1])
    positions = ranking.positions[:, :n_places]
    columns = (
        positions,
        ranking.probabilities[:, :n_places],
        ranking.scores[:, :n_places],
        ranking.cosine[:, :n_places],
        ranking.gate[:, :n_places],
    )
    siblings = _siblings(batch.index, batch.vectors, positions)
    rows = zip(*(column.tolist() for column in columns), siblings, _reasons(ranking, n_places), strict=True)
    names, paths = _paths(taxonomy, positions)
    together = batch.parent_set.choose(ranking.probabilities[:, :N_PLACES])  # (q, places)
    suggestions = []
    for i, (query, row) in enumerate(zip(queries, rows, strict=True)):
        ranked = [
            Suggestion(
                position=position,
                id=taxonomy.ids[position],
                name=names[position],
                path=paths[position],
                probability=probability,
                score=score,
                cosine=cosine,
                gate=gate,
                siblings=nearest,
                reasons=reasons,
            )
            for position, probability, score, cosine, gate, nearest, reasons in zip(*row, strict=True)
        ]
        parents = [s for s, taken in zip(ranked, together[i], strict=False) if taken]
        suggestions.append(
            Suggestions(
                query=query,
                none_probability=float(ranking.none_probability[i]),
                ranked=tuple(ranked[:k]),
                parents=tuple(_independent(taxonomy, parents)),
                already=weigh_place(batch.duplicates[i], taxonomy, {s.id for s in ranked[:N_PLACES]}),
            )
        )
    return suggestions


def _paths(taxonomy: Taxonomy, positions: Longs) -> tuple[dict[int, str], dict[int, tuple[str, ...]]]:
    """By position: names of these concepts and all on their paths, each read once, and the path of each as names."""
    ways = {position: taxonomy.path_positions(position) for position in np.unique(positions).tolist()}
    names = {position: taxonomy.names[position] for position in {p for way in ways.values() for p in way}}
    return names, {position: tuple([names[p] for p in way]) for position, way in ways.items()}


def places_needed(k: int) -> int:
    """How many places of a list are needed to suggest ``k``: the set of parents does not depend on ``k``."""
    return max(k, N_PLACES)


def _reasons(ranking: Ranking, n_places: int) -> list[list[dict[str, float]]]:
    """For each query and each of the first places, the largest contributions by name of the feature."""
    contributions = ranking.contributions[:, :n_places]
    flat = contributions.reshape(len(contributions) * n_places, contributions.shape[2])
    largest = largest_columns(np.abs(flat), _REASONS)
    order = np.argsort(-np.abs(np.take_along_axis(flat, largest, 1)), axis=1, kind="stable")
    largest = np.take_along_axis(largest, order, 1)
    values = np.take_along_axis(flat, largest, 1).astype(np.float64).round(4)
    names = ranking.feature_names
    reasons = [
        {names[f]: v for f, v in zip(*pair, strict=True) if v}
        for pair in zip(largest.tolist(), values.tolist(), strict=True)
    ]
    return [reasons[start : start + n_places] for start in range(0, len(reasons), n_places)]


def _siblings(index: CandidateIndex, vectors: Floats, parents: Longs) -> list[list[tuple[str, ...]]]:
    """Names of the children of each parent (q, k) whose texts are most similar to the query's vector (q, m)."""
    count = parents.shape[1]
    pair, child = index.taxonomy.child_csr.expand(parents.ravel())
    ends = np.searchsorted(pair, np.arange(parents.size + 1)).tolist()
    similarity = products_of_pairs(vectors, index.text_vectors.full, pair // max(1, count), child)
    nearest = child[np.lexsort((-similarity, pair))].tolist()
    names = index.taxonomy.names
    by_pair = [tuple([names[c] for c in nearest[s : min(s + _SIBLINGS, end)]]) for s, end in pairwise(ends)]
    return [by_pair[start : start + count] for start in range(0, len(by_pair), count)]


def _independent(taxonomy: Taxonomy, parents: Sequence[Suggestion]) -> list[Suggestion]:
    """Parents none of which is an ancestor of another: of two on one path the first, more probable one stays."""
    if len(parents) < 2:
        return list(parents)
    ancestors = taxonomy.ancestor_csr
    kept: list[Suggestion] = []
    for one in parents:
        if not any(
            one.position in ancestors.row(s.position) or s.position in ancestors.row(one.position) for s in kept
        ):
            kept.append(one)
    return kept
