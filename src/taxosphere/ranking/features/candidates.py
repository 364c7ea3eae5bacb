"""The candidate index: a taxonomy with everything that features need of it, apart from the queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.orbit import gate
from taxosphere.ranking.features.compression import PRODUCTS, CompressedVectors
from taxosphere.ranking.lexical.index import PHRASE, LexicalIndex
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.queries import SpherePoints
from taxosphere.sphere import vmf
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.checks import obsolete
from taxosphere.typing import Floats, Longs, Matrix

VERSION = 3
"""Of the rules by which `CandidateIndex.to_arrays` is computed; one written by others is computed anew."""
_STORED = ("log_normalizer", "orphan_scores", "radius_gaps", "obsolete", "non_leaves", "non_leaf_columns")
_SHARED = ("children", "non_leaves", "non_leaf_columns", "radius_gaps")


@dataclass(frozen=True)
class CandidateIndex:
    """Candidates with their vectors; matrices over them are computed when they are first needed.

    Attributes
    ----------
    taxonomy
        Its n concepts are the candidates.
    text_vectors
        (n, m) of names with descriptions, and of names alone.
    points
        The concepts on the sphere.
    parsed_tokens
        The words of the concepts where they were parsed before; None parses them when needed.
    rows
        (n,) rows of the candidates in ``text_vectors`` and ``points`` where these hold further concepts; None: they
        hold the candidates alone.
    """

    taxonomy: Taxonomy
    text_vectors: TextVectors
    points: SpherePoints
    parsed_tokens: ConceptTokens | None = None
    rows: Longs | None = None

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What takes long to compute anew, as arrays."""
        arrays: dict[str, NDArray[Any]] = {f"points.{key}": value for key, value in self.points.to_arrays().items()}
        arrays |= {f"compressed.{key}": value for key, value in vars(self.compressed).items()}
        arrays |= {f"child_means.{key}": value for key, value in self.child_means.items()}
        arrays |= {f"static_features.{key}": value for key, value in self.static_features.items()}
        arrays |= {f"lexical_index.{key}": value for key, value in self.lexical_index.to_arrays().items()}
        return arrays | {name: getattr(self, name) for name in _STORED}

    @classmethod
    def from_arrays(
        cls, arrays: Mapping[str, NDArray[Any]], taxonomy: Taxonomy, text_vectors: TextVectors, tokens: ConceptTokens
    ) -> CandidateIndex:
        """The index that `to_arrays` wrote, of the same taxonomy, vectors and tokens."""
        points = SpherePoints.from_arrays(strip_prefix("points.", arrays))
        index = cls(taxonomy, text_vectors, points, tokens)
        vars(index).update(  # as if each had been asked for before
            compressed=CompressedVectors(**strip_prefix("compressed.", arrays)),
            child_means=strip_prefix("child_means.", arrays),
            static_features=strip_prefix("static_features.", arrays),
            lexical_index=LexicalIndex.from_arrays(strip_prefix("lexical_index.", arrays), tokens),
            **{name: arrays[name] for name in _STORED},
        )
        return index

    def part(self, taxonomy: Taxonomy, kept: Longs) -> CandidateIndex:
        """Some of the candidates, by position, in a hierarchy of their own."""
        tokens = self.tokens.take(kept)
        if len(kept) <= PRODUCTS:
            return CandidateIndex(taxonomy, self.text_vectors.take(kept), self.points.take(kept), tokens)
        part = CandidateIndex(taxonomy, self.text_vectors, self.points, tokens, kept)  # vectors are not copied
        vars(part)["compressed"] = self.compressed.take(kept)  # directions of all concepts serve most of them as well
        return part

    @cached_property
    def by_encoder(self) -> tuple[CandidateIndex, ...]:
        """The same candidates as each of several encoders side by side sees them; empty for a single one."""
        if not self.points.parts:
            return ()
        texts = self.text_vectors.split(self.points.part_dims)
        indexes = tuple(
            CandidateIndex(self.taxonomy, *both, rows=self.rows) for both in zip(texts, self.points.parts, strict=True)
        )
        for index in indexes:  # what does not depend on vectors is computed once
            vars(index).update({name: getattr(self, name) for name in _SHARED})
        return indexes

    @cached_property
    def obsolete(self) -> Longs:
        """Positions of obsolete concepts, below which nothing may be placed; empty where all are obsolete."""
        positions = np.array(obsolete(self.taxonomy), np.int64)
        return positions if len(positions) < len(self.taxonomy) else positions[:0]

    @cached_property
    def parents(self) -> Matrix:
        """(n, n): 1 from a concept to its parents."""
        edges, size = self.taxonomy.edge_array, len(self.taxonomy)
        ones = np.ones(len(edges), np.float32)
        return sparse.csr_array((ones, (edges[:, 1], edges[:, 0])), shape=(size, size))

    @cached_property
    def ancestors(self) -> Matrix:
        """(n, n): 1 from a concept to all its ancestors."""
        rows, size = self.taxonomy.ancestor_csr, len(self.taxonomy)
        return sparse.csr_array((np.ones(len(rows.indices), np.float32), rows.indices, rows.indptr), shape=(size, size))

    @cached_property
    def children(self) -> Matrix:
        """(n, n): 1 from a concept to its children."""
        return sparse.csr_array(self.parents.T)

    @cached_property
    def non_leaves(self) -> Longs:
        """Positions of the candidates that have children, ascending."""
        return np.flatnonzero(np.diff(self.children.indptr))

    @cached_property
    def non_leaf_columns(self) -> Longs:
        """(n,) place of a candidate among `non_leaves`, -1 for a leaf."""
        columns = np.full(len(self.taxonomy), -1)
        columns[self.non_leaves] = np.arange(len(self.non_leaves))
        return columns

    @cached_property
    def log_normalizer(self) -> Floats:
        """(n,) log normalising constants of the candidates' von Mises-Fisher distributions."""
        kappa = torch.from_numpy(self.kappa)
        return np.asarray(vmf.log_normalizer(self.points.z.shape[1], kappa).numpy(), np.float32)

    @cached_property
    def kappa(self) -> Floats:
        """(n,) concentrations of these distributions."""
        return self.points.kappa if self.rows is None else self.points.kappa[self.rows]

    @cached_property
    def child_means(self) -> dict[str, Floats]:
        """(non-leaves, m) by measure: the unit mean of each candidate's children."""
        children, texts = self.children[self.non_leaves], self.text_vectors
        if self.rows is not None:  # children as rows of the vectors
            children = sparse.csr_array(
                (children.data, self.rows[children.indices], children.indptr),
                shape=(len(self.non_leaves), len(texts.full)),
            )
        means = {}
        for measure, vectors in (("sphere", self.points.z), ("text", texts.full), ("name", texts.name)):
            total = children @ vectors
            means[measure] = total / np.maximum(np.linalg.norm(total, axis=1), 1e-6).astype(np.float32)[:, None]
        return means

    @cached_property
    def transposed(self) -> dict[str, Floats]:
        """(m, n) by measure: the vectors by which all concepts are compared with a block of queries.

        A product with them comes out query by query, without a copy. They are for taxonomies of at most `PRODUCTS`
        concepts, where they take 60 MB at most.
        """
        texts = self.text_vectors
        vectors = {"text": texts.full, "name": texts.name, "sphere": self.points.z}
        return {measure: np.ascontiguousarray(rows.T) for measure, rows in vectors.items()}

    @cached_property
    def compressed(self) -> CompressedVectors:
        """Text, name and point of each concept together in few dimensions, for a first search of large taxonomies."""
        return CompressedVectors.fit([self.text_vectors.full, self.text_vectors.name, self.points.z])

    @cached_property
    def tokens(self) -> ConceptTokens:
        """The words of the concepts."""
        return self.parsed_tokens or ConceptTokens.parse(self.taxonomy.concepts())

    @cached_property
    def lexical_index(self) -> LexicalIndex:
        """Matrices over the words of the concepts and of their children."""
        return LexicalIndex(self.tokens, self.children)

    @cached_property
    def orphan_scores(self) -> Floats:
        """(n,) see `orphan_scores`."""
        return orphan_scores(self.taxonomy)

    @cached_property
    def orphan_scores_by_word(self) -> dict[str, Floats]:
        """(words,) per bag of `PHRASE`: mean orphan score of the concepts whose definition has the word there."""
        mean = float(self.orphan_scores.mean())
        return {bag: self.lexical_index.bags[bag].mean_by_word(self.orphan_scores, mean) for bag in PHRASE}

    @cached_property
    def radius_gaps(self) -> Floats:
        """(n,) Δr of the gate, see `gate.delta`."""
        return gate.delta(self.taxonomy).astype(np.float32)

    @cached_property
    def static_features(self) -> dict[str, Floats]:
        """(n,) by name: features of a candidate that are the same for every query."""
        taxonomy = self.taxonomy
        children = taxonomy.child_csr.counts.astype(np.float64)
        edges = taxonomy.edge_array
        leaf_children = np.bincount(edges[:, 0], weights=children[edges[:, 1]] == 0, minlength=len(taxonomy))
        parents = taxonomy.parent_csr.counts
        siblings = self.parents @ np.log1p(children)
        features = {
            "descendants": np.log1p(taxonomy.descendants),
            "children": np.log1p(children),
            "is leaf": children == 0,
            "depth": taxonomy.levels / max(1, taxonomy.levels.max(initial=0)),
            "leaf children": np.log1p(leaf_children),
            "share of leaf children": leaf_children / np.maximum(children, 1),
            "is root": parents == 0,
            "is isolated": (parents == 0) & (children == 0),
            "siblings": siblings / np.maximum(parents, 1),
            "concepts with its name": np.log(self.lexical_index.name_counts),
            "words in name": self.tokens.name_lengths,
        }
        return {name: np.asarray(values, np.float32) for name, values in features.items()}


def orphan_scores(taxonomy: Taxonomy) -> Floats:
    """(n,): 0 for a concept with a parent, 1 for one with neither parent nor children, 1 / (1 + log(1 + descendants))
    for other roots, which are the more likely roots on purpose the more is below them."""
    root = taxonomy.parent_csr.counts == 0
    return np.asarray(root / (1 + np.log1p(taxonomy.descendants)), np.float32)
