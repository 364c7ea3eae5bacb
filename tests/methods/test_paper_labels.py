"""The paper's system on images: its taxonomy by hand, the gate, and the two protocols from one training."""

from __future__ import annotations

import numpy as np
import pytest

from taxosphere.errors import TaxosphereError
from taxosphere.images.towers import hold_out
from taxosphere.methods.image_task import LabelledImages
from taxosphere.methods.joined_vectors import JoinedVectors, label_taxonomy
from taxosphere.methods.paper_labels import PaperLabels, _radius_gaps, _rooted
from taxosphere.ranks import best_true_ranks
from taxosphere.typing import Floats, Longs

LABELS = 4


@pytest.fixture(scope="module")
def task() -> tuple[LabelledImages, LabelledImages]:
    """Images to learn from and images to name, of labels that overlap."""
    rng = np.random.default_rng(0)
    label = np.repeat(np.arange(LABELS), 20)
    vectors = (rng.normal(size=(LABELS, 12))[label] + 1.5 * rng.normal(size=(len(label), 12))).astype(np.float32)
    whole = LabelledImages(vectors, label, rng.normal(size=(LABELS, 6)).astype(np.float32))
    known, asked = hold_out(label, 0.25, 0)
    return whole.take(known), whole.take(asked)


def test_images_lie_below_their_labels_and_labels_below_one_root() -> None:
    label = np.array([1, 0, 1])
    flat = label_taxonomy(label, 2)
    assert [(flat.names[a], flat.names[b]) for a, b in flat.edge_array] == [
        ("label 1", "image 0"),
        ("label 0", "image 1"),
        ("label 1", "image 2"),
    ]
    rooted = _rooted(label, 2)
    assert rooted.names[-1] == "root"
    assert sorted(rooted.names[child] for parent, child in rooted.edge_array if parent == 5) == ["label 0", "label 1"]
    # Δr = (log2(2 + N) − 1) / width: label 0 has one image below it, label 1 two.
    gaps = _radius_gaps(label, 2)
    np.testing.assert_allclose(gaps[1] / gaps[0], (np.log2(4) - 1) / (np.log2(3) - 1), rtol=1e-6)


def test_an_image_fills_one_part_of_the_joint_vector_and_a_label_the_other(
    task: tuple[LabelledImages, LabelledImages],
) -> None:
    joined = JoinedVectors.fit(task[0])
    images, labels = joined.images(task[1].vectors).numpy(), joined.labels().numpy()
    assert images.shape == (len(task[1].label), 18)
    assert labels.shape == (LABELS, 18)
    assert np.abs(images[:, :12]).max() > 0
    assert not images[:, 12:].any()
    assert not labels[:, :12].any()
    np.testing.assert_allclose(np.linalg.norm(labels, axis=1), 1, atol=1e-5)


def reciprocal_rank(scores: Floats, label: Longs) -> float:
    return float((1 / best_true_ranks(scores, tuple(label[:, None]))).mean())


def test_the_honest_scores_are_those_of_a_fit_that_never_saw_the_answers(
    task: tuple[LabelledImages, LabelledImages],
) -> None:
    known, asked = task
    alone, both = PaperLabels(), PaperLabels()
    for method in (alone, both):  # the paper's batches hold all of so few images: one step an epoch
        method.config = method.config.with_overrides(("training.batch=8", "training.accumulation=1"))
    alone.fit(known, random_state=0)
    peeking = both.fit_both(known, random_state=0, answers=asked)
    np.testing.assert_array_equal(both.score(asked.vectors), alone.score(asked.vectors))
    honest, paper = (reciprocal_rank(scorer.score(asked.vectors), asked.label) for scorer in (both, peeking))
    assert paper >= honest - 1e-9
    assert paper == pytest.approx(max(both.history["mrr"]))  # the best of all looks at the test images
    assert honest > 0.6  # by chance 0.52


def test_without_images_to_hold_out_all_epochs_are_trained() -> None:
    rng = np.random.default_rng(1)
    few = LabelledImages(*(rng.normal(size=(2, 4)).astype(np.float32), np.arange(2), np.eye(2, 3, dtype=np.float32)))
    method = PaperLabels().fit(few, random_state=0)
    assert method.epochs == method.config.training.epochs
    assert method.score(few.vectors).shape == (2, 2)


def test_it_must_be_fitted_before_it_scores() -> None:
    with pytest.raises(TaxosphereError, match="must be fitted"):
        PaperLabels().score(np.zeros((1, 3), np.float32))
