"""Images of labels that are there already, and of labels that are new."""

from __future__ import annotations

import numpy as np

from support.made_up_images import SharedSpace
from taxosphere.images.recognition import Recogniser


def image_vectors(labels: int = 30, each: int = 10, dim: int = 16) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(labels, dim))
    owner = np.repeat(np.arange(labels), each)
    vectors = centres[owner] + 0.15 * rng.normal(size=(len(owner), dim))
    return vectors.astype(np.float32), owner, rng.normal(size=(labels, 12)).astype(np.float32)


def test_known_labels_are_recognised_and_new_ones_are_not() -> None:
    vectors, owner, texts = image_vectors()
    old = owner < 24
    first = np.arange(len(owner)) % 10 < 8
    learned = Recogniser.fit(vectors[old & first], 3 * owner[old & first], texts[:24], ancestors=None, random_state=0)
    assert learned is not None
    known, new = np.flatnonzero(old & ~first), np.flatnonzero(~old)
    asked = [np.array([i]) for i in (*known, *new)]
    probability = learned.probabilities(vectors, asked)
    best = learned.labels[probability.argmax(1)]
    assert (best[: len(known)] == 3 * owner[known]).mean() > 0.95  # positions in the taxonomy, not row numbers
    total = probability.sum(1)
    assert (total <= 1 + 1e-5).all()
    assert total[: len(known)].mean() > 0.75
    assert total[len(known) :].mean() < 0.25


def test_saved_arrays_give_the_same_answers_and_labels_move_with_the_taxonomy() -> None:
    vectors, owner, texts = image_vectors()
    learned = Recogniser.fit(vectors, owner, texts, ancestors=None, random_state=0)
    assert learned is not None
    asked = [np.array([0, 1]), np.array([50])]
    again = Recogniser.from_arrays(learned.to_arrays())
    np.testing.assert_array_equal(again.probabilities(vectors, asked), learned.probabilities(vectors, asked))
    place = np.arange(30) + 5
    place[3] = -1
    moved = learned.with_positions(place)
    assert moved.labels.tolist() == place.tolist()
    assert moved.with_positions(np.arange(40)).labels.tolist() == place.tolist()  # what is gone stays gone


def test_too_few_images_to_set_any_aside() -> None:
    vectors, owner, texts = image_vectors(labels=20, each=1)
    assert Recogniser.fit(vectors, owner, texts, ancestors=None, random_state=0) is None


def test_a_label_without_images_is_named_where_texts_share_the_space() -> None:
    space = SharedSpace.make(shots=6, seed=0, scatter=0.5)
    bare = np.arange(0, 40, 5)
    shown = ~np.isin(space.label, bare)
    vectors, owner = space.vectors[shown], 2 * space.label[shown]  # positions in a taxonomy
    learned = Recogniser.fit(
        vectors, owner, space.texts, ancestors=None, shared=True, without_images=2 * bare, random_state=0
    )
    assert learned is not None
    assert learned.labels.tolist() == list(range(0, 80, 2))
    probability = learned.probabilities(space.asked, [np.array([i]) for i in range(len(space.asked))])
    best = learned.labels[probability.argmax(1)] == 2 * space.gold
    unseen = np.isin(space.gold, bare)
    assert best[unseen].mean() > 0.4
    assert best[~unseen].mean() > 0.7
    again = Recogniser.from_arrays(learned.to_arrays())
    np.testing.assert_array_equal(again.towers.embed_texts(space.texts), learned.towers.embed_texts(space.texts))
