from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from taxosphere import Taxonomy
from taxosphere.errors import TaxosphereError
from taxosphere.evaluation import metrics


def tree() -> Taxonomy:
    """
    a ─┬─ b ─┬─ d        x ── y      (two trees)
       │     └─ e
       └─ c
    positions: a 0, b 1, c 2, d 3, e 4, x 5, y 6; depths from 1: a 1, b 2, c 2, d 3, e 3, x 1, y 2
    """
    pairs = [("a", "b"), ("a", "c"), ("b", "d"), ("b", "e"), ("x", "y")]
    return Taxonomy.from_edges(pairs, names={i: i for i in "abcdexy"}).keep(np.arange(7))


def of(seed: Taxonomy, **scores: float) -> list[float]:
    return [scores.get(i, 0.0) for i in seed.ids]


def at(seed: Taxonomy, *ids: str) -> np.ndarray:
    return np.array([seed.position(i) for i in ids])


def test_four_queries_worked_out_on_paper() -> None:
    """Seven candidates.

    1. gold b, scores b 9 > a 8 > rest 0: rank 1; answer b, Wu&P 1.
    2. gold d and c, scores e 9 > d 8 > a 7 > c 6 > rest: ranks 2 and 4, best 2; answer e: with d LCA b,
       2·2/(3+3) = 2/3, with c LCA a, 2·1/(3+2) = 2/5; best 2/3.
    3. gold y, every score equal: mean rank (1+…+7)/7 = 4; each of seven answers ties: Wu&P with y is 0 for a…e,
       2·1/(1+2) = 2/3 for x, 1 for y; mean (2/3+1)/7 = 5/21.
    4. gold not among the candidates: rank 8; Wu&P 0.

    hit@1 = 1/4, hit@5 = 3/4, hit@10 = 4/4 (eight is within ten)
    recall@1 = (1+0+0+0)/4, recall@5 = (1 + 2/2 + 1 + 0)/4 = 3/4, recall@10 = 1
    mr = (1+2+4+8)/4 = 3.75; mrr = (1 + 1/2 + 1/4 + 1/8)/4 = 15/32
    wup = (1 + 2/3 + 5/21 + 0)/4 = (40/21)/4 = 10/21
    micro: five gold parents with ranks 1 2 4 4 8: @1 1/5, @5 4/5; precision@1 = 1/4, precision@5 = 4/20.
    """
    seed = tree()
    scores = np.array([of(seed, b=9, a=8), of(seed, e=9, d=8, a=7, c=6), of(seed), of(seed, a=1)])
    gold = [at(seed, "b"), at(seed, "d", "c"), at(seed, "y"), np.array([-1])]
    got = metrics.evaluate(scores, gold, seed)
    expected = {
        "hit@1": 25,
        "hit@5": 75,
        "hit@10": 100,
        "recall@1": 25,
        "recall@5": 75,
        "recall@10": 100,
        "mr": 3.75,
        "mrr": 100 * 15 / 32,
        "wup": 100 * 10 / 21,
        "recall_micro@1": 20,
        "recall_micro@5": 80,
        "recall_micro@10": 100,
        "precision@1": 25,
        "precision@5": 20,
        "precision@10": 12.5,
    }
    assert got == pytest.approx(expected)


def test_no_gold_at_all_counts_as_missing() -> None:
    seed = tree()
    outcome = metrics.judge(np.zeros((1, 7)), [np.zeros(0, np.int64)], seed)
    assert outcome.best.tolist() == [8.0]


def test_wup_in_a_graph_takes_the_nearest_gold_parent_and_the_deepest_common_ancestor(animals: Taxonomy) -> None:
    """duck has two parents. Gold duck (depth 3), answer sparrow (3): common bird (2) beats animal (1): 4/6."""
    scores = np.zeros((1, len(animals)))
    scores[0, animals.position("sparrow")] = 1
    gold = [np.array([animals.position("duck"), animals.position("mineral")])]
    assert metrics.judge(scores, gold, animals).wup[0] == pytest.approx(4 / 6)


def test_blocks_join_to_the_same_outcome() -> None:
    seed, rng = tree(), np.random.default_rng(3)
    scores = rng.integers(0, 3, (9, 7)).astype(float)
    gold = [rng.choice(7, rng.integers(1, 4), replace=False) for _ in range(9)]
    whole = metrics.judge(scores, gold, seed)
    parts = metrics.join([metrics.judge(scores[i : i + 4], gold[i : i + 4], seed) for i in range(0, 9, 4)])
    assert metrics.summary(parts) == metrics.summary(whole)


def test_scores_that_are_no_ranking_are_refused() -> None:
    seed = tree()
    with pytest.raises(TaxosphereError, match="not numbers"):
        metrics.judge(np.full((1, 7), np.nan), [np.array([0])], seed)
    with pytest.raises(TaxosphereError, match=r"shape \(1, 6\) for 1 queries and 7"):
        metrics.judge(np.zeros((1, 6)), [np.array([0])], seed)


def naive(scores: np.ndarray, gold: list[np.ndarray], k: int) -> dict[str, float]:
    """Literal reading of the definitions; a tie's mean rank by averaging the places it occupies."""
    hit, recall, micro, mr, mrr, total = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for row, parents in zip(scores, gold):
        order = sorted(range(len(row)), key=lambda i: -row[i])
        ranks = []
        for parent in parents:
            if parent < 0:
                ranks.append(len(row) + 1.0)
                continue
            places = [1 + place for place, i in enumerate(order) if row[i] == row[parent]]
            ranks.append(sum(places) / len(places))
        inside = sum(rank <= k for rank in ranks)
        hit += inside > 0
        recall += inside / len(ranks)
        micro += inside
        total += len(ranks)
        mr += min(ranks)
        mrr += 1 / min(ranks)
    n = len(scores)
    return {
        f"hit@{k}": 100 * hit / n,
        f"recall@{k}": 100 * recall / n,
        f"recall_micro@{k}": 100 * micro / total,
        f"precision@{k}": 100 * micro / (n * k),
        "mr": mr / n,
        "mrr": 100 * mrr / n,
    }


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_agrees_with_a_naive_reading(data: st.DataObject) -> None:
    seed = tree()
    queries = data.draw(st.integers(1, 6))
    scores = np.array(
        data.draw(st.lists(st.lists(st.integers(-2, 2), min_size=7, max_size=7), min_size=queries, max_size=queries)),
        float,
    )
    one = st.lists(st.integers(-1, 6), min_size=1, max_size=4, unique=True).map(np.array)
    gold = data.draw(st.lists(one, min_size=queries, max_size=queries))
    got = metrics.evaluate(scores, gold, seed)
    for k in metrics.CUTS:
        expected = naive(scores, gold, k)
        assert {name: got[name] for name in expected} == pytest.approx(expected)
