from __future__ import annotations

import numpy as np

from taxosphere import Concept, Taxonomy
from taxosphere.placing.insertion import INSERTION_FEATURES, Insertion, insertion_features


def _families(count: int) -> tuple[Taxonomy, np.ndarray]:
    """Under one root, groups "k-th group" with children "red … k-th group"; vectors cluster by group."""
    rng = np.random.default_rng(0)
    names = ["root"]
    edges: list[tuple[str, str]] = []
    centres = rng.normal(size=(count, 16))
    vectors = [rng.normal(size=16)]
    for k in range(count):
        group = f"group{k}"
        names.append(group)
        edges.append(("root", group))
        vectors.append(centres[k] + 0.3 * rng.normal(size=16))
        for colour in ("red", "blue", "green"):
            names.append(f"{colour} {group}")
            edges.append((group, names[-1]))
            vectors.append(centres[k] + 0.3 * rng.normal(size=16))
    unit = np.array(vectors, np.float32)
    return Taxonomy.from_edges(edges), unit / np.linalg.norm(unit, axis=1, keepdims=True)


def test_signals_of_one_child_by_hand() -> None:
    taxonomy = Taxonomy.from_edges([("animal", "sea bird"), ("animal", "dog")], descriptions={"dog": "not a bird"})
    vectors = np.eye(3, dtype=np.float32)
    bird = Concept("bird", "bird")
    found = insertion_features(taxonomy, vectors, np.array([1, 2]), vectors[0], bird, vectors[1])
    assert len(INSERTION_FEATURES) == found.shape[1]
    assert found.tolist() == [[1, 1, 1, 0.5, 0, 1], [0, 0, 0, 0, 1, 0]]


def test_a_group_taken_out_gets_its_children_back() -> None:
    taxonomy, vectors = _families(30)
    out = taxonomy.position("group3")
    children = taxonomy.children("group3")
    keep = np.arange(len(taxonomy)) != out
    edges = [pair for pair in taxonomy.edges() if "group3" not in pair] + [("root", c) for c in children]
    seed = Taxonomy.from_edges(edges)
    order = [taxonomy.position(id) for id in seed.ids]
    assert len(order) == keep.sum()
    model = Insertion.fit(seed, vectors[order], random_state=0)
    assert model is not None
    below, probability = model.probabilities(
        seed, vectors[order], seed.position("root"), taxonomy.concept(out), vectors[out]
    )
    taken = {seed.ids[i] for i, p in zip(below, probability) if p > 0.5}
    assert taken == set(children)


def test_too_few_inner_concepts_mean_no_proposals(animals: Taxonomy) -> None:
    assert Insertion.fit(animals, np.eye(len(animals), dtype=np.float32), random_state=0) is None
