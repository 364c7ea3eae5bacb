from __future__ import annotations

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.taxonomy.hiding import FEWEST_FOR_INNER, HiddenFold, hidden_folds
from taxosphere.taxonomy.split import hide


def _random_tree(size: int, random_state: int) -> Taxonomy:
    """Every concept hangs from one of the first third, a few from two."""
    rng = np.random.default_rng(random_state)
    edges = [(f"c{rng.integers(min(i, size // 3))}", f"c{i}") for i in range(1, size)]
    edges += [(f"c{rng.integers(size // 6)}", f"c{i}") for i in rng.integers(size // 2, size, size // 10)]
    return Taxonomy.from_edges(dict.fromkeys(edges))


def _folds(taxonomy: Taxonomy) -> list[HiddenFold]:
    leaves = np.random.default_rng(1).permutation(np.flatnonzero(taxonomy.hideable))
    return hidden_folds(taxonomy, leaves, 4, random_state=0)


@pytest.mark.parametrize("random_state", range(3))
def test_every_query_keeps_its_answer(random_state: int) -> None:
    taxonomy = _random_tree(300, random_state)
    for fold in _folds(taxonomy):
        assert len(fold.leaves)
        assert len(fold.inner)
        assert len(fold.missing)
        hidden = {taxonomy.ids[i] for i in fold.hidden}
        for i in (*fold.leaves, *fold.inner):
            assert not hidden & set(taxonomy.parents(taxonomy.ids[i]))
        for i in fold.inner:
            assert not hidden & set(taxonomy.children(taxonomy.ids[i]))
        for i in fold.missing:
            (parent,) = taxonomy.parents(taxonomy.ids[i])
            assert parent in hidden
            assert set(taxonomy.children(parent)) <= hidden
            assert not hidden & set(taxonomy.parents(parent))
        asked = np.concatenate([fold.leaves, fold.inner, fold.missing])
        assert len(asked) == len(np.unique(asked))
        assert set(asked) <= set(fold.hidden)
        assert len(hide(taxonomy, fold.hidden, np.sort(asked)).queries) == len(asked)


def test_nearly_every_leaf_is_asked_in_one_fold() -> None:
    taxonomy = _random_tree(300, 0)
    leaves = np.concatenate([fold.leaves for fold in _folds(taxonomy)])
    assert len(leaves) == len(np.unique(leaves))
    assert len(leaves) > 0.95 * taxonomy.hideable.sum()


def test_of_a_small_taxonomy_leaves_alone_are_hidden() -> None:
    taxonomy = _random_tree(FEWEST_FOR_INNER - 1, 0)
    folds = _folds(taxonomy)
    assert not any(len(fold.inner) or len(fold.missing) for fold in folds)
    assert sum(len(fold.leaves) for fold in folds) == taxonomy.hideable.sum()


def test_without_leaves_there_are_no_folds() -> None:
    assert hidden_folds(Taxonomy.from_edges([], names={"a": "a"}), np.zeros(0, np.int64), 5, random_state=0) == []
