from __future__ import annotations

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.meadow import meadow
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.registry import encode_text_vectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import RefitWithout, frozen
from taxosphere.ranking import crossfit
from taxosphere.ranking.crossfit import make_examples
from taxosphere.ranking.features.catalogue import FAMILIES
from taxosphere.ranking.features.compute import N_ORPHAN_FEATURES
from taxosphere.ranking.features.novelty import NOVELTY_FEATURES, NoveltyScale
from taxosphere.ranking.folds import Kind, make_folds
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE

CONFIG = PolarisConfig().with_overrides(("training.epochs=2", "ranking.folds=3"))


def _refit(seed: Taxonomy) -> RefitWithout:
    return frozen(encode_text_vectors(GramEncoder(), list(seed.concepts())), CONFIG, 2)


def test_a_fold_never_sees_what_it_is_asked() -> None:
    seed = meadow()
    folds = list(make_folds(seed, _refit(seed), CONFIG, random_state=0, progress=None))
    leaves = [
        q.id for fold in folds for q, kind in zip(fold.split.queries, fold.kind, strict=True) if kind == Kind.LEAF
    ]
    assert len(leaves) == len(set(leaves))
    assert set(leaves) <= {seed.ids[i] for i in seed.leaves}
    for fold in folds:
        visible = fold.split.seed
        assert not {query.id for query in fold.split.queries} & set(visible.ids)
        assert [seed.ids[i] for i in fold.kept] == list(visible.ids)
        for query, gold, kind in zip(fold.split.queries, fold.split.gold, fold.kind, strict=True):
            answer = {visible.ids[p] for p in gold}
            if kind == Kind.MISSING:
                assert not set(seed.parents(query.id)) & set(visible.ids)
                assert answer == {above for parent in seed.parents(query.id) for above in seed.parents(parent)}
            else:
                assert answer == set(seed.parents(query.id))
            if kind == Kind.INNER:
                assert all(set(visible.parents(child)) == answer for child in seed.children(query.id))


def test_queries_asked_again_miss_all_their_parents_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = meadow()
    fold = next(iter(make_folds(seed, _refit(seed), CONFIG, random_state=0, progress=None)))
    seeds = []
    original = crossfit.make_shortlist

    def watched(index, *rest, **more):  # type: ignore[no-untyped-def]
        seeds.append(index.taxonomy)
        return original(index, *rest, **more)

    monkeypatch.setattr(crossfit, "make_shortlist", watched)
    asking = crossfit._Asking(fold, FAMILIES, DEFAULT_FIRST_STAGE, None)
    blocks = list(asking.without_parents(np.random.default_rng(3)))
    assert {block.kind for block in blocks} == {Kind.PARENT_REMOVED, Kind.PARENT_KEPT}
    for left, block in zip(seeds, blocks, strict=True):
        for position in block.concept.tolist():
            parents = set(fold.split.seed.ids) & set(seed.parents(seed.ids[position]))
            assert (block.kind == Kind.PARENT_REMOVED) == (not parents & set(left.ids))
        removed = set(fold.split.seed.ids) - set(left.ids)
        orphans = [
            id for id in left.ids if set(fold.split.seed.parents(id)) and set(fold.split.seed.parents(id)) <= removed
        ]
        assert orphans
        assert all(left.parents(id) == () for id in orphans)


def test_who_loses_the_only_parent_misses_it() -> None:
    leaves = [Concept(f"l{i}", f"leaf {i}") for i in range(30)]
    seed = Taxonomy.from_concepts([Concept("root", "plant"), *leaves], [("root", leaf.id) for leaf in leaves])
    found = make_examples(seed, _refit(seed), CONFIG, random_state=0, progress=None)
    assert found is not None
    assert found.labels[found.of_kind(Kind.LEAF)].any(1).all()
    assert found.of_kind(Kind.PARENT_REMOVED).any()
    assert not found.of_kind(Kind.PARENT_KEPT).any()
    assert not found.labels[found.is_none].any()


def test_foreign_concepts_are_asked_once_and_have_no_answer() -> None:
    seed, foreign = meadow(), [Concept(f"f{i}", f"foreign thing {i}") for i in range(7)]
    vectors = encode_text_vectors(GramEncoder(), [*seed.concepts(), *foreign])
    scale = NoveltyScale.of(vectors.full[: len(seed)])
    found = make_examples(
        seed,
        frozen(vectors, CONFIG, 2),
        CONFIG,
        foreign=foreign,
        outside=np.array([0, 2, 3, 6]),
        novelty=scale,
        random_state=0,
        progress=None,
    )
    assert found is not None
    asked = found.of_kind(Kind.FOREIGN)
    assert sorted(found.concept[asked]) == [len(seed) + i for i in (0, 2, 3, 6)]
    assert not found.labels[asked].any()
    assert not found.taught[asked].any()
    assert found.query_features.shape[1] == N_ORPHAN_FEATURES + len(NOVELTY_FEATURES)
