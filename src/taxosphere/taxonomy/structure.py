"""Depths, reachability and common ancestors of a hierarchy, as array code.

Every function takes compressed rows (`Csr`): row i lists the parents, or the children, of concept i. Nothing loops over
concepts or edges in Python; loops run over levels or over blocks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
_Integer = TypeVar("_Integer", bound=np.integer[Any])

_BLOCK_PAIRS = 1 << 22  # (concept, ancestor) pairs held at once


class Csr(NamedTuple):
    """Compressed rows: the neighbours of i are ``indices[indptr[i]:indptr[i + 1]]``."""

    indptr: Longs
    indices: Ints

    def row(self, i: int) -> Ints:
        return self.indices[self.indptr[i] : self.indptr[i + 1]]

    @property
    def counts(self) -> Longs:
        return np.diff(self.indptr)

    def expand(self, rows: NDArray[np.integer]) -> tuple[Longs, Ints]:
        """Neighbours of many rows at once: (which of ``rows``, neighbour), in row order."""
        starts = self.indptr[rows]
        counts = self.indptr[rows + 1] - starts
        owner = np.repeat(np.arange(len(rows)), counts)
        shift = np.repeat(starts - np.cumsum(counts) + counts, counts)
        return owner, self.indices[np.arange(len(owner)) + shift]


def compress(size: int, rows: NDArray[np.integer], values: NDArray[np.integer]) -> Csr:
    """Group ``values`` by ``rows``, keeping their order inside a row."""
    indptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=size), out=indptr[1:])
    return Csr(indptr, values[np.argsort(rows, kind="stable")].astype(np.int32, copy=False))


def depths(parents: Csr, children: Csr) -> Ints:
    """Fewest steps from a root (roots are 0); -1 where no root leads, which only a cycle can cause."""
    return depths_from(np.flatnonzero(parents.counts == 0), children)


def depths_from(roots: Longs, children: Csr) -> Ints:
    """Fewest steps down from any of ``roots``; -1 where none leads."""
    result = np.full(len(children.counts), -1, np.int32)
    frontier, level = roots, 0
    while len(frontier):
        result[frontier] = level
        below = children.expand(frontier)[1]
        frontier = distinct(below[result[below] < 0]).astype(np.int64)
        level += 1
    return result


def levels(parents: Csr, children: Csr) -> list[Longs]:
    """Concepts grouped by their longest distance from a root: a topological order in slices.

    Concepts on or below a cycle belong to no level, so the slices hold every concept exactly when the graph is acyclic.
    """
    waiting = parents.counts.copy()
    frontier = np.flatnonzero(waiting == 0)
    slices = []
    while len(frontier):
        slices.append(frontier)
        below = children.expand(frontier)[1]
        np.subtract.at(waiting, below, 1)
        frontier = distinct(below[waiting[below] == 0]).astype(np.int64)
    return slices


def longest_depths(size: int, slices: list[Longs]) -> Ints:
    result = np.full(size, -1, np.int32)
    for level, members in enumerate(slices):
        result[members] = level
    return result


def reach_counts(parents: Csr, slices: list[Longs]) -> tuple[Longs, Longs]:
    """Exact numbers of distinct (descendants, ancestors) of every concept of an acyclic graph.

    A concept with one parent extends its parent's tree; a concept with several parents heads a tree of its own.
    Inside a tree counts simply add up, so ancestors need to be enumerated for heads with several parents only: each
    adds its whole tree to everything above it.
    """
    size = len(parents.counts)
    single = parents.counts == 1
    parent = np.full(size, -1, np.int64)
    parent[single] = parents.indices[parents.indptr[:-1][single]]
    inside = [members[single[members]] for members in slices]
    head = np.arange(size)
    steps = np.zeros(size, np.int64)  # from the head of the tree
    tree = np.ones(size, np.int64)  # concepts of the tree at or below
    for members in inside:
        head[members] = head[parent[members]]
        steps[members] = steps[parent[members]] + 1
    for members in reversed(inside):
        np.add.at(tree, parent[members], tree[members])

    below = tree - 1
    above_head = np.zeros(size, np.int64)
    level = longest_depths(size, slices)
    heads = np.flatnonzero(parents.counts > 1)
    heads = heads[np.argsort(level[heads], kind="stable")]  # neighbours in a block then walk the same levels
    for block, owner, above in _ancestor_blocks(parents, level, heads):
        np.add.at(below, above, tree[block][owner])
        above_head[block] = np.bincount(owner, minlength=len(block))
    return below, above_head[head] + steps


def ancestor_rows(parents: Csr, concepts: NDArray[np.integer] | None = None, level: Ints | None = None) -> Csr:
    """All distinct ancestors of each of ``concepts`` (default: all), ascending; row i belongs to ``concepts[i]``.

    ``level`` is the longest depth of every concept; who has it at hand saves finding it again.
    """
    size = len(parents.counts)
    if level is None:
        level = longest_depths(size, levels(parents, transpose(parents)))
    if level.min(initial=0) < 0:
        raise ValueError("a cyclic graph has no topological levels")
    wanted = np.arange(size) if concepts is None else np.asarray(concepts, np.int64)
    counts, result = np.zeros(len(wanted), np.int64), []
    start = 0
    for block, owner, above in _ancestor_blocks(parents, level, wanted):
        order = np.lexsort((above, owner))
        result.append(above[order].astype(np.int32))
        counts[start : start + len(block)] = np.bincount(owner, minlength=len(block))
        start += len(block)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return Csr(indptr, np.concatenate(result) if result else np.zeros(0, np.int32))


def transpose(rows: Csr) -> Csr:
    """Children from parents, parents from children, or descendants from ancestors; each row ascends."""
    return compress(len(rows.counts), rows.indices, np.repeat(np.arange(len(rows.counts)), rows.counts))


def _ancestor_blocks(parents: Csr, level: Ints, concepts: Longs) -> Iterator[tuple[Longs, Longs, Longs]]:
    """Yield (block of concepts, owner within the block, ancestor), distinct pairs, block by block."""
    widest = 1 << (61 - len(level).bit_length() - int(level.max(initial=0)).bit_length())  # keys fit into 63 bits
    width, start = 1024, 0
    while start < len(concepts):
        block = concepts[start : start + width]
        owner, above = _ancestor_pairs(parents, level, block)
        yield block, owner, above
        start += len(block)
        # Aim the next block at the memory bound with the density this one showed.
        width = int(np.clip(_BLOCK_PAIRS * len(block) / max(1, len(owner)), 64, min(4 * width, widest)))


def _ancestor_pairs(parents: Csr, level: Ints, block: Longs) -> tuple[Longs, Longs]:
    """Climb from the deepest level to the roots. A level is visited once, when all that leads to it has been expanded.

    Pairs travel as one integer, ``level | owner | concept`` from the high bits down, so that one sort deals them out.
    """
    low = len(level).bit_length()
    high = low + len(block).bit_length()
    concept_bits, pair_bits = (1 << low) - 1, (1 << high) - 1
    waiting: list[list[Longs]] = [[] for _ in range(int(level[block].max(initial=0)) + 1)]

    def climb(owner: Longs, concept: Longs) -> None:
        which, above = parents.expand(concept)
        keys = (level[above].astype(np.int64) << high) | (owner[which] << low) | above
        keys.sort()
        there = keys >> high
        cuts = [0, *(np.flatnonzero(there[1:] != there[:-1]) + 1).tolist(), len(keys)] if len(keys) else []
        for begin, end in pairwise(cuts):
            waiting[there[begin]].append(keys[begin:end] & pair_bits)

    climb(np.arange(len(block)), block)
    result = [np.zeros(0, np.int64)]
    for here in reversed(waiting):
        if here:
            pairs = distinct(np.concatenate(here))
            here.clear()
            result.append(pairs)
            climb(pairs >> low, pairs & concept_bits)
    pairs = np.concatenate(result)
    return pairs >> low, pairs & concept_bits


def distinct(values: NDArray[_Integer]) -> NDArray[_Integer]:
    """Sorted distinct values; a sort is many times faster than the hash table behind ``np.unique``."""
    ordered = np.sort(values)
    new = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def strong_components(parents: Csr) -> Ints:
    """A label for each concept; concepts share one when each can reach the other."""
    labels: Ints = _components(parents, "strong")[1]
    return labels


def component_count(parents: Csr) -> int:
    """Number of parts with no edge between them; an isolated concept is one."""
    return int(_components(parents, "weak")[0])


def _components(parents: Csr, connection: str) -> tuple[int, Ints]:
    from scipy.sparse import csr_array  # here, because it takes longer to import than most commands run
    from scipy.sparse.csgraph import connected_components

    size = len(parents.counts)
    if size == 0:
        return 0, np.zeros(0, np.int32)
    ones = np.ones(len(parents.indices), np.int8)
    graph = csr_array((ones, parents.indices, parents.indptr.astype(np.int32)), shape=(size, size))
    count, labels = connected_components(graph, directed=True, connection=connection)
    return count, labels


def deepest_common(parents: Csr, depth: Ints, left: NDArray[np.integer], right: NDArray[np.integer]) -> Longs:
    """For each pair, the common ancestor (or self) farthest from the roots; -1 where the two share none."""
    concepts, inverse = np.unique(np.concatenate([left, right]), return_inverse=True)
    above = ancestor_rows(parents, concepts)
    rows = np.concatenate([np.repeat(np.arange(len(concepts)), above.counts), np.arange(len(concepts))])
    family = compress(len(concepts), rows, np.concatenate([above.indices, concepts.astype(np.int32)]))
    size = max(1, len(depth))
    sides = []
    for side in np.split(inverse, 2):
        pair, member = family.expand(side)
        sides.append(pair * size + member)
    shared = np.intersect1d(sides[0], sides[1], assume_unique=True)
    pair, member = shared // size, shared % size
    order = np.lexsort((member, -depth[member], pair))
    first = order[np.concatenate([[True], pair[order][1:] != pair[order][:-1]])] if len(order) else order
    best = np.full(len(left), -1, np.int64)
    best[pair[first]] = member[first]
    return best


def wu_palmer(parents: Csr, depth: Ints, left: NDArray[np.integer], right: NDArray[np.integer]) -> NDArray[np.float64]:
    """Wu & Palmer similarity of each pair, depth counted from 1; 0 for concepts of different trees.

    In a graph with several parents a shortcut can make an ancestor "deeper" than its descendant, so the depth of the
    common ancestor is capped by those of the pair and the similarity stays within [0, 1].
    """
    common = deepest_common(parents, depth, left, right)
    a, b = depth[left] + 1.0, depth[right] + 1.0
    meet = np.where(common >= 0, np.minimum(depth[common] + 1.0, np.minimum(a, b)), 0.0)
    similarity: NDArray[np.float64] = 2.0 * meet / (a + b)
    return similarity
