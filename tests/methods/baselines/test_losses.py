"""Losses worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from taxosphere import Taxonomy
from taxosphere.methods.baselines import arborist, box, cone, entailment_cones, gumbel_box, losses
from taxosphere.methods.baselines.network import Batch
from taxosphere.methods.baselines.seed import Seed

SCORES = torch.tensor([[1.0, 0.5, 2.0], [0.0, -3.0, 0.0]], dtype=torch.float64)


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_margin() -> None:
    # relu(1 − 1 + 0.5), relu(1 − 1 + 2), relu(1 − 0 − 3), relu(1 − 0 + 0)
    assert losses.margin(SCORES, 1.0).item() == pytest.approx((0.5 + 2 + 0 + 1) / 4)
    each = torch.tensor([[0.0, 1.0], [4.0, 0.5]], dtype=torch.float64)
    assert losses.margin(SCORES, each).item() == pytest.approx((0 + 2 + 1 + 0.5) / 4)


def test_self_adversarial() -> None:
    total = 0.0
    for parent, *negatives in SCORES.tolist():
        weights = [math.exp(0.5 * n) for n in negatives]
        hard = sum(w / sum(weights) * math.log(sigmoid(-n)) for w, n in zip(weights, negatives))
        total += -0.5 * (math.log(sigmoid(parent)) + hard)
    assert losses.self_adversarial(SCORES, 0.5).item() == pytest.approx(total / 2)


def test_self_adversarial_weights_carry_no_gradient() -> None:
    scores = SCORES.clone().requires_grad_()
    losses.self_adversarial(scores, 1.0).backward()
    weight = math.exp(2) / (math.exp(0.5) + math.exp(2))
    assert scores.grad is not None
    assert scores.grad[0, 2].item() == pytest.approx(0.5 * weight * sigmoid(2.0) / 2)


def test_contrast() -> None:
    total = sum(-math.log(math.exp(row[0]) / sum(map(math.exp, row))) for row in SCORES.tolist())
    assert losses.contrast(SCORES).item() == pytest.approx(total / 2)


def test_binary() -> None:
    rows = SCORES.tolist()
    total = sum(-math.log(sigmoid(row[0])) - sum(math.log(sigmoid(-x)) for x in row[1:]) for row in rows)
    assert losses.binary(SCORES).item() == pytest.approx(total / 6)


@pytest.fixture
def batch(double_seed: Seed) -> Batch:
    """d below b, not below c or a; e below c, not below a or d."""
    query, candidate = torch.tensor([3, 4]), torch.tensor([[1, 2, 0], [2, 0, 3]])
    return Batch(query, candidate, *double_seed.mask(query, candidate))


def test_cone_weighs_negatives_alike(double_seed: Seed, batch: Batch) -> None:
    network = cone.ConENetwork(cone.ConESettings(dim=3, offset=1.0), double_seed).double()
    rows = network.scores(batch).tolist()
    total = sum(-math.log(sigmoid(p)) - sum(math.log(sigmoid(-n)) for n in rest) / 2 for p, *rest in rows)
    assert network.loss(batch).item() == pytest.approx(total / 2)


def test_entailment_cones_push_negatives_out(double_seed: Seed, batch: Batch) -> None:
    settings = entailment_cones.EntailmentConesSettings(dim=3, margin=2.0)
    network = entailment_cones.EntailmentConesNetwork(settings, double_seed).double()
    rows = [[max(0.0, -s) for s in row] for row in network.scores(batch).tolist()]
    total = sum(p + sum(max(0.0, 2.0 - n) for n in rest) for p, *rest in rows)
    assert network.loss(batch).item() == pytest.approx(total / 2)


def test_gumbel_box_takes_log_of_one_minus_p(double_seed: Seed, batch: Batch) -> None:
    settings = gumbel_box.GumbelBoxSettings(dim=3, negative_weight=4)
    network = gumbel_box.GumbelBoxNetwork(settings, double_seed).double()
    rows = network.scores(batch).tolist()
    total = sum(-p - 4 * sum(math.log(1 - math.exp(n)) for n in rest) / 2 for p, *rest in rows)
    assert network.loss(batch).item() == pytest.approx(total / 2)


def test_log1mexp_is_exact_at_both_ends() -> None:
    x = torch.tensor([-1e-12, -0.1, -math.log(2), -5.0, -50.0], dtype=torch.float64)
    expected = [math.log(-math.expm1(v)) if v > -1 else math.log1p(-math.exp(v)) for v in x.tolist()]
    np.testing.assert_allclose(gumbel_box.log1mexp(x), expected, rtol=1e-12)


def test_box_terms(double_seed: Seed, batch: Batch) -> None:
    settings = box.BoxSettings(
        dim=2, hidden=0, contain=2, separate=3, size=5, probability=7, smallest=1.0, negative_weight=11
    )
    network = box.BoxNetwork(settings, double_seed).double()
    boxes = network.box(double_seed.vectors).tolist()
    contain, apart, small, positive, negative = [], [], [], [], []

    def shared(q: int, p: int, j: int) -> float:
        c, o, d, w = boxes[q][j], boxes[q][j + 2], boxes[p][j], boxes[p][j + 2]
        return (min(c + o, d + w) - max(c - o, d - w)) / 2

    def probability(q: int, p: int) -> float:
        return math.prod(max(0.0, shared(q, p, j)) / boxes[q][j + 2] for j in range(2))

    for q, (p, *rest) in zip(batch.query.tolist(), batch.candidate.tolist()):
        for j in range(2):
            c, o, d, w = boxes[q][j], boxes[q][j + 2], boxes[p][j], boxes[p][j + 2]
            contain.append((max(0, 0.05 - ((c - o) - (d - w))) ** 2 + max(0, 0.05 - ((d + w) - (c + o))) ** 2) / 2)
            apart += [max(0, shared(q, n, j) + 0.03) ** 2 for n in rest]
            small.append(max(0, 1 - o) ** 2)
        positive.append((probability(q, p) - 1) ** 2)
        negative += [probability(q, n) ** 2 for n in rest]
    widths = [max(0, 1 - boxes[p][j + 2]) ** 2 for row in batch.candidate.tolist() for p in row for j in range(2)]
    mean = lambda values: sum(values) / len(values)  # noqa: E731
    expected = 2 * mean(contain) + 3 * mean(apart) + 5 * (mean(small) + mean(widths))
    expected += 7 * (mean(positive) + 11 * mean(negative))
    assert network.loss(batch).item() == pytest.approx(expected)


def test_arborist_margins_grow_with_distance(double_seed: Seed, batch: Batch) -> None:
    network = arborist.ArboristNetwork(arborist.ArboristSettings(), double_seed).double()
    # b–c: 2 steps, b–a: 1; c–a: 1, c–d: over a or e, then b: 3, the longest of all
    margins = [[2 / 3, 1 / 3], [1 / 3, 1.0]]
    total = 0.0
    for (p, *rest), far in zip(network.scores(batch).tolist(), margins):
        total += sum(max(0.0, d + sigmoid(n) - sigmoid(p)) for n, d in zip(rest, far))
    assert network.loss(batch).item() == pytest.approx(total / 4)


def test_path_distances_agree_with_networkx() -> None:
    import networkx as nx

    rng = np.random.default_rng(0)
    pairs = [(f"n{rng.integers(i)}", f"n{i}") for i in range(1, 40)] + [("x", "y")]
    taxonomy = Taxonomy.from_edges(pairs)
    graph = nx.Graph(pairs)
    found = arborist.path_distances(taxonomy, np.arange(len(taxonomy)))
    far = nx.diameter(graph.subgraph(nx.node_connected_component(graph, "n0"))) + 1
    for i, left in enumerate(taxonomy.ids):
        steps = nx.single_source_shortest_path_length(graph, left)
        assert found[i].tolist() == [steps.get(right, far) for right in taxonomy.ids]
