from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from taxosphere.ranking.calibration import Logistic
from taxosphere.ranking.out_of_fold import OutOfFold
from taxosphere.ranking.parent_set import ParentSet


def _lists(count: int, two: float) -> OutOfFold:
    """Lists of which a share has two parents: these have two probable places in front, the others one."""
    rng = np.random.default_rng(0)
    several = rng.random(count) < two
    probabilities = np.full((count, 10), 0.01, np.float32)
    probabilities[:, 0] = np.where(several, 0.45, 0.8) + 0.05 * rng.random(count)
    probabilities[:, 1] = np.where(several, 0.35, 0.06) + 0.05 * rng.random(count)
    labels = np.zeros((count, 10), bool)
    labels[:, 0], labels[:, 1] = True, several
    empty = OutOfFold.empty()
    return replace(empty, probabilities=probabilities, labels=labels, n_gold=1 + several.astype(np.int64))


def test_further_parents_are_taken_where_leaves_had_them() -> None:
    lists = _lists(300, 0.4)
    parents = ParentSet.fit(lists)
    np.testing.assert_array_equal(parents.choose(lists.probabilities), lists.labels)


def test_the_set_taken_is_the_one_of_which_most_f1_is_expected() -> None:
    rng = np.random.default_rng(1)
    model = Logistic(np.zeros(8), np.ones(8), np.array([0, 0, 0, 0, 0, 0, 6.0, 0, -2.5]))  # by the probability alone
    for _ in range(20):
        listed = np.sort(rng.dirichlet(np.full(5, 0.5)))[::-1]
        is_parent = np.append(listed[0], 1 / (1 + np.exp(2.5 - 6 * listed[1:])))
        sets = [(0, *rest) for size in range(5) for rest in combinations(range(1, 5), size)]
        all_parents = max(1.0, is_parent.sum())
        best = max(sets, key=lambda taken: 2 * is_parent[list(taken)].sum() / (len(taken) + all_parents))
        assert np.flatnonzero(ParentSet(model).choose(listed[None])[0]).tolist() == list(best)


def test_in_a_tree_the_best_is_taken_alone() -> None:
    lists = _lists(50, 0.0)
    taken = ParentSet.fit(lists).choose(np.full((3, 10), 0.1))
    assert taken[:, 0].all()
    assert not taken[:, 1:].any()
    assert ParentSet.fit(OutOfFold.empty()).model is None


def test_what_was_learned_survives_arrays() -> None:
    lists = _lists(100, 0.4)
    for parents in (ParentSet.fit(lists), ParentSet(None)):
        again = ParentSet.from_arrays(parents.to_arrays())
        np.testing.assert_array_equal(again.choose(lists.probabilities), parents.choose(lists.probabilities))


def test_a_short_list_has_fewer_places() -> None:
    parents = ParentSet.fit(_lists(100, 0.4))
    assert parents.choose(np.array([[0.9]])).tolist() == [[True]]
