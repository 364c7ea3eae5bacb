from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.model.batches import epoch, make
from taxosphere.model.config import TrainingConfig
from taxosphere.model.negatives import NONE, Lineage


def test_one_batch_by_hand(animals: Taxonomy) -> None:
    at = animals.position
    edges = np.array([(at("bird"), at("duck")), (at("animal"), at("dog"))])
    negatives = np.array([(at("dog"), at("mineral")), (at("sparrow"), NONE)])
    batch = make(Lineage(animals), edges, negatives)
    names = [animals.ids[i] for i in batch.concepts]
    assert sorted(names) == ["animal", "bird", "dog", "duck", "mineral", "sparrow"]
    assert [names[i] for i in batch.child] == ["duck", "dog"]
    assert [names[i] for i in batch.parent] == ["bird", "animal"]
    assert [names[i] for i in batch.negative[0]] == ["dog", "mineral"]
    assert batch.negative[1, 1] == NONE
    hidden = [{names[i] for i in row.nonzero()[:, 0].tolist()} for row in batch.forbidden]
    # duck: itself and its ancestor; its other parent is not in the batch; bird is the answer.
    assert hidden == [{"duck", "animal"}, {"dog"}]


@pytest.mark.parametrize("accumulation", [1, 3])
def test_an_epoch_holds_every_edge_once(grove: tuple[Taxonomy, object], accumulation: int) -> None:
    seed = grove[0]
    settings = TrainingConfig(batch=10, accumulation=accumulation, negatives=3)
    graph = nx.DiGraph(seed.edge_array.tolist())
    groups = list(epoch(seed, Lineage(seed), settings, np.random.default_rng(0)))
    assert [len(group) for group in groups[:-1]] == [accumulation] * (len(groups) - 1)
    seen = []
    for batch in (batch for group in groups for batch in group):
        assert len(set(batch.concepts.tolist())) == len(batch.concepts)
        for row in range(len(batch.child)):
            child, parent = (int(batch.concepts[x[row]]) for x in (batch.child, batch.parent))
            seen.append((parent, child))
            masked = {int(batch.concepts[i]) for i in batch.forbidden[row].nonzero()[:, 0]}
            assert masked == (((nx.ancestors(graph, child) | {child}) & set(batch.concepts.tolist())) - {parent})
    assert sorted(seen) == sorted(map(tuple, seed.edge_array.tolist()))


def test_epochs_differ_and_repeat_with_their_generator(grove: tuple[Taxonomy, object]) -> None:
    seed, lineage, settings = grove[0], Lineage(grove[0]), TrainingConfig(negatives=4)

    def first(number: int) -> np.ndarray:
        return next(epoch(seed, lineage, settings, np.random.default_rng(number)))[0].concepts

    np.testing.assert_array_equal(first(0), first(0))
    assert not np.array_equal(first(0), first(1))


def test_without_negatives_the_batch_is_its_pairs(grove: tuple[Taxonomy, object]) -> None:
    seed = grove[0]
    (batch,) = next(epoch(seed, Lineage(seed), TrainingConfig(batch=5, negatives=0), np.random.default_rng(0)))
    assert batch.negative.shape == (5, 0)
    assert set(batch.child.tolist()) | set(batch.parent.tolist()) == set(range(len(batch.concepts)))


@pytest.mark.parametrize(("batch", "accumulation"), [(10, 1), (8, 3)])
def test_shared_negatives_bound_the_concepts_of_a_step(
    grove: tuple[Taxonomy, object], batch: int, accumulation: int
) -> None:
    seed, extra = grove[0], 4
    settings = TrainingConfig(batch=batch, accumulation=accumulation, negatives=12, shared_negatives=extra)
    graph, seen = nx.DiGraph(seed.edge_array.tolist()), []
    for group in epoch(seed, Lineage(seed), settings, np.random.default_rng(0)):
        pairs = [each.concepts[pair] for each in group for pair in (each.child, each.parent)]
        paired, every = np.unique(np.concatenate(pairs)), np.unique(np.concatenate([each.concepts for each in group]))
        assert len(every) <= len(paired) + extra
        for each in group:
            assert each.negative.shape == (len(each.child), 12)
            for child, parent, negative in zip(each.child, each.parent, each.negative, strict=True):
                at, wrong = int(each.concepts[child]), set(each.concepts[negative].tolist())
                assert NONE not in negative
                assert not wrong & (nx.ancestors(graph, at) | {at})
                seen.append((int(each.concepts[parent]), at))
    assert sorted(seen) == sorted(map(tuple, seed.edge_array.tolist()))


def test_shared_negatives_repeat_with_their_generator(grove: tuple[Taxonomy, object]) -> None:
    seed, settings = grove[0], TrainingConfig(batch=10, accumulation=2, negatives=6, shared_negatives=3)

    def all_of(number: int) -> list[list[int]]:
        groups = epoch(seed, Lineage(seed), settings, np.random.default_rng(number))
        return [each.concepts[each.negative].tolist() for group in groups for each in group]

    assert all_of(0) == all_of(0)
    assert all_of(0) != all_of(1)


def test_pairs_that_share_negatives_are_relatives() -> None:
    branches = [("root", str(b)) for b in range(8)]
    leaves = [(str(b), f"{b}-{leaf}") for b in range(8) for leaf in range(8)]
    below = [(child, f"{child}-{n}") for _, child in leaves for n in range(4)]
    seed = Taxonomy.from_edges([*branches, *leaves, *below])
    settings = TrainingConfig(batch=32, accumulation=2, negatives=2, shared_negatives=1)
    steps = list(epoch(seed, Lineage(seed), settings, np.random.default_rng(0)))
    # 32 grandchildren below each of the eight branches: a step of 64 pairs takes few branches, not all.
    names = [{seed.ids[c][0] for each in group for c in each.concepts[each.child]} - {"r"} for group in steps]
    assert np.mean([len(branches) for branches in names]) <= 4
