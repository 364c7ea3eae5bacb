"""Calibration: whether probabilities match how often answers are right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class Reliability:
    """Per bin of equal width: mean probability, share of right answers, number of answers. Empty bins are nan."""

    confidence: Doubles
    accuracy: Doubles
    counts: NDArray[np.int64]

    @property
    def error(self) -> float:
        """Expected calibration error: the gap between confidence and accuracy, weighted by bin size."""
        full = self.counts > 0
        gap = np.abs(self.confidence - self.accuracy)[full]
        return float((gap * self.counts[full]).sum() / max(1, self.counts.sum()))


def reliability(probabilities: ArrayLike, correct: ArrayLike, bins: int = 15) -> Reliability:
    """Compare probabilities (n,) with whether the answers were right (n,), in bins of equal width."""
    sure = np.asarray(probabilities, float)
    right = np.asarray(correct, float)
    place = np.clip((sure * bins).astype(int), 0, bins - 1)
    counts = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore"):
        confidence = np.bincount(place, sure, bins) / counts
        accuracy = np.bincount(place, right, bins) / counts
    return Reliability(confidence, accuracy, counts)


def expected_calibration_error(probabilities: ArrayLike, correct: ArrayLike, bins: int = 15) -> float:
    """Mean gap between probability and share of right answers over the bins, weighted by their size."""
    return reliability(probabilities, correct, bins).error


def auroc(scores: ArrayLike, positive: ArrayLike) -> float:
    """Area under the ROC curve: probability that a positive scores above a negative; nan where one kind is absent."""
    values, positive = np.asarray(scores, float), np.asarray(positive, bool)
    hits, misses = int(positive.sum()), int((~positive).sum())
    if not hits or not misses:
        return float("nan")
    return float((rankdata(values)[positive].sum() - hits * (hits + 1) / 2) / (hits * misses))
