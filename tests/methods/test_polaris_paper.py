"""The paper's system as printed, under the honest protocol and under its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from support.meadow import meadow
from support.tiny_encoder import build_tiny_encoder
from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.errors import InputError
from taxosphere.evaluation import protocol
from taxosphere.methods import registry as methods
from taxosphere.methods.polaris_paper import PolarisPaper, PolarisPaperFrozen
from taxosphere.model import presets
from taxosphere.orbit import gate
from taxosphere.ranks import best_true_ranks
from taxosphere.sphere import vmf
from taxosphere.taxonomy import split

FAST = {"training.epochs": "4", "network.hidden": "16", "network.dim": "8", "network.kappa_start": "20"}


class LetterEncoder:
    """Counts of letters: instant, and without weights."""

    name, dim = "letters", 26

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        rows = np.full((len(texts), self.dim), 1e-3, np.float32)
        for row, text in zip(rows, texts, strict=True):
            for letter in text.lower():
                if "a" <= letter <= "z":
                    row[ord(letter) - 97] += 1
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def whole() -> Taxonomy:
    return meadow()


@pytest.fixture(scope="module")
def part(whole: Taxonomy) -> split.Split:
    return split.leaves(whole, seed=2)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> TransformerEncoder:
    return TransformerEncoder(locate(str(build_tiny_encoder(tmp_path_factory.mktemp("tiny-encoder")))))


def answers(whole: Taxonomy, part: split.Split) -> methods.Answers:
    return methods.Answers(whole, part.queries, part.gold)


@pytest.mark.parametrize("kind", [PolarisPaper, PolarisPaperFrozen])
def test_both_protocols_leave_the_honest_method_as_it_is(kind, whole, part, tiny) -> None:
    alone = kind(FAST).fit(part.seed, encoder=tiny, random_state=1)
    both = kind(FAST)
    both.fit_both(part.seed, encoder=tiny, random_state=1, answers=answers(whole, part))
    assert both.epochs == alone.epochs
    assert both.gamma == alone.gamma
    assert both.score(part.queries).tobytes() == alone.score(part.queries).tobytes()


@pytest.mark.parametrize("kind", [PolarisPaper, PolarisPaperFrozen])
def test_the_paper_picks_the_epoch_that_answers_the_test_queries_best(kind, whole, part, tiny) -> None:
    settings = FAST | {"orbit.gamma": "8"}
    picked = kind(settings).fit_both(part.seed, encoder=tiny, random_state=1, answers=answers(whole, part))

    def mrr(scores: np.ndarray) -> float:
        return float(np.mean(1 / best_true_ranks(scores, part.gold)))

    # An independent way to every epoch: no leaves are held out, so exactly that many epochs are trained.
    limits = gate.thresholds(gate.counted_delta(whole, part.seed.ids), 8.0)
    each = []
    for epochs in range(1, 5):
        changed = settings | {"training.epochs": str(epochs), "training.validation": "0", "orbit.gate": "off"}
        cosine = kind(changed).fit(part.seed, encoder=tiny, random_state=1).score(part.queries)
        each.append(mrr(gate.gated_scores(cosine, limits, "hard")))
    assert mrr(picked.score(part.queries)) == pytest.approx(max(each), abs=1e-6)


def test_the_full_graph_opens_the_gate_of_gold_parents_that_are_leaves() -> None:
    whole = Taxonomy.from_edges([("r", "a"), ("r", "b"), ("a", "c"), ("c", "q")])
    seed = split.hide(whole, np.array([whole.position("q")])).seed
    honest, counted = gate.delta(seed), gate.counted_delta(whole, seed.ids)
    c = seed.position("c")
    assert honest[c] == 0  # a leaf of the seed: its threshold is 1, no query passes
    # q below it: N = 1, so (log2(2 + 1) − 1) over the span of R: the root has 1 + 0 + log2(5), 'b' has 1 + 1 + 0
    spread = {id: 1 + whole.depth(id) + np.log2(1 + n) for id, n in (("r", 4), ("a", 2), ("b", 0), ("c", 1), ("q", 0))}
    assert counted[c] == pytest.approx((np.log2(3) - 1) / (max(spread.values()) - min(spread.values())))


def test_the_encoder_learns_along_and_is_left_as_it_was(part, tiny) -> None:
    before = tiny.encode(["green fish"])
    method = PolarisPaper(FAST).fit(part.seed, encoder=tiny, random_state=0)
    assert np.array_equal(tiny.encode(["green fish"]), before)
    assert method._scorer is not None
    assert not np.array_equal(method._scorer.encoder.encode(["green fish"]), before)
    frozen = PolarisPaperFrozen(FAST).fit(part.seed, encoder=tiny, random_state=0)
    assert frozen._scorer is not None
    assert frozen._scorer.encoder is tiny


def test_an_encoder_without_weights_is_refused_unless_frozen(part) -> None:
    with pytest.raises(InputError, match="no weights to fine-tune"):
        PolarisPaper(FAST).fit(part.seed, encoder=LetterEncoder(), random_state=0)
    scores = PolarisPaperFrozen(FAST).fit(part.seed, encoder=LetterEncoder(), random_state=0).score(part.queries)
    assert scores.shape == (len(part.queries), len(part.seed))


@pytest.mark.parametrize("name", ["science", "environment", "wordnet", "mesh", "verb", "food"])
def test_children_are_not_pushed_away_from_their_parents_at_the_start(name: str) -> None:
    """The printed A ≈ 1 − (d−1)/2κ must be positive: the divergence has to grow with the angle to the parent."""
    config = presets.paper(name)
    dim, kappa = config.network.dim, torch.tensor([config.network.kappa_start])
    pole, equator = torch.eye(dim)[:1], torch.eye(dim)[1:2]
    near = vmf.kl(pole, kappa, pole, kappa, "paper")
    far = vmf.kl(pole, kappa, equator, kappa, "paper")
    assert far > near


def test_a_collapse_is_said(part, caplog: pytest.LogCaptureFixture) -> None:
    """Only attraction: the kernel's pull to one common anchor, nothing that tells concepts apart."""
    settings = FAST | {
        "training.epochs": "60",
        "training.patience": "60",
        "training.learning_rate": "0.05",
        "network.kappa_start": "2",
        "loss.geometric": "0",
        "loss.svgd": "0",
        "network.dim": "64",
    }
    with caplog.at_level(logging.WARNING, logger="taxosphere"):
        method = PolarisPaperFrozen(settings).fit(part.seed, encoder=LetterEncoder(), random_state=0)
    said = [record.getMessage() for record in caplog.records]
    assert method.collapsed == any("training collapsed" in line for line in said)
    assert method.collapsed
    calm = PolarisPaperFrozen(FAST).fit(part.seed, encoder=LetterEncoder(), random_state=0)
    assert not calm.collapsed


@pytest.mark.parametrize("name", ["transe", "box"])
def test_a_baseline_picks_its_steps_on_the_test_queries(name: str, whole, part) -> None:
    settings = {"steps": "40", "evaluations": "4", "patience": "9"}
    method = methods.create(name, settings)
    alone = methods.create(name, settings).fit(part.seed, encoder=LetterEncoder(), random_state=0)
    assert isinstance(method, methods.MeasuredTwice)
    picked = method.fit_both(part.seed, encoder=LetterEncoder(), random_state=0, answers=answers(whole, part))
    assert method.score(part.queries).tobytes() == alone.score(part.queries).tobytes()

    def mrr(scorer: methods.Scorer) -> float:
        return float(np.mean(1 / best_true_ranks(scorer.score(part.queries), part.gold)))

    each = []
    for steps in (10, 20, 30, 40):
        few = methods.create(name, settings | {"steps": str(steps), "validation": "0"})
        each.append(mrr(few.fit(part.seed, encoder=LetterEncoder(), random_state=0)))
    assert mrr(picked) == pytest.approx(max(each), abs=1e-6)


def test_a_method_without_a_checkpoint_to_pick_is_refused(whole, part) -> None:
    with pytest.raises(InputError, match="leave --protocol paper out"):
        protocol.run_both(methods.create("tfidf"), part, whole, LetterEncoder(), 0)
