from __future__ import annotations

import numpy as np

from support.gram_encoder import GramEncoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.precomputed import PrecomputedEncoder
from taxosphere.encoders.text.registry import TextEncoder
from taxosphere.ranking.foreign import foreign_concepts, outside


def test_the_list_is_whole() -> None:
    concepts = foreign_concepts(GramEncoder())
    names = [concept.name for concept in concepts]
    assert len(names) == len(set(names)) > 200
    assert all(name and name == name.strip() for name in names)
    assert 0.7 < np.mean([bool(concept.description) for concept in concepts]) < 1


def test_an_encoder_with_its_own_texts_alone_is_not_asked_for_others() -> None:
    encoder: TextEncoder = PrecomputedEncoder(["a"], np.ones((1, 2)))
    assert foreign_concepts(encoder) == ()


def test_a_field_that_is_near_as_a_whole_is_left_out_and_so_is_a_name_that_is_there() -> None:
    concepts = [Concept(f"{field}/{i}", f"{field} {i}") for field in ("music", "law") for i in range(4)]
    novelty = np.array([[-3.0], [0.5], [-3.0], [-3.0], [0.1], [-2.0], [0.2], [0.0]], np.float32)
    seed = Taxonomy.from_concepts([Concept("x", "MUSIC 2")], [])
    assert outside(concepts, novelty, seed).tolist() == [0, 1, 3]
