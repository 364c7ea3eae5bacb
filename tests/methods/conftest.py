from __future__ import annotations

import pytest
import torch

from taxosphere import Taxonomy
from taxosphere.methods.baselines.seed import Seed


@pytest.fixture
def double_seed() -> Seed:
    """Five concepts with random unit vectors in float64: every formula is checked on their 25 pairs.

    a ─┬─ b ─┬─ d
       │     └─ e ─ (also below c)
       └─ c ─── e
    """
    taxonomy = Taxonomy.from_edges([("a", "b"), ("a", "c"), ("b", "d"), ("b", "e"), ("c", "e")])
    vectors = torch.randn(5, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    return Seed(taxonomy, vectors / vectors.norm(dim=1, keepdim=True))
