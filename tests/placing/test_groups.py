"""Groups of near concepts: every concept in one of them, and with it those it may belong below."""

from __future__ import annotations

import numpy as np

from taxosphere import Concept
from taxosphere.placing.groups import GROUP, make_groups
from taxosphere.typing import Floats


def _clustered(n: int, dim: int = 24) -> Floats:
    random = np.random.default_rng(1)
    centres = random.normal(size=(n // 20, dim))
    vectors = centres[np.arange(n) % len(centres)] + 0.4 * random.normal(size=(n, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def _none() -> Floats:
    raise AssertionError("a short list needs no vectors")


def _concepts(names: list[str]) -> list[Concept]:
    return [Concept(str(number), name) for number, name in enumerate(names)]


def test_a_short_list_is_one_group() -> None:
    assert make_groups(_concepts([f"name {n}" for n in range(GROUP)]), _none) == [(list(range(GROUP)), [])]


def test_every_concept_is_in_one_group_and_no_guest_of_it() -> None:
    n = 5000
    made = make_groups(_concepts([f"name{number}" for number in range(n)]), lambda: _clustered(n))
    members = [number for inside, _ in made for number in inside]
    assert sorted(members) == list(range(n))
    for inside, guests in made:
        assert len(inside) <= GROUP
        assert not set(inside) & set(guests)
        assert len(set(guests)) == len(guests)


def test_the_nearest_concepts_meet() -> None:
    n = 4000
    vectors = _clustered(n)
    made = make_groups(_concepts([f"name{number}" for number in range(n)]), lambda: vectors)
    cosine = vectors @ vectors.T
    np.fill_diagonal(cosine, -np.inf)
    nearest = np.argsort(-cosine, axis=1)[:, :3]
    met = sum(len({*inside, *guests} & set(nearest[one].tolist())) for inside, guests in made for one in inside)
    assert met / nearest.size > 0.9


def test_a_concept_meets_those_its_name_contains() -> None:
    n = 3000
    names = [f"name{number}" for number in range(n)]
    names[5], names[2900] = "green bird", "tiny Green Bird of Crete"
    vectors = np.eye(1, 8, dtype=np.float32).repeat(n, 0)
    vectors[n // 2 :] *= -1  # the two halves lie on opposite sides
    made = make_groups(_concepts(names), lambda: vectors)
    group = next((inside, guests) for inside, guests in made if 2900 in inside)
    assert 5 in group[1]


def test_groups_are_the_same_every_time() -> None:
    n = 2500
    concepts, vectors = _concepts([f"name{number}" for number in range(n)]), _clustered(n)
    assert make_groups(concepts, lambda: vectors) == make_groups(concepts, lambda: vectors)


def test_equal_vectors_can_be_halved() -> None:
    n = 2 * GROUP + 4
    vectors = np.ones((n, 4), np.float32) / 2
    made = make_groups(_concepts([f"name{number}" for number in range(n)]), lambda: vectors)
    assert sorted(len(inside) for inside, _ in made) == [GROUP // 2 + 1] * 4
