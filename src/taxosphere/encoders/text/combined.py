"""Several encoders side by side: their vectors one behind the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taxosphere.typing import CountProgress, Floats

BETWEEN = "+"


class CombinedEncoder:
    """Unit vectors of k encoders, concatenated and divided by √k.

    The cosine of two texts is then the mean of the k cosines.

    Parameters
    ----------
    parts : sequence of TextEncoder
        At least two.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)
        self.name = BETWEEN.join(part.name for part in self.parts)
        self.dim = sum(part.dim for part in self.parts)

    def encode(self, texts: Sequence[str], *, progress: CountProgress | None = None) -> Floats:
        """Vectors (len(texts), dim), rows of length one; ``progress(done, total)`` counts each text once per part."""
        distinct = list(dict.fromkeys(texts))
        rows = []
        for number, part in enumerate(self.parts):
            rows.append(part.encode(distinct))
            if progress is not None:
                progress((number + 1) * len(distinct), len(self.parts) * len(distinct))
        together = np.concatenate(rows, axis=1) / np.float32(np.sqrt(len(self.parts)))
        where = {text: row for row, text in enumerate(distinct)}
        return np.asarray(together[[where[text] for text in texts]], np.float32)
