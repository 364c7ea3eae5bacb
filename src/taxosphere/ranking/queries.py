"""Queries in every form that features are computed from: words, text vectors, and points on the sphere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking.lexical.parse import ParsedConcept, parse_concept
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats

_BLOCK = 1 << 16  # vectors that are embedded at once: hidden layers of more would fill the memory


@dataclass(frozen=True)
class SpherePoints:
    """Concepts on the sphere as numpy arrays: points, mean directions and concentrations.

    Attributes
    ----------
    z
        (n, d) unit rows: where a concept lies as a child.
    mu
        (n, d) unit rows: mean direction of its von Mises-Fisher distribution, as a parent.
    kappa
        (n,) concentrations of these distributions.
    """

    z: Floats
    mu: Floats
    kappa: Floats

    def take(self, rows: NDArray[np.integer]) -> SpherePoints:
        """Only these concepts, in this order."""
        return SpherePoints(self.z[rows], self.mu[rows], self.kappa[rows])


@dataclass(frozen=True)
class Queries:
    """A block of q queries: parsed names and definitions, text vectors (q, m) and sphere points (q, d).

    A second reader reads the ``concepts`` themselves; nothing else does.
    """

    parsed: Sequence[ParsedConcept]
    text_vectors: TextVectors
    points: SpherePoints
    concepts: Sequence[Concept] = ()

    def __len__(self) -> int:
        return len(self.parsed)

    def part(self, block: slice) -> Queries:
        """Some of the queries."""
        rows = np.arange(len(self))[block]
        return Queries(self.parsed[block], self.text_vectors.take(rows), self.points.take(rows), self.concepts[block])


def embed(network: SphereNetwork, vectors: Floats) -> SpherePoints:
    """Map text vectors (n, m) onto the sphere, without gradients.

    Parameters
    ----------
    network
        A trained head.
    vectors
        (n, m) text vectors of names with descriptions.
    """
    with torch.no_grad():
        blocks = [network(block) for block in torch.split(torch.from_numpy(vectors), _BLOCK)]
    if len(blocks) == 1:
        return SpherePoints(*(part.numpy() for part in blocks[0]))
    return SpherePoints(*(torch.cat(parts).numpy() for parts in zip(*blocks, strict=True)))


def encode_queries(network: SphereNetwork, concepts: Sequence[Concept], text_vectors: TextVectors) -> Queries:
    """Parse and embed a block of queries.

    Parameters
    ----------
    network
        The head that embedded the candidates too.
    concepts
        The q queries.
    text_vectors
        Their text vectors (q, m).
    """
    parsed = [parse_concept(concept) for concept in concepts]
    return Queries(parsed, text_vectors, embed(network, text_vectors.full), concepts)
