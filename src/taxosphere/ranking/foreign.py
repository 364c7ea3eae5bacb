"""Foreign concepts: names and definitions from many fields, written for this package, that most taxonomies lack.

"None of these" learns from them what it is to belong nowhere. A field that the taxonomy covers itself is left out, as a
whole: single concepts that happen to be near would be the instructive ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taxosphere.encoders.text import many_fields
from taxosphere.encoders.text.precomputed import PrecomputedEncoder
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.taxonomy import Concept, Taxonomy
from taxosphere.typing import Floats, Longs

_NEAR = -1.0  # median novelty from which on a field is taken for one of the taxonomy's own


def foreign_concepts(encoder: TextEncoder) -> tuple[Concept, ...]:
    """All foreign concepts, with ids of the form "field/number"; none for an encoder that knows its own texts alone."""
    if isinstance(encoder, PrecomputedEncoder):
        return ()
    return many_fields.concepts()


def outside(concepts: Sequence[Concept], novelty: Floats, seed: Taxonomy) -> Longs:
    """Numbers of the foreign concepts that are foreign to a taxonomy.

    Parameters
    ----------
    concepts
        The c foreign concepts.
    novelty
        (c, v) in the taxonomy, see `NoveltyScale.novelty`.
    seed
        The taxonomy.
    """
    if not concepts:
        return np.zeros(0, np.int64)
    fields = np.array([concept.id.rpartition("/")[0] for concept in concepts])
    far = [field for field in np.unique(fields) if np.median(novelty[fields == field, 0]) < _NEAR]
    present = {name.casefold() for name in seed.names}
    new = np.array([concept.name.casefold() not in present for concept in concepts], bool)
    return np.flatnonzero(np.isin(fields, far) & new)
