"""Text vectors of concepts: of the whole text, and of the name alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.combined import CombinedEncoder
from taxosphere.encoders.text.registry import TextEncoder, Trainable
from taxosphere.taxonomy import Concept
from taxosphere.typing import CountProgress, Floats


@dataclass(frozen=True)
class TextVectors:
    """Unit vectors (n, dim), one row per concept: of name and description (``full``) and of the name."""

    full: Floats
    name: Floats

    def take(self, rows: NDArray[np.integer]) -> TextVectors:
        """Those of some concepts."""
        return TextVectors(self.full[rows], self.name[rows])

    def to_arrays(self) -> dict[str, Floats]:
        """Both arrays by name, for saving."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def encode_text_vectors(
    encoder: TextEncoder, concepts: Sequence[Concept], progress: CountProgress | None = None
) -> TextVectors:
    """Text vectors of concepts, made in one call so that each distinct text is encoded once."""
    texts = [*(concept.text for concept in concepts), *(concept.name for concept in concepts)]
    # Only encoders that compute take a progress callback.
    options = {"progress": progress} if isinstance(encoder, Trainable | CombinedEncoder) else {}
    return TextVectors(*np.split(encoder.encode(texts, **options), 2))
