"""Concepts of the seed that are hidden together, with a head that was trained without them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from taxosphere.encoders.text.registry import TextVectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import RefitWithout, ranker_folds
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking.features.candidates import CandidateIndex
from taxosphere.ranking.lexical.tokens import ConceptTokens
from taxosphere.ranking.queries import Queries, embed, encode_queries
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, hide
from taxosphere.typing import Longs, Progress


class Kind(IntEnum):
    """What was hidden when an example was asked."""

    LEAF = 0
    """A leaf; its parents stayed."""
    INNER = 1
    """An inner concept; its children moved up to its parents."""
    MISSING = 2
    """A leaf with its parent and all below that; the nearest ancestor left is right, and so is "none of these"."""
    FOREIGN = 3
    """Nothing: a concept of another field, which belongs nowhere."""
    PARENT_REMOVED = 4
    """A leaf and all its parents, whose other children were left without them."""
    PARENT_KEPT = 5
    """A leaf, asked where parents of others were removed and its own stayed."""


@dataclass(frozen=True)
class Fold:
    """Concepts hidden together, and what was trained without them.

    Attributes
    ----------
    split
        The seed without these concepts, those that are asked as queries, and their right answers.
    kind
        (queries,) a `Kind` each.
    kept
        Positions in the whole seed of the concepts that are left.
    hidden
        Positions in the whole seed of the queries.
    text_vectors
        Of the whole seed; those of foreign concepts follow.
    network
        The head trained without the hidden concepts.
    whole
        All concepts of the seed as candidates, by this head.
    """

    split: Split
    kind: Longs
    kept: Longs
    hidden: Longs
    text_vectors: TextVectors
    network: SphereNetwork
    whole: CandidateIndex

    def candidate_index(self, left: Longs | None = None) -> CandidateIndex:
        """The concepts that are kept, or of these only the ones ``left``, by place, as candidates.

        Not cached: those of all folds would fill the memory.
        """
        if left is None:
            return self.whole.part(self.split.seed, self.kept)
        return self.whole.part(self.split.seed.keep(left), self.kept[left])

    def queries(self, numbers: Longs) -> tuple[Queries, list[Longs]]:
        """Hidden concepts as queries, by number, and the positions of their right answers."""
        concepts = [self.split.queries[i] for i in numbers]
        encoded = encode_queries(self.network, concepts, self.text_vectors.take(self.hidden[numbers]))
        return encoded, [self.split.gold[i] for i in numbers]

    def numbers(self, kind: Kind) -> Longs:
        """Numbers of the queries of a kind."""
        return np.flatnonzero(self.kind == kind)


def make_folds(
    seed: Taxonomy,
    refit: RefitWithout,
    config: PolarisConfig,
    *,
    tokens: ConceptTokens | None = None,
    random_state: int,
    progress: Progress | None,
) -> Iterator[Fold]:
    """Hide concepts fold by fold, and train a head without each; parameters as for `crossfit.make_examples`.

    Leaves that are not chosen are never hidden, so that queries meet a taxonomy as complete as new concepts will.
    """
    plan = ranker_folds(seed, config.ranking, random_state)
    tokens = tokens or ConceptTokens.parse(seed.concepts())
    shared: tuple[SphereNetwork, CandidateIndex] | None = None
    for number, part in enumerate(plan):
        if progress is not None:
            progress(number, len(plan), f"hiding fold {number + 1} of {len(plan)} for the ranker")
        kinds = {Kind.LEAF: part.leaves, Kind.INNER: part.inner, Kind.MISSING: part.missing}
        kind_of = {int(position): kind for kind, positions in kinds.items() for position in positions}
        split = hide(seed, part.hidden, np.array(sorted(kind_of), np.int64))
        if not split.queries:
            continue
        kept = np.delete(np.arange(len(seed)), part.hidden)
        text_vectors, network = refit(split.seed, kept, 1000 + number + random_state)
        if shared is None or shared[0] is not network:  # one head may serve all folds
            of_seed = text_vectors.take(slice(len(seed)))
            shared = network, CandidateIndex(seed, of_seed, embed(network, of_seed.full), tokens)
        hidden = np.array([seed.position(query.id) for query in split.queries])
        yield Fold(
            split=split,
            kind=np.array([kind_of[position] for position in hidden.tolist()]),
            kept=kept,
            hidden=hidden,
            text_vectors=text_vectors,
            network=network,
            whole=shared[1],
        )
