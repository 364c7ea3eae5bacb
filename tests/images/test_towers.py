"""Both heads against what they should solve, and on images whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg

from support.made_up_images import SharedSpace, clusters, right
from taxosphere.errors import InputError
from taxosphere.images import towers
from taxosphere.images.towers import TextHead, Towers, hold_out
from taxosphere.images.whitening import label_means, unit


def test_the_share_held_out_is_taken_from_every_label() -> None:
    label = np.array([0] * 10 + [1] * 5 + [2] + [3] * 2)
    kept, held = hold_out(label, 0.2, 0)
    assert np.bincount(label[held], minlength=4).tolist() == [2, 1, 0, 0]
    assert sorted([*kept, *held]) == list(range(len(label)))
    assert hold_out(label, 0.2, 0)[1].tolist() == held.tolist()
    assert any(hold_out(label, 0.2, seed)[1].tolist() != held.tolist() for seed in range(1, 5))
    assert np.bincount(label[hold_out(label, 1.0, 0)[0]]).tolist() == [1, 1, 1, 1]


def test_anchors_go_from_apart_to_alike_with_the_floor() -> None:
    _, _, texts = clusters(labels=5)
    apart, alike = TextHead.fit(texts, 1e-6), TextHead.fit(texts, 1e6)
    gram = apart(texts) @ apart(texts).T
    np.testing.assert_allclose(gram, np.where(np.eye(5), 1, -1 / 4), atol=1e-3)  # a regular simplex
    centred = unit(texts - texts.mean(0))
    np.testing.assert_allclose(alike(texts) @ alike(texts).T, centred @ centred.T, atol=1e-3)


def test_coefficients_solve_the_kernel_regression() -> None:
    vectors, label, texts = clusters()
    solved = towers._solve(vectors, label, texts, False, 0)
    landmarks, dual_coef = solved.landmarks, solved.dual_coef
    points = solved.whitening.centred_points(vectors).astype(np.float64)
    kernel = np.exp(towers.KAPPA * (points @ points.T - 1))
    wanted = np.eye(6)[label] - 1 / 6
    expected = linalg.inv(kernel + towers.RIDGE * np.eye(len(points))) @ wanted
    np.testing.assert_allclose(dual_coef, expected, atol=1e-3)
    np.testing.assert_allclose(towers._regress(landmarks, landmarks, dual_coef), kernel @ expected, atol=1e-3)


def test_images_and_labels_are_unit_and_their_cosine_is_the_score() -> None:
    vectors, label, texts = clusters()
    model = Towers.fit(vectors, label, texts)
    images, labels = model.embed_images(vectors), model.embed_labels()
    for rows in (images, labels):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(model.score(vectors), images @ labels.T, atol=1e-5)


def test_new_images_find_their_label() -> None:
    vectors, label, texts = clusters(each=30, noise=0.9)
    kept, held = hold_out(label, 0.3, 1)
    right = Towers.fit(vectors[kept], label[kept], texts).score(vectors[held]).argmax(1) == label[held]
    nearest = (unit(vectors[held]) @ unit(label_means(vectors[kept], label[kept], 6)).T).argmax(1) == label[held]
    assert right.mean() > 0.85
    assert right.sum() >= nearest.sum()


def test_ancestors_add_to_the_likeness_of_anchors() -> None:
    _, _, texts = clusters(labels=4)
    ancestors = unit(np.array([[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]))
    head = TextHead.fit(texts, 0.1)
    found = towers.label_anchors(head, texts, ancestors, 0.3)
    expected = (head(texts) @ head(texts).T + 0.3 * ancestors @ ancestors.T) / 1.3
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-5)
    np.testing.assert_array_equal(towers.label_anchors(head, texts, ancestors, 0.0), head(texts))


def test_a_tree_that_tells_labels_apart_is_used() -> None:
    """Two groups of labels far apart, labels within a group close: held-out images err within the group."""
    rng = np.random.default_rng(0)
    group = np.repeat([0, 1], 4)
    centres = 3 * rng.normal(size=(2, 16))[group] + 0.8 * rng.normal(size=(8, 16))
    label = np.repeat(np.arange(8), 12)
    vectors = (centres[label] + rng.normal(size=(96, 16))).astype(np.float32)
    texts = rng.normal(size=(8, 8)).astype(np.float32)
    ancestors = unit(np.hstack([np.eye(2)[group], np.eye(8)]))
    kept, held = hold_out(label, 0.3, 0)
    model = Towers.fit(vectors[kept], label[kept], texts, ancestors=ancestors)
    first = model.score(vectors[held]).argmax(1)
    assert (group[first] == group[label[held]]).all()
    assert np.isfinite(model.score(vectors)).all()


def test_more_images_than_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(towers, "MOST_LANDMARKS", 30)
    vectors, label, texts = clusters()
    model = Towers.fit(vectors, label, texts)
    assert len(model.landmarks) == 30
    assert (model.score(vectors).argmax(1) == label).mean() > 0.9


def test_a_label_with_one_image_keeps_it_as_a_landmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(towers, "MOST_LANDMARKS", 40)
    vectors, label, texts = clusters(labels=30)
    rows = np.flatnonzero((label < 5) | (np.arange(len(label)) % 15 == 0))  # five labels of 15 and 25 of one
    label = label[rows]
    solved = towers._solve(vectors[rows], label, texts, False, 0)
    shown = label[(solved.landmarks @ solved.whitening.centred_points(vectors[rows]).T).argmax(1)]
    counts = np.bincount(shown, minlength=30)
    assert (counts[:5] == 6).all()  # 15 · 40 / 100
    assert (counts[5:] == 1).all()
    alone = np.flatnonzero(np.bincount(label)[label] == 1)
    assert len(towers._solve(vectors[rows[alone]], label[alone] - 5, texts[5:], False, 0).landmarks) == 25


def test_a_text_that_stands_in_for_images_stays_a_landmark(monkeypatch: pytest.MonkeyPatch) -> None:
    space = SharedSpace.make(shots=5, seed=0)
    shown = space.label % 4 != 0
    monkeypatch.setattr(towers, "MOST_LANDMARKS", 100)
    solved = towers._solve(space.vectors[shown], space.label[shown], space.texts, True, 0)
    assert solved.text_whitening is not None
    assert len(solved.landmarks) < shown.sum()
    cosines = solved.landmarks @ solved.text_whitening.centred_points(space.texts[::4]).T
    np.testing.assert_allclose(cosines.max(0), 1, atol=1e-5)


def test_labels_with_one_image_or_none_do_no_harm() -> None:
    vectors, label, texts = clusters()
    rows = np.flatnonzero((label < 4) | (np.arange(len(label)) == len(label) - 1))  # label 4 none, label 5 one
    model = Towers.fit(vectors[rows], label[rows], texts)
    assert np.isfinite(model.score(vectors)).all()
    known = label < 4
    assert (model.score(vectors[known]).argmax(1) == label[known]).mean() > 0.9


def test_saved_arrays_give_the_same_scores() -> None:
    vectors, label, texts = clusters()
    model = Towers.fit(vectors, label, texts)
    again = Towers.from_arrays(model.to_arrays())
    np.testing.assert_array_equal(again.score(vectors), model.score(vectors))
    assert all(value.dtype == np.float32 for value in model.to_arrays().values())


def test_what_cannot_be_learned_is_refused() -> None:
    vectors, label, texts = clusters()
    with pytest.raises(InputError, match="two labels"):
        Towers.fit(vectors[:5], label[:5], texts)
    with pytest.raises(InputError, match="do not fit"):
        Towers.fit(vectors, label, texts[:3])


# -- one head for both, where the space is shared ---------------------------------------------------------------------


def test_a_label_without_images_in_a_table_by_hand() -> None:
    """Five labels on a pentagon x₀ … x₄, an image each but for x₄: (0.6 x, 0.8) and, as a text, (0.6 x, -0.8).

    The mean of the labels with images is -x₄/4 on either side, so directions are those of xᵢ + x₄/4. As ‖xᵢ + x₄/4‖² =
    17/16 + cᵢ/2 with cᵢ = xᵢ·x₄, the cosine of labels i and j is (xᵢ·xⱼ + (cᵢ + cⱼ)/4 + 1/16) / (‖·‖ ‖·‖).
    """
    angle = 2 * np.pi * np.arange(5) / 5
    corner = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    images = np.column_stack([0.6 * corner, np.full(5, 0.8)]).astype(np.float32)
    texts = np.column_stack([0.6 * corner, np.full(5, -0.8)]).astype(np.float32)
    model = Towers.fit(images[:4], np.arange(4), texts, shared=True)
    c = corner @ corner[4]
    length = np.sqrt(17 / 16 + c / 2)
    cosine = (corner @ corner.T + (c[:, None] + c) / 4 + 1 / 16) / np.outer(length, length)
    assert model.text_directions is not None
    np.testing.assert_allclose(model.whitening(images) @ model.text_directions.labels.T, cosine, atol=1e-5)
    np.testing.assert_allclose(model.whitening(images), model.text_directions.whitening(texts), atol=1e-5)
    # Regression is not tried with one image each: only the two directions speak, with weights 1 and 2. A label is
    # [anchor, direction, direction] of length √3, an image [0, direction, 2 direction] of length √5.
    np.testing.assert_allclose(model.score(images), 3 * cosine / np.sqrt(15), atol=1e-5)
    np.testing.assert_allclose(model.embed_texts(texts) @ model.embed_labels().T, model.score(images), atol=1e-5)


@pytest.mark.parametrize(("shots", "margin"), [(1, 0.15), (3, 0.10), (5, 0.05)])
def test_a_shared_head_beats_separate_ones_with_few_images(shots: int, margin: float) -> None:
    gains = []
    for seed in range(4):
        space = SharedSpace.make(shots=shots, seed=seed)
        separate = Towers.fit(space.vectors, space.label, space.texts)
        shared = Towers.fit(space.vectors, space.label, space.texts, shared=True)
        gains.append(right(shared.score(space.asked), space.gold) - right(separate.score(space.asked), space.gold))
    assert np.mean(gains) > margin
    assert min(gains) > 0


@pytest.mark.parametrize("shots", [1, 2, 3, 10])
def test_texts_that_say_nothing_have_no_weight(shots: int) -> None:
    """Chance may let them through once in a while; what they do then is small."""
    silent, losses = 0, []
    for seed in range(8):
        space = SharedSpace.make(shots=shots, seed=seed, blind=True)
        separate = Towers.fit(space.vectors, space.label, space.texts).score(space.asked)
        shared = Towers.fit(space.vectors, space.label, space.texts, shared=True)
        assert shared.text_directions is not None
        found = shared.score(space.asked)
        losses.append(right(separate, space.gold) - right(found, space.gold))
        if shared.text_directions.weight == 0:
            silent += 1
            np.testing.assert_array_equal(found, separate)
    assert silent >= 7
    assert np.mean(losses) < 0.01


def test_a_label_without_images_is_found_by_its_text() -> None:
    space = SharedSpace.make(shots=5, seed=0)
    shown = space.label % 4 != 0
    bare = space.gold % 4 == 0
    shared = Towers.fit(space.vectors[shown], space.label[shown], space.texts, shared=True).score(space.asked)
    separate = Towers.fit(space.vectors[shown], space.label[shown], space.texts).score(space.asked)
    assert right(separate[bare], space.gold[bare]) < 0.05
    assert right(shared[bare], space.gold[bare]) > 0.25  # of forty labels
    assert right(shared[~bare], space.gold[~bare]) > right(separate[~bare], space.gold[~bare])


def test_texts_can_be_asked_where_images_can() -> None:
    space = SharedSpace.make(shots=5, seed=0)
    model = Towers.fit(space.vectors, space.label, space.texts, shared=True)
    said = model.embed_texts(space.captions)
    np.testing.assert_allclose(np.linalg.norm(said, axis=1), 1, atol=1e-5)
    assert said.shape[1] == model.embed_labels().shape[1]
    assert right(said @ model.embed_labels().T, np.arange(len(space.texts))) > 0.9
    # Images are found by a text, too: most of the nearest ones to a caption show what it says.
    nearest = (said @ model.embed_images(space.asked).T).argmax(1)
    assert (space.gold[nearest] == np.arange(len(said))).mean() > 0.6
    with pytest.raises(InputError, match="one encoder"):
        Towers.fit(space.vectors, space.label, space.texts).embed_texts(space.texts)


@pytest.mark.parametrize("shots", [1, 5])
def test_shared_arrays_repeat_and_come_back(shots: int) -> None:
    space = SharedSpace.make(shots=shots, seed=2)
    first, second = (
        Towers.fit(space.vectors, space.label, space.texts, shared=True, random_state=3).to_arrays() for _ in range(2)
    )
    assert first.keys() == second.keys()
    assert "text_directions_labels" in first
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])
    model, again = (
        Towers.fit(space.vectors, space.label, space.texts, shared=True, random_state=3),
        Towers.from_arrays(first),
    )
    np.testing.assert_array_equal(again.score(space.asked), model.score(space.asked))
    np.testing.assert_array_equal(again.embed_texts(space.texts), model.embed_texts(space.texts))


def test_vectors_of_two_spaces_cannot_be_shared() -> None:
    vectors, label, texts = clusters()
    with pytest.raises(InputError, match="20 numbers and texts of 9"):
        Towers.fit(vectors, label, texts, shared=True)
