from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.hierarchies import dags, numbered
from taxosphere import Concept, Taxonomy
from taxosphere.errors import InputError
from taxosphere.taxonomy import CycleError, checks, split


def climb(t: Taxonomy, concept: str, hidden: set[str]) -> set[str]:
    """Nearest visible ancestors, one concept at a time."""
    found: set[str] = set()
    stack = list(t.parents(concept))
    while stack:
        parent = stack.pop()
        if parent in hidden:
            stack += t.parents(parent)
        else:
            found.add(parent)
    return found


@given(dags(), st.data())
def test_hiding_reattaches_to_the_nearest_visible_ancestors(t: Taxonomy, data: st.DataObject) -> None:
    hidden = data.draw(st.sets(st.sampled_from(t.ids)))
    result = split.hide(t, np.array([t.position(id) for id in hidden], np.int64))
    assert result.seed.ids == tuple(id for id in t.ids if id not in hidden)
    for id in result.seed.ids:
        assert set(result.seed.parents(id)) == climb(t, id, hidden)
    gold = {
        query.id: {result.seed.ids[i] for i in rows} for query, rows in zip(result.queries, result.gold, strict=True)
    }
    assert gold == {id: found for id in t.ids if id in hidden and (found := climb(t, id, hidden))}


def marked(size: int, pairs: list[tuple[int, int]], secret: set[int]) -> Taxonomy:
    """Concepts whose every text says who they are; visible ones name all the others in their free-form extras."""
    sign = [("SECRET" if i in secret else "open") + f"-{i}-" for i in range(size)]
    gossip = tuple(("see also", s) for s in sign)
    concepts = [Concept(f"{s}id", f"{s}name", f"{s}text", (f"{s}synonym",), (f"{s}.png",), gossip) for s in sign]
    edges = [(concepts[a].id, concepts[b].id) for a, b in pairs]
    return Taxonomy.from_concepts(concepts, edges, meta={"header": " ".join(sign)})


def everything(t: Taxonomy) -> str:
    parts = (t.ids, t.names, t.descriptions, t.synonyms, t.images, t.extras, dict(t.meta), t.reading, t.source)
    return repr((*parts, list(t.edges())))


@given(dags(), st.data())
def test_nothing_of_a_hidden_concept_reaches_the_seed(t: Taxonomy, data: st.DataObject) -> None:
    secret = data.draw(st.sets(st.integers(0, len(t) - 1), min_size=1))
    pairs = [(a, b) for a, b in t.edge_array.tolist()]
    result = split.hide(marked(len(t), pairs, secret), np.array(sorted(secret)))
    assert "SECRET" not in everything(result.seed)


@given(dags(), st.data())
def test_a_query_says_nothing_about_its_place(t: Taxonomy, data: st.DataObject) -> None:
    secret = data.draw(st.sets(st.integers(0, len(t) - 1), min_size=1))
    pairs = [(a, b) for a, b in t.edge_array.tolist()]
    for query in split.hide(marked(len(t), pairs, secret), np.array(sorted(secret))).queries:
        assert "open" not in repr(query)
        assert query.description  # its own words stay


@given(dags(), st.data())
def test_other_edges_of_hidden_leaves_leave_the_seed_as_it_is(t: Taxonomy, data: st.DataObject) -> None:
    leaves = data.draw(st.sets(st.sampled_from(t.leaves.tolist()), min_size=1))
    inner = [i for i in range(len(t)) if i not in leaves]
    fixed = [(a, b) for a, b in t.edge_array.tolist() if b not in leaves]
    ends = st.tuples(st.sampled_from(inner), st.sampled_from(sorted(leaves))) if inner else st.nothing()
    others = numbered(len(t), fixed + data.draw(st.lists(ends, unique=True)))
    hidden = np.array(sorted(leaves))
    assert everything(split.hide(t, hidden).seed) == everything(split.hide(others, hidden).seed)


def test_visible_edges_keep_the_order_of_the_source() -> None:
    t = numbered(6, [(0, 5), (0, 1), (1, 2), (2, 4), (0, 3)])
    seed = split.hide(t, np.array([2])).seed
    assert list(seed.edges()) == [("c0", "c5"), ("c0", "c1"), ("c0", "c3"), ("c1", "c4")]


def test_hiding_by_hand(animals: Taxonomy) -> None:
    hidden = np.array([animals.position("bird"), animals.position("duck"), animals.position("mineral")])
    result = split.hide(animals, hidden)
    assert result.seed.parents("sparrow") == ("animal",)
    assert [query.id for query in result.queries] == ["bird", "duck"]  # nothing says where mineral belongs
    assert [[result.seed.ids[i] for i in rows] for rows in result.gold] == [["animal"], ["animal", "farm animal"]]
    mask = np.zeros(len(animals), bool)
    mask[hidden] = True
    assert everything(split.hide(animals, mask).seed) == everything(result.seed)


def test_a_visible_query_is_a_mistake(animals: Taxonomy) -> None:
    with pytest.raises(ValueError, match="hidden"):
        split.hide(animals, np.array([1]), np.array([2]))


def test_a_cycle_cannot_be_split() -> None:
    with pytest.raises(CycleError):
        split.hide(numbered(3, [(0, 1), (1, 2), (2, 1)]), np.array([0]))


def test_published_asks_for_test_leaves_and_hides_all_but_train(animals: Taxonomy) -> None:
    parts = {"animal": "train", "bird": "test", "sparrow": "val", "duck": "test", "dog": "train"}
    result = split.published(animals, parts)
    assert [query.id for query in result.queries] == ["duck"]
    assert result.seed.ids == ("animal", "mammal", "farm animal", "dog", "mineral")
    everyone = split.published(animals, parts, queries="all")
    assert [query.id for query in everyone.queries] == ["bird", "duck"]
    assert everything(everyone.seed) == everything(result.seed)


def test_a_split_that_does_not_fit_is_refused(animals: Taxonomy) -> None:
    with pytest.raises(InputError, match="'drake'"):
        split.published(animals, {"drake": "test"})
    with pytest.raises(InputError, match="no test concept"):
        split.published(animals, {"mineral": "test"})


def test_leaves_are_drawn_by_the_seed_number() -> None:
    t = numbered(51, [(0, i) for i in range(1, 51)])
    first, again, other = (split.leaves(t, seed=seed) for seed in (1, 1, 2))
    assert len(first.queries) == 10
    assert [query.id for query in first.queries] == [query.id for query in again.queries]
    assert [query.id for query in first.queries] != [query.id for query in other.queries]
    assert len(split.leaves(t, fraction=0.5).queries) == 25


@given(dags(), st.integers(0, 5))
def test_hidden_leaves_keep_all_their_parents(t: Taxonomy, seed: int) -> None:
    if not len(t.edge_array):
        with pytest.raises(InputError, match="nothing to hide"):
            split.leaves(t, seed=seed)
        return
    result = split.leaves(t, fraction=0.4, seed=seed)
    assert len(result.seed) == len(t) - len(result.queries)
    for query, rows in zip(result.queries, result.gold, strict=True):
        assert {result.seed.ids[i] for i in rows} == set(t.parents(query.id))
        assert not t.children(query.id)


def test_reading_parts(tmp_path: Path) -> None:
    (tmp_path / "split.tsv").write_text("id\tsplit\na\ttrain\nb\ttest\nb\ttest\n", encoding="utf-8")
    assert split.read_parts(tmp_path) == {"a": "train", "b": "test"}
    assert split.read_parts(tmp_path / "split.tsv") == {"a": "train", "b": "test"}


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("id\tsplit\na\ttrain\na\ttest\n", ":3: .*two parts"),
        ("id\tsplit\na\tdev\n", ":2: .*train, val, test"),
        ("id\tsplit\na\n", ":2: "),
    ],
)
def test_bad_parts_are_refused_with_their_line(tmp_path: Path, content: str, word: str) -> None:
    (tmp_path / "split.tsv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=word):
        split.read_parts(tmp_path)


def test_a_folder_without_parts_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--split leaves"):
        split.read_parts(tmp_path)


@pytest.mark.parametrize(
    ("name", "seeds", "queries", "all_queries"),
    [
        ("semeval_env", 209, 52, 52),
        ("semeval_sci", 344, 85, 85),
        ("semeval_food_temp", 1189, 297, 297),
        ("semeval_food", 1190, 123, 148),
        ("wordnet_pooled", 2095, 212, 214),
        ("mesh", 8072, 543, 819),
        ("semeval_verb", 11996, 675, 891),
    ],
)
def test_published_sizes(shared_data: Path, name: str, seeds: int, queries: int, all_queries: int) -> None:
    t, _ = checks.repair(Taxonomy.read(shared_data / name))
    parts = split.read_parts(shared_data / name)
    result = split.published(t, parts)
    assert (len(result.seed), len(result.queries)) == (seeds, queries)
    assert len(split.published(t, parts, queries="all").queries) == all_queries
    assert not result.seed.cycles


@pytest.mark.parametrize("name", ["semeval_env", "semeval_food_temp"])
def test_published_agrees_with_the_files_of_the_benchmark(shared_data: Path, name: str) -> None:
    t = Taxonomy.read(shared_data / name)
    result = split.published(t, split.read_parts(shared_data / name))
    assert set(result.seed.edges()) == set(table(shared_data / name / "train_edges.tsv"))
    gold = {q.id: {result.seed.ids[i] for i in rows} for q, rows in zip(result.queries, result.gold, strict=True)}
    for query, parent in table(shared_data / name / "test_gold.tsv"):
        assert parent in gold[query]


def table(path: Path) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
