"""What a second reader says of a shortlist, as one more feature of its candidates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from taxosphere.ranking.features.catalogue import READER_SCORE
from taxosphere.ranking.features.shortlist import Shortlist
from taxosphere.readers.reader import Reader, candidates_at
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats


@dataclass(frozen=True)
class ShortlistReader:
    """Shows the first candidates of every list to a reader.

    Attributes
    ----------
    reader
        Scores them.
    depth
        How many of each list it reads.
    """

    reader: Reader
    depth: int

    def add_scores(self, shortlist: Shortlist, concepts: Sequence[Concept], taxonomy: Taxonomy) -> Shortlist:
        """The shortlist with the feature `READER_SCORE`, centred within each query.

        Candidates that were not read get the lowest score of those that were.

        Parameters
        ----------
        shortlist
            Of q queries.
        concepts
            The q queries.
        taxonomy
            The candidates' positions are those of this one.
        """
        scores = np.zeros(shortlist.positions.shape, np.float32)  # (q, k)
        for row, concept in enumerate(concepts):
            read = self._read(concept, shortlist.positions[row, : self.depth].tolist(), taxonomy)
            read = read - read.mean()
            scores[row] = read.min()
            scores[row, : self.depth] = read
        return replace(
            shortlist,
            feature_names=(*shortlist.feature_names, READER_SCORE),
            features=np.concatenate([shortlist.features, scores[..., None]], axis=-1),
        )

    def _read(self, concept: Concept, positions: Sequence[int], taxonomy: Taxonomy) -> Floats:
        itself = concept.id if concept.id in taxonomy else ""
        return self.reader.score(concept, candidates_at(taxonomy, positions, without=itself))


MakeReader = Callable[[Taxonomy, int], ShortlistReader]
"""``make_reader(seed, random_state)``: a reader that has learned from this seed alone, or from none."""
