"""The state of a training on disk: one safetensors file, replaced in one rename.

Every random draw is a function of the seed and the epoch, so weights, optimiser moments and the epoch's number are all
there is to keep: training resumed from here ends with the same weights, bit for bit, as training never interrupted.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from taxosphere import atomic
from taxosphere.errors import InputError
from taxosphere.model import distributed
from taxosphere.model.history import Epoch
from taxosphere.model.riemannian import RiemannianAdam

FORMAT = "2"  # 2: with a checksum
_DIGEST = "sha256"
_BLANK = "0" * 64  # stands for the checksum while it is computed
T = TypeVar("T")


@dataclass
class State:
    """A training after ``len(history)`` epochs; ``best`` and ``kept`` hold weights of the best and of a chosen one."""

    modules: dict[str, nn.Module]
    optimiser: RiemannianAdam
    history: list[Epoch] = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    kept: dict[str, Tensor] = field(default_factory=dict)

    def weights(self) -> dict[str, Tensor]:
        """All weights, by ``module.key``."""
        return {
            f"{name}.{key}": value
            for name, module in self.modules.items()
            for key, value in module.state_dict().items()
        }

    def copy_weights(self) -> dict[str, Tensor]:
        """A copy of the present weights, by ``module.key``."""
        return {key: value.clone() for key, value in self.weights().items()}

    def load_weights(self, weights: Mapping[str, Tensor]) -> None:
        """Put weights, named as in `weights`, into the modules."""
        for name, module in self.modules.items():
            module.load_state_dict(strip_prefix(f"{name}.", weights))


class Checkpoint:
    """The file of one training.

    Parameters
    ----------
    path : Path
    seconds : float
        Written at most every so many seconds, and at the end.
    resume : bool
        Whether an existing file is continued; otherwise it is replaced.
    """

    def __init__(self, path: Path, *, seconds: float = 10.0, resume: bool = True) -> None:
        self.path = path
        self.resume = resume
        self._seconds = seconds
        self._written = time.monotonic()

    def load(self, state: State, run: str) -> None:
        """Fill ``state`` from the file, if there is one.

        ``run`` is the fingerprint of settings and data; `InputError` where the file has another one.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if distributed.is_first():
            for leftover in self.path.parent.glob(f".{self.path.name}.*.part"):  # of a process that was killed
                leftover.unlink(missing_ok=True)
        if not self.resume or not self.path.exists():
            return
        tensors, notes = _read(self.path)
        if notes.get("run") != run:
            raise InputError(
                "belongs to a training with other settings or data; start again without --resume", self.path
            )
        state.load_weights(strip_prefix("weights.", tensors))
        state.best = strip_prefix("best.", tensors)
        state.kept = strip_prefix("kept.", tensors)
        state.history = [Epoch(**entry) for entry in json.loads(notes["history"])]
        state.optimiser.load_state(strip_prefix("optimiser.", tensors))

    def save(self, state: State, run: str, *, last: bool) -> None:
        """Replace the file, unless the previous one is recent and this is not the last."""
        if not distributed.is_first():
            return
        now = time.monotonic()
        if not last and now - self._written < self._seconds:
            return
        tensors = {
            **{f"weights.{key}": value for key, value in state.weights().items()},
            **{f"best.{key}": value for key, value in state.best.items()},
            **{f"kept.{key}": value for key, value in state.kept.items()},
            **{f"optimiser.{key}": value for key, value in state.optimiser.state().items()},
        }
        notes = {"format": FORMAT, "run": run, "history": json.dumps([asdict(entry) for entry in state.history])}
        with atomic.file(self.path) as temporary:  # save_file would make a temporary of its own, which a kill leaves
            _write(temporary, tensors, notes)
        self._written = time.monotonic()


def _write(path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, str]) -> None:
    """Write tensors and notes with the SHA-256 of the whole file, in which zeros stand for the checksum itself."""
    contiguous = {key: value.contiguous() for key, value in tensors.items()}
    content = memoryview(save(contiguous, {**notes, _DIGEST: _BLANK}))
    digest = hashlib.sha256(content).hexdigest()
    header = 8 + int.from_bytes(content[:8], "little")
    with path.open("wb") as file:
        file.write(bytes(content[:header]).replace(_BLANK.encode(), digest.encode(), 1))
        file.write(content[header:])


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        with safe_open(path, framework="pt") as file:
            notes = file.metadata() or {}
            if notes.get("format") != FORMAT:
                raise InputError("written by another version; start again without --resume", path)
            if not _is_whole(path, notes.get(_DIGEST, "")):
                raise InputError("is damaged; start again without --resume", path)
            return {key: file.get_tensor(key) for key in file.keys()}, notes  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InputError(f"not a readable checkpoint ({error}); remove it to start again", path) from None


def _is_whole(path: Path, digest: str) -> bool:
    """Has the file the checksum that `_write` gave it?"""
    with path.open("rb") as file:
        size = file.read(8)
        header = file.read(int.from_bytes(size, "little"))
        computed = hashlib.sha256(size + header.replace(digest.encode(), _BLANK.encode(), 1))
        while part := file.read(1 << 20):
            computed.update(part)
    return computed.hexdigest() == digest


def strip_prefix(prefix: str, tensors: Mapping[str, T]) -> dict[str, T]:
    """Entries whose key starts with ``prefix``, with the prefix removed."""
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}


@dataclass(frozen=True)
class Checkpoints:
    """The folder of checkpoints of a fit, one file for each of its trainings.

    Attributes
    ----------
    folder : Path or None
        None: nothing is kept.
    resume : bool
        Whether existing files are continued.
    label : str
        Put in front of all file names.
    """

    folder: Path | None = None
    resume: bool = False
    label: str = ""

    def at(self, name: str) -> Checkpoint | None:
        """The checkpoint of the training called ``name``; None where nothing is kept."""
        if self.folder is None:
            return None
        return Checkpoint(self.folder / f"{self.label}{name}.safetensors", resume=self.resume)


NO_CHECKPOINTS = Checkpoints()
