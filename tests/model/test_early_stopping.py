from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from support.meadow import meadow
from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import early_stopping, training
from taxosphere.model.checkpoint import Checkpoints
from taxosphere.model.config import PolarisConfig
from taxosphere.model.early_stopping import fit_head, fit_tuned, validation_split
from taxosphere.model.history import highest
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import TrainingRun, train_head
from taxosphere.model.validation import Validation, mean_reciprocal_rank

CONFIG = PolarisConfig().with_overrides(
    ["network.dim=12", "network.hidden=16", "training.epochs=10", "training.batch=16", "training.patience=2"]
)
Grove = tuple[Taxonomy, Tensor]


def weights(network: torch.nn.Module) -> Tensor:
    return torch.cat([value.flatten() for value in network.state_dict().values()])


def test_the_final_head_is_trained_on_everything_for_the_number_of_epochs_found(grove: Grove) -> None:
    head = fit_head(grove[1], grove[0], CONFIG, TrainingRun(1))
    assert max(head.history, key=lambda entry: entry.mrr).number == head.epochs
    again = train_head(grove[1], grove[0], CONFIG, random_state=1, epochs=head.epochs)
    assert torch.equal(weights(head.network), weights(again.network))


def test_validation_queries_are_leaves_that_leave_the_seed(grove: Grove) -> None:
    split = validation_split(grove[0], 0.25, 0)
    assert split is not None
    assert len(split.queries) == 24
    assert not {query.id for query in split.queries} & set(split.seed.ids)
    assert all(not grove[0].children(query.id) for query in split.queries)


def test_too_small_a_seed_is_trained_without_validation(animals: Taxonomy) -> None:
    assert validation_split(animals, 0.2, 0) is None
    head = fit_head(torch.randn(len(animals), 8), animals, CONFIG, TrainingRun(0))
    assert len(head.history) == head.epochs == 10
    assert head.history[-1].mrr is None
    assert head.trial is None


def test_both_trainings_resume(grove: Grove, tmp_path: Path) -> None:
    first = fit_head(grove[1], grove[0], CONFIG, TrainingRun(0, Checkpoints(tmp_path)))
    assert {file.name for file in tmp_path.iterdir()} == {"validated.safetensors", "final.safetensors"}
    seen: list[object] = []
    again = fit_head(
        grove[1],
        grove[0],
        CONFIG,
        TrainingRun(0, Checkpoints(tmp_path, resume=True), lambda *a: seen.append(a)),
    )
    assert seen == []
    assert torch.equal(weights(first.network), weights(again.network))
    assert first.epochs == again.epochs


def test_one_training_is_enough_where_it_is_asked_for(grove: Grove, tmp_path: Path) -> None:
    twice = fit_head(grove[1], grove[0], CONFIG, TrainingRun(1))
    head = fit_head(grove[1], grove[0], CONFIG, TrainingRun(1, Checkpoints(tmp_path)), once=True)
    assert head.network is head.trial
    assert {file.name for file in tmp_path.iterdir()} == {"validated.safetensors"}
    assert twice.trial is not None
    assert torch.equal(weights(head.network), weights(twice.trial))


def test_many_concepts_are_validated_among_some_that_hold_all_parents(
    grove: Grove, monkeypatch: pytest.MonkeyPatch
) -> None:
    seed, asked = grove[0], list[Validation]()

    def watched(network: SphereNetwork, *rest: Any) -> float:
        asked.append(rest[2])
        return mean_reciprocal_rank(network, *rest)

    monkeypatch.setattr(early_stopping, "_CANDIDATES", 5)
    monkeypatch.setattr(training, "mean_reciprocal_rank", watched)
    head = fit_head(grove[1], seed, CONFIG, TrainingRun(1))
    assert head.split is not None
    candidates = asked[0].candidates
    assert candidates is not None
    assert len(candidates) < len(head.split.seed)
    for there, among in zip(head.split.gold, asked[0].gold, strict=True):
        assert candidates[among].tolist() == there.tolist()


def test_tuning_is_kept_only_where_it_answers_better(tiny_folder: Path, tmp_path: Path) -> None:
    seed, encoder = meadow(), TransformerEncoder(locate(str(tiny_folder)))
    texts = [concept.text for concept in seed.concepts()]
    config = CONFIG.with_overrides(["training.encoder_epochs=4", "training.epochs=3", "training.noise=0"])
    frozen = fit_head(torch.from_numpy(encoder.encode(texts)), seed, config, TrainingRun(0))
    still = config.with_overrides(["training.encoder_learning_rate=1e-12", "training.tuned_learning_rate=1e-12"])
    assert fit_tuned(frozen, encoder, seed, still, TrainingRun(0)) is frozen

    faster = config.with_overrides(["training.encoder_learning_rate=0.01", "training.tuned_learning_rate=0.01"])
    head = fit_tuned(frozen, encoder, seed, faster, TrainingRun(0, Checkpoints(tmp_path)))
    assert highest(head.history) > highest(frozen.history)
    assert head.history[head.encoder_epochs - 1].mrr == highest(head.history)
    assert head.epochs == frozen.epochs
    assert (tmp_path / "tuned-final.safetensors").exists()
    assert head.encoder is not None
    assert not np.allclose(head.encoder.encode(texts), encoder.encode(texts))
    # The trial's encoder has not seen the hidden leaves, the final one has.
    assert not np.allclose(head.vectors, head.encoder.encode(texts))
