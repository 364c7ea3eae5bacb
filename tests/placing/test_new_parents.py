from __future__ import annotations

import numpy as np

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import TextVectors, encode_text_vectors
from taxosphere.placing.new_parents import FEATURES, USUAL, NewParents, compare, nearest, training_lists

LIST = [Concept(name, name, text) for name, text in [("water", ""), ("spring water", "water from a spring"), ("", "")]]


def _vectors(count: int) -> TextVectors:
    return TextVectors(np.eye(count, dtype=np.float32), np.eye(count, dtype=np.float32))


def test_features_of_a_pair_by_hand() -> None:
    pairs = compare(LIST, _vectors(3), np.zeros(3, np.float32))
    assert sorted(zip(pairs.child.tolist(), pairs.parent.tolist(), strict=True)) == [(0, 1), (1, 0)]
    row = pairs.features[pairs.child.tolist().index(1)]
    spring = dict(zip(FEATURES, row.tolist(), strict=True))
    assert spring["the other's name ends with it as a word"] == spring["named in the other's description"] == 1
    assert spring["its name ends with the other's"] == 0
    assert spring["all its words are in the other's name"] == 1
    assert spring["shared words"] == 0.5
    assert spring["share of the list that ends with its name"] == 0.5


def test_a_name_in_another_is_compared_however_long_the_list() -> None:
    rng = np.random.default_rng(0)
    others = [Concept(f"thing {i}", f"thing {i}") for i in range(60)]
    concepts = [*LIST[:2], *others]
    own = TextVectors(*(rng.normal(size=(2, 62, 8)).astype(np.float32)))
    pairs = compare(concepts, own, np.zeros(62, np.float32))
    assert (1, 0) in zip(pairs.child.tolist(), pairs.parent.tolist(), strict=True)
    assert len(pairs.child) < 62 * 20


def test_the_nearest_existing_concept_is_none_of_the_hidden_ones() -> None:
    vectors = _vectors(3)
    assert nearest(vectors, vectors).tolist() == [1, 1, 1]
    assert nearest(vectors, vectors, np.arange(3)).tolist() == [-1, -1, -1]


def test_a_new_group_becomes_the_parent_of_what_carries_its_name() -> None:
    taxonomy, encoder = meadow(), GramEncoder()
    vectors = encode_text_vectors(encoder, list(taxonomy.concepts()))
    new = [Concept(name, name) for name in ("insect", "red insect", "green insect", "tall tree")]
    for model in (NewParents.fit(taxonomy, vectors, random_state=0), USUAL):
        found = model.probabilities(new, encode_text_vectors(encoder, new), vectors)
        assert max(found[1], key=lambda other: found[1][other]) == 0
        assert sum(found[1].values()) > sum(found[3].values())
        assert all(sum(row.values()) <= 1 + 1e-9 for row in found)


def test_lists_to_learn_from_hold_a_whole_branch() -> None:
    taxonomy = meadow()
    for members in training_lists(taxonomy, np.random.default_rng(0)):
        inside = set(members.tolist())
        assert any(
            inside.issuperset(taxonomy.child_csr.row(i).tolist()) for i in inside if taxonomy.child_csr.counts[i]
        )


def test_what_was_learned_survives_arrays() -> None:
    again = NewParents.from_arrays(USUAL.to_arrays())
    np.testing.assert_array_equal(again.model.weights, USUAL.model.weights)


def test_a_feature_that_hardly_varies_does_not_decide_alone() -> None:
    """All names but one have one word, and that one is a parent: a list's only long name is no parent of all others."""
    groups = ("pan", "pot", "knife", "lamp", "chair", "towel", "grill", "sofa", "shelf", "bed", "sheets and covers")
    edges = [("shop", group) for group in groups]
    for group in groups:
        edges += [(group, f"{kind}{group.split()[-1]}") for kind in ("frying", "garden", "table", "steel", "travel")]
    taxonomy, encoder = Taxonomy.from_edges(edges), GramEncoder()
    vectors = encode_text_vectors(encoder, list(taxonomy.concepts()))
    new = [Concept(name, name) for name in ("oven for gardens", "soupladle", "bookshelf", "duvet", "mirror", "kettle")]
    model = NewParents.fit(taxonomy, vectors, random_state=0)
    assert model is not USUAL
    for found in model.probabilities(new, encode_text_vectors(encoder, new), vectors)[1:]:
        assert found.get(0, 0.0) < 0.3
