from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

import numpy as np
import pytest

from support.tiny_encoder import build_tiny_encoder
from taxosphere import Concept, Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.errors import InputError
from taxosphere.evaluation import protocol
from taxosphere.evaluation.protocol import Plan
from taxosphere.methods import registry as methods
from taxosphere.taxonomy import CycleError


def forest(size: int = 60, seed: int = 0) -> tuple[Taxonomy, dict[str, str]]:
    """A random hierarchy with some second parents, and a published split with hidden inner concepts."""
    rng = np.random.default_rng(seed)
    pairs = {(f"c{rng.integers(0, i)}", f"c{i}") for i in range(1, size)}
    pairs |= {(f"c{rng.integers(0, i)}", f"c{i}") for i in range(1, size, 4)}
    taxonomy = Taxonomy.from_edges(sorted(pairs), descriptions={f"c{i}": f"number {i * 7}" for i in range(size)})
    parts = {id: str(rng.choice(["train", "val", "test"], p=[0.7, 0.1, 0.2])) for id in taxonomy.ids}
    parts["c0"] = "train"
    return taxonomy, parts


def quick(name: str) -> dict[str, str]:
    """Little training that still uses everything a method looks at."""
    if name in methods.REFERENCES:
        return {}
    if name == "polaris":
        return {"training.epochs": "1", "ranking.folds": "2", "ranking.epochs": "2", "ranking.nets": "1"}
    return {"training.epochs": "1"} if name.startswith("polaris") else {"steps": "3"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TransformerEncoder:
    return TransformerEncoder(locate(str(build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder")))))


class Recorder:
    """A real method that keeps every score it gives."""

    rows: list[np.ndarray]
    seeds: list[Taxonomy]

    def __init__(self, name: str) -> None:
        self.rows, self.seeds, self.inner = [], [], methods.create(name, quick(name))

    def fit(self, seed: Taxonomy, **rest: object) -> Self:
        self.seeds.append(seed)
        self.inner.fit(seed, **rest)
        return self

    def score(self, queries: Sequence[Concept]) -> np.ndarray:
        self.rows.append(self.inner.score(queries))
        return self.rows[-1]


def recorded(taxonomy, parts, name, letters, plan=Plan(runs=1)):  # noqa: B008
    recorder = Recorder(name)
    protocol.evaluate(taxonomy, lambda: recorder, plan, encoder=letters, parts=parts, references=())
    return recorder


@pytest.mark.parametrize(
    ("name", "kind"), [(name, "published") for name in methods.names("parents")] + [("sibling-vote", "leaves")]
)
def test_the_answers_cannot_reach_the_scores(name, kind, letters, tiny) -> None:
    """Give every query random other parents in the hidden part: nothing a method computes may change by a bit."""
    letters = tiny if name == "polaris-paper" else letters  # whose encoder learns along
    taxonomy, parts = forest()
    plan = Plan(kind, runs=1)
    part = protocol.make_split(taxonomy, parts, plan, 0)
    asked = {query.id for query in part.queries}
    rng = np.random.default_rng(1)
    # New parents have a visible child and hidden parents keep theirs, so the same concepts are leaves as before.
    visible = [part.seed.ids[i] for i in np.flatnonzero(part.seed.child_csr.counts > 0)]
    hidden = set(taxonomy.ids) - set(part.seed.ids)
    kept = [(parent, child) for parent, child in taxonomy.edges() if child not in asked or parent in hidden]
    moved = [(str(rng.choice(visible)), child) for child in sorted(asked)]
    shuffled = taxonomy.with_edges(
        np.array([(taxonomy.position(a), taxonomy.position(b)) for a, b in kept + moved], np.int32)
    )
    other = protocol.make_split(shuffled, parts, plan, 0)
    assert {query.id for query in other.queries} == asked
    assert any(a.tolist() != b.tolist() for a, b in zip(part.gold, other.gold))
    before = recorded(taxonomy, parts, name, letters, plan)
    after = recorded(shuffled, parts, name, letters, plan)
    assert before.seeds[0].ids == after.seeds[0].ids
    assert np.concatenate(before.rows).tobytes() == np.concatenate(after.rows).tobytes()


def test_a_seed_holds_nothing_of_the_queries(letters) -> None:
    taxonomy, parts = forest()
    seed = recorded(taxonomy, parts, "tfidf", letters).seeds[0]
    assert all(parts.get(id) == "train" for id in seed.ids)


def test_runs_differ_as_promised(letters) -> None:
    taxonomy, parts = forest()
    fixed = protocol.evaluate(taxonomy, "tfidf", Plan(runs=3), encoder=letters, parts=parts)
    assert [run.random_state for run in fixed.runs] == [0, 1, 2]
    assert fixed.metrics["mrr"]["std"] == 0.0
    assert {name: len(runs) for name, runs in fixed.references.items()} == dict.fromkeys(methods.REFERENCES, 1)
    moving = protocol.evaluate(taxonomy, "tfidf", Plan("leaves", runs=3, random_state=5), encoder=letters)
    assert [run.random_state for run in moving.runs] == [5, 6, 7]
    assert moving.metrics["mrr"]["std"] > 0.0
    assert {name: len(runs) for name, runs in moving.references.items()} == dict.fromkeys(methods.REFERENCES, 3)
    assert moving.references["tfidf"][1].metrics == moving.runs[1].metrics


def test_small_blocks_change_nothing(letters, monkeypatch: pytest.MonkeyPatch) -> None:
    taxonomy, parts = forest()
    whole = protocol.evaluate(taxonomy, "tfidf", Plan(runs=1), encoder=letters, parts=parts)
    monkeypatch.setattr(protocol, "_CELLS", 3 * len(whole.runs[0].outcome.sizes))
    parted = protocol.evaluate(taxonomy, "tfidf", Plan(runs=1), encoder=letters, parts=parts)
    assert parted.metrics == whole.metrics


def test_progress_reaches_its_end(letters) -> None:
    taxonomy, parts = forest()
    seen: list[tuple[int, int]] = []
    protocol.evaluate(
        taxonomy, "tfidf", Plan(runs=2), encoder=letters, parts=parts, progress=lambda a, b, text: seen.append((a, b))
    )
    assert seen == [(i, 6) for i in range(7)]


def test_spread_is_the_sample_deviation() -> None:
    """1, 3: mean 2, deviations 1 and 1, squares over (2 - 1): sqrt 2"""
    assert protocol.mean_std([{"mr": 1.0}, {"mr": 3.0}]) == {"mr": {"mean": 2.0, "std": pytest.approx(2**0.5)}}


def test_a_cycle_is_refused_or_repaired() -> None:
    circle = Taxonomy.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("a", "d")])
    with pytest.raises(CycleError, match="--repair"):
        protocol.prepare(circle)
    mended, said = protocol.prepare(circle, repair=True)
    assert len(said) == 1
    assert len(mended.edge_array) == 3


def test_repairs_are_named_without_the_folder_of_this_machine(tmp_path: Path) -> None:
    Taxonomy.from_edges([("a", "b"), ("b", "c"), ("c", "b"), ("a", "d")]).write(tmp_path / "circle")
    _, (said,) = protocol.prepare(Taxonomy.read(tmp_path / "circle"), repair=True)
    assert said.startswith("edges.tsv:4: ")
    assert str(tmp_path) not in said


def test_edges_can_be_taken_away() -> None:
    taxonomy, parts = forest()
    part = protocol.make_split(taxonomy, parts, Plan(), 0)
    thinned = protocol.drop_edges(part, 0.25, 1)
    before, after = set(part.seed.edges()), set(thinned.seed.edges())
    assert after < before
    assert len(after) == len(before) - round(0.25 * len(before))
    assert thinned.seed.ids == part.seed.ids
    assert set(protocol.drop_edges(part, 0.25, 2).seed.edges()) != after
    assert protocol.drop_edges(part, 0.0, 1) is part


def test_descriptions_can_be_taken_away() -> None:
    taxonomy, _ = forest(5)
    assert set(protocol.prepare(taxonomy, descriptions=False)[0].descriptions) == {""}


def test_impossible_plans_are_refused(letters) -> None:
    with pytest.raises(InputError, match="at least one"):
        Plan(runs=0)
    with pytest.raises(InputError, match="nothing to add"):
        Plan("leaves", queries="all")
    with pytest.raises(InputError, match=r"no split\.tsv"):
        protocol.evaluate(forest()[0], "tfidf", encoder=letters)
