"""Validation queries with gold parents, held out of the seed, that say when to stop."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from taxosphere.model.config import LossConfig
from taxosphere.model.inputs import Inputs
from taxosphere.model.network import Embedding, SphereNetwork
from taxosphere.model.objectives import affinity_to
from taxosphere.orbit.gate import Gate
from taxosphere.ranks import Gold, best_true_ranks
from taxosphere.typing import Longs

_CELLS = 1 << 24  # scores held at once
_BLOCK = 1 << 16  # concepts that are embedded at once


@dataclass(frozen=True)
class Validation:
    """Queries that are ranked after every epoch.

    Attributes
    ----------
    gold : tuple of integer arrays
        Positions of every query's gold parents in the seed.
    vectors : Tensor of shape (q, m), optional
        Encoder vectors of the queries, for training on fixed vectors.
    texts : tuple of str, optional
        Texts of the queries, for fine-tuning.
    gate : Gate, optional
        Rank by the cosine behind this gate; default: compare as in the loss.
    candidates : integer array, optional
        Positions, ascending, of the concepts among which queries are ranked, for training on fixed vectors; positions
        in ``gold`` count these alone. Default: all concepts of the seed.
    """

    gold: tuple[Longs, ...]
    vectors: Tensor | None = None
    texts: tuple[str, ...] | None = None
    gate: Gate | None = None
    candidates: Longs | None = None

    def to_bytes(self) -> bytes:
        """Everything in it as bytes, for the fingerprint of a training."""
        vectors = b"" if self.vectors is None else self.vectors.detach().numpy().tobytes()
        gate = b"" if self.gate is None else self.gate.thresholds.tobytes() + self.gate.mode.encode()
        candidates = b"" if self.candidates is None else self.candidates.tobytes()
        return json.dumps([[gold.tolist() for gold in self.gold], self.texts]).encode() + vectors + gate + candidates

    def require_vectors(self) -> Tensor:
        """The vectors; ValueError where there are none."""
        if self.vectors is None:
            raise ValueError("validation with a frozen encoder needs the vectors of the queries")
        return self.vectors

    def require_texts(self) -> tuple[str, ...]:
        """The texts; ValueError where there are none."""
        if self.texts is None:
            raise ValueError("validation while fine-tuning needs the texts of the queries")
        return self.texts


def mean_reciprocal_rank(
    network: SphereNetwork, seed: Inputs, queries: Inputs, validation: Validation, config: LossConfig
) -> float:
    """Mean of 1 / `ranks` of the queries among the candidates of the validation."""
    with torch.no_grad():  # in blocks: hidden layers of all concepts would fill the memory
        rows = validation.candidates
        lifted = seed.lift_all() if rows is None else seed.lifted(rows)
        blocks = [network.from_lifted(block).cpu() for block in torch.split(lifted, _BLOCK)]
        candidates = blocks[0] if len(blocks) == 1 else Embedding(*map(torch.cat, zip(*blocks, strict=True)))
        points = network.points(queries.lift_all()).cpu()
    return float(torch.from_numpy(1.0 / ranks(points, candidates, validation.gold, config, validation.gate)).mean())


def ranks(
    points: Tensor, candidates: Embedding, gold: Gold, config: LossConfig, gate: Gate | None = None
) -> NDArray[np.float64]:
    """Rank (q,) of the best gold parent of every query; the last one where its score is not a number.

    Scores are `affinity`, or with a ``gate`` the cosine behind it.
    """
    ranks = np.empty(len(points))
    compare = affinity_to(candidates, config)
    step = max(1, _CELLS // max(1, len(candidates.z)))
    for start in range(0, len(points), step):
        block = slice(start, start + step)
        if gate is None:
            scores = compare(points[block]).numpy()  # (b, n)
        else:
            scores = gate.scores((points[block] @ candidates.z.T).numpy())
        ranks[block] = best_true_ranks(scores, gold[block])
    return ranks
