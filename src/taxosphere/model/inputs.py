"""Where the lifted vectors of a batch come from: a fixed matrix, or an encoder that learns along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from taxosphere.encoders.text.transformer import TransformerEncoder, batches_by_length
from taxosphere.model.network import SphereNetwork

Longs = NDArray[np.int64]


class Source(Protocol):
    def open(self, concepts: Longs) -> None:
        """Get ready to serve these concepts until the next call."""

    def lifted(self, concepts: Longs) -> Tensor:
        """Points (n, m) on the sphere of the encoder's dimension."""

    def close(self) -> None:
        """Carry the gradient that arrived at the served points on to the encoder."""

    def everything(self) -> Tensor:
        """Lifted points of all concepts, without gradient."""

    def parameters(self) -> list[nn.Parameter]: ...


class FixedVectors:
    """Vectors that do not change are lifted once for the whole training."""

    def __init__(self, vectors: Tensor, network: SphereNetwork) -> None:
        with torch.no_grad():
            self._lifted = network.lift(vectors)

    def open(self, concepts: Longs) -> None: ...

    def lifted(self, concepts: Longs) -> Tensor:
        return self._lifted.index_select(0, torch.from_numpy(concepts))

    def close(self) -> None: ...

    def everything(self) -> Tensor:
        return self._lifted

    def parameters(self) -> list[nn.Parameter]:
        return []


class TrainableEncoder:
    """An encoder under training.

    Each step encodes each distinct concept of its batches once without a graph, lets the losses put their gradients on
    those vectors, and encodes again in small parts to carry them into the weights: memory is bounded by a part, however
    many concepts share a step. Dropout stays off, so both passes agree and no random state has to be kept.
    """

    def __init__(
        self,
        encoder: TransformerEncoder,
        texts: Sequence[str],
        network: SphereNetwork,
        *,
        bf16: bool = False,
        layers: int = 0,
    ) -> None:
        self.encoder = encoder
        self.learned = encoder.upper(layers)
        for name, parameter in encoder.model.named_parameters():
            parameter.requires_grad_(name in self.learned)
        self._tokens = encoder.tokenize(texts)
        self._network = network
        self._bf16 = bf16
        self._place = np.full(len(texts), -1)
        self._leaf = torch.zeros(0)
        self._concepts: Longs = np.zeros(0, np.int64)

    def _embed(self, concepts: Longs) -> Tensor:
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._bf16):
            return self.encoder.embed([self._tokens[i] for i in concepts]).float()

    def _parts(self, concepts: Longs) -> list[NDArray[np.intp]]:
        return batches_by_length([self._tokens[i] for i in concepts])

    def _encode(self, concepts: Longs) -> Tensor:
        out = torch.empty(len(concepts), self.encoder.dim)
        with torch.no_grad():
            for rows in self._parts(concepts):
                out[torch.from_numpy(rows)] = self._embed(concepts[rows])
        return out

    def open(self, concepts: Longs) -> None:
        self._concepts = concepts
        self._place[concepts] = np.arange(len(concepts))
        self._leaf = self._encode(concepts).requires_grad_()

    def lifted(self, concepts: Longs) -> Tensor:
        return self._network.lift(self._leaf.index_select(0, torch.from_numpy(self._place[concepts])))

    def close(self) -> None:
        assert self._leaf.grad is not None
        for rows in self._parts(self._concepts):
            torch.autograd.backward(self._embed(self._concepts[rows]), self._leaf.grad[torch.from_numpy(rows)])

    def everything(self) -> Tensor:
        with torch.no_grad():
            return self._network.lift(self._encode(np.arange(len(self._tokens))))

    def parameters(self) -> list[nn.Parameter]:
        return list(self.learned.values())

    def state(self) -> dict[str, NDArray[np.float32]]:
        """What was learned, by the names the encoder's model has for it."""
        return {name: value.detach().numpy().copy() for name, value in self.learned.items()}
