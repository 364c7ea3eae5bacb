"""Two looks at a concept's text: all of it, and the name alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import TextEncoder, Trainable
from taxosphere.taxonomy import Concept
from taxosphere.typing import CountProgress, Floats


@dataclass(frozen=True)
class TextVectors:
    """Unit vectors, one row per concept."""

    full: Floats
    name: Floats

    def take(self, rows: NDArray[np.integer]) -> TextVectors:
        return TextVectors(self.full[rows], self.name[rows])

    def to_arrays(self) -> dict[str, Floats]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def encode_text_vectors(
    encoder: TextEncoder, concepts: Sequence[Concept], progress: CountProgress | None = None
) -> TextVectors:
    """All texts go to the encoder in one call, so that each distinct one is encoded once."""
    texts = [*(concept.text for concept in concepts), *(concept.name for concept in concepts)]
    told = {"progress": progress} if isinstance(encoder, Trainable) else {}  # a look-up has nothing to tell
    return TextVectors(*np.split(encoder.encode(texts, **told), 2))
