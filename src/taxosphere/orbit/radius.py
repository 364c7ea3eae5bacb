"""Orbital radius: how high a concept stands, read off the seed alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taxosphere.taxonomy import Taxonomy

Floats = NDArray[np.float64]


def raw(taxonomy: Taxonomy) -> Floats:
    """R = 1 + depth + log2(1 + descendants). A virtual root would shift all alike, so it is left out."""
    values: Floats = 1.0 + taxonomy.levels + np.log2(1.0 + taxonomy.descendants)
    return values


def span(taxonomy: Taxonomy) -> float:
    """R_max − R_min."""
    values = raw(taxonomy)
    return float(values.max(initial=0.0) - values.min(initial=np.inf)) if len(values) else 0.0


def radii(taxonomy: Taxonomy) -> Floats:
    """r = 1 − (R − R_min) / (R_max − R_min), one per concept, in [0, 1].

    The paper says the root then has the greatest potential. Its own formula says otherwise: the root has the most
    descendants, so its R is among the largest and its r near 0. We keep the formula; nothing below depends on which end
    is called the top.
    """
    values = raw(taxonomy)
    width = span(taxonomy)
    return 1.0 - (values - values.min(initial=np.inf)) / width if width > 0 else np.ones(len(values))
