from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from taxosphere import Taxonomy
from taxosphere.errors import InputError
from taxosphere.evaluation import metrics
from taxosphere.methods import registry as methods
from taxosphere.methods.polaris_cosine import PolarisCosine
from taxosphere.taxonomy import split

FAST = {"training.epochs": "6", "network.hidden": "32", "network.dim": "16"}


class WordEncoder:
    """A fixed random direction per word, added up: concepts that share words are near each other."""

    name, dim = "words", 24

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.zeros((len(texts), self.dim), np.float32)
        for row, text in zip(rows, texts):
            for word in text.lower().split():
                row += np.random.default_rng(zlib.crc32(word.encode())).normal(size=self.dim)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def kinds() -> split.Split:
    """Six kinds with ten members each, every member named after its kind; some members are hidden."""
    names = ("tree", "stone", "river", "cloud", "bird", "tool")
    pairs = [("thing", kind) for kind in names]
    pairs += [(kind, f"{kind} number{i}") for kind in names for i in range(10)]
    return split.leaves(Taxonomy.from_edges(pairs), seed=1)


@pytest.mark.parametrize("name", ["polaris-cosine", "polaris-paper-frozen"])
def test_learns_a_toy_hierarchy_and_repeats_itself(name: str, kinds: split.Split) -> None:
    fitted = [
        methods.create(name, FAST).fit(kinds.seed, encoder=WordEncoder(), random_state=3).score(kinds.queries)
        for _ in range(2)
    ]
    assert fitted[0].dtype == np.float32
    assert fitted[0].tobytes() == fitted[1].tobytes()
    chance = 100 * np.mean(1 / np.arange(1, len(kinds.seed) + 1))
    assert metrics.evaluate(fitted[0], kinds.gold, kinds.seed)["mrr"] > 3 * chance
    other = methods.create(name, FAST).fit(kinds.seed, encoder=WordEncoder(), random_state=4).score(kinds.queries)
    assert not np.array_equal(fitted[0], other)


def test_the_gate_is_the_one_asked_for(kinds: split.Split) -> None:
    def fit(mode: str) -> PolarisCosine:
        settings = FAST | {"orbit.gate": mode, "orbit.gamma": "2.0"}
        return PolarisCosine(settings).fit(kinds.seed, encoder=WordEncoder(), random_state=0)

    plain, hybrid, hard = (fit(mode) for mode in ("off", "hybrid", "hard"))
    cosine, lifted, cut = (method.score(kinds.queries) for method in (plain, hybrid, hard))
    accepted = lifted > 1.5  # a cosine never is
    assert accepted.any()
    assert not accepted.all()
    assert np.array_equal(cut, np.where(accepted, cosine, 0))
    leaves = kinds.seed.child_csr.counts == 0
    assert not accepted[:, leaves].any()  # their threshold is 1
    assert hybrid.gamma == 2.0


def test_curves_and_points_can_be_looked_at(kinds: split.Split) -> None:
    method = PolarisCosine(FAST).fit(kinds.seed, encoder=WordEncoder(), random_state=0)
    assert len(method.history["seconds"]) == len(method.history["mrr"]) <= 6
    assert np.linalg.norm(method.sphere(), axis=1) == pytest.approx(np.ones(len(kinds.seed)), abs=1e-5)


def test_settings_are_checked_before_any_work() -> None:
    with pytest.raises(InputError, match=r"no setting 'loss\.kernal'"):
        PolarisCosine({"loss.kernal": "rbf"})
    with pytest.raises(InputError, match="no preset 'big'"):
        PolarisCosine({"preset": "big"})


def test_the_paper_preset_is_the_paper(kinds: split.Split) -> None:
    config = methods.create("polaris-paper").configure(kinds.seed)
    assert (config.orbit.gate, config.loss.bessel, config.loss.svgd_variant) == ("hard", "paper", "paper")
    column = PolarisCosine({"preset": "column"}).configure(kinds.seed)
    assert (column.loss.geometric, column.loss.probabilistic, column.loss.svgd, column.loss.listwise) == (
        0.7,
        0.3,
        0.1,
        0,
    )


def test_several_heads_answer_with_their_mean(kinds: split.Split) -> None:
    settings = FAST | {"orbit.gate": "off"}
    three = PolarisCosine(settings | {"heads": "3"}).fit(kinds.seed, encoder=WordEncoder(), random_state=0)
    points = three.sphere()
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, atol=1e-5)
    first = PolarisCosine(settings).fit(kinds.seed, encoder=WordEncoder(), random_state=0)
    dim = first.sphere().shape[1]
    np.testing.assert_allclose(points[:, :dim] * np.sqrt(3), first.sphere(), atol=1e-6)
    parts = points.reshape(len(points), 3, dim) * np.sqrt(3)
    assert not np.allclose(parts[:, 0], parts[:, 1])
    np.testing.assert_allclose(points @ points.T, np.einsum("ihd,jhd->ij", parts, parts) / 3, atol=1e-5)
    with pytest.raises(InputError, match="heads must be"):
        PolarisCosine({"heads": "none"})
