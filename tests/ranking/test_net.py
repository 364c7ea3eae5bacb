from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from taxosphere.model.config import RankingConfig
from taxosphere.ranking.net import NetEnsemble, RankingNet, join_ensembles, listwise_loss, train_nets

SETTINGS = RankingConfig(epochs=20, nets=2, hidden=8)


def _lists(count: int, seed: int = 0, sign: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Lists of six candidates with four features; the true one has the largest first feature (times ``sign``)."""
    table = np.random.default_rng(seed).normal(size=(count, 6, 4)).astype(np.float32)
    return table, np.arange(6) == (sign * table[..., 0]).argmax(1)[:, None]


def _scores(model: NetEnsemble, table: np.ndarray) -> np.ndarray:
    return model.scores(model.standardise(table))


def _right(model: NetEnsemble, table: np.ndarray, labels: np.ndarray) -> float:
    return float(np.take_along_axis(labels, _scores(model, table).argmax(1)[:, None], 1).mean())


def test_listwise_loss_by_hand() -> None:
    scores = torch.tensor([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0]])
    labels = torch.tensor([[False, False, True], [True, True, False]])
    first = np.log(np.exp([0.0, 1.0, 2.0]).sum()) - 2.0
    second = -np.log(2 / 3)
    assert listwise_loss(scores, labels).item() == pytest.approx((first + second) / 2)


def test_it_learns_which_feature_decides() -> None:
    model = train_nets(*_lists(300), SETTINGS, n_nets=2, random_state=0, prior=None)
    assert _right(model, *_lists(200, seed=1)) > 0.85


def test_the_same_random_state_gives_the_same_weights() -> None:
    first, second = (train_nets(*_lists(60), SETTINGS, n_nets=1, random_state=3, prior=None) for _ in range(2))
    for key, value in first.to_arrays().items():
        np.testing.assert_array_equal(value, second.to_arrays()[key])


def test_arrays_bring_it_back() -> None:
    table, labels = _lists(60)
    model = train_nets(table, labels, SETTINGS, n_nets=2, random_state=0, prior=None)
    again = NetEnsemble.from_arrays(model.to_arrays())
    assert len(again.nets) == 2
    np.testing.assert_array_equal(_scores(again, table), _scores(model, table))


def test_scores_are_log_probabilities_of_one_net() -> None:
    table, labels = _lists(60)
    model = train_nets(table, labels, SETTINGS, n_nets=1, random_state=0, prior=None)
    np.testing.assert_allclose(np.exp(_scores(model, table)).sum(1), 1, rtol=1e-5)


def test_nets_count_by_their_shares_also_after_saving() -> None:
    table, labels = _lists(60)
    model = train_nets(table, labels, SETTINGS, n_nets=2, random_state=0, prior=None)
    shared = replace(model, shares=np.array([0.75, 0.25], np.float32))
    first, second = (_scores(replace(model, nets=(net,)), table) for net in model.nets)
    np.testing.assert_allclose(_scores(shared, table), 0.75 * first + 0.25 * second, atol=1e-5)
    np.testing.assert_array_equal(_scores(NetEnsemble.from_arrays(shared.to_arrays()), table), _scores(shared, table))
    places = np.tile(np.arange(6), (60, 1))
    first, second = (replace(model, nets=(net,)).contributions(model.standardise(table), places) for net in model.nets)
    found = shared.contributions(model.standardise(table), places)
    np.testing.assert_allclose(found, 0.75 * first + 0.25 * second, atol=1e-5)


def test_contributions_of_a_linear_net_add_up_to_the_score_above_the_average() -> None:
    net = RankingNet(3, 2, 0.0, torch.Generator())
    with torch.no_grad():
        net.linear.copy_(torch.tensor([1.0, -2.0, 0.5]))
        net.out.zero_()
    model = NetEnsemble(np.zeros(3, np.float32), np.ones(3, np.float32), (net,))
    table = np.random.default_rng(0).normal(size=(5, 4, 3)).astype(np.float32)
    raw = table @ np.array([1.0, -2.0, 0.5])
    found = model.contributions(model.standardise(table), np.tile(np.arange(4), (5, 1)))
    np.testing.assert_allclose(found.sum(2), raw - raw.mean(1, keepdims=True), atol=1e-5)
    np.testing.assert_allclose(found[..., 1], -2 * (table[..., 1] - table[..., 1].mean(1, keepdims=True)), atol=1e-5)


def test_contributions_are_the_gradient_times_the_difference_to_the_list() -> None:
    table, labels = _lists(60)
    model = train_nets(table, labels, SETTINGS, n_nets=2, random_state=0, prior=None)
    x = model.standardise(table).requires_grad_()
    (gradient,) = torch.autograd.grad(torch.stack([net(x) for net in model.nets]).mean(0).sum(), x)
    expected = (gradient * (x - x.mean(1, keepdim=True))).detach().numpy()
    places = np.random.default_rng(0).permuted(np.tile(np.arange(6), (60, 1)), axis=1)[:, :3]
    found = model.contributions(model.standardise(table), places)
    np.testing.assert_allclose(found, np.take_along_axis(expected, places[:, :, None], 1), atol=1e-5)


def test_an_odd_value_cannot_decide_alone() -> None:
    table, labels = _lists(300)
    model = train_nets(table, labels, SETTINGS, n_nets=1, random_state=0, prior=None)
    wild = table[:1].copy()
    wild[0, 0, 3] = 1e9
    tame = table[:1].copy()
    tame[0, 0, 3] = 100.0
    np.testing.assert_allclose(_scores(model, wild), _scores(model, tame))


def _moved(count: int, pull: float, known: NetEnsemble) -> float:
    """How far nets go from a prior that ``count`` lists contradict, in thirty steps."""
    settings = SETTINGS.model_copy(update={"epochs": 600 // count, "batch": 20, "prior_pull": pull})
    model = train_nets(*_lists(count, seed=2, sign=-1.0), settings, n_nets=1, random_state=0, prior=known)
    return float((model.nets[0].linear - known.nets[0].linear).detach().norm())


def test_the_pull_of_the_prior_fades_as_lists_grow() -> None:
    known = train_nets(*_lists(300), SETTINGS, n_nets=1, random_state=0, prior=None)
    held = {count: _moved(count, 2000.0, known) / _moved(count, 0.0, known) for count in (20, 600)}
    assert held[20] < held[600] < 1


def test_any_number_of_steps_can_be_trained() -> None:
    settings = SETTINGS.model_copy(update={"epochs": 5, "batch": 64})
    trained = train_nets(*_lists(80), settings, n_nets=1, random_state=0, prior=None)
    assert all(torch.isfinite(parameter).all() for parameter in trained.nets[0].parameters())


def test_a_prior_helps_where_there_is_little_to_learn_from() -> None:
    known = train_nets(*_lists(300), SETTINGS, n_nets=2, random_state=0, prior=None)
    table, labels = _lists(20, seed=5)
    settings = SETTINGS.model_copy(update={"epochs": 2})
    alone = train_nets(table, labels, settings, n_nets=2, random_state=0, prior=None)
    helped = train_nets(table, labels, settings, n_nets=2, random_state=0, prior=known)
    asked = _lists(300, seed=6)
    assert _right(helped, *asked) > _right(alone, *asked)


def test_joined_ensembles_score_by_the_mean_of_their_nets_on_their_own_columns() -> None:
    table, labels = _lists(60)
    columns = [np.array([0, 1, 3]), np.array([0, 2])]
    parts = [train_nets(table[..., some], labels, SETTINGS, n_nets=2, random_state=0, prior=None) for some in columns]
    joined = join_ensembles(parts, columns, 4)
    separate = [_scores(part, table[..., some]) for part, some in zip(parts, columns, strict=True)]
    np.testing.assert_allclose(_scores(joined, table), np.mean(separate, axis=0), atol=1e-5)
    places = np.zeros((60, 1), np.int64)
    expected = np.zeros((60, 1, 4), np.float32)
    for part, some in zip(parts, columns, strict=True):
        expected[..., some] += part.contributions(part.standardise(table[..., some]), places) / 2
    np.testing.assert_allclose(joined.contributions(joined.standardise(table), places), expected, atol=1e-5)
