from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import batches, objectives
from taxosphere.model.config import PolarisConfig
from taxosphere.model.history import Epoch, best_epoch, finished
from taxosphere.model.inputs import FixedVectors
from taxosphere.model.negatives import Lineage
from taxosphere.model.riemannian import rate
from taxosphere.model.training import add_noise, fine_tune, make_optimiser, new_network, train_head
from taxosphere.model.validation import Validation, mean_reciprocal_rank
from taxosphere.taxonomy.split import leaves

SMALL = PolarisConfig().with_overrides(
    ["network.dim=12", "network.hidden=16", "training.epochs=6", "training.batch=16", "training.negatives=4"]
)
EVERYTHING = SMALL.with_overrides(["loss.geometric=0.7", "loss.probabilistic=0.3", "loss.svgd=0.1"])
PAPER = EVERYTHING.with_overrides(["loss.listwise=0", "loss.bessel=paper", "loss.svgd_variant=paper"])

Grove = tuple[Taxonomy, Tensor]


def weights(network: torch.nn.Module) -> Tensor:
    return torch.cat([value.flatten() for value in network.state_dict().values()])


def carved(grove: Grove) -> tuple[Taxonomy, Tensor, Validation]:
    seed, vectors = grove
    split = leaves(seed, 0.2, 0)
    kept, asked = ([seed.position(id) for id in ids] for ids in (split.seed.ids, [q.id for q in split.queries]))
    return split.seed, vectors[kept], Validation(split.gold, vectors[asked])


@pytest.mark.parametrize("config", [SMALL, EVERYTHING, PAPER], ids=["listwise", "all terms", "paper"])
def test_the_same_seed_gives_the_same_bits(grove: Grove, config: PolarisConfig) -> None:
    first, second = (train_head(grove[1], grove[0], config, random_state=3) for _ in range(2))
    assert torch.equal(weights(first.network), weights(second.network))
    assert [entry.terms for entry in first.history] == [entry.terms for entry in second.history]
    other = train_head(grove[1], grove[0], config, random_state=4)
    assert not torch.equal(weights(first.network), weights(other.network))


def test_global_random_state_is_neither_used_nor_changed(grove: Grove) -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    first = train_head(grove[1], grove[0], SMALL, random_state=0)
    drawn = torch.rand(1), np.random.rand()
    torch.manual_seed(1)
    np.random.seed(1)
    assert drawn == (torch.rand(1), np.random.rand())
    second = train_head(grove[1], grove[0], SMALL, random_state=0)
    assert torch.equal(weights(first.network), weights(second.network))


@pytest.mark.parametrize("config", [SMALL, EVERYTHING, PAPER], ids=["listwise", "all terms", "paper"])
def test_the_loss_falls_and_every_term_is_logged(grove: Grove, config: PolarisConfig) -> None:
    history = train_head(grove[1], grove[0], config, random_state=0).history
    names = [name for name in ("listwise", "geometric", "probabilistic", "svgd") if getattr(config.loss, name)]
    assert all(list(entry.terms) == names for entry in history)
    assert [entry.number for entry in history] == [1, 2, 3, 4, 5, 6]
    assert history[-1].terms[names[0]] < 0.9 * history[0].terms[names[0]]


def test_training_answers_validation_queries_better(grove: Grove) -> None:
    seed, vectors, validation = carved(grove)
    config = SMALL.with_overrides(["loss.logit=cosine", "training.noise=0"])
    head = train_head(vectors, seed, config, random_state=0, validation=validation)
    mrr = [entry.mrr for entry in head.history]
    untrained = new_network(24, config, 0)
    sources = FixedVectors(vectors, untrained), FixedVectors(validation.vectors, untrained)
    assert max(mrr) > 1.1 * mean_reciprocal_rank(untrained, *sources, validation, config.loss)
    assert head.best == 1 + mrr.index(max(mrr))


def test_the_weights_are_those_of_the_best_epoch(grove: Grove) -> None:
    seed, vectors, validation = carved(grove)
    config = SMALL.with_overrides(
        ["training.patience=2", "training.epochs=40", "training.learning_rate=0.2", "loss.logit=cosine"]
    )
    head = train_head(vectors, seed, config, random_state=0, validation=validation)
    assert len(head.history) == head.best + 2 < 40
    with torch.no_grad():
        z, asked = head.network(vectors).z, head.network(validation.vectors).z
    scores = asked @ z.T
    ranks = [1 + (row > row[g].max()).sum().item() for row, g in zip(scores, map(torch.from_numpy, validation.gold))]
    assert np.mean(1 / np.array(ranks)) == pytest.approx(head.history[head.best - 1].mrr)


def test_accumulated_batches_equal_one_large_batch(grove: Grove) -> None:
    """116 pairs make three steps of 30 and one of 26: the last group ends with a batch of 6."""
    triplets = SMALL.with_overrides(
        ["loss.listwise=0", "loss.geometric=0.7", "loss.probabilistic=0.3", "training.epochs=3", "training.noise=0"]
    )
    apart = triplets.with_overrides(["training.batch=10", "training.accumulation=3"])
    whole = triplets.with_overrides(["training.batch=30", "training.accumulation=1"])
    first, second = (train_head(grove[1], grove[0], config, random_state=0) for config in (apart, whole))
    torch.testing.assert_close(weights(first.network), weights(second.network), rtol=1e-3, atol=1e-4)
    assert first.history[-1].terms == pytest.approx(second.history[-1].terms, rel=1e-3)


def test_every_row_is_unit_after_a_thousand_steps(grove: Grove) -> None:
    config = SMALL.with_overrides(
        ["training.epochs=125", "training.decay=false", "loss.geometric=0.5"]
    )  # 8 steps an epoch
    network = train_head(grove[1], grove[0], config, random_state=0).network
    for layer in [*network.layers, network.mean]:
        assert (layer.weight.double().norm(dim=1) - 1).abs().max() < 1e-6
    with torch.no_grad():
        found = network(grove[1])
    for points in (found.z, found.mu):
        assert (points.double().norm(dim=1) - 1).abs().max() < 1e-6


def test_identical_texts_do_not_break_training(grove: Grove) -> None:
    same = grove[1][:1].expand(len(grove[1]), -1)
    for config in (EVERYTHING, EVERYTHING.with_overrides(["loss.welsch=log"]), PAPER):
        network = train_head(same, grove[0], config, random_state=0).network
        assert torch.isfinite(weights(network)).all()


def test_seeds_with_nothing_to_learn_are_no_error() -> None:
    alone = Taxonomy.from_edges([], names={"a": "a", "b": "b"})
    assert train_head(torch.eye(2, 8), alone, SMALL, random_state=0).history == ()
    pair = Taxonomy.from_edges([("a", "b")])
    for config in (EVERYTHING, PAPER):
        assert torch.isfinite(weights(train_head(torch.eye(2, 8), pair, config, random_state=0).network)).all()


def test_progress_is_told_every_epoch(grove: Grove) -> None:
    seen: list[tuple[int, int]] = []
    train_head(grove[1], grove[0], SMALL, random_state=0, epochs=3, progress=lambda e, n: seen.append((e.number, n)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_rate_rises_then_falls() -> None:
    shares = [rate(step, 100, 0.1, True) for step in range(100)]
    assert shares[:10] == pytest.approx([0.1 * n for n in range(1, 11)])
    assert shares[10] == 1.0
    assert sorted(shares[10:], reverse=True) == shares[10:]
    assert shares[-1] < 0.01
    assert [rate(step, 4, 0.0, False) for step in range(4)] == [1.0] * 4


def history(*mrr: float | None) -> list[Epoch]:
    return [Epoch(number + 1, {}, value, 0.0) for number, value in enumerate(mrr)]


def test_best_epoch_and_stopping() -> None:
    assert best_epoch(history(0.1, 0.3, 0.3, 0.2)) == 2
    assert best_epoch(history(None, None)) == 2
    assert not finished(history(0.1, 0.3, 0.2), 9, 2)
    assert finished(history(0.1, 0.3, 0.2, 0.2), 9, 2)
    assert finished(history(None, None), 2, 1)
    assert not finished(history(None, None), 3, 1)
    assert not finished([], 1, 1)


TINY = SMALL.with_overrides(["training.epochs=3", "training.encoder_learning_rate=0.003", "training.batch=40"])


@pytest.mark.parametrize("bf16", [False, True])
def test_fine_tuning_moves_the_encoder_and_repeats_bit_for_bit(grove: Grove, tiny_folder: Path, bf16: bool) -> None:
    seed = grove[0]
    config = TINY.with_overrides([f"training.bf16={str(bf16).lower()}"])
    texts = [f"{name} of a kind" for name in seed.names]
    runs = []
    for _ in range(2):
        encoder = TransformerEncoder(locate(str(tiny_folder)))
        before = weights(encoder.model)
        head = fine_tune(encoder, texts, seed, config, random_state=0)
        assert head.encoder is not None
        assert (weights(head.encoder.model) - before).abs().max() > 1e-3
        assert torch.equal(weights(encoder.model), before)
        assert head.history[-1].terms["listwise"] < head.history[0].terms["listwise"]
        runs.append((weights(head.encoder.model), weights(head.network)))
    assert torch.equal(runs[0][0], runs[1][0])
    assert torch.equal(runs[0][1], runs[1][1])


@pytest.mark.parametrize(("layers", "moved"), [(0, {"embeddings", "0", "1"}), (1, {"1"}), (2, {"0", "1"})])
def test_only_the_last_layers_learn(grove: Grove, tiny_folder: Path, layers: int, moved: set[str]) -> None:
    encoder = TransformerEncoder(locate(str(tiny_folder)))
    config = TINY.with_overrides([f"training.encoder_layers={layers}", "training.epochs=1"])
    head = fine_tune(encoder, [f"{name} of a kind" for name in grove[0].names], grove[0], config, random_state=0)
    assert head.encoder is not None
    before, after = encoder.model.state_dict(), head.encoder.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert {next(p for p in name.split(".") if p.isdigit() or p == "embeddings") for name in changed} == moved


def test_fine_tuning_starts_from_a_given_head_and_validates_on_texts(grove: Grove, tiny_folder: Path) -> None:
    split = leaves(grove[0], 0.2, 0)
    encoder = TransformerEncoder(locate(str(tiny_folder)))
    texts = [concept.text for concept in split.seed.concepts()]
    start = train_head(torch.from_numpy(encoder.encode(texts)), split.seed, TINY, random_state=0)
    validation = Validation(split.gold, texts=tuple(query.text for query in split.queries))
    head = fine_tune(encoder, texts, split.seed, TINY, random_state=0, start=start.network, validation=validation)
    # One step at a small rate away from the start, and not from a random network.
    assert (weights(head.network) - weights(start.network)).abs().max() < 0.2
    assert all(0 < entry.mrr <= 1 for entry in head.history)


def test_a_training_reports_through_logging(grove: Grove, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG", logger="taxosphere"):
        train_head(grove[1], grove[0], SMALL, random_state=0, epochs=2)
    levels = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert [level for level, _ in levels] == ["DEBUG", "DEBUG", "INFO"]
    assert levels[0][1].startswith("epoch 1 of 2")
    assert levels[-1][1] == f"trained on {len(grove[0].edge_array)} edges for 2 epochs"


@pytest.mark.parametrize("config", [EVERYTHING, PAPER], ids=["all terms", "paper"])
@pytest.mark.parametrize("logit", ["cosine", "vmf"])
def test_a_step_mixes_no_devices(grove: Grove, config: PolarisConfig, logit: str) -> None:
    """On torch's meta device an operation between tensors of two devices fails, as it does on a graphics card."""
    seed, vectors = grove
    config = config.with_overrides([f"loss.logit={logit}"])
    network = new_network(vectors.shape[1], config, 0).to("meta")
    inputs = FixedVectors(vectors, network)
    optimiser = make_optimiser(network, inputs, config)
    rng = np.random.default_rng(0)
    batch = next(batches.epoch(seed, Lineage(seed), config.training, rng))[0]
    lifted = add_noise(inputs.lifted(batch.concepts), 0.1, rng)
    terms = objectives.terms(network.from_lifted(lifted), batch.to(network.device), config.loss)
    assert len(terms) >= 3
    torch.autograd.backward(objectives.total(terms, config.loss))
    optimiser.step()
    assert {parameter.device.type for parameter in network.parameters()} == {"meta"}


def test_a_head_trained_elsewhere_is_the_same_and_comes_back(grove: Grove) -> None:
    seed, vectors, validation = carved(grove)
    here = train_head(vectors, seed, SMALL, random_state=0, validation=validation)
    there = train_head(vectors, seed, SMALL, random_state=0, validation=validation, device="cpu:0")
    assert there.network.digest() == here.network.digest()
    assert there.network.device == torch.device("cpu")
