from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from taxosphere.evaluation import paper_numbers, significance


def test_z_and_p_agree_and_match_scipy() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random(400) + 0.03, rng.random(400)
    got = significance.compare(a, b)
    expected = stats.ttest_rel(a, b)
    assert got.z == pytest.approx(expected.statistic)
    assert got.z_p == pytest.approx(2 * stats.norm.sf(abs(got.z)))
    assert got.difference == pytest.approx((a - b).mean())


def test_the_interval_is_that_of_the_normal_approximation_for_many_queries() -> None:
    rng = np.random.default_rng(1)
    gap = rng.normal(0.1, 1.0, 2000)
    got = significance.compare(gap, np.zeros(2000))
    half = 1.96 * gap.std(ddof=1) / math.sqrt(2000)
    assert got.low == pytest.approx(gap.mean() - half, abs=0.004)
    assert got.high == pytest.approx(gap.mean() + half, abs=0.004)
    assert got.p == pytest.approx(got.z_p, abs=0.01)


def test_half_of_all_resamples_of_a_coin() -> None:
    """Two queries, gaps +1 and -1: means -1, 0, 1 with chances 1/4, 1/2, 1/4: each tail has 3/4, so p is 1."""
    got = significance.compare([1.0, 0.0], [0.0, 1.0])
    assert (got.low, got.high, got.p, got.z, got.z_p) == (-1.0, 1.0, 1.0, 0.0, 1.0)


def test_equal_methods_and_constant_gaps() -> None:
    same = significance.compare([0.5, 0.5, 0.2], [0.5, 0.5, 0.2])
    assert (same.difference, same.p, same.z, same.z_p) == (0.0, 1.0, 0.0, 1.0)
    better = significance.compare([1.0] * 8, [0.0] * 8)
    assert better.z == math.inf
    assert better.z_p == 0.0
    assert better.p == pytest.approx(2 / (significance.SAMPLES + 1))


def test_unpaired_values_are_refused() -> None:
    with pytest.raises(ValueError, match="one length"):
        significance.compare([1.0], [1.0, 2.0])


def test_the_papers_p_values_do_not_follow_from_its_z_values() -> None:
    """What method notes say about the paper: z 9.90 would give 4e-23, it prints 7e-9."""
    z, p = paper_numbers.SIGNIFICANCE["semeval_sci"]
    assert significance.two_sided(z) == pytest.approx(4.2e-23, rel=0.05)
    assert p > 1e10 * significance.two_sided(z)


def test_printed_numbers() -> None:
    assert paper_numbers.metrics("semeval_env") == ("recall@1", "recall@5", "wup", "mr", "mrr")
    assert paper_numbers.printed("semeval_env", "polaris")["recall@1"] == (47.6, 2.4)
    assert paper_numbers.printed("semeval_env", "polaris-cosine") == paper_numbers.printed("semeval_env", "polaris")
    assert paper_numbers.printed("mesh", "steam")["mr"] == (372.6, 16.0)
    assert paper_numbers.printed("semeval_food", "taxoexpan")["recall@5"] == (32.8, 2.3)
    assert paper_numbers.printed("birds20", "clip-1")["precision@1"] == (5.13, 0.4)
    assert paper_numbers.printed("semeval_env", "tfidf") == {}
    assert paper_numbers.metrics("my-own") is None


@pytest.mark.parametrize(("hits", "queries"), [(0, 52), (31, 52), (52, 52), (160, 297)])
def test_wilson_is_scipys(hits: int, queries: int) -> None:
    low, high = significance.wilson(hits / queries, queries)
    expected = stats.binomtest(hits, queries).proportion_ci(method="wilson")
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_the_same_queries_asked_again_do_not_narrow_the_interval() -> None:
    runs = [[1.0, 2.0, 1.0, 1.0], [1.0, 1.0, 3.0, 2.0]]
    share, low, high = significance.hit_interval(runs, same_queries=True)
    assert share == 5 / 8
    assert (low, high) == significance.wilson(5 / 8, 4)
    assert significance.hit_interval(runs, same_queries=False)[1:] == significance.wilson(5 / 8, 8)
