from __future__ import annotations

import json

import numpy as np
import pytest

from support.meadow import KINDS, Fitted, fit, meadow
from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError, TaxosphereError
from taxosphere.evaluation.reliability import auroc
from taxosphere.ranking.features.catalogue import feature_of
from taxosphere.ranking.ranker import Ranker, Ranking, scores_of_all
from taxosphere.ranking.ranker_training import FEWEST
from taxosphere.taxonomy.split import hide


def _rank(model: Fitted, concepts: list[Concept], **wanted: object) -> Ranking:
    return model.ranker.rank(model.index, model.queries(concepts), **wanted)  # type: ignore[arg-type]


def test_probabilities_and_none_add_up_to_one(fitted: Fitted, strangers: list[Concept]) -> None:
    found = _rank(fitted, strangers)
    np.testing.assert_allclose(found.probabilities.sum(1) + found.none_probability, 1, rtol=1e-5)
    assert (found.probabilities >= 0).all()
    assert ((found.none_probability > 0) & (found.none_probability < 1)).all()
    assert (np.diff(found.probabilities, axis=1) <= 1e-7).all()


def test_new_concepts_are_put_where_their_like_are(fitted: Fitted, strangers: list[Concept]) -> None:
    best = _rank(fitted, strangers).positions[:, 0]
    assert [fitted.seed.ids[p] for p in best[:3]] == ["bird", "cake", "boat"]


def test_scores_order_everything_and_the_shortlist_comes_first(fitted: Fitted, strangers: list[Concept]) -> None:
    found = _rank(fitted, strangers, all_scores=True)
    everything = scores_of_all(found)
    assert everything.shape == (len(strangers), len(fitted.seed))
    assert np.isfinite(everything).all()
    np.testing.assert_array_equal(np.take_along_axis(everything, found.positions, 1), found.scores)
    for scores, listed in zip(everything, found.positions, strict=True):
        assert (np.diff(scores[listed]) <= 0).all()
        rest = np.setdiff1d(np.arange(len(scores)), listed)
        assert len(rest) == 0 or scores[rest].max() < scores[listed].min()


def test_contributions_are_there_for_every_candidate_and_feature(fitted: Fitted, strangers: list[Concept]) -> None:
    found = _rank(fitted, strangers)
    assert found.contributions.shape == (*found.positions.shape, len(found.feature_names))
    assert len(set(found.feature_names)) == len(found.feature_names)
    assert np.abs(found.contributions[:, 0]).sum() > 0
    few = _rank(fitted, strangers, n_explained=2)
    np.testing.assert_allclose(few.contributions, found.contributions[:, :2], atol=1e-6)
    assert _rank(fitted, strangers, n_explained=0).contributions.size == 0


def test_cosine_and_gate_are_those_of_the_sphere(fitted: Fitted, strangers: list[Concept]) -> None:
    from taxosphere.orbit import gate

    found = _rank(fitted, strangers)
    asked = fitted.queries(strangers).points.z
    full = asked @ fitted.index.points.z.T
    np.testing.assert_allclose(found.cosine, np.take_along_axis(full, found.positions, 1), atol=1e-5)
    limit = gate.thresholds(gate.delta(fitted.seed), fitted.ranker.gamma)
    np.testing.assert_array_equal(found.gate, found.cosine > limit[found.positions])


def test_a_query_is_ranked_alike_alone_and_among_others(fitted: Fitted, strangers: list[Concept]) -> None:
    together = _rank(fitted, strangers)
    for i, concept in enumerate(strangers):
        alone = _rank(fitted, [concept])
        # Products of other shapes round otherwise, so ranks of nearly equal values far down may swap.
        np.testing.assert_allclose(alone.probabilities[0, 0], together.probabilities[i, 0], atol=0.01)
        np.testing.assert_allclose(alone.none_probability[0], together.none_probability[i], atol=0.01)
        assert alone.positions[0, 0] == together.positions[i, 0]


def test_what_was_learned_survives_arrays_and_json(fitted: Fitted, strangers: list[Concept]) -> None:
    arrays, notes = fitted.ranker.to_arrays()
    again = Ranker.from_arrays(arrays, json.loads(json.dumps(notes)))
    first = _rank(fitted, strangers)
    second = again.rank(fitted.index, fitted.queries(strangers))
    np.testing.assert_array_equal(first.positions, second.positions)
    np.testing.assert_array_equal(first.probabilities, second.probabilities)


def test_arrays_that_do_not_fit_to_the_columns_are_refused(fitted: Fitted) -> None:
    arrays, notes = fitted.ranker.to_arrays()
    with pytest.raises(TaxosphereError, match="columns of features"):
        Ranker.from_arrays(arrays, {**notes, "columns": notes["columns"][:-1]})
    cut = {
        **arrays,
        "nets.net0.linear": arrays["nets.net0.linear"][:-1],
        "nets.net0.into": arrays["nets.net0.into"][:, :-1],
    }
    with pytest.raises(TaxosphereError, match="columns of features"):
        Ranker.from_arrays(cut, notes)


def test_the_same_seed_number_gives_the_same_ranker(fitted: Fitted, strangers: list[Concept]) -> None:
    again = fit(meadow())
    np.testing.assert_array_equal(_rank(fitted, strangers).probabilities, _rank(again, strangers).probabilities)


def test_held_out_lists_tell_when_the_parent_is_gone(fitted: Fitted) -> None:
    held = fitted.ranker.out_of_fold
    assert len(held.probabilities) == len(KINDS) * 8
    assert (held.probabilities.sum(1) + held.none_probability[: len(held.n_gold)] <= 1 + 1e-5).all()
    assert (held.n_gold == 1).all()
    assert 0 < held.parent_removed.sum() < len(held.parent_removed)
    assert auroc(held.none_probability, held.parent_removed) > 0.75


def test_hidden_leaves_of_a_learnable_seed_are_found(fitted: Fitted) -> None:
    hidden = np.array([fitted.seed.position(f"royal {kind}") for kind in KINDS])
    split = hide(fitted.seed, hidden)
    model = fit(split.seed)
    found = _rank(model, list(split.queries)).positions[:, 0]
    right = np.mean([p in gold for p, gold in zip(found, split.gold, strict=True)])
    assert right >= 0.75


@pytest.mark.parametrize("leaves", [0, 1, FEWEST - 1])
def test_a_seed_too_small_to_learn_from_says_so_and_still_ranks(leaves: int, strangers: list[Concept]) -> None:
    pairs = [("thing", "bird"), *(("bird", f"bird {i}") for i in range(max(0, leaves - 1)))]
    seed = Taxonomy.from_edges(pairs) if leaves else Taxonomy.from_edges([], names={"bird": "bird", "cake": "cake"})
    model = fit(seed)
    assert "concepts to learn from" in model.ranker.note
    assert "the plain cosine" in model.ranker.note
    found = _rank(model, strangers)
    np.testing.assert_allclose(found.probabilities.sum(1) + found.none_probability, 1, rtol=1e-5)
    cosine = model.text_vectors(strangers).full @ model.index.text_vectors.full.T
    listed = np.take_along_axis(cosine, found.positions, 1)
    np.testing.assert_allclose(listed, -np.sort(-cosine, axis=1), atol=1e-6)


def test_a_learned_ranker_says_from_how_much(fitted: Fitted) -> None:
    assert f"{len(KINDS) * 8} lists" in fitted.ranker.note


def test_families_can_be_left_out(strangers: list[Concept]) -> None:
    model = fit(meadow(), 0, 'ranking.families=["encoder", "structure"]')
    found = _rank(model, strangers)
    assert {feature_of(name).family for name in found.feature_names} == {"encoder", "structure", "first stage"}
    np.testing.assert_allclose(found.probabilities.sum(1) + found.none_probability, 1, rtol=1e-5)


def test_nets_of_another_width_than_the_priors_are_refused() -> None:
    with pytest.raises(InputError, match=r"ranking\.hidden is 16, the prior has 32"):
        fit(meadow(), 0, "ranking.hidden=16", "ranking.prior=true")
