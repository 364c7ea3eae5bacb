"""Both heads against what they should solve, and on pictures whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from taxosphere.errors import InputError
from taxosphere.model import directions, towers
from taxosphere.model.directions import Directions, label_means, unit
from taxosphere.model.towers import TextHead, Towers, hold_out


def clusters(labels: int = 6, each: int = 15, dim: int = 20, noise: float = 0.6, seed: int = 0):  # type: ignore[no-untyped-def]
    """Pictures around one direction per label, more scattered along the first axes than along the others."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(labels, dim))
    label = np.repeat(np.arange(labels), each)
    uneven = noise * np.linspace(3, 0.3, dim)
    vectors = (centres[label] + uneven * rng.normal(size=(len(label), dim))).astype(np.float32)
    texts = rng.normal(size=(labels, 9)).astype(np.float32)
    return vectors, label, texts


def test_the_share_held_out_is_taken_from_every_label() -> None:
    label = np.array([0] * 10 + [1] * 5 + [2] + [3] * 2)
    kept, held = hold_out(label, 0.2, 0)
    assert np.bincount(label[held], minlength=4).tolist() == [2, 1, 0, 0]
    assert sorted([*kept, *held]) == list(range(len(label)))
    assert hold_out(label, 0.2, 0)[1].tolist() == held.tolist()
    assert any(hold_out(label, 0.2, seed)[1].tolist() != held.tolist() for seed in range(1, 5))
    assert np.bincount(label[hold_out(label, 1.0, 0)[0]]).tolist() == [1, 1, 1, 1]


def test_the_shrunk_scatter_within_labels_becomes_even() -> None:
    vectors, label, _ = clusters(each=40)
    found = Directions.fit(vectors, label, 6)
    rows = found.centred(vectors).astype(np.float64)
    scatter = sum(np.cov(rows[label == i].T, bias=True) for i in range(6)) / 6
    shrunk = (1 - directions.SHRINK) * scatter + directions.SHRINK * np.trace(scatter) / 20 * np.eye(20)
    np.testing.assert_allclose(found.even @ shrunk @ found.even, np.eye(20), atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(found(vectors), axis=1), 1, atol=1e-5)


def test_activations_are_rooted_and_signed_vectors_are_not() -> None:
    vectors, label, _ = clusters()
    assert not Directions.fit(vectors, label, 6).rooted
    positive = Directions.fit(vectors**2, label, 6)
    assert positive.rooted
    expected = np.abs(vectors) / np.linalg.norm(vectors, axis=1, keepdims=True) - positive.centre
    np.testing.assert_allclose(positive.centred(vectors**2), expected, atol=1e-5)


def test_anchors_go_from_apart_to_alike_with_the_floor() -> None:
    _, _, texts = clusters(labels=5)
    apart, alike = TextHead.fit(texts, 1e-6), TextHead.fit(texts, 1e6)
    gram = apart(texts) @ apart(texts).T
    np.testing.assert_allclose(gram, np.where(np.eye(5), 1, -1 / 4), atol=1e-3)  # a regular simplex
    centred = unit(texts - texts.mean(0))
    np.testing.assert_allclose(alike(texts) @ alike(texts).T, centred @ centred.T, atol=1e-3)


def test_votes_solve_the_kernel_regression() -> None:
    vectors, label, texts = clusters()
    solved = towers._solve(vectors, label, texts, False, 0)
    landmarks, votes = solved.landmarks, solved.votes
    points = solved.directions.points(vectors).astype(np.float64)
    kernel = np.exp(towers.KAPPA * (points @ points.T - 1))
    wanted = np.eye(6)[label] - 1 / 6
    expected = linalg.inv(kernel + towers.RIDGE * np.eye(len(points))) @ wanted
    np.testing.assert_allclose(votes, expected, atol=1e-3)
    np.testing.assert_allclose(towers._vote(landmarks, landmarks, votes), kernel @ expected, atol=1e-3)


def test_pictures_and_labels_are_unit_and_their_cosine_is_the_score() -> None:
    vectors, label, texts = clusters()
    model = Towers.fit(vectors, label, texts)
    pictures, labels = model.pictures(vectors), model.labels()
    for rows in (pictures, labels):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(model.score(vectors), pictures @ labels.T, atol=1e-5)


def test_new_pictures_find_their_label() -> None:
    vectors, label, texts = clusters(each=30, noise=0.9)
    kept, held = hold_out(label, 0.3, 1)
    right = Towers.fit(vectors[kept], label[kept], texts).score(vectors[held]).argmax(1) == label[held]
    nearest = (unit(vectors[held]) @ unit(label_means(vectors[kept], label[kept], 6)).T).argmax(1) == label[held]
    assert right.mean() > 0.85
    assert right.sum() >= nearest.sum()


def test_places_in_a_tree_add_to_the_likeness_of_anchors() -> None:
    _, _, texts = clusters(labels=4)
    places = unit(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]))
    head = TextHead.fit(texts, 0.1)
    found = towers.anchors(head, texts, places, 0.3)
    expected = (head(texts) @ head(texts).T + 0.3 * places @ places.T) / 1.3
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-5)
    np.testing.assert_array_equal(towers.anchors(head, texts, places, 0.0), head(texts))


def test_a_tree_that_tells_labels_apart_is_used() -> None:
    """Two groups of labels far apart, labels within a group close: held-out pictures err within the group."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 4)
    centres = 3 * rng.normal(size=(2, 16))[group] + 0.8 * rng.normal(size=(8, 16))
    label = np.repeat(np.arange(8), 12)
    vectors = (centres[label] + rng.normal(size=(96, 16))).astype(np.float32)
    texts = rng.normal(size=(8, 8)).astype(np.float32)
    places = unit(np.hstack([np.eye(2)[group], np.eye(8)]))
    kept, held = hold_out(label, 0.3, 0)
    model = Towers.fit(vectors[kept], label[kept], texts, places=places)
    first = model.score(vectors[held]).argmax(1)
    assert (group[first] == group[label[held]]).all()
    assert np.isfinite(model.score(vectors)).all()


def test_more_pictures_than_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(towers, "MOST_LANDMARKS", 30)
    vectors, label, texts = clusters()
    model = Towers.fit(vectors, label, texts)
    assert len(model.landmarks) == 30
    assert (model.score(vectors).argmax(1) == label).mean() > 0.9


def test_labels_with_one_picture_or_none_do_no_harm() -> None:
    vectors, label, texts = clusters()
    rows = np.flatnonzero((label < 4) | (np.arange(len(label)) == len(label) - 1))  # label 4 none, label 5 one
    model = Towers.fit(vectors[rows], label[rows], texts)
    assert np.isfinite(model.score(vectors)).all()
    known = label < 4
    assert (model.score(vectors[known]).argmax(1) == label[known]).mean() > 0.9


def test_saved_arrays_give_the_same_scores() -> None:
    vectors, label, texts = clusters()
    model = Towers.fit(vectors, label, texts)
    again = Towers.from_arrays(model.arrays())
    np.testing.assert_array_equal(again.score(vectors), model.score(vectors))
    assert all(value.dtype == np.float32 for value in model.arrays().values())


def test_what_cannot_be_learned_is_refused() -> None:
    vectors, label, texts = clusters()
    with pytest.raises(InputError, match="two labels"):
        Towers.fit(vectors[:5], label[:5], texts)
    with pytest.raises(InputError, match="do not fit"):
        Towers.fit(vectors, label, texts[:3])
