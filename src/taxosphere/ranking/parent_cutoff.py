"""The parent cut-off: which further parents a new concept gets beside the best one."""

from __future__ import annotations

import numpy as np

from taxosphere.ranking.out_of_fold import OutOfFold


def parent_cutoff(out_of_fold: OutOfFold) -> float:
    """The share of the best probability from which on further parents are taken along.

    It is the share with the best mean F1 between the parents taken and the true ones of hidden leaves. Where all
    concepts have one parent it is 1, which takes the best candidate alone.

    Parameters
    ----------
    out_of_fold
        Rankings of hidden leaves by nets that were not trained on them.
    """
    probabilities, labels, n_gold = out_of_fold.probabilities, out_of_fold.labels, out_of_fold.n_gold
    if len(n_gold) == 0 or n_gold.max(initial=1) <= 1:
        return 1.0
    best_f1, cutoff = -1.0, 1.0
    for share in np.geomspace(1.0, 1e-6, 61):  # the probabilities of two true parents may differ by magnitudes
        taken = probabilities >= share * probabilities[:, :1]
        hits = (taken & labels).sum(1)
        f1 = float((2 * hits / (taken.sum(1) + n_gold)).mean())
        if f1 > best_f1 + 1e-9:
            best_f1, cutoff = f1, float(share)
    return cutoff
