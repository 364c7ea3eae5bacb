"""A ranker that has learned, and concepts to ask it about."""

from __future__ import annotations

import pytest

from support.meadow import Fitted, fit, meadow
from taxosphere import Concept


@pytest.fixture(scope="session")
def fitted() -> Fitted:
    return fit(meadow())


@pytest.fixture
def strangers() -> list[Concept]:
    """New concepts, the first of which belong below "bird", "cake" and "boat"."""
    return [
        Concept("q0", "green bird", "a bird that is called green"),
        Concept("q1", "lemon cake", "a cake that is called lemon"),
        Concept("q2", "paddle boat", "a boat that is called paddle"),
        Concept("q3", "zyx", ""),
    ]
