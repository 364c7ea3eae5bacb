"""Each score against its formula written out in plain loops, in float64, on the 25 pairs of five concepts."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from taxosphere.methods.baselines import (
    arborist,
    bert_mlp,
    box,
    cone,
    entailment_cones,
    gumbel_box,
    hake,
    rotate,
    transe,
)
from taxosphere.methods.baselines.network import Network
from taxosphere.methods.baselines.seed import Seed

Vector = list[float]


def matrix(network: Network) -> np.ndarray:
    """(query, candidate)"""
    with torch.no_grad():
        return network.match_all(network.query(network.seed.vectors), network.candidates()).numpy()


def check(network: Network, score: Callable[[int, int], float]) -> None:
    expected = [[score(q, p) for p in range(5)] for q in range(5)]
    np.testing.assert_allclose(matrix(network.eval()), expected, rtol=1e-6, atol=1e-9)


def rows(tensor: torch.Tensor) -> list[Vector]:
    return tensor.detach().tolist()


def shaken(network: Network) -> Network:
    """Nothing stays at a start value that would hide a term."""
    torch.manual_seed(7)
    with torch.no_grad():
        for parameter in network.double().parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return network


@pytest.mark.parametrize("norm", [1, 2])
def test_transe(double_seed: Seed, norm: int) -> None:
    network = shaken(transe.TransENetwork(transe.TransESettings(dim=4, norm=norm), double_seed))
    entity, r = rows(network.entity(double_seed.vectors)), rows(network.relation)

    def score(q: int, p: int) -> float:
        return -(sum(abs(a + b - c) ** norm for a, b, c in zip(entity[q], r, entity[p])) ** (1 / norm))

    assert all(math.isclose(sum(x * x for x in row), 1) for row in entity)
    check(network, score)


def test_rotate(double_seed: Seed) -> None:
    network = shaken(rotate.RotatENetwork(rotate.RotatESettings(dim=3, offset=4), double_seed))
    entity, phase = rows(network.head(double_seed.vectors)), rows(network.phase)
    span = (4 + 2) / 3

    def score(q: int, p: int) -> float:
        total = 0.0
        for j in range(3):
            child, parent = complex(entity[q][j], entity[q][j + 3]), complex(entity[p][j], entity[p][j + 3])
            total += abs(child * cmath.exp(1j * phase[j] / (span / math.pi)) - parent)
        return 4 - total

    check(network, score)


def test_hake(double_seed: Seed) -> None:
    network = shaken(hake.HakeNetwork(hake.HakeSettings(dim=3, offset=4), double_seed))
    with torch.no_grad():
        network.modulus[:] = torch.tensor([-0.5, 1.0, 0.3])  # used as |r_m|
        network.bias[:] = torch.tensor([-0.8, 0.2, 1.7])  # clamped below at −|r_m|, not at all, above at 1
    entity, r_m, r_b, r_f = (
        rows(network.head(double_seed.vectors)),
        [0.5, 1.0, 0.3],
        [-0.5, 0.2, 1.0],
        rows(network.phase),
    )
    span = (4 + 2) / 3

    def score(q: int, p: int) -> float:
        level = math.sqrt(sum((entity[q][j] * (r_m[j] + r_b[j]) - entity[p][j] * (1 - r_b[j])) ** 2 for j in range(3)))
        turn = [(entity[q][j + 3] + r_f[j] - entity[p][j + 3]) * math.pi / span for j in range(3)]
        place = sum(abs(math.sin(angle / 2)) for angle in turn)
        return 4 - network.modulus_weight.item() * level - network.phase_weight.item() * place

    check(network, score)


def test_cone(double_seed: Seed) -> None:
    network = shaken(cone.ConENetwork(cone.ConESettings(dim=3, offset=5, centre=0.1), double_seed))
    axis = [[math.pi * math.tanh(x) for x in row] for row in rows(network.axis(double_seed.vectors))]
    half = [
        [math.pi / 2 * math.tanh(2 * x) + math.pi / 2 for x in row]
        for row in rows(network.aperture(double_seed.vectors))
    ]
    met = set()

    def score(q: int, p: int) -> float:
        total = 0.0
        for a, b, h in zip(axis[q], axis[p], half[p]):
            to_axis, to_edge = abs(math.sin((a - b) / 2)), abs(math.sin(h / 2))
            rim = min(abs(math.sin((a - (b - h)) / 2)), abs(math.sin((a - (b + h)) / 2)))
            met.add(to_axis < to_edge)
            total += (0 if to_axis < to_edge else rim) + 0.1 * min(to_axis, to_edge)
        return 5 - network.scale.item() * total

    check(network, score)
    assert met == {True, False}


def test_hyperbolic_entailment_cones(double_seed: Seed) -> None:
    """Ξ also follows from the hyperbolic law of cosines: the angle at p between the ray from 0 and the way to q."""
    settings = entailment_cones.EntailmentConesSettings(dim=3, aperture=0.1, radius=0.8)
    network = shaken(entailment_cones.EntailmentConesNetwork(settings, double_seed))
    points = rows(network.point(double_seed.vectors))

    def distance(x: Vector, y: Vector) -> float:
        apart = sum((a - b) ** 2 for a, b in zip(x, y))
        return math.acosh(1 + 2 * apart / ((1 - sum(a * a for a in x)) * (1 - sum(b * b for b in y))))

    def score(q: int, p: int) -> float:
        x, y, origin = points[p], points[q], [0.0] * 3
        a, b, c = distance(origin, y), distance(x, y), distance(origin, x)
        at_p = math.acos((math.cosh(b) * math.cosh(c) - math.cosh(a)) / (math.sinh(b) * math.sinh(c)))
        length = math.sqrt(sum(v * v for v in x))
        return math.asin(0.1 * (1 - length**2) / length) - (math.pi - at_p)

    expected = [[score(q, p) if q != p else 0.0 for p in range(5)] for q in range(5)]
    found = matrix(network)
    apart = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose(found[apart], np.array(expected)[apart], rtol=1e-6)


def test_euclidean_entailment_cones(double_seed: Seed) -> None:
    settings = entailment_cones.EntailmentConesSettings(dim=3, aperture=0.1, space="euclidean")
    network = shaken(entailment_cones.EntailmentConesNetwork(settings, double_seed))
    points = np.array(rows(network.point(double_seed.vectors)))

    def score(q: int, p: int) -> float:
        x, y = points[p], points[q]
        n = np.linalg.norm
        angle = math.acos((y @ y - x @ x - (x - y) @ (x - y)) / (2 * n(x) * n(x - y)))
        return math.asin(0.1 / n(x)) - angle

    found = matrix(network)
    for q, p in ((0, 1), (1, 0), (2, 4), (3, 2), (4, 0)):
        assert found[q, p] == pytest.approx(score(q, p), rel=1e-9)


def test_entailment_points_stay_where_cones_exist(double_seed: Seed) -> None:
    for radius in (1e-6, 1e3):
        settings = entailment_cones.EntailmentConesSettings(dim=3, radius=radius)
        network = entailment_cones.EntailmentConesNetwork(settings, double_seed).double()
        length = network.point(double_seed.vectors).norm(dim=1)
        assert (length > 2 * 0.1 / (1 + math.sqrt(1.04))).all()
        assert (length < 1).all()


@pytest.mark.parametrize("interactions", [False, True])
def test_bert_mlp(double_seed: Seed, interactions: bool) -> None:
    settings = bert_mlp.BertMlpSettings(hidden=5, interactions=interactions)
    network = shaken(bert_mlp.BertMlpNetwork(settings, double_seed))
    h = (math.sqrt(6) * double_seed.vectors).numpy()
    first = [network.of_query, network.of_candidate] + ([network.of_both] if network.of_both else [])
    joined = np.concatenate([layer.weight.detach().numpy() for layer in first], axis=1)
    bias, out = network.of_query.bias.detach().numpy(), network.out.weight.detach().numpy()[0]

    def score(q: int, p: int) -> float:
        x = [h[q], h[p]] + ([abs(h[q] - h[p]), h[q] * h[p]] if interactions else [])
        return float(out @ np.maximum(0, joined @ np.concatenate(x) + bias)) + network.out.bias.item()

    check(network, score)


@pytest.mark.parametrize("disjoint", ["volume", "gap"])
def test_box(double_seed: Seed, disjoint: str) -> None:
    settings = box.BoxSettings(dim=2, hidden=0, disjoint=disjoint, width_start=-2.0)
    network = shaken(box.BoxNetwork(settings, double_seed))
    boxes = rows(network.box(double_seed.vectors))
    met = set()

    def score(q: int, p: int) -> float:
        probability, gap, volume = 1.0, 0.0, 1.0
        for j in range(2):
            c, o, d, w = boxes[q][j], boxes[q][j + 2], boxes[p][j], boxes[p][j + 2]
            shared = (min(c + o, d + w) - max(c - o, d - w)) / 2
            probability *= max(0.0, shared) / o
            gap += max(0.0, -shared)
            volume *= w
        met.add(probability > 0)
        if probability > 0:
            return math.log(probability) - 1e-4 * math.log(volume)
        return -1e3 - (math.log(volume) if disjoint == "volume" else gap)

    check(network, score)
    assert met == {True, False}


def test_gumbel_box(double_seed: Seed) -> None:
    settings = gumbel_box.GumbelBoxSettings(dim=2, intersection=0.2, volume=0.5)
    network = shaken(gumbel_box.GumbelBoxNetwork(settings, double_seed))
    corners = rows(network.box(double_seed.vectors))

    def log_volume(low: Vector, high: Vector) -> float:
        sides = (b - a - 2 * 0.5772156649015329 * 0.2 for a, b in zip(low, high))
        return sum(math.log(0.5 * math.log(1 + math.exp(side / 0.5)) + 1e-23) for side in sides)

    def score(q: int, p: int) -> float:
        (a, b), (c, d) = (corners[q][:2], corners[q][2:]), (corners[p][:2], corners[p][2:])
        low = [max(0.2 * math.log(math.exp(x / 0.2) + math.exp(y / 0.2)), x, y) for x, y in zip(a, c)]
        high = [min(-0.2 * math.log(math.exp(-x / 0.2) + math.exp(-y / 0.2)), x, y) for x, y in zip(b, d)]
        return min(-1e-7, log_volume(low, high) - log_volume(a, b))

    check(network, score)


def test_arborist(double_seed: Seed) -> None:
    network = shaken(arborist.ArboristNetwork(arborist.ArboristSettings(maps=2), double_seed))
    h, maps = double_seed.vectors.numpy(), network.maps.detach().numpy()
    weights = network.weights(double_seed.vectors).detach().numpy()

    def score(q: int, p: int) -> float:
        meaning = weights[p, 0] * maps[0] + weights[p, 1] * maps[1]
        return network.sharpness.item() * float(h[q] @ meaning @ h[p])

    check(network, score)
