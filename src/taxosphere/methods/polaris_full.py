"""The whole of Polaris, learned ranker included, as `evaluate` and `bench` run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from taxosphere.errors import TaxosphereError
from taxosphere.methods.polaris_cosine import Configured, curves
from taxosphere.polaris import Polaris
from taxosphere.taxonomy import Concept, Taxonomy

if TYPE_CHECKING:
    from taxosphere.encoders.text.registry import TextEncoder


class PolarisFull(Configured):
    """The model that `taxosphere fit` trains, ranking all candidates."""

    model: Polaris | None = None

    def fit(self, seed: Taxonomy, *, encoder: TextEncoder, random_state: int) -> Self:
        self.model = Polaris(self.configure(seed)).fit(seed, encoder=encoder, random_state=random_state)
        self.history = curves(self.model.history)
        return self

    def score(self, queries: Sequence[Concept]) -> NDArray[np.float32]:
        if self.model is None:
            raise TaxosphereError("polaris must be fitted before it can score")
        return self.model.score(queries)
