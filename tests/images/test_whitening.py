"""The head of the image tower, and the same head for texts."""

from __future__ import annotations

import numpy as np

from support.made_up_images import SharedSpace, clusters
from taxosphere.images.whitening import (
    SHRINK,
    WithinClassWhitening,
    label_means,
    mean_reciprocal_rank,
    texts_match_images,
    unit,
)


def test_the_shrunk_scatter_within_labels_becomes_even() -> None:
    vectors, label, _ = clusters(each=40)
    found = WithinClassWhitening.fit(vectors, label, 6)
    rows = found.centred(vectors).astype(np.float64)
    scatter = sum(np.cov(rows[label == i].T, bias=True) for i in range(6)) / 6
    shrunk = (1 - SHRINK) * scatter + SHRINK * np.trace(scatter) / 20 * np.eye(20)
    np.testing.assert_allclose(found.matrix @ shrunk @ found.matrix, np.eye(20), atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(found(vectors), axis=1), 1, atol=1e-5)


def test_activations_are_rooted_and_signed_vectors_are_not() -> None:
    vectors, label, _ = clusters()
    assert not WithinClassWhitening.fit(vectors, label, 6).square_root
    positive = WithinClassWhitening.fit(vectors**2, label, 6)
    assert positive.square_root
    expected = np.abs(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True) - positive.centre
    np.testing.assert_allclose(positive.centred(vectors**2), expected, atol=1e-5)


def test_vectors_of_a_shared_space_are_never_rooted() -> None:
    vectors, label, _ = clusters()
    assert not WithinClassWhitening.fit(vectors**2, label, 6, shared=True).square_root


def test_texts_go_through_the_same_map_around_their_own_centre() -> None:
    """What differs from an image by the gap alone has the image's direction."""
    rng = np.random.default_rng(0)
    label = np.array([0, 0, 0, 1, 2, 2])
    half = unit(rng.normal(size=(6, 5))) / 2
    high = np.sqrt(0.75)
    images, texts = (np.column_stack([half, np.full(6, side)]).astype(np.float32) for side in (high, -high))
    directions = WithinClassWhitening.fit(images, label, 4, shared=True)
    head = directions.for_texts(texts, np.arange(6))
    np.testing.assert_array_equal(head.matrix, directions.matrix)
    np.testing.assert_allclose(head(texts), directions(images), atol=1e-5)
    # A text counts once per image of its label, and not at all without one.
    uneven = directions.for_texts(np.vstack([texts[:3], 9 * texts[3:4]]), label)
    np.testing.assert_allclose(uneven.centre, (3 * texts[0] + texts[1] + 2 * texts[2]) / 6, atol=1e-5)


def test_texts_that_speak_are_told_from_those_that_do_not() -> None:
    spoke = {False: 0, True: 0}
    for blind in spoke:
        for seed in range(20):
            space = SharedSpace.make(shots=2, seed=seed, blind=blind)
            directions = WithinClassWhitening.fit(space.vectors, space.label, 40, shared=True)
            means = label_means(directions(space.vectors), space.label, 40)
            spoke[blind] += texts_match_images(directions.for_texts(space.texts, space.label)(space.texts), means)
    assert spoke[False] == 20
    assert spoke[True] <= 1


def test_two_labels_prove_nothing() -> None:
    assert not texts_match_images(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32))
    assert texts_match_images(np.eye(5, dtype=np.float32), np.eye(5, dtype=np.float32))
    assert not texts_match_images(np.eye(5, dtype=np.float32), np.zeros((5, 5), np.float32))


def test_reciprocal_ranks_by_hand() -> None:
    scores = np.array([[3, 2, 1], [3, 2, 1], [1, 1, 1]], np.float32)
    assert (
        mean_reciprocal_rank(scores, np.array([0, 2, 1])) == (1 + 1 / 3 + 1 / 2) / 3
    )  # equal scores share their mean rank
