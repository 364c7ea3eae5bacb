"""Text and images together: the product over the base rate by hand, lists that differ, new candidates."""

from __future__ import annotations

import numpy as np

from taxosphere.images.fusion import fuse
from taxosphere.ranking.ranker import Ranking, scores_of_all

SHARE = 0.1


def ranked(probabilities: list[float], none: float, listed: list[int], n: int, name: str = "depth") -> Ranking:
    p = np.array([probabilities], np.float32)
    scores = np.full((1, n), -9.0, np.float32)
    scores[0, listed] = np.log(p[0])
    cosine = np.linspace(0.9, 0.1, len(listed), dtype=np.float32)[None]
    parts = np.arange(len(listed), dtype=np.float32)[None, :, None]
    return Ranking(
        positions=np.array([listed]),
        probabilities=p,
        none_probability=np.array([none], np.float32),
        scores=scores[:, listed],
        all_scores=scores,
        cosine=cosine,
        gate=cosine > 0.5,
        contributions=parts,
        feature_names=(name,),
    )


def test_the_product_over_the_base_rate() -> None:
    text = ranked([0.5, 0.3, 0.1], 0.1, [2, 0, 1], 3)
    seen = ranked([0.6, 0.2, 0.15], 0.05, [0, 1, 2], 3)
    found = fuse(text, seen, SHARE, powers=(1.0, 1.0))
    base = (1 - SHARE) / 3
    given = {0: (0.3 / 0.9, 0.6 / 0.95), 1: (0.1 / 0.9, 0.2 / 0.95), 2: (0.5 / 0.9, 0.15 / 0.95)}
    weight = {c: base * (p / base) * (q / base) for c, (p, q) in given.items()}
    none = SHARE * (0.1 / SHARE) * (0.05 / SHARE)
    total = sum(weight.values()) + none
    order = sorted(weight, key=lambda c: -weight[c])
    assert found.positions[0].tolist() == order == [0, 2, 1]
    np.testing.assert_allclose(found.probabilities[0], [weight[c] / total for c in order], rtol=1e-5)
    np.testing.assert_allclose(found.none_probability[0], none / total, rtol=1e-5)
    assert scores_of_all(found)[0].argsort()[::-1].tolist() == order
    np.testing.assert_allclose(found.probabilities.sum(1) + found.none_probability, 1, rtol=1e-5)


def test_a_ranking_that_knows_nothing_changes_nothing() -> None:
    n = 4
    text = ranked([0.4, 0.3, 0.2], 0.1, [3, 1, 0], n)
    even = ranked([(1 - SHARE) / n] * n, SHARE, [0, 1, 2, 3], n)
    # An even list says each candidate is as probable as it was: its probabilities given "not none" are 1 / n.
    found = fuse(text, even, SHARE, powers=(1.0, 1.0))
    assert found.positions[0].tolist() == [3, 1, 0, 2]
    ratio = found.probabilities[0, :3] / found.probabilities[0, 0]
    np.testing.assert_allclose(ratio, [1, 0.75, 0.5], rtol=1e-5)


def test_what_one_does_not_list_stands_at_its_end_and_what_it_cannot_know_is_left_to_the_other() -> None:
    text = ranked([0.5, 0.2, 0.2], 0.1, [3, 0, 1], 4)  # candidate 3 is as new as the query
    seen = ranked([0.8, 0.1], 0.1, [0, 2], 3)  # knows three candidates, lists two
    found = fuse(text, seen, SHARE, powers=(1.0, 1.0))
    listed = found.positions[0].tolist()
    assert sorted(listed) == [0, 1, 2, 3]
    base = (1 - SHARE) / 4
    place = {c: listed.index(c) for c in listed}
    expected = {3: 0.5 / 0.9, 0: (0.2 / 0.9) * (0.8 / 0.9) / base, 1: (0.2 / 0.9) * (0.1 / 0.9) / base}
    for other in (0, 1):
        ratio = found.probabilities[0, place[other]] / found.probabilities[0, place[3]]
        np.testing.assert_allclose(ratio, expected[other] / expected[3], rtol=5e-3)


def test_contributions_come_from_both_and_say_so() -> None:
    text = ranked([0.5, 0.3], 0.2, [0, 1], 3, "word similarity")
    seen = ranked([0.6, 0.2], 0.2, [1, 2], 3, "depth")
    found = fuse(text, seen, SHARE, powers=(1.0, 0.5))
    assert found.feature_names == ("word similarity", "depth, with images")
    at = {c: found.contributions[0, i].tolist() for i, c in enumerate(found.positions[0].tolist())}
    assert at == {0: [0.0, 0.0], 1: [1.0, 0.0], 2: [0.0, 0.5]}
    cosine = dict(zip(found.positions[0].tolist(), found.cosine[0].tolist(), strict=True))
    np.testing.assert_allclose([cosine[0], cosine[1], cosine[2]], [0.9, (0.1 + 0.9) / 2, 0.1], rtol=1e-5)


def test_what_the_query_must_not_see_is_not_listed() -> None:
    text, seen = ranked([0.5, 0.3], 0.2, [2, 0], 4), ranked([0.5, 0.2], 0.3, [0, 1], 4)
    scores_of_all(text)[0, 3] = -np.inf
    found = fuse(text, seen, SHARE)
    assert sorted(found.positions[0].tolist()) == [0, 1, 2]
    assert (found.probabilities > 0).all()
