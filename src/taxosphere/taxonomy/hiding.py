"""Choosing concepts to hide together, so that every query keeps a right answer among what stays visible.

A random leaf is not all that arrives in a curator's list: there are inner concepts, and concepts whose parent is not
there yet. `Hiding` draws disjoint concepts of each kind from one taxonomy; `hidden_folds` does so several times, for a
ranker that learns from all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from taxosphere.taxonomy.graph import Taxonomy
from taxosphere.taxonomy.structure import Longs, transpose

LARGEST_SUBTREE = 20  # concepts hidden with one parent
FEWEST_FOR_INNER = 100  # concepts of a taxonomy of which more than leaves is hidden
_FOLD_SHARE = 0.05  # of the taxonomy, hidden in a fold as inner concepts, and with missing parents
_MOST_INNER, _MOST_MISSING = 60, 120  # concepts hidden in a fold for these


class MissingParent(NamedTuple):
    """A hidden parent: its children that are leaves and have no other parent, and all that is hidden with it."""

    leaves: Longs
    hidden: Longs


class Hiding:
    """Draws disjoint concepts to hide; parents of queries stay visible.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without cycles.
    rng : numpy Generator
        Draws.

    Attributes
    ----------
    hidden : array of bool
        Concepts drawn so far.
    frozen : array of bool
        Concepts that must stay visible, because they are the answer to a query.
    """

    def __init__(self, taxonomy: Taxonomy, rng: np.random.Generator) -> None:
        self.taxonomy, self.rng = taxonomy, rng
        self.hidden = np.zeros(len(taxonomy), bool)
        self.frozen = np.zeros(len(taxonomy), bool)
        self._descendants = transpose(taxonomy.ancestor_csr)

    def subtrees(self, most: int) -> list[Longs]:
        """Inner concepts with all below them, 2 to `LARGEST_SUBTREE` concepts each and at most ``most`` together."""
        taken: list[Longs] = []
        left = most
        for root, size in self._subtrees_in_random_order():
            if size <= left and self._can_hide(root):
                taken.append(np.sort(self._hide_subtree(root)))
                left -= size
        return taken

    def missing_parents(self, most: int, most_parents: int) -> list[MissingParent]:
        """Parents of leaves with all below them, at most ``most`` concepts below at most ``most_parents`` parents."""
        taken: list[MissingParent] = []
        counts = self.taxonomy.child_csr.counts
        left = most
        for parent, size in self._subtrees_in_random_order():
            if size > left or len(taken) >= most_parents:
                continue
            leaves = [
                child
                for child in self.taxonomy.child_csr.row(parent)
                if counts[child] == 0 and len(self.taxonomy.parent_csr.row(child)) == 1
            ]
            if leaves and self._can_hide(parent):
                taken.append(MissingParent(np.array(leaves, np.int64), self._hide_subtree(parent)))
                left -= size
        return taken

    def inner(self, most: int) -> Longs:
        """Inner concepts to hide alone; their children, which move up, stay visible."""
        taken: list[int] = []
        for concept in self._inner_in_random_order():
            if len(taken) >= most:
                break
            children = self.taxonomy.child_csr.row(concept)
            free = not self.hidden[children].any() and not self.frozen[concept] and not self.hidden[concept]
            if free and self._parents_stay(concept):
                self._hide(concept, np.array([concept]))
                self.frozen[children] = True
                taken.append(concept)
        return np.array(sorted(taken), np.int64)

    def leaves(self, among: Longs, most: int) -> Longs:
        """The first ``most`` of the leaves ``among`` that may be hidden; their parents all stay visible."""
        chosen = np.sort(among[self.can_hide_leaf(among)][:most])
        self.hidden[chosen] = True
        return chosen

    def can_hide_leaf(self, leaves: Longs) -> NDArray[np.bool_]:
        """Which leaves may be hidden: those that are no answer themselves and whose parents all stay visible."""
        parents_stay = [not self.hidden[self.taxonomy.parent_csr.row(leaf)].any() for leaf in leaves]
        return np.array(parents_stay, bool) & ~(self.hidden | self.frozen)[leaves]

    def _inner_in_random_order(self) -> list[int]:
        counts = self.taxonomy.child_csr.counts
        inner = np.flatnonzero((counts > 0) & (self.taxonomy.parent_csr.counts > 0))
        return [int(i) for i in self.rng.permutation(inner)]

    def _subtrees_in_random_order(self) -> Iterator[tuple[int, int]]:
        """Inner concepts with at most `LARGEST_SUBTREE` concepts in their subtrees, and how many there are."""
        sizes = self._descendants.counts + 1
        return ((root, int(sizes[root])) for root in self._inner_in_random_order() if sizes[root] <= LARGEST_SUBTREE)

    def _subtree(self, root: int) -> Longs:
        return np.append(self._descendants.row(root), root)

    def _can_hide(self, root: int) -> bool:
        subtree = self._subtree(root)
        return not (self.hidden[subtree] | self.frozen[subtree]).any() and self._parents_stay(root)

    def _hide_subtree(self, root: int) -> Longs:
        subtree = self._subtree(root)
        self._hide(root, subtree)
        return subtree

    def _parents_stay(self, concept: int) -> bool:
        return not self.hidden[self.taxonomy.parent_csr.row(concept)].any()

    def _hide(self, root: int, concepts: Longs) -> None:
        self.hidden[concepts] = True
        self.frozen[self.taxonomy.parent_csr.row(root)] = True


@dataclass(frozen=True)
class HiddenFold:
    """Concepts of a taxonomy that are hidden together, as positions.

    Attributes
    ----------
    leaves, inner, missing
        What is asked: leaves whose parents stay, inner concepts whose children move up to their parents, and leaves
        that are hidden with their parent and all below it.
    hidden
        All that is hidden, ascending.
    """

    leaves: Longs
    inner: Longs
    missing: Longs
    hidden: Longs


def hidden_folds(taxonomy: Taxonomy, leaves: Longs, n_folds: int, random_state: int) -> list[HiddenFold]:
    """Divide leaves into folds, and draw inner concepts and missing parents to be hidden with each.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without cycles. From one with fewer than `FEWEST_FOR_INNER` concepts leaves alone are hidden: without an inner
        concept it would be another one.
    leaves : array
        Positions of leaves with a parent, in random order. One that cannot be asked in its own fold, because the
        concepts drawn there are its parents or siblings, is asked in the next where it can.
    n_folds : int
        How many folds; not more than there are leaves.
    random_state : int
        Draws.
    """
    n_folds = min(n_folds, len(leaves))
    share = int(_FOLD_SHARE * len(taxonomy)) if len(taxonomy) >= FEWEST_FOR_INNER else 0
    hidings = [Hiding(taxonomy, np.random.default_rng([random_state, 5, number])) for number in range(n_folds)]
    missing = [hiding.missing_parents(min(share, _MOST_MISSING), len(taxonomy)) for hiding in hidings]
    inner = [hiding.inner(min(share, _MOST_INNER)) for hiding in hidings]
    possible = np.stack([hiding.can_hide_leaf(leaves) for hiding in hidings], 1) if n_folds else np.zeros((0, 1), bool)
    turn = (np.arange(len(leaves))[:, None] + np.arange(max(1, n_folds))) % max(1, n_folds)  # (leaves, folds)
    fold_of = np.take_along_axis(turn, np.take_along_axis(possible, turn, 1).argmax(1)[:, None], 1)[:, 0]
    folds = []
    for number, hiding in enumerate(hidings):
        asked = hiding.leaves(leaves[fold_of == number], len(leaves))
        without_parent = np.concatenate([np.zeros(0, np.int64), *(each.leaves for each in missing[number])])
        folds.append(HiddenFold(asked, inner[number], np.sort(without_parent), np.flatnonzero(hiding.hidden)))
    return folds
