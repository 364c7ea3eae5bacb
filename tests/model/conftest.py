"""Random hierarchies, and one whose texts could have produced it, small enough to train on in a second."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from support.tiny_encoder import build_tiny_encoder
from taxosphere import Taxonomy


@pytest.fixture(scope="session")
def grove() -> tuple[Taxonomy, Tensor]:
    """Three levels, 4 + 16 + 96 concepts; a concept's vector is its parent's plus noise of its own."""
    rng = np.random.default_rng(7)
    pairs, vectors = [], [rng.normal(size=24)]
    for child in range(1, 117):
        parent = 0 if child < 5 else 1 + (child - 5) % 4 if child < 21 else 5 + (child - 21) % 16
        pairs.append((str(parent), str(child)))
        vectors.append(vectors[parent] + rng.normal(size=24))
    names = {str(i): f"concept {i}" for i in range(117)}
    matrix = torch.from_numpy(np.array(vectors, dtype=np.float32))
    seed = Taxonomy.from_edges(pairs, names=names)
    order = torch.tensor([int(id) for id in seed.ids])
    return seed, torch.nn.functional.normalize(matrix[order], dim=1)


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder"))
