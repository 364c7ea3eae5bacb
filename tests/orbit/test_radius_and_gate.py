from __future__ import annotations

import numpy as np
import pytest

from taxosphere import Concept, Taxonomy
from taxosphere.orbit import gate, radius
from taxosphere.taxonomy.split import hide


def test_five_concepts_by_hand() -> None:
    # a ─┬─ b ─ d      depth 0 1 1 2 2, descendants 4 1 1 0 0
    #    └─ c ─ e      R = 1+0+log2 5, 1+1+1, 3, 1+2+0, 3
    taxonomy = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("c", "e")])
    top = 1 + np.log2(5)
    by_id = dict(zip(taxonomy.ids, radius.raw_radii(taxonomy), strict=True))
    assert by_id == pytest.approx({"a": top, "b": 3, "c": 3, "d": 3, "e": 3})
    assert dict(zip(taxonomy.ids, radius.radii(taxonomy), strict=True)) == pytest.approx(
        {"a": 0, "b": 1, "c": 1, "d": 1, "e": 1}
    )
    expected = {"a": (np.log2(6) - 1) / (top - 3), "b": (np.log2(3) - 1) / (top - 3), "d": 0.0, "e": 0.0}
    found = dict(zip(taxonomy.ids, gate.delta(taxonomy), strict=True))
    assert {id: found[id] for id in expected} == pytest.approx(expected)


def test_delta_equals_the_radii_of_the_hypothetical_attachment(animals: Taxonomy) -> None:
    width = radius.span(animals)
    for position, id in enumerate(animals.ids):
        grown = animals.add([Concept("new", "new")], [(id, "new")])
        values = radius.raw_radii(grown)
        # Other routes may make the candidate deeper in a graph with several parents, but its child is always one below.
        assert gate.delta(animals)[position] == pytest.approx((values[position] - values[-1]) / width)


@pytest.mark.parametrize("pairs", [[], [("a", "b")]])
def test_degenerate_taxonomies_have_finite_radii(pairs: list[tuple[str, str]]) -> None:
    taxonomy = Taxonomy.from_edges(pairs, names={"x": "x"})
    assert np.isfinite(radius.radii(taxonomy)).all()
    assert np.isfinite(gate.delta(taxonomy)).all()


def test_hidden_concepts_change_no_radius(animals: Taxonomy) -> None:
    hidden = np.array([animals.position("dog")])
    seed = hide(animals, hidden).seed
    renamed = animals.add([Concept("cat", "cat")], [("mammal", "cat")])
    both = hide(renamed, np.array([renamed.position("dog"), renamed.position("cat")])).seed
    assert radius.radii(seed).tolist() == radius.radii(both).tolist()
    assert gate.delta(seed).tolist() == gate.delta(both).tolist()


def test_modes_of_the_gate() -> None:
    cosine = np.array([[0.9, 0.5, -0.2]])
    threshold = np.array([0.95, 0.4, -0.5])
    assert gate.gated_scores(cosine, threshold, "off").tolist() == [[0.9, 0.5, -0.2]]
    assert gate.gated_scores(cosine, threshold, "hard").tolist() == [[0.0, 0.5, -0.2]]
    order = np.argsort(-gate.gated_scores(cosine, threshold, "hybrid"))[0].tolist()
    assert order == [1, 2, 0]  # accepted ones by cosine, then the rejected one


# The gold parent (Δr = 0.5, cosine 0.6) is beaten by a leaf (Δr = 0, cosine 0.7) until the gate opens for it:
# 1 − γ/4 < 0.6 needs γ > 1.6, and the first such value of the grid is 2. A small concept (Δr = 0.1, cosine 0.9) comes
# in between once 1 − γ/100 < 0.9: from 16 on.
_DELTA = np.array([0.5, 0.0, 0.1])
_RIVAL, _NO_RIVAL = [0.6, 0.7, 0.9], [0.6, 0.7, 0.1]


@pytest.mark.parametrize("mode", ["hybrid", "hard"])
def test_gamma_is_the_mildest_of_equals(mode: gate.Mode) -> None:
    gold = [np.array([0])]
    assert gate.choose_gamma([(np.array([_RIVAL]), gold)], _DELTA, mode) == 8.0
    assert gate.choose_gamma([(np.array([_NO_RIVAL]), gold)], _DELTA, mode) == gate.GAMMAS[-1]


@pytest.mark.parametrize(("rivals", "chosen"), [(0, 128.0), (1, 128.0), (2, 8.0), (12, 8.0)])
def test_one_query_of_twelve_does_not_make_the_gate_stricter(rivals: int, chosen: float) -> None:
    # With r of 12 ranks at 1/2 instead of 1, the mean falls by r/24 and the standard error of that is
    # 1/2 √(r/12 (1 − r/12) / 11): 1/24 for r = 1, 0.056 < 2/24 for r = 2.
    cosine = np.array([_RIVAL] * rivals + [_NO_RIVAL] * (12 - rivals))
    gold = [np.array([0])] * 12
    assert gate.choose_gamma([(cosine, gold)], _DELTA, "hybrid") == chosen
    blocks = [(cosine[start : start + 5], gold[start : start + 5]) for start in (0, 5, 10)]
    assert gate.choose_gamma(blocks, _DELTA, "hybrid") == chosen


def test_without_hidden_queries_the_gate_is_mild() -> None:
    assert gate.choose_gamma([(np.zeros((0, 3)), [])], _DELTA, "hybrid") == gate.GAMMAS[-1]
