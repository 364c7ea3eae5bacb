"""Several processes, joined through gloo, learn the weights that one process learns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file

from support.ports import reserve_port
from support.tiny_encoder import build_tiny_encoder
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import distributed

TRAIN = """
import sys
from pathlib import Path
from safetensors.numpy import save_file
from support.meadow import meadow
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.model import distributed
from taxosphere.model.checkpoint import Checkpoint
from taxosphere.model.config import PolarisConfig
from taxosphere.model.early_stopping import validation_split
from taxosphere.model.training import fine_tune
from taxosphere.model.validation import Validation

folder, out = sys.argv[1:]
config = PolarisConfig().with_overrides(
    ["network.dim=12", "network.hidden=16", "training.tuned_batch=32", "training.tuned_negatives=4"]
)
split = validation_split(meadow(), 0.2, 0)
texts = [concept.text for concept in split.seed.concepts()]
asked = Validation(split.gold, texts=tuple(query.text for query in split.queries))
with distributed.processes("cpu"):
    first = distributed.is_first()
    trained = fine_tune(
        TransformerEncoder(locate(folder)), texts, split.seed, config, random_state=3, epochs=2, validation=asked,
        checkpoint=Checkpoint(Path(out).parent / "checkpoint", resume=False, seconds=0),
    )
    weights = {f"head.{key}": value.numpy() for key, value in trained.network.state_dict().items()}
    weights |= {f"encoder.{key}": value for key, value in trained.encoder.tuned.items()}
    save_file(weights, f"{out}-{'first' if first else 'second'}")
"""


def train(folder: Path, out: Path, processes: int) -> list[dict[str, np.ndarray]]:
    """Weights that each of the processes ends with."""
    port, keeper = reserve_port()
    out.mkdir()
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    shared = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "WORLD_SIZE": str(processes)}
    shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-c", TRAIN, str(folder), str(out / "weights")]
    with keeper:
        started = [subprocess.Popen(command, env=shared | {"RANK": str(rank)}) for rank in range(processes)]
        assert [process.wait(timeout=120) for process in started] == [0] * processes
    return [load_file(out / f"weights-{name}") for name in ("first", "second")[:processes]]


def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    folder = build_tiny_encoder(tmp_path / "tiny")
    (alone,) = train(folder, tmp_path / "alone", 1)
    first, second = train(folder, tmp_path / "both", 2)
    begun = dict(TransformerEncoder(locate(str(folder))).model.named_parameters())
    apart = moved = 0.0
    for name, expected in alone.items():
        assert np.array_equal(first[name], second[name]), name
        if name.startswith("head."):
            np.testing.assert_allclose(first[name], expected, atol=2e-5, err_msg=name)
        elif not name.endswith("key.bias"):  # a softmax does not depend on it: its gradient is nothing but rounding
            apart += float(np.abs(first[name] - expected).sum())
            moved += float(np.abs(expected - begun[name.removeprefix("encoder.")].detach().numpy()).sum())
    assert moved > 0
    assert apart < 0.01 * moved


def test_a_process_by_itself_does_all_the_work() -> None:
    tensor = torch.ones(3)
    with distributed.processes("cpu"):
        assert distributed.is_first()
        assert distributed.share([1, 2, 3]) == [1, 2, 3]
        distributed.add_up([tensor])
    assert tensor.tolist() == [1, 1, 1]
