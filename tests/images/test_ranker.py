"""Ranking by images where texts share the sphere: a concept without images can be found by its text."""

from __future__ import annotations

import numpy as np
import pytest

from support.made_up_images import SharedSpace
from taxosphere import Taxonomy
from taxosphere.images import ranker
from taxosphere.images.ranker import (
    ImageIndex,
    fit_image_ranker,
    image_features,
    make_image_examples,
    make_image_shortlist,
    query_directions,
)
from taxosphere.model.config import RankingConfig
from taxosphere.ranking.crossfit import Examples
from taxosphere.ranking.features import shortlist as shortlists

KINDS = 40
SHOWN = 30


def tree() -> Taxonomy:
    """Forty kinds below one root; the first thirty have a leaf with images, the others one with a text alone."""
    pairs = [("top", f"kind {i}") for i in range(KINDS)] + [(f"kind {i}", f"leaf {i}") for i in range(KINDS)]
    return Taxonomy.from_edges(pairs)


def image_index(*, blind: bool = False, shared: bool = True, shots: int = 4) -> tuple[ImageIndex, SharedSpace]:
    """Leaves are the labels of the space; a kind is called as its leaf is."""
    space, taxonomy = SharedSpace.make(shots=shots, seed=0, scatter=0.5, blind=blind), tree()
    kind, leaf = (np.array([taxonomy.position(f"{what} {i}") for i in range(KINDS)]) for what in ("kind", "leaf"))
    texts = np.zeros((len(taxonomy), space.texts.shape[1]), np.float32)
    texts[kind], texts[leaf] = space.captions, space.texts
    texts[taxonomy.position("top")] = space.texts.mean(0)
    rows = space.label < SHOWN
    made = ImageIndex.build(taxonomy, space.vectors[rows], leaf[space.label[rows]], texts, shared=shared)
    return made, space


def placed(known: ImageIndex, space: SharedSpace, *, bare: bool) -> float:
    """Share of new images whose best candidate of the first stage is their kind."""
    rows = np.flatnonzero((space.gold >= SHOWN) == bare)
    asked = query_directions(known.whitening, space.asked, [np.array([row]) for row in rows])
    best = make_image_shortlist(known, asked).positions[:, 0]
    wanted = [known.taxonomy.position(f"kind {i}") for i in space.gold[rows]]
    return float((best == wanted).mean())


def test_a_kind_whose_leaves_have_no_images_is_found_by_its_text() -> None:
    known, space = image_index()
    alone, _ = image_index(shared=False)
    assert known.texts_match
    assert not alone.texts_match
    assert placed(alone, space, bare=True) == 0
    assert placed(known, space, bare=True) > 0.4
    assert placed(known, space, bare=False) > placed(alone, space, bare=False) - 0.05


def test_texts_that_say_nothing_do_not_change_the_first_stage() -> None:
    known, space = image_index(blind=True)
    alone, _ = image_index(blind=True, shared=False)
    assert not known.texts_match
    assert placed(known, space, bare=False) == placed(alone, space, bare=False)


def test_a_text_is_compared_as_the_same_head_turns_it() -> None:
    known, space = image_index()
    asked = query_directions(known.whitening, space.asked, [np.array([0]), np.array([5, 6])])
    assert known.text_whitening is not None
    found = image_features(known, asked)
    np.testing.assert_allclose(
        found["text to image similarity"], asked @ known.text_whitening(known.texts).T, atol=1e-6
    )
    leaf, kind = known.taxonomy.position("leaf 3"), known.taxonomy.position("kind 3")
    np.testing.assert_array_equal(
        found["most similar child, by text and image"][:, kind], found["text to image similarity"][:, leaf]
    )
    np.testing.assert_allclose(
        found["parent of similar concepts, by text and image"].sum(1), 1, atol=0.2
    )  # roots have no parent to vote for
    assert "text to image similarity" not in image_features(image_index(shared=False)[0], asked)


def examples(*, shared: bool = False, limit: int = 2400) -> Examples:
    """Of forty leaves with three images each: four queries about every one that is asked."""
    space, taxonomy = SharedSpace.make(shots=3, seed=0), tree()
    leaf = np.array([taxonomy.position(f"leaf {i}") for i in range(KINDS)])
    texts = np.random.default_rng(0).normal(size=(len(taxonomy), 64)).astype(np.float32)
    settings = RankingConfig(folds=2, examples=limit)
    made = make_image_examples(
        taxonomy, space.vectors, leaf[space.label], texts, settings, shared=shared, random_state=4
    )
    assert made is not None
    return made


def test_no_more_leaves_are_hidden_than_the_settings_ask_for() -> None:
    assert len(examples()) == 4 * KINDS
    few = examples(limit=10)
    assert len(few) == 40
    assert few.features.shape[1] == len(tree()) - 5  # leaves that are not asked stay


@pytest.mark.parametrize("shared", [False, True])
def test_queries_in_blocks_give_the_same_examples(shared: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, sizes = examples(shared=shared), []

    def counted(known: ImageIndex, asked: np.ndarray) -> dict[str, np.ndarray]:
        sizes.append(len(asked))
        return image_features(known, asked)

    monkeypatch.setattr(shortlists, "_CELLS", 7 * len(tree()))
    monkeypatch.setattr(ranker, "image_features", counted)
    parts = examples(shared=shared)
    assert max(sizes) < 10
    assert parts.feature_names == whole.feature_names
    np.testing.assert_allclose(parts.features, whole.features, atol=1e-5)
    np.testing.assert_array_equal(parts.labels, whole.labels)
    np.testing.assert_array_equal(parts.n_gold, whole.n_gold)


@pytest.mark.parametrize("shared", [False, True])
def test_the_same_random_state_gives_the_same_ranker(shared: bool) -> None:
    space, taxonomy = SharedSpace.make(shots=3, seed=0), tree()
    leaf = np.array([taxonomy.position(f"leaf {i}") for i in range(KINDS)])
    texts = np.random.default_rng(0).normal(size=(len(taxonomy), 64)).astype(np.float32)
    settings = RankingConfig(folds=2, nets=1, epochs=3)
    made = [
        fit_image_ranker(taxonomy, space.vectors, leaf[space.label], texts, settings, shared=shared, random_state=4)
        for _ in range(2)
    ]
    first, second = (ranker.to_arrays()[0] for ranker in made)
    assert first.keys() == second.keys()
    for name, value in first.items():
        np.testing.assert_array_equal(value, second[name])
    assert ("text to image similarity" in made[0].columns) == shared
