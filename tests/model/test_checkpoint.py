from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from torch import Tensor

from taxosphere import Taxonomy
from taxosphere.encoders.text.transformer import TransformerEncoder
from taxosphere.encoders.weights import locate
from taxosphere.errors import InputError
from taxosphere.model.checkpoint import Checkpoint
from taxosphere.model.config import PolarisConfig
from taxosphere.model.training import fine_tune, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy.split import leaves

CONFIG = PolarisConfig().with_overrides(
    ["network.dim=12", "network.hidden=16", "training.epochs=8", "training.batch=16", "loss.probabilistic=0.3"]
)
Grove = tuple[Taxonomy, Tensor]


def weights(network: torch.nn.Module) -> Tensor:
    return torch.cat([value.flatten() for value in network.state_dict().values()])


class Interrupted(Exception): ...


def stop_after(epochs: int):
    def progress(epoch: object, total: int) -> None:
        if epoch.number == epochs:
            raise Interrupted

    return progress


@pytest.mark.parametrize("epochs", [1, 5, 8])
def test_resumed_equals_uninterrupted(grove: Grove, tmp_path: Path, epochs: int) -> None:
    split = leaves(grove[0], 0.2, 0)
    rows, asked = ([grove[0].position(id) for id in ids] for ids in (split.seed.ids, [q.id for q in split.queries]))
    common = {"random_state": 2, "validation": Validation(split.gold, grove[1][asked])}
    whole = train_head(grove[1][rows], split.seed, CONFIG, **common)
    file = tmp_path / "c.safetensors"
    with pytest.raises(Interrupted):
        train_head(
            grove[1][rows],
            split.seed,
            CONFIG,
            **common,
            checkpoint=Checkpoint(file, seconds=0),
            progress=stop_after(epochs),
        )
    resumed = train_head(grove[1][rows], split.seed, CONFIG, **common, checkpoint=Checkpoint(file))
    assert torch.equal(weights(whole.network), weights(resumed.network))
    assert [(e.number, e.terms, e.mrr) for e in whole.history] == [(e.number, e.terms, e.mrr) for e in resumed.history]


def test_resumed_fine_tuning_equals_uninterrupted(grove: Grove, tiny_folder: Path, tmp_path: Path) -> None:
    config = CONFIG.with_overrides(["training.epochs=3", "training.batch=64"])
    texts = [concept.text for concept in grove[0].concepts()]
    file = tmp_path / "c.safetensors"

    def tune(**more: object) -> tuple[Tensor, Tensor]:
        encoder = TransformerEncoder(locate(str(tiny_folder)))
        head = fine_tune(encoder, texts, grove[0], config, random_state=0, **more)
        assert head.encoder is not None
        return weights(head.encoder.model), weights(head.network)

    whole = tune()
    with pytest.raises(Interrupted):
        tune(checkpoint=Checkpoint(file, seconds=0), progress=stop_after(2))
    resumed = tune(checkpoint=Checkpoint(file))
    assert torch.equal(whole[0], resumed[0])
    assert torch.equal(whole[1], resumed[1])


def test_a_finished_training_is_not_done_again(grove: Grove, tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    first = train_head(grove[1], grove[0], CONFIG, random_state=0, checkpoint=Checkpoint(file))
    seen: list[object] = []
    again = train_head(
        grove[1], grove[0], CONFIG, random_state=0, checkpoint=Checkpoint(file), progress=lambda *a: seen.append(a)
    )
    assert seen == []
    assert torch.equal(weights(first.network), weights(again.network))
    anew = Checkpoint(file, resume=False)
    train_head(grove[1], grove[0], CONFIG, random_state=0, checkpoint=anew, progress=lambda *a: seen.append(a))
    assert len(seen) == 8


def test_another_training_is_refused(grove: Grove, tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    train_head(grove[1], grove[0], CONFIG, random_state=0, checkpoint=Checkpoint(file))
    for config, state, vectors in (
        (CONFIG.with_overrides(["loss.temperature=0.2"]), 0, grove[1]),
        (CONFIG, 1, grove[1]),
        (CONFIG, 0, -grove[1]),
    ):
        with pytest.raises(InputError, match=r"c\.safetensors: belongs to a training with other settings"):
            train_head(vectors, grove[0], config, random_state=state, checkpoint=Checkpoint(file))
    other = train_head(grove[1], grove[0], CONFIG, random_state=1).network
    with pytest.raises(InputError, match=r"c\.safetensors: belongs to a training with other settings"):
        train_head(grove[1], grove[0], CONFIG, random_state=0, start=other, checkpoint=Checkpoint(file))


def test_other_validation_queries_are_another_training(grove: Grove, tmp_path: Path) -> None:
    split = leaves(grove[0], 0.2, 0)
    vectors, asked = grove[1][: len(split.seed)], grove[1][-len(split.queries) :]
    file = tmp_path / "c.safetensors"
    known = Validation(split.gold, asked)
    train_head(vectors, split.seed, CONFIG, random_state=0, validation=known, checkpoint=Checkpoint(file))
    turned = split.gold[1:] + split.gold[:1]
    for other in (Validation(split.gold, -asked), Validation(turned, asked), None):
        with pytest.raises(InputError, match="belongs to a training with other settings"):
            train_head(vectors, split.seed, CONFIG, random_state=0, validation=other, checkpoint=Checkpoint(file))


def test_a_damaged_file_is_named(grove: Grove, tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    file.write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00{nonsense")
    with pytest.raises(InputError, match=r"c\.safetensors: not a readable checkpoint"):
        train_head(grove[1], grove[0], CONFIG, random_state=0, checkpoint=Checkpoint(file))


def test_a_changed_byte_anywhere_is_noticed(grove: Grove, tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    train_head(grove[1], grove[0], CONFIG, random_state=0, checkpoint=Checkpoint(file))
    whole = file.read_bytes()
    header = int.from_bytes(whole[:8], "little")
    chance = random.Random(0)
    places = [chance.randrange(8, 8 + header) for _ in range(20)] + [
        chance.randrange(8 + header, len(whole)) for _ in range(10)
    ]
    for place in [0, *places, len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        file.write_bytes(damaged)
        with pytest.raises(
            InputError, match=r"c\.safetensors: (is damaged|not a readable|written by another|belongs to)"
        ):
            train_head(grove[1], grove[0], CONFIG, random_state=0, checkpoint=Checkpoint(file))


def test_it_is_not_written_more_often_than_asked(grove: Grove, tmp_path: Path) -> None:
    file = tmp_path / "c.safetensors"
    seen: list[bool] = []
    train_head(
        grove[1],
        grove[0],
        CONFIG,
        random_state=0,
        checkpoint=Checkpoint(file, seconds=3600),
        progress=lambda *a: seen.append(file.exists()),
    )
    assert seen == [False] * 7 + [True]


TRAIN = """
import sys, pathlib, numpy as np, torch
torch.set_num_threads(1)
from taxosphere import Taxonomy
from taxosphere.model.checkpoint import Checkpoint
from taxosphere.model.config import PolarisConfig
from taxosphere.model.training import train_head
from safetensors.torch import save_file
folder = pathlib.Path(sys.argv[1])
rng = np.random.default_rng(0)
seed = Taxonomy.from_edges([(str(int(rng.integers(c))), str(c)) for c in range(1, 300)])
vectors = torch.from_numpy(rng.normal(size=(300, 32)).astype(np.float32))
config = PolarisConfig().with_overrides(["network.dim=16", "network.hidden=32", "training.epochs=60"])
head = train_head(vectors, seed, config, random_state=0, checkpoint=Checkpoint(folder / "c.safetensors", seconds=0))
save_file(head.network.state_dict(), folder / "final.safetensors")
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    folder.mkdir(exist_ok=True)
    return subprocess.Popen([sys.executable, "-c", TRAIN, str(folder)])


def kill_in_the_middle(folder: Path, rng: random.Random) -> None:
    """Wait until this process has written a checkpoint of its own, then a moment more."""
    file = folder / "c.safetensors"
    before = file.stat().st_mtime_ns if file.exists() else 0
    process = start(folder)
    while process.poll() is None and (not file.exists() or file.stat().st_mtime_ns == before):
        time.sleep(0.002)
    time.sleep(rng.random() * 0.05)
    process.kill()
    process.wait()


def test_killed_and_resumed_ends_with_the_same_weights(tmp_path: Path) -> None:
    kills = int(os.environ.get("TAXOSPHERE_KILLS", "2"))
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    uninterrupted = start(whole)
    rng = random.Random(0)
    for _ in range(kills):
        kill_in_the_middle(broken, rng)
        Checkpoint(broken / "c.safetensors")
    assert start(broken).wait() == 0
    assert uninterrupted.wait() == 0
    assert (whole / "final.safetensors").read_bytes() == (broken / "final.safetensors").read_bytes()
    assert {file.name for file in broken.iterdir()} == {"c.safetensors", "final.safetensors"}
