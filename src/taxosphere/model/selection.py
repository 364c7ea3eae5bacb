"""How long to train: decided on queries hidden from the seed, then done on all of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from taxosphere.model.checkpoint import Checkpoint, Epoch
from taxosphere.model.config import PolarisConfig
from taxosphere.model.network import SphereNetwork
from taxosphere.model.training import Progress, train_head
from taxosphere.model.validation import Validation
from taxosphere.taxonomy import Taxonomy
from taxosphere.taxonomy.split import Split, leaves

_FEWEST_LEAVES = 20  # below, a tenth of them says nothing about when to stop


def carve(seed: Taxonomy, share: float, random_state: int) -> Split | None:
    """Hide a share of the seed's leaves as validation queries; None when the seed is too small to spare any."""
    hideable = np.count_nonzero((seed.child_csr.counts == 0) & (seed.parent_csr.counts > 0))
    if share == 0 or hideable < _FEWEST_LEAVES:
        return None
    return leaves(seed, share, random_state)


@dataclass(frozen=True)
class SelectedHead:
    """A network trained on the whole seed for ``epochs``, and the trial that told how long.

    ``history`` is the trial's, whose MRR is an honest estimate; without a trial it is that of the training itself.
    """

    network: SphereNetwork
    history: tuple[Epoch, ...]
    epochs: int
    trial: SphereNetwork | None
    split: Split | None


def fit_head(
    vectors: Tensor,
    seed: Taxonomy,
    config: PolarisConfig,
    *,
    random_state: int,
    start: SphereNetwork | None = None,
    checkpoints: Path | None = None,
    resume: bool = False,
    progress: Progress | None = None,
) -> SelectedHead:
    """Find the best number of epochs with some leaves hidden, then train that long on the whole seed."""
    split = carve(seed, config.training.validation, random_state)
    trial = None
    if split is not None:
        kept = torch.tensor([seed.position(id) for id in split.seed.ids])
        asked = torch.tensor([seed.position(query.id) for query in split.queries])
        trial = train_head(
            vectors[kept],
            split.seed,
            config,
            random_state=random_state,
            start=start,
            validation=Validation(split.gold, vectors[asked]),
            checkpoint=_checkpoint(checkpoints, "validated", resume),
            progress=progress,
        )
    final = train_head(
        vectors,
        seed,
        config,
        random_state=random_state,
        start=start,
        epochs=None if trial is None else trial.best,
        checkpoint=_checkpoint(checkpoints, "final", resume),
        progress=progress,
    )
    if trial is None:
        return SelectedHead(final.network, final.history, final.best, None, None)
    return SelectedHead(final.network, trial.history, trial.best, trial.network, split)


def _checkpoint(folder: Path | None, name: str, resume: bool) -> Checkpoint | None:
    return None if folder is None else Checkpoint(folder / f"{name}.safetensors", resume=resume)
