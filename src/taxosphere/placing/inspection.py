"""Looking inside a fitted model: embeddings of its concepts, features of a query, what was learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.errors import InputError, require
from taxosphere.orbit.radius import radii
from taxosphere.placing.inference import Fitted
from taxosphere.ranking.queries import encode_queries
from taxosphere.taxonomy import Concept
from taxosphere.typing import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Embeddings:
    """Concepts of a taxonomy on the sphere, one row per concept.

    Attributes
    ----------
    ids : tuple of str
        The concepts, in the taxonomy's order.
    points : array of shape (n, d)
        Unit vectors z: where a concept lies as a child.
    directions : array of shape (n, d)
        Unit vectors μ: the mean direction of the concept's von Mises–Fisher distribution, as a parent.
    kappa : array of shape (n,)
        Concentrations κ of these distributions; the larger, the narrower.
    radii : array of shape (n,)
        Orbital radii, from 0 for the highest concept to 1 for the lowest.
    """

    ids: tuple[str, ...]
    points: Floats
    directions: Floats
    kappa: Floats
    radii: NDArray[np.float64]

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {getattr(self, name).shape}" for name in ("points", "directions", "kappa", "radii"))
        return f"Embeddings of {len(self.ids):,} concepts: ids, {shapes}"

    def to_frame(self) -> pd.DataFrame:
        """Directions (columns 0 … d−1), ``kappa`` and ``radius``, indexed by id.

        Returns
        -------
        pandas.DataFrame
            A row per concept.
        """
        frame: pd.DataFrame = require("pandas", "frames").DataFrame(self.directions, index=list(self.ids))
        frame["kappa"], frame["radius"] = self.kappa, self.radii
        return frame


def embeddings(fitted: Fitted) -> Embeddings:
    """Embeddings of the taxonomy's concepts; see `Embeddings`."""
    points, taxonomy = fitted.index.points, fitted.index.taxonomy
    return Embeddings(
        ids=tuple(taxonomy.ids),
        points=points.z,
        directions=points.mu,
        kappa=points.kappa,
        radii=np.asarray(radii(taxonomy)),
    )


def features(fitted: Fitted, query: Concept) -> pd.DataFrame:
    """Features of one query: a row per candidate of the shortlist, indexed by id, a column per feature.

    Raises
    ------
    InputError
        The query has no name: image features are not tabulated.
    """
    if not query.name:
        raise InputError("features are those of a concept with a name")
    vectors = encode_text_vectors(fitted.encoder, [query])
    encoded = encode_queries(fitted.network, [query], vectors)
    listed = fitted.ranker.shortlist(fitted.index, encoded)
    ids = [fitted.index.taxonomy.ids[position] for position in listed.positions[0]]
    frame: pd.DataFrame = require("pandas", "frames").DataFrame(
        listed.features[0], index=ids, columns=listed.feature_names
    )
    return frame


def summary(fitted: Fitted, *, fine_tuned: bool) -> list[str]:
    """What was learned, in a few lines; ``fine_tuned`` says whether the encoder was to be trained too."""
    lines = [fitted.ranker.note]
    if fine_tuned:
        kept = fitted.untuned_encoder is not fitted.encoder
        lines.append("the encoder was trained too" if kept else "fine-tuning was no better: the encoder is unchanged")
    hidden = fitted.ranker.out_of_fold
    if len(hidden.n_gold):
        right = hidden.labels[:, 0].mean()
        lines.append(f"of {len(hidden.n_gold):,} hidden leaves {right:.0%} had a true parent at first place")
    return lines + ([] if fitted.image_model is None else fitted.image_model.summary())
