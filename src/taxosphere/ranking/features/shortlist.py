"""The candidates worth a closer look, and the table of features the ranker reads for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.features.compute import Queries, signs
from taxosphere.ranking.features.layout import largest
from taxosphere.ranking.retrieval import FirstStage
from taxosphere.ranks import count_better

Floats = NDArray[np.float32]
Longs = NDArray[np.int64]

LENGTH = 100
FIRST_STAGE_SCORE = "first guess"
_CELLS = 1 << 21  # (query, candidate) pairs whose signs are held at once

# FeatureColumns on a scale of their own are also given relative to the query's best candidate, and as a rank.
_RELATIVE = (
    "sphere",
    "sphere mean",
    "sphere likelihood",
    "sphere, children",
    "encoder",
    "encoder, names",
    "encoder, text to name",
    "encoder, children",
    "encoder, children's names",
    "letters in common",
    "words in common",
    "words in common, children",
    "most similar child, sphere",
    "most similar child, full",
    "most similar child, name",
    "most similar child, text",
    "votes, sphere",
    "votes, full",
    "votes, name",
    "votes, text",
    "votes, wide",
    "text below, share",
    "phrase words below, share",
    "name words below, share",
)


@dataclass(frozen=True)
class Shortlist:
    """Features (q, k, f) of the candidates at ``positions`` (q, k), best guess first; ``guess`` is (q, n), ``loose``
    (q, s) are those of `FeatureColumns`."""

    names: tuple[str, ...]
    features: Floats
    positions: Longs
    guess: Floats
    loose: Floats


def blocks(count: int, candidates: int) -> Iterator[slice]:
    """Slices of queries whose signs fit into memory."""
    step = int(np.clip(_CELLS // max(1, candidates), 1, 256))
    return (slice(start, start + step) for start in range(0, count, step))


def shortlist(
    context: CandidateIndex,
    queries: Queries,
    families: Sequence[str],
    first_stage_model: FirstStage,
    *,
    exclude: Longs | None = None,
    length: int = LENGTH,
) -> Shortlist:
    """Look at one block of queries; ``exclude`` names a position per query that is no candidate."""
    found = signs(context, queries, families)
    guess = first_stage_model(context, found)
    guess[:, context.obsolete] = -np.inf
    if exclude is not None:
        guess[np.arange(len(guess)), exclude] = -np.inf
    guess -= guess.max(axis=1, keepdims=True)
    k = min(length, guess.shape[1] - len(context.obsolete) - (exclude is not None))
    best = largest(guess, k)
    order = np.argsort(-np.take_along_axis(guess, best, 1), axis=1, kind="stable")
    positions = np.take_along_axis(best, order, 1)
    columns = found.at(positions)
    columns[FIRST_STAGE_SCORE] = np.take_along_axis(guess, positions, 1)
    if "structure" in families:
        columns |= {name: values[positions] for name, values in context.candidate_features.items()}
    table = np.stack(list(columns.values()), axis=-1).astype(np.float32)
    return Shortlist(tuple(columns), table, positions.astype(np.int64), guess, found.loose)


def derived(names: Sequence[str], table: Floats) -> tuple[list[str], Floats]:
    """The table with the relative columns added."""
    columns = [names.index(name) for name in _RELATIVE if name in names]
    own = table[..., columns]
    gap = np.maximum(own - own.max(axis=1, keepdims=True), -1e3)
    rank = count_better(np.round(own, 4))  # what differs by rounding alone shares a rank
    decay = -np.log1p(np.arange(own.shape[1])).astype(np.float32)
    labels = [*names, *(f"{names[c]}, to the best" for c in columns), *(f"{names[c]}, rank" for c in columns)]
    return labels, np.concatenate([table, gap, decay[rank]], axis=-1)


def origin(label: str) -> str:
    """The sign a derived column comes from."""
    return label.removesuffix(", to the best").removesuffix(", rank")
