"""Hiding concepts to see whether they are put back: the seed a model may look at, and the queries it is asked.

One mechanism, `hide`, serves the published splits and the random ones. The seed is built from visible concepts alone:
it carries no id, name, text or edge of a hidden one, and no free-form extras, because those may mention hidden ids.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import InputError
from taxosphere.taxonomy.concept import Concept
from taxosphere.taxonomy.graph import Taxonomy
from taxosphere.taxonomy.structure import Csr, Longs, compress, distinct

PARTS = ("train", "val", "test")


@dataclass(frozen=True)
class Split:
    """A seed, concepts to place in it, and for each of them its true parents as positions in the seed."""

    name: str
    seed: Taxonomy
    queries: tuple[Concept, ...]
    gold: tuple[Longs, ...]


def hide(
    t: Taxonomy,
    hidden: NDArray[np.integer] | NDArray[np.bool_],
    queries: NDArray[np.integer] | None = None,
    name: str = "hidden",
) -> Split:
    """Take ``hidden`` (positions or a mask) out of ``t`` and ask for ``queries`` (positions among them, default all).

    Children of a hidden concept move up to its nearest visible ancestors, which are also the gold parents of a query;
    a query without any has no answer in the seed and is left out.
    """
    t.order  # noqa: B018 - "nearest ancestor" has no meaning in a cycle: this raises CycleError
    mask = np.zeros(len(t), bool)
    mask[hidden] = True
    asked = np.flatnonzero(mask) if queries is None else np.asarray(queries, np.int64)
    if not mask[asked].all():
        raise ValueError("a query must be one of the hidden concepts")
    nearest = visible_parents(t, mask)
    place = np.cumsum(~mask) - 1
    answered = asked[nearest.counts[asked] > 0]
    return Split(
        name,
        _seed(t, mask, nearest, place),
        tuple(replace(t.concept(i), extras=()) for i in answered.tolist()),
        tuple(place[nearest.row(i)] for i in answered.tolist()),
    )


def visible_parents(t: Taxonomy, hidden: NDArray[np.bool_]) -> Csr:
    """The nearest visible ancestors of every concept, ascending: a hidden parent is replaced by its own parents."""
    size = max(1, len(t))
    child, parent = t.edge_array[:, 1].astype(np.int64), t.edge_array[:, 0].astype(np.int64)
    steps: list[Longs] = []
    while len(child):
        seen = ~hidden[parent]
        steps.append(child[seen] * size + parent[seen])
        child, parent = child[~seen], parent[~seen]
        which, above = t.parent_csr.expand(parent)
        keys: Longs = distinct(child[which] * size + above)
        child, parent = keys // size, keys % size
    keys = distinct(np.concatenate(steps)) if steps else np.zeros(0, np.int64)
    return compress(len(t), keys // size, keys % size)


def _seed(t: Taxonomy, hidden: NDArray[np.bool_], nearest: Csr, place: Longs) -> Taxonomy:
    seed = t.keep(~hidden)
    child = np.repeat(np.arange(len(t)), nearest.counts)
    visible = ~hidden[child]
    moved = np.stack([place[nearest.indices[visible]], place[child[visible]]], axis=1)
    # Edges that never touched a hidden concept come first and in source order; with_edges drops the second mention.
    seed = seed.with_edges(np.concatenate([seed.edge_array, moved.astype(np.int32)]))
    return replace(seed, extras=(), meta={})


def published(t: Taxonomy, parts: Mapping[str, str], queries: Literal["leaves", "all"] = "leaves") -> Split:
    """Hide every concept whose part is not ``train``; ask for those of ``test``, by default only the leaves of ``t``.

    A concept that no part names stays in the seed.
    """
    unknown = next((id for id in parts if id not in t), None)
    if unknown is not None:
        raise InputError(f"the split names '{unknown}', which is no concept of the taxonomy")
    hidden = np.array([t.position(id) for id, part in parts.items() if part != "train"], np.int64)
    asked = np.array([t.position(id) for id, part in parts.items() if part == "test"], np.int64)
    if queries == "leaves":
        asked = asked[t.child_csr.counts[asked] == 0]
    split = hide(t, hidden, np.sort(asked), "published")
    if not split.queries:
        raise InputError("the split leaves no test concept with a parent in the seed")
    return split


def leaves(t: Taxonomy, fraction: float = 0.2, seed: int = 0) -> Split:
    """Hide a random ``fraction`` of the leaves that have a parent. Their parents are never leaves, so all stay."""
    candidates = np.flatnonzero(t.hideable)
    if len(candidates) == 0:
        raise InputError("the taxonomy has no leaf with a parent, so there is nothing to hide")
    count = max(1, round(fraction * len(candidates)))
    chosen = np.random.default_rng(seed).choice(candidates, count, replace=False)
    return hide(t, np.sort(chosen), name=f"leaves-{seed}")


def read_parts(path: str | os.PathLike[str]) -> dict[str, str]:
    """Which part (train, val, test) each concept id belongs to, from a ``split.tsv`` or the folder that holds one."""
    from taxosphere.taxonomy.formats.io.streams import numbered_lines

    folder = Path(path)
    file = folder / "split.tsv" if folder.is_dir() else folder
    if not file.exists():
        raise InputError("there is no split.tsv here; hide random leaves instead (--split leaves)", folder)
    parts: dict[str, str] = {}
    for number, line in numbered_lines(file):
        cells = line.split("\t")
        if number == 1 and cells[1:] == ["split"]:
            continue
        if len(cells) != 2 or cells[1] not in PARTS:
            raise InputError(f"expected an id, a tab and one of {', '.join(PARTS)}", file, number)
        if parts.setdefault(cells[0], cells[1]) != cells[1]:
            raise InputError(f"'{cells[0]}' is in two parts; keep one of them", file, number)
    return parts
