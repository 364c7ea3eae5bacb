"""Ranks against scipy's own, ties included."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import rankdata

from taxosphere.ranks import best_true_ranks, count_better, ranks_at, ranks_of_scores

SCORES = arrays.arrays(
    np.float32,
    st.tuples(st.integers(1, 5), st.integers(1, 9)),
    elements=st.integers(-2, 2).map(float),  # few values, so that most are tied
)


@given(SCORES)
def test_every_candidate_has_the_mean_rank_of_its_ties(scores: np.ndarray) -> None:
    expected = rankdata(-scores, axis=1)
    queries, positions = np.indices(scores.shape).reshape(2, -1)
    np.testing.assert_array_equal(ranks_at(scores, queries, positions), expected.ravel())
    np.testing.assert_array_equal(ranks_of_scores(scores, scores[:, 0]), expected[:, 0])


@given(SCORES, st.data())
def test_the_best_true_parent_is_the_one_with_the_lowest_rank(scores: np.ndarray, data: st.DataObject) -> None:
    size = scores.shape[1]
    parents = st.sets(st.integers(0, size - 1), min_size=1).map(lambda chosen: np.array(sorted(chosen)))
    gold = [data.draw(parents) for _ in scores]
    expected = [rankdata(-row)[true].min() for row, true in zip(scores, gold, strict=True)]
    np.testing.assert_array_equal(best_true_ranks(scores, gold), expected)


@given(SCORES)
def test_better_candidates_are_counted_by_column(scores: np.ndarray) -> None:
    values = np.stack([scores, -scores], axis=-1)
    expected = np.stack([rankdata(-scores, "min", axis=1), rankdata(scores, "min", axis=1)], axis=-1) - 1
    np.testing.assert_array_equal(count_better(values), expected)


def test_a_missing_candidate_ranks_behind_all_and_a_score_that_is_no_number_last() -> None:
    scores = np.array([[3.0, np.nan, 1.0]])
    assert ranks_at(scores, np.zeros(3, np.int64), np.array([-1, 1, 0])).tolist() == [4, 3, 1]
    assert best_true_ranks(scores, [np.array([0, 1])]).tolist() == [3]


def test_without_queries_there_are_no_ranks() -> None:
    assert best_true_ranks(np.zeros((0, 4), np.float32), []).shape == (0,)
