"""The history of a training: what every epoch did, which one was best, and whether the training is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

COLLAPSED = 0.98
"""Mean cosine between two concepts above which a training counts as collapsed; a random head begins near 0.5."""


@dataclass(frozen=True)
class Epoch:
    """One epoch of a training.

    Attributes
    ----------
    number : int
        From 1.
    terms : dict of str to float
        Mean of every loss term.
    mrr : float or None
        Validation MRR after the epoch; None without validation.
    seconds : float
    mean_cosine : float or None
        Mean cosine between two concepts of a batch, over the batches; near 1 where all points lie in one place. None
        in files of earlier versions.
    """

    number: int
    terms: dict[str, float]
    mrr: float | None
    seconds: float
    mean_cosine: float | None = None


def collapsed(history: Sequence[Epoch]) -> bool:
    """Whether the concepts of the last epoch's batches were closer to each other than `COLLAPSED`, on average."""
    last = history[-1].mean_cosine if history else None
    return last is not None and last > COLLAPSED


def best_epoch(history: Sequence[Epoch]) -> int:
    """The first epoch with the highest validation MRR; the last one when nothing was validated."""
    scored = [entry for entry in history if entry.mrr is not None]
    if not scored:
        return len(history)
    return max(scored, key=lambda entry: (entry.mrr or 0.0, -entry.number)).number


def highest(history: Sequence[Epoch]) -> float:
    """The highest validation MRR; 0 when nothing was validated."""
    return max((entry.mrr or 0.0 for entry in history), default=0.0)


def finished(history: Sequence[Epoch], epochs: int, patience: int) -> bool:
    """Whether all epochs are done, or none of the last ``patience`` improved the validation MRR."""
    if len(history) >= epochs:
        return True
    return bool(history) and history[-1].mrr is not None and len(history) - best_epoch(history) >= patience
