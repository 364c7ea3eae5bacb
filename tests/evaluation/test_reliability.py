from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from taxosphere.evaluation import reliability


def test_calibration_error_on_paper() -> None:
    """Two bins. 0.2, 0.4 → sure 0.3, right 1/2: gap 0.2. 0.6, 0.8, 1.0 → sure 0.8, right 2/3: gap 0.1333.
    (2·0.2 + 3·0.1333)/5 = 0.16"""
    got = reliability.reliability([0.2, 0.4, 0.6, 0.8, 1.0], [0, 1, 0, 1, 1], bins=2)
    assert got.counts.tolist() == [2, 3]
    assert got.confidence == pytest.approx([0.3, 0.8])
    assert got.accuracy == pytest.approx([0.5, 2 / 3])
    assert got.error == pytest.approx(0.16)


def test_an_empty_bin_adds_nothing() -> None:
    assert reliability.expected_calibration_error([1.0, 1.0], [1, 1], bins=10) == 0.0


def test_auroc_on_paper() -> None:
    """positives 3, 1; negatives 2, 1: wins 3>2, 3>1, tie 1=1 (half), loss 1<2: 2.5 of 4"""
    assert reliability.auroc([3, 1, 2, 1], [1, 1, 0, 0]) == pytest.approx(2.5 / 4)
    assert np.isnan(reliability.auroc([1, 2], [1, 1]))


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=20))
def test_auroc_counts_pairs(rows: list[tuple[int, bool]]) -> None:
    above = [score for score, positive in rows if positive]
    below = [score for score, positive in rows if not positive]
    if not above or not below:
        return
    wins = sum((a > b) + 0.5 * (a == b) for a in above for b in below)
    got = reliability.auroc([score for score, _ in rows], [positive for _, positive in rows])
    assert got == pytest.approx(wins / (len(above) * len(below)))
