"""A taxonomy with everything the features need of it, apart from the queries."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.encoders.text.vectors import TextVectors
from taxosphere.orbit import gate
from taxosphere.ranking.features.layout import Matrix
from taxosphere.ranking.lexical.index import PHRASE, ConceptTokens, LexicalIndex
from taxosphere.sphere import vmf
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.checks import obsolete

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Points:
    """Concepts on the sphere: z (n, d), mean directions mu (n, d) and concentrations kappa (n,)."""

    z: Floats
    mu: Floats
    kappa: Floats


@dataclass(frozen=True)
class CandidateIndex:
    """Candidates are all concepts of ``taxonomy``; only the first ``evidence`` of them vote, stand as examples and are
    counted among what lies below a concept.

    Concepts that were attached provisionally are candidates like any other, but what they hang below is a guess and
    must not speak for itself.
    """

    taxonomy: Taxonomy
    views: TextVectors
    points: Points
    n_trusted: int
    tokens_read: ConceptTokens | None = None
    """The concepts' words, where they were read already."""

    @cached_property
    def obsolete(self) -> NDArray[np.int64]:
        """Candidates that nothing may be placed below, because they are obsolete; none where all are."""
        found = np.array(obsolete(self.taxonomy), np.int64)
        return found if len(found) < len(self.taxonomy) else found[:0]

    @property
    def vectors(self) -> Floats:
        return self.views.full

    @cached_property
    def known(self) -> Taxonomy:
        """The taxonomy as far as it is no guess."""
        whole = self.n_trusted == len(self.taxonomy)
        return self.taxonomy if whole else self.taxonomy.keep(np.arange(self.n_trusted))

    def _padded(self, values: NDArray[Any]) -> NDArray[Any]:
        """A value for every candidate from one for each that is known: nothing lies below the others."""
        return np.pad(values, (0, len(self.taxonomy) - self.n_trusted))

    @cached_property
    def parents(self) -> Matrix:
        """(evidence, n): 1 from a concept to its parents."""
        return self.grandparents[: self.n_trusted]

    @cached_property
    def grandparents(self) -> Matrix:
        """(n, n): 1 from a concept to its parents, for a second step."""
        edges, size = self.taxonomy.edge_array, len(self.taxonomy)
        ones = np.ones(len(edges), np.float32)
        return sparse.csr_array((ones, (edges[:, 1], edges[:, 0])), shape=(size, size))

    @cached_property
    def above(self) -> Matrix:
        """(n, n): 1 from a concept to all its ancestors."""
        rows, size = self.taxonomy.ancestor_csr, len(self.taxonomy)
        return sparse.csr_array((np.ones(len(rows.indices), np.float32), rows.indices, rows.indptr), shape=(size, size))

    @cached_property
    def child_groups(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Candidates with children (m,), and their children (width, m), in groups of like width.

        Widths are powers of two, and the last child stands in for those that are missing: maxima over few wide groups
        take a fraction of the time of maxima over rows of any length.
        """
        rows = sparse.csr_array(self.parents.T)
        counts = np.diff(rows.indptr)
        widths = 1 << np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
        found = []
        for width in np.unique(widths[counts > 0]):
            owners = np.flatnonzero((widths == width) & (counts > 0))
            child = np.minimum(np.arange(width)[:, None], counts[owners] - 1)
            found.append((owners, rows.indices[rows.indptr[owners] + child].astype(np.int64)))
        return found

    @cached_property
    def non_leaves(self) -> NDArray[np.int64]:
        """Candidates that have children, in the order of the child_groups."""
        return np.concatenate([np.zeros(0, np.int64), *(owners for owners, _ in self.child_groups)])

    @cached_property
    def log_normalizer(self) -> Floats:
        kappa = torch.from_numpy(self.points.kappa)
        return np.asarray(vmf.log_normalizer(self.points.z.shape[1], kappa).numpy(), np.float32)

    @cached_property
    def centres(self) -> dict[str, Matrix]:
        """(owners, evidence) by measure: the weight of each child in the unit mean of its parent's children."""
        children = sparse.csr_array(self.parents.T)[self.non_leaves]
        found = {}
        for name, vectors in (("sphere", self.points.z), ("full", self.views.full), ("name", self.views.name)):
            length = np.linalg.norm(children @ vectors[: self.n_trusted], axis=1)
            found[name] = sparse.csr_array(children / np.maximum(length, 1e-6).astype(np.float32)[:, None])
        return found

    @cached_property
    def tokens(self) -> ConceptTokens:
        return self.tokens_read or ConceptTokens.of(self.taxonomy.concepts())

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        upward = self.parents.copy()
        upward.resize(len(self.taxonomy), len(self.taxonomy))
        return LexicalIndex(self.tokens, sparse.csr_array(upward.T))

    @cached_property
    def loose(self) -> Floats:
        return orphan_scores(self.known)

    @cached_property
    def orphan_word_scores(self) -> dict[str, Floats]:
        """How loose the concepts are whose definition says with this word what they are."""
        usual = float(self.loose.mean())
        values = np.pad(self.loose, (0, len(self.taxonomy) - self.n_trusted), constant_values=usual)
        return {name: self.lexical_index.bags[name].mean(values, usual) for name in PHRASE}

    @cached_property
    def delta(self) -> Floats:
        return self._padded(gate.delta(self.known).astype(np.float32))

    @cached_property
    def candidate_features(self) -> dict[str, Floats]:
        """Features of a candidate that are the same for every query."""
        t, known = self.taxonomy, self.known
        children = self._padded(known.child_csr.counts.astype(np.float64))
        below = known.edge_array
        leaf_children = np.bincount(below[:, 0], weights=children[below[:, 1]] == 0, minlength=len(t))
        beside = self.grandparents @ np.log1p(children)
        return {
            name: np.asarray(values, np.float32)
            for name, values in {
                "descendants": np.log1p(self._padded(known.descendants)),
                "children": np.log1p(children),
                "is leaf": children == 0,
                "depth": t.levels / max(1, t.levels.max(initial=0)),
                "leaf children": np.log1p(leaf_children),
                "share of leaf children": leaf_children / np.maximum(children, 1),
                "is root": t.parent_csr.counts == 0,
                "stands alone": (t.parent_csr.counts == 0) & (children == 0),
                "siblings": beside / np.maximum(t.parent_csr.counts, 1),
                "shared name": np.log(self.lexical_index.shared),
                "words in name": self.tokens.lengths,
            }.items()
        }


def orphan_scores(taxonomy: Taxonomy) -> Floats:
    """Zero for a concept that has a parent, one for one that stands alone, less for one with more below it: a root with
    a tree of its own is there on purpose."""
    root = taxonomy.parent_csr.counts == 0
    return np.asarray(root / (1 + np.log1p(taxonomy.descendants)), np.float32)
