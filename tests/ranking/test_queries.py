"""Vectors are embedded in blocks, and the points are those of all vectors at once."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.ranking import queries
from taxosphere.ranking.queries import embed


@pytest.mark.parametrize("size", [1, 64, 65, 129, 200])
def test_blocks_of_vectors_have_the_points_of_all_at_once(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queries, "_BLOCK", 64)
    vectors = np.random.default_rng(size).standard_normal((size, 24), np.float32)
    network = SphereNetwork(24, PolarisConfig().network, generator=torch.Generator().manual_seed(0)).eval()
    points = embed(network, vectors)
    with torch.no_grad():
        z, mu, kappa = (each.numpy() for each in network(torch.from_numpy(vectors)))
    for made, expected in ((points.z, z), (points.mu, mu), (points.kappa, kappa)):
        assert made.shape == expected.shape
        assert made.dtype == expected.dtype
        np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)
