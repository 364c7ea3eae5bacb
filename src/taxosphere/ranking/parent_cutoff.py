"""How many parents a new concept gets: the cut-off for further parents beside the best one."""

from __future__ import annotations

from typing import Any

import numpy as np


def parent_cutoff(
    probabilities: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], golds: np.ndarray[Any, Any]
) -> float:
    """The share of the best probability from which further parents are taken along.

    Chosen on queries that were hidden from the ranker: the share with the best mean F1 between the parents taken and
    the gold parents. A taxonomy whose concepts have one parent each ends at 1, which takes the best alone.
    """
    if len(golds) == 0 or golds.max(initial=1) <= 1:
        return 1.0
    best, chosen = -1.0, 1.0
    for share in np.geomspace(1.0, 1e-6, 61):  # two sure parents may differ by orders of magnitude
        taken = probabilities >= share * probabilities[:, :1]
        hits = (taken & labels).sum(1)
        f1 = float((2 * hits / (taken.sum(1) + golds)).mean())
        if f1 > best + 1e-9:
            best, chosen = f1, float(share)
    return chosen
