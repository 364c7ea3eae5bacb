from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from taxosphere import Taxonomy
from taxosphere.model.config import PolarisConfig
from taxosphere.model.selection import carve, fit_head
from taxosphere.model.training import train_head

CONFIG = PolarisConfig().with_overrides(
    ["network.dim=12", "network.hidden=16", "training.epochs=10", "training.batch=16", "training.patience=2"]
)
Grove = tuple[Taxonomy, Tensor]


def weights(network: torch.nn.Module) -> Tensor:
    return torch.cat([value.flatten() for value in network.state_dict().values()])


def test_the_final_head_is_trained_on_everything_for_the_number_of_epochs_found(grove: Grove) -> None:
    head = fit_head(grove[1], grove[0], CONFIG, random_state=1)
    assert max(head.history, key=lambda entry: entry.mrr).number == head.epochs
    again = train_head(grove[1], grove[0], CONFIG, random_state=1, epochs=head.epochs)
    assert torch.equal(weights(head.network), weights(again.network))


def test_validation_queries_are_leaves_that_leave_the_seed(grove: Grove) -> None:
    split = carve(grove[0], 0.25, 0)
    assert split is not None
    assert len(split.queries) == 24
    assert not {query.id for query in split.queries} & set(split.seed.ids)
    assert all(not grove[0].children(query.id) for query in split.queries)


def test_too_small_a_seed_is_trained_without_validation(animals: Taxonomy) -> None:
    assert carve(animals, 0.2, 0) is None
    head = fit_head(torch.randn(len(animals), 8), animals, CONFIG, random_state=0)
    assert len(head.history) == head.epochs == 10
    assert head.history[-1].mrr is None
    assert head.trial is None


def test_both_trainings_resume(grove: Grove, tmp_path: Path) -> None:
    first = fit_head(grove[1], grove[0], CONFIG, random_state=0, checkpoints=tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"validated.safetensors", "final.safetensors"}
    seen: list[object] = []
    again = fit_head(
        grove[1],
        grove[0],
        CONFIG,
        random_state=0,
        checkpoints=tmp_path,
        resume=True,
        progress=lambda *a: seen.append(a),
    )
    assert seen == []
    assert torch.equal(weights(first.network), weights(again.network))
    assert first.epochs == again.epochs
