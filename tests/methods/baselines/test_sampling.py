from __future__ import annotations

import numpy as np
import pytest
import torch

from taxosphere import Taxonomy
from taxosphere.errors import TaxosphereError
from taxosphere.methods.baselines.sampling import batches
from taxosphere.methods.baselines.seed import Seed
from taxosphere.methods.baselines.settings import Settings


def seed_of(*edges: tuple[str, str]) -> Seed:
    taxonomy = Taxonomy.from_edges(edges)
    return Seed(taxonomy, torch.zeros(len(taxonomy), 2))


TREE = seed_of(("a", "b"), ("a", "c"), ("b", "d"), ("b", "e"), ("d", "f"), ("c", "g"), ("c", "f"))


def drawn(settings: Settings, epochs: int = 20) -> set[tuple[str, str, str]]:
    """(query, parent, negative) as names"""
    ids, found = TREE.taxonomy.ids, set()
    source = batches(TREE, settings, np.random.default_rng(0))
    for _ in range(epochs):
        batch = next(source)
        for q, (p, *wrong) in zip(batch.query.tolist(), batch.candidate.tolist()):
            found |= {(ids[q], ids[p], ids[n]) for n in wrong}
    return found


def test_without_ancestors_no_negative_is_above_the_query() -> None:
    found = drawn(Settings(above=0, negatives=4))
    assert {(q, p) for q, p, _ in found} == {(c, p) for p, c in TREE.taxonomy.edges()}
    assert {n for q, _, n in found if q == "f"} == {"e", "g"}  # a, b, c, d are above
    assert {n for q, _, n in found if q == "e"} == {"c", "d", "f", "g"}


def test_with_ancestors_every_concept_but_parents_and_itself_is_wrong() -> None:
    found = drawn(Settings(above=0.5, negatives=4))
    assert {n for q, _, n in found if q == "f"} == {"a", "b", "e", "g"}  # d and c are its parents
    assert {n for q, _, n in found if q == "b"} == {"c", "d", "e", "f", "g"}  # a is its parent, and nothing is above


def test_each_epoch_shows_every_edge_once() -> None:
    source = batches(TREE, Settings(batch_size=3), np.random.default_rng(0))
    seen = torch.cat([next(source).query for _ in range(3)]).tolist()
    assert sorted(seen) == sorted(child for _, child in TREE.taxonomy.edge_array.tolist())


def test_a_chain_has_edges_without_any_negative() -> None:
    source = batches(seed_of(("a", "b"), ("b", "c")), Settings(), np.random.default_rng(0))
    assert next(source).query.tolist() == [1]  # c is below all others
    with pytest.raises(TaxosphereError, match="nothing to learn"):
        next(batches(seed_of(("a", "b")), Settings(), np.random.default_rng(0)))
