from __future__ import annotations

import numpy as np
import pytest

from support.gram_encoder import GramEncoder
from support.meadow import KINDS, meadow
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.vectors import encode_text_vectors
from taxosphere.model.config import PolarisConfig
from taxosphere.model.embedding import RefitWithout, frozen
from taxosphere.ranking import crossfit
from taxosphere.ranking.crossfit import make_examples, make_folds
from taxosphere.ranking.features.catalogue import FAMILIES
from taxosphere.ranking.retrieval import DEFAULT_FIRST_STAGE

CONFIG = PolarisConfig().with_overrides(("training.epochs=2", "ranking.folds=3"))


def _refit(seed: Taxonomy) -> RefitWithout:
    return frozen(encode_text_vectors(GramEncoder(), list(seed.concepts())), CONFIG, 2)


def test_a_fold_never_sees_the_leaves_it_is_asked() -> None:
    seed = meadow()
    seen = list(make_folds(seed, _refit(seed), CONFIG, random_state=0, progress=None))
    asked = [query.id for fold in seen for query in fold.split.queries]
    assert sorted(asked) == sorted(seed.ids[i] for i in seed.leaves)
    for fold in seen:
        assert not {query.id for query in fold.split.queries} & set(fold.split.seed.ids)
        for query, gold in zip(fold.split.queries, fold.split.gold, strict=True):
            assert [fold.split.seed.ids[p] for p in gold] == list(seed.parents(query.id))


def test_queries_asked_again_miss_all_their_parents_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = meadow()
    fold = next(iter(make_folds(seed, _refit(seed), CONFIG, random_state=0, progress=None)))
    seeds = []
    original = crossfit.make_shortlist

    def watched(index, *rest, **more):  # type: ignore[no-untyped-def]
        seeds.append(index.taxonomy)
        return original(index, *rest, **more)

    monkeypatch.setattr(crossfit, "make_shortlist", watched)
    rng = np.random.default_rng(3)
    found = list(crossfit._without_parents(fold, fold.candidate_index(), FAMILIES, DEFAULT_FIRST_STAGE, 100, rng))
    first, second = seeds
    assert set(KINDS) - set(first.ids)
    assert set(KINDS) <= set(first.ids) | set(second.ids)
    for left, lists in zip((first, second), found, strict=True):
        for example, removed in zip(lists.example, lists.parent_removed, strict=True):
            parents = set(seed.parents(fold.split.queries[example - 100].id))
            assert removed == (not parents & set(left.ids))
        orphan = next(id for id in left.ids if id not in KINDS and id != "thing" and seed.parents(id)[0] not in left)
        assert left.parents(orphan) == ()


def test_who_loses_the_only_parent_misses_it() -> None:
    leaves = [Concept(f"l{i}", f"leaf {i}") for i in range(30)]
    seed = Taxonomy.from_concepts([Concept("root", "plant"), *leaves], [("root", leaf.id) for leaf in leaves])
    found = make_examples(seed, _refit(seed), CONFIG, random_state=0, progress=None)
    assert found is not None
    assert found.labels.any(1).all()
    assert found.parent_removed
    assert all(lists.parent_removed.all() for lists in found.parent_removed)
