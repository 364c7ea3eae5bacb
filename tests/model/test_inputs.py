from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import inputs
from taxosphere.model.config import NetworkConfig
from taxosphere.model.inputs import FixedVectors, TrainableEncoder
from taxosphere.model.network import SphereNetwork

TEXTS = [f"a concept of kind {n % 5}" + " that says more" * (n % 4) for n in range(40)]


def parts(folder: Path) -> tuple[TransformerEncoder, SphereNetwork]:
    network = SphereNetwork(16, NetworkConfig(dim=4, hidden=6), generator=torch.Generator().manual_seed(0))
    return TransformerEncoder(locate(str(folder))), network


def test_frozen_serves_the_lift_of_its_rows(tiny_folder: Path) -> None:
    _, network = parts(tiny_folder)
    vectors = torch.randn(6, 16)
    source = FixedVectors(vectors, network)
    torch.testing.assert_close(source.lifted(np.array([4, 1])), network.lift(vectors[[4, 1]]))
    assert source.parameters() == []


@pytest.mark.parametrize("tokens", [0, 20, inputs.GRAPH_TOKENS])
def test_parts_with_and_without_a_kept_graph_give_the_gradient_of_one_pass(
    tiny_folder: Path, tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "GRAPH_TOKENS", tokens)
    encoder, network = parts(tiny_folder)
    pairs = [np.array([3, 9, 20]), np.array([20, 33, 1, 3])]  # 3 and 20 are shared by two batches of one step
    source = TrainableEncoder(encoder, TEXTS, network, bf16=False)
    source.begin_step(np.unique(np.concatenate(pairs)))
    for rows in pairs:
        network.points(source.lifted(rows)).pow(3).sum().backward()
    source.backward()
    found = [parameter.grad.clone() for parameter in source.parameters() if parameter.grad is not None]
    encoder.model.zero_grad()

    tokens = encoder.tokenize(TEXTS)
    for rows in pairs:
        one_by_one = torch.cat([encoder.embed([tokens[row]]) for row in rows])
        network.points(network.lift(one_by_one)).pow(3).sum().backward()
    expected = [parameter.grad for parameter in source.parameters() if parameter.grad is not None]
    assert len(found) == len(expected) > 20
    for ours, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-5)


def test_everything_is_what_the_encoder_says(tiny_folder: Path) -> None:
    encoder, network = parts(tiny_folder)
    expected = network.lift(torch.from_numpy(encoder.encode(TEXTS)))
    torch.testing.assert_close(TrainableEncoder(encoder, TEXTS, network, bf16=False).lift_all(), expected)


@pytest.mark.parametrize("bf16", [False, True])
def test_bf16_is_close_but_not_equal(tiny_folder: Path, bf16: bool) -> None:
    encoder, network = parts(tiny_folder)
    exact = TrainableEncoder(encoder, TEXTS, network, bf16=False).lift_all()
    found = TrainableEncoder(encoder, TEXTS, network, bf16=bf16).lift_all()
    assert found.dtype == torch.float32
    assert torch.equal(found, exact) != bf16
    assert (found - exact).abs().max() < 0.1
