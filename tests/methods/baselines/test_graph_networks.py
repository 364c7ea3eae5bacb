"""Attention and hyperbolic layers over neighbourhoods, against loops over one neighbourhood at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from taxosphere.methods.baselines.ego_graph import EgoEncoder, EgoSettings, segment_softmax
from taxosphere.methods.baselines.hyperexpan import (
    HyperExpanNetwork,
    HyperExpanSettings,
    exp0,
    log0,
    mobius_add,
    within_ball,
)
from taxosphere.methods.baselines.seed import CHILD, PARENT, SELF, Seed
from taxosphere.methods.baselines.taxoexpan import TaxoExpanNetwork, TaxoExpanSettings

SMALL = {"ego_hidden": 3, "ego_heads": 2, "ego_position": 2, "ego_out": 4}


def star(seed: Seed, centre: int) -> tuple[list[int], list[int]]:
    up, down = seed.taxonomy.parent_csr.row(centre).tolist(), seed.taxonomy.child_csr.row(centre).tolist()
    return [centre, *up, *down], [SELF, *[PARENT] * len(up), *[CHILD] * len(down)]


def neighbours(i: int, count: int) -> list[int]:
    """In a star: the centre has all, a spoke has itself and the centre."""
    return list(range(count)) if i == 0 else [0, i]


def softmax(values: list[float]) -> np.ndarray:
    weights = np.exp(np.array(values) - max(values))
    return weights / weights.sum()


def leaky(x: np.ndarray, slope: float = 0.01) -> np.ndarray:
    return np.where(x > 0, x, slope * x)


def naive_attention(layer: torch.nn.Module, x: np.ndarray, roles: list[int]) -> np.ndarray:
    position = layer.position.weight.detach().numpy()[roles]
    heads = layer.heads
    projected = np.concatenate([x, position], 1) @ layer.project.weight.detach().numpy().T
    projected = projected.reshape(len(x), heads, -1)
    attend = layer.attend.detach().numpy()
    out = np.zeros_like(projected)
    for head in range(heads):
        for i in range(len(x)):
            near = neighbours(i, len(x))
            logit = [
                float(leaky(attend[0, head] @ projected[i, head] + attend[1, head] @ projected[j, head], 0.2))
                for j in near
            ]
            out[i, head] = softmax(logit) @ projected[near, head]
    return out.reshape(len(x), -1)


def test_position_attention_and_weighted_readout(double_seed: Seed) -> None:
    torch.manual_seed(0)
    encoder = EgoEncoder(6, EgoSettings(**SMALL)).double().eval()
    with torch.no_grad():
        encoder.importance[:] = torch.tensor([0.5, -1.0, 2.0])
        found = encoder(double_seed.vectors, double_seed.ego_nets(double_seed.all_candidates()), 5).numpy()
    weight = [math.log1p(math.exp(v)) for v in (0.5, -1.0, 2.0)]
    for centre in range(5):
        members, roles = star(double_seed, centre)
        x = leaky(naive_attention(encoder.first, double_seed.vectors.numpy()[members], roles))
        x = naive_attention(encoder.second, x, roles)
        w = np.array([weight[role] for role in roles])
        np.testing.assert_allclose(found[centre], (w[:, None] * x).sum(0) / w.sum(), rtol=1e-9)


def test_taxoexpan_match_is_bilinear(double_seed: Seed) -> None:
    network = TaxoExpanNetwork(TaxoExpanSettings(**SMALL, raw=True), double_seed).double().eval()
    with torch.no_grad():
        readout = network.ego(double_seed.vectors, double_seed.ego_nets(double_seed.all_candidates()), 5).numpy()
        found = network.match_all(double_seed.vectors, network.candidates()).numpy()
    h, w, own = double_seed.vectors.numpy(), network.bilinear.weight.detach().numpy(), network.direct.detach().numpy()
    for q in range(5):
        for p in range(5):
            np.testing.assert_allclose(found[q, p], h[q] @ w @ readout[p] + h[p] @ own @ h[q], rtol=1e-9)


def test_segment_softmax_sums_to_one_and_survives_large_logits() -> None:
    logits, segment = torch.tensor([[1000.0], [1001.0], [-1000.0]]), torch.tensor([0, 0, 1])
    expected = [1 / (1 + math.e), math.e / (1 + math.e), 1.0]
    np.testing.assert_allclose(segment_softmax(logits, segment, 2)[:, 0], expected, rtol=1e-6)


def test_hyperbolic_maps() -> None:
    torch.manual_seed(0)
    v, c = 0.5 * torch.randn(4, 3, dtype=torch.float64), torch.tensor(1.7, dtype=torch.float64)
    np.testing.assert_allclose(log0(exp0(v, c), c), v, rtol=1e-9)
    root = math.sqrt(1.7)
    for row, point in zip(v.tolist(), exp0(v, c).tolist()):
        length = math.sqrt(sum(a * a for a in row))
        np.testing.assert_allclose(point, [math.tanh(root * length) / (root * length) * a for a in row], rtol=1e-9)


def test_mobius_addition_along_one_line_adds_distances() -> None:
    """On a line through the origin the ball of curvature −1 is additive in artanh."""
    c = torch.tensor(1.0, dtype=torch.float64)
    x, y = torch.tensor([[0.3, 0.0]], dtype=torch.float64), torch.tensor([[0.5, 0.0]], dtype=torch.float64)
    expected = math.tanh(math.atanh(0.3) + math.atanh(0.5))
    np.testing.assert_allclose(mobius_add(x, y, c), [[expected, 0.0]], rtol=1e-12)
    np.testing.assert_allclose(mobius_add(-x, x, c), [[0.0, 0.0]], atol=1e-15)


@pytest.mark.parametrize("curvature", [0.5, 1.0, 2.0])
def test_within_ball_is_there_and_back_even_beyond_the_rim(curvature: float) -> None:
    c = torch.tensor(curvature, dtype=torch.float64)
    vectors = torch.tensor([[0.3, -0.4], [2.0, 1.0], [30.0, 40.0]], dtype=torch.float64)
    np.testing.assert_allclose(within_ball(vectors, c), log0(exp0(vectors, c), c), rtol=1e-12)
    assert within_ball(vectors, c)[2].norm() < 50 / 8  # the last one was cut


def test_hyperexpan_layers_and_match(double_seed: Seed) -> None:
    torch.manual_seed(0)
    network = HyperExpanNetwork(HyperExpanSettings(hidden=4, matcher=8, slices=2), double_seed).double().eval()
    curvature = [math.log1p(math.exp(v)) for v in network.raw_curvature.tolist()]
    layers = [(layer.linear.weight.detach(), layer.bias.detach()) for layer in network.graph]
    h = double_seed.vectors

    def candidate(centre: int) -> torch.Tensor:
        members, _ = star(double_seed, centre)
        tangent = h[members]
        for i, (weight, bias) in enumerate(layers):
            c, after = torch.tensor(curvature[i]).double(), torch.tensor(curvature[i + 1]).double()
            moved = [log0(mobius_add(exp0(weight @ row, c), exp0(bias, c), c), c) for row in tangent]
            mean = [torch.stack([moved[j] for j in neighbours(k, len(members))]).mean(0) for k in range(len(members))]
            tangent = torch.stack([log0(exp0(row.clamp(min=0), after), after) for row in mean])
        return torch.cat([math.sqrt(6) * h[centre], tangent.mean(0)])

    with torch.no_grad():
        found = network.match_all(network.query(h), network.candidates()).numpy()
        for q in range(5):
            for p in range(5):
                first = network.of_query(math.sqrt(6) * h[q]) + network.of_candidate.weight @ candidate(p)
                slices = torch.tanh(network.mix.weight @ first.clamp(min=0) + network.mix.bias)
                np.testing.assert_allclose(found[q, p], (network.out.weight @ slices).item(), rtol=1e-9)
