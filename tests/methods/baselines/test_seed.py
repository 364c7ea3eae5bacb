from __future__ import annotations

import torch

from taxosphere.methods.baselines.seed import CHILD, NOBODY, PARENT, SELF, MaskedCandidates, Seed, segment_mean


def members(seed: Seed, position: int, hidden: int) -> list[tuple[str, int]]:
    nets = seed.ego_nets(MaskedCandidates(torch.tensor([position]), torch.tensor([hidden])))
    return [(seed.taxonomy.ids[m], r) for m, r in zip(nets.member.tolist(), nets.role.tolist())]


def test_an_ego_net_is_the_concept_its_parents_and_its_children(double_seed: Seed) -> None:
    assert members(double_seed, 1, NOBODY) == [("b", SELF), ("a", PARENT), ("d", CHILD), ("e", CHILD)]
    assert members(double_seed, 4, NOBODY) == [("e", SELF), ("b", PARENT), ("c", PARENT)]


def test_the_hidden_query_is_neither_child_nor_parent(double_seed: Seed) -> None:
    assert members(double_seed, 1, 4) == [("b", SELF), ("a", PARENT), ("d", CHILD)]
    assert members(double_seed, 4, 1) == [("e", SELF), ("c", PARENT)]


def test_messages_run_along_the_spokes_of_each_star(double_seed: Seed) -> None:
    nets = double_seed.ego_nets(MaskedCandidates(torch.tensor([0, 1]), torch.tensor([NOBODY, 4])))
    names = [double_seed.taxonomy.ids[m] for m in nets.member.tolist()]
    assert names == ["a", "b", "a", "b", "c", "d"]  # the two centres, b's parent, a's children, b's child
    assert nets.owner.tolist() == [0, 1, 1, 0, 0, 1]
    edges = set(zip(nets.source.tolist(), nets.target.tolist()))
    spokes = {(0, 3), (0, 4), (1, 2), (1, 5)}
    assert edges == {(i, i) for i in range(6)} | spokes | {(b, a) for a, b in spokes}


def test_views_are_shared_where_the_query_is_no_neighbour(double_seed: Seed) -> None:
    query, candidate = torch.tensor([3, 4]), torch.tensor([[1, 0], [1, 0]])
    views, place = double_seed.mask(query, candidate)
    found = [(views.position[i].item(), views.hidden[i].item()) for i in place.flatten().tolist()]
    assert found == [(1, 3), (0, NOBODY), (1, 4), (0, NOBODY)]
    assert len(views.position) == 3


def test_segments() -> None:
    values = torch.tensor([[1.0], [3.0], [5.0]])
    assert segment_mean(values, torch.tensor([2, 0, 2]), 3).tolist() == [[3.0], [0.0], [3.0]]
