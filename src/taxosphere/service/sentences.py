"""Why a parent is suggested, in sentences a curator understands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LEAST = 0.05  # contributions to the score below which nothing is said
_MOST = 4


def sentences(reasons: Mapping[str, float]) -> list[dict[str, Any]]:
    """Up to four sentences on the strongest contributions, made of the features' help texts.

    Parameters
    ----------
    reasons
        Contribution of each feature to the score, strongest first.

    Returns
    -------
    list of dict
        ``text`` and ``for``: whether it speaks for the parent.
    """
    said: dict[str, bool] = {}
    for feature, contribution in reasons.items():
        if abs(contribution) >= _LEAST and len(said) < _MOST:
            speaks_for = contribution > 0
            said.setdefault(_sentence(feature, speaks_for), speaks_for)
    return [{"text": text, "for": speaks_for} for text, speaks_for in said.items()]


def _sentence(feature: str, speaks_for: bool) -> str:
    from taxosphere.ranking.features.catalogue import feature_of

    help = feature_of(feature).help
    return f"{help[0].upper()}{help[1:]}." if speaks_for else f"Less than for other parents: {help}."
