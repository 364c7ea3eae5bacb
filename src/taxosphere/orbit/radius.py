"""Orbital radius: how high a concept stands, computed from the seed taxonomy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taxosphere.taxonomy import Taxonomy


def raw_radii(taxonomy: Taxonomy) -> NDArray[np.float64]:
    """R (n,) = 1 + depth + log2(1 + descendants) of each concept of ``taxonomy``.

    A virtual root would shift all alike, so it is left out.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without a cycle.

    Returns
    -------
    float array of shape (n,)
        In the taxonomy's order.
    """
    values: NDArray[np.float64] = 1.0 + taxonomy.levels + np.log2(1.0 + taxonomy.descendants)
    return values


def span(taxonomy: Taxonomy) -> float:
    """R_max − R_min of the concepts of ``taxonomy``; 0 for an empty one.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without a cycle.

    Returns
    -------
    float
        At least 0.
    """
    values = raw_radii(taxonomy)
    return float(values.max(initial=0.0) - values.min(initial=np.inf)) if len(values) else 0.0


def radii(taxonomy: Taxonomy) -> NDArray[np.float64]:
    """r (n,) = 1 − (R − R_min) / (R_max − R_min) of each concept of ``taxonomy``, in [0, 1].

    The paper says that the root then has the greatest potential. Its formula says otherwise: the root has the most
    descendants, so its R is among the largest and its r near 0. The formula is kept; nothing below depends on which end
    is called the top.

    Parameters
    ----------
    taxonomy : Taxonomy
        Without a cycle.

    Returns
    -------
    float array of shape (n,)
        In the taxonomy's order.
    """
    values = raw_radii(taxonomy)
    width = span(taxonomy)
    return 1.0 - (values - values.min(initial=np.inf)) / width if width > 0 else np.ones(len(values))
