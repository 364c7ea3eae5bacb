"""Queries in every form that features are computed from: words, text vectors, and points on the sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.model.checkpoint import strip_prefix
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking.lexical.parse import ParsedConcept, parse_concept
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats

_BLOCK = 1 << 11  # vectors that are embedded at once: for hidden layers of more the system hands out memory each time


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
    parts
        Where several encoders stand side by side, the same concepts on the sphere of each; else empty.
    part_dims
        Lengths of the text vectors of these encoders.
    """

    z: Floats
    mu: Floats
    kappa: Floats
    parts: tuple[SpherePoints, ...] = ()
    part_dims: tuple[int, ...] = ()

    def take(self, rows: NDArray[np.integer]) -> SpherePoints:
        """Only these concepts, in this order."""
        parts = tuple(part.take(rows) for part in self.parts)
        return SpherePoints(self.z[rows], self.mu[rows], self.kappa[rows], parts, self.part_dims)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """For a model folder."""
        arrays: dict[str, NDArray[Any]] = {"z": self.z, "mu": self.mu, "kappa": self.kappa}
        for number, (part, dim) in enumerate(zip(self.parts, self.part_dims, strict=True)):
            arrays |= {f"part{number}.{key}": value for key, value in part.to_arrays().items()}
            arrays[f"part{number}.dim"] = np.array([dim])
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> SpherePoints:
        """What `to_arrays` wrote."""
        parts: list[SpherePoints] = []
        dims: list[int] = []
        while part := strip_prefix(f"part{len(parts)}.", arrays):
            parts.append(cls(part["z"], part["mu"], part["kappa"]))
            dims.append(int(part["dim"][0]))
        return cls(arrays["z"], arrays["mu"], arrays["kappa"], tuple(parts), tuple(dims))


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

    @cached_property
    def by_encoder(self) -> tuple[Queries, ...]:
        """The same queries as each of several encoders side by side sees them; empty for a single one."""
        if not self.points.parts:
            return ()
        texts = self.text_vectors.split(self.points.part_dims)
        return tuple(Queries(self.parsed, *both) for both in zip(texts, self.points.parts, strict=True))

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
    # Blocks of equal length: a single row at the end would be multiplied in another order of sums.
    blocks = np.array_split(vectors, max(1, -(-len(vectors) // _BLOCK)))
    with torch.no_grad():
        first = [each.numpy() for each in network(torch.from_numpy(blocks[0]))]
        points = [np.empty((len(vectors), *each.shape[1:]), each.dtype) for each in first]
        start = 0
        for block in blocks:
            made = first if start == 0 else [each.numpy() for each in network(torch.from_numpy(block))]
            for column, rows in zip(points, made, strict=True):
                column[start : start + len(block)] = rows
            start += len(block)
    dims = network.part_dims
    slices = np.split(vectors, np.cumsum(dims)[:-1], axis=1) if dims else []
    parts = tuple(embed(head, part) for head, part in zip(network.heads_of_parts, slices, strict=True))
    z, mu, kappa = points
    return SpherePoints(z, mu, kappa, parts, dims)


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
