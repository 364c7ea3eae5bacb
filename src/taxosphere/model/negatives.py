"""Negatives of a child: siblings, cousins, uncles and random concepts, never itself or an ancestor.

All draws of an epoch are made at once with array code; a draw that fails (the concept has no sibling, or the draw is an
ancestor) is replaced by a random concept. `share` then bounds how many distinct concepts the pairs of one optimiser
step draw, for an encoder that learns along and has to encode every one of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.structure import Csr
from taxosphere.typing import Booleans, Longs

NONE = -1
_ROUNDS = 8  # each round of redrawing leaves a share (ancestors + 1) / n of the draws to the next


@dataclass(frozen=True)
class Mix:
    """Shares of the negatives that are relatives of a kind; the rest is drawn from the whole seed."""

    siblings: float
    cousins: float
    uncles: float


class Lineage:
    """Tells for arrays of pairs whether one concept is the other's ancestor or itself."""

    def __init__(self, seed: Taxonomy) -> None:
        self.size = len(seed)
        self.ancestors: Csr = seed.ancestor_csr
        rows = np.repeat(np.arange(self.size), self.ancestors.counts)
        # Rows ascend and so do the ancestors inside a row: the keys come out sorted.
        self._keys: Longs = rows * self.size + self.ancestors.indices

    def forbidden(self, child: Longs, other: Longs) -> Booleans:
        """True where ``other`` is the child itself or one of its ancestors (parents included)."""
        keys = child * self.size + other
        at = np.searchsorted(self._keys, keys)
        forbidden: Booleans = child == other
        inside = at < len(self._keys)
        forbidden[inside] |= self._keys[at[inside]] == keys[inside]
        return forbidden


def sample(
    seed: Taxonomy,
    lineage: Lineage,
    children: Longs,
    count: int,
    mix: Mix,
    rng: Generator,
) -> Longs:
    """Draw negatives for children.

    Parameters
    ----------
    seed : Taxonomy
    lineage : Lineage
        Of the same seed.
    children : integer array of shape (n,)
        Positions of the children.
    count : int
        Negatives of each child.
    mix : Mix
        Shares of siblings, cousins and uncles.
    rng : numpy Generator

    Returns
    -------
    integer array of shape (n, count)
        Positions; NONE where the child or its ancestors are all there is.
    """
    child = np.repeat(children, count)
    drawn = _redrawn(lineage, child, _relatives(seed, child, mix, rng), np.arange(len(seed)), rng)
    return drawn.reshape(len(children), count)


def share(lineage: Lineage, edges: Longs, drawn: Longs, extra: int, rng: Generator) -> Longs:
    """Replace negatives so that all of them come from few concepts that the pairs of an optimiser step share.

    These are the concepts of the pairs and, of the other negatives drawn, those drawn most often: relatives that
    several children have. Any other negative is replaced by a random one of these concepts that is neither the child
    nor above it.

    Parameters
    ----------
    lineage : Lineage
        Of the seed.
    edges : integer array of shape (n, 2)
        The pairs of the step, parent first.
    drawn : integer array of shape (n, k)
        Their negatives, from `sample`.
    extra : int
        Shared concepts, at most, besides those of the pairs.
    rng : numpy Generator

    Returns
    -------
    integer array of shape (n, k)
        Positions; NONE where all shared concepts are above the child.
    """
    paired = np.unique(edges)
    others, times = np.unique(drawn[(drawn != NONE) & ~np.isin(drawn, paired)], return_counts=True)
    mixed = rng.permutation(len(others))  # among equally often drawn ones chance decides
    shared = np.union1d(paired, others[mixed[np.argsort(-times[mixed], kind="stable")][:extra]])
    kept = np.where(np.isin(drawn, shared), drawn, NONE)
    return _redrawn(lineage, np.repeat(edges[:, 1], drawn.shape[1]), kept.ravel(), shared, rng).reshape(drawn.shape)


def _redrawn(lineage: Lineage, child: Longs, drawn: Longs, choices: Longs, rng: Generator) -> Longs:
    """The draws with those that failed replaced by random choices; NONE where none is admissible."""
    for _ in range(_ROUNDS):
        bad = np.flatnonzero((drawn == NONE) | lineage.forbidden(child, drawn))
        if len(bad) == 0:
            break
        drawn[bad] = choices[rng.integers(len(choices), size=len(bad))]
    bad = np.flatnonzero(lineage.forbidden(child, drawn))
    for row in bad:  # only children below nearly all of them, as in a chain
        allowed = np.setdiff1d(choices, [child[row], *lineage.ancestors.row(child[row])])
        drawn[row] = rng.choice(allowed) if len(allowed) else NONE
    return drawn


def _relatives(seed: Taxonomy, child: Longs, mix: Mix, rng: Generator) -> Longs:
    """One relative per entry of ``child``, NONE where a random one is due or there is none."""
    kind = rng.random(len(child))
    drawn = np.full(len(child), NONE, np.int64)
    up, down = seed.parent_csr, seed.child_csr
    ways = ((mix.siblings, (up, down)), (mix.cousins, (up, up, down, down)), (mix.uncles, (up, up, down)))
    start = 0.0
    for share, way in ways:
        chosen = np.flatnonzero((kind >= start) & (kind < start + share))
        at = child[chosen]
        for rows in way:
            at = random_neighbours(rows, at, rng)
        drawn[chosen] = at
        start += share
    return drawn


def random_neighbours(rows: Csr, at: Longs, rng: Generator) -> Longs:
    """A random neighbour of each position; NONE stays NONE and so does a position without neighbours."""
    count = np.where(at == NONE, 0, rows.counts[at])
    pick = rows.indptr[at] + (rng.random(len(at)) * count).astype(np.int64)
    drawn = np.full(len(at), NONE, np.int64)
    some = count > 0
    drawn[some] = rows.indices[pick[some]]
    return drawn
