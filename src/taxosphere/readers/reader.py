"""What a reader is, and what it is told of a candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats

CROSS_ENCODER = "cross-encoder"  # what settings call a reader that begins from the text encoder
MOST_CHILDREN = 8


@dataclass(frozen=True)
class Candidate:
    """A possible parent as a reader sees it.

    Attributes
    ----------
    id, name, description : str
    path : tuple of str
        Names from a root down to the candidate itself.
    children : tuple of str
        Names of some of its children, which would be the query's siblings.
    """

    id: str
    name: str
    description: str
    path: tuple[str, ...]
    children: tuple[str, ...]

    @property
    def text(self) -> str:
        """The candidate with its path and children as one line."""
        described = Concept(self.id, self.name, self.description).text
        parts = [described, f"path: {' > '.join(self.path)}" if len(self.path) > 1 else ""]
        parts.append(f"children: {', '.join(self.children)}" if self.children else "")
        return "; ".join(part for part in parts if part)


class Reader(Protocol):
    """Scores candidates for one query after reading them beside it."""

    @property
    def name(self) -> str:
        """Tells readers apart in tables."""

    def score(self, query: Concept, candidates: Sequence[Candidate]) -> Floats:
        """Scores (n,) of the candidates, higher is better; comparable within this query only."""

    def to_arrays(self) -> Mapping[str, NDArray[Any]]:
        """Weights that were trained here, for a model folder; none where the reader is loaded again by its name."""


def candidates_at(
    taxonomy: Taxonomy, positions: Sequence[int], *, without: str = "", most_children: int = MOST_CHILDREN
) -> list[Candidate]:
    """Concepts of a taxonomy as readers see them.

    Parameters
    ----------
    taxonomy : Taxonomy
    positions : sequence of int
        Of the candidates.
    without : str
        Id of a concept that is named among no candidate's children: a query that is part of the taxonomy while a
        reader learns from it.
    most_children : int
        Children named of each.

    Returns
    -------
    list of Candidate
    """
    hidden = taxonomy.position(without) if without else -1
    described = []
    for position in positions:
        concept = taxonomy.concept(int(position))
        below = [child for child in taxonomy.child_csr.row(int(position)).tolist() if child != hidden]
        described.append(
            Candidate(
                id=concept.id,
                name=concept.name,
                description=concept.description,
                path=tuple(taxonomy.names[p] for p in taxonomy.path_positions(int(position))),
                children=tuple(taxonomy.names[child] for child in below[:most_children]),
            )
        )
    return described
