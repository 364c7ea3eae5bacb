"""Where the lifted vectors of a batch come from: a fixed matrix, or an encoder that is being fine-tuned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from taxosphere.encoders.device import CPU
from taxosphere.encoders.text.transformer import TransformerEncoder, batches_by_length
from taxosphere.model import distributed
from taxosphere.model.network import SphereNetwork
from taxosphere.typing import Longs

GRAPH_TOKENS = 12_288
"""Tokens of a step, padding included, whose graph is kept at most: about 2 GB for the packaged encoder."""
_BLOCK = 1 << 12  # vectors lifted at once


class Inputs(Protocol):
    """The encoder's side of a training step: ``begin_step``, ``lifted`` for every batch, ``backward``."""

    def begin_step(self, concepts: Longs) -> None:
        """Prepare the vectors of these concepts, the only ones that ``lifted`` is called for in this step."""

    def lifted(self, concepts: Longs) -> Tensor:
        """Points (n, m) on the sphere of the encoder's dimension."""

    def backward(self) -> None:
        """Propagate the gradients of this step's points into the encoder."""

    def lift_all(self) -> Tensor:
        """Lifted points of all concepts, without gradient."""

    def parameters(self) -> list[nn.Parameter]:
        """What is trained; empty for fixed vectors."""


class FixedVectors:
    """Encoder vectors that do not change; they are lifted once for the whole training."""

    def __init__(self, vectors: Tensor, network: SphereNetwork) -> None:
        self._lifted = torch.empty(vectors.shape, device=network.device)
        with torch.no_grad():  # in blocks: what is computed on the way takes several times the memory of the result
            for lifted, block in zip(*(torch.split(each, _BLOCK) for each in (self._lifted, vectors)), strict=True):
                lifted.copy_(network.lift(block.to(network.device)))

    def begin_step(self, concepts: Longs) -> None: ...

    def lifted(self, concepts: Longs) -> Tensor:
        return self._lifted.index_select(0, torch.from_numpy(concepts).to(self._lifted.device))

    def backward(self) -> None: ...

    def lift_all(self) -> Tensor:
        return self._lifted

    def parameters(self) -> list[nn.Parameter]:
        return []


class TrainableEncoder:
    """An encoder whose last layers, or all of them, are trained.

    Each step encodes each distinct concept of its batches, lets the losses put their gradients on those vectors, and
    propagates them into the weights part by part. Parts beyond `GRAPH_TOKENS` tokens of a step leave no graph and are
    encoded again for that: memory is bounded, however many concepts share a step. Dropout stays off, so both ways agree
    and no random state has to be kept.

    Parameters
    ----------
    encoder : TransformerEncoder
        Its weights are changed in place.
    texts : sequence of str
        The text of every concept.
    network : SphereNetwork
        Lifts the vectors; on the same device as the encoder.
    bf16 : bool
        Whether the forward passes use bfloat16.
    layers : int
        How many of the last layers are trained; 0: all weights.
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
        self._row = np.full(len(texts), -1)  # of each concept in _vectors
        self._vectors = torch.zeros(0)  # (n, m) of this step's concepts, a leaf of the graph
        self._concepts: Longs = np.zeros(0, np.int64)
        self._graph: list[Tensor | None] = []  # vectors of this step's parts; None for those without their graph

    def _embed(self, concepts: Longs) -> Tensor:
        if not self._bf16:
            return self.encoder.embed([self._tokens[i] for i in concepts])
        device = self._network.device.type
        # On processors the backward pass of fused attention in bfloat16 takes far longer than plain matrix products.
        attention = sdpa_kernel(SDPBackend.MATH) if device == CPU else nullcontext()
        with torch.autocast(device, dtype=torch.bfloat16), attention:
            return self.encoder.embed([self._tokens[i] for i in concepts]).float()

    def _parts(self, concepts: Longs) -> list[NDArray[np.intp]]:
        return batches_by_length([self._tokens[i] for i in concepts])

    def _encode(self, concepts: Longs, graph_tokens: int = 0) -> Tensor:
        out = torch.zeros(len(concepts), self.encoder.dim, device=self._network.device)
        self._graph, tokens = [], 0
        for rows in distributed.share(self._parts(concepts)):
            tokens += len(rows) * max(len(self._tokens[concepts[row]]) for row in rows)
            keep = tokens <= graph_tokens
            with torch.set_grad_enabled(keep):
                part = self._embed(concepts[rows])
            out[torch.from_numpy(rows)] = part.detach()
            self._graph.append(part if keep else None)
        distributed.add_up([out])  # a row is zero in all processes but one
        return out

    def begin_step(self, concepts: Longs) -> None:
        self._concepts = concepts
        self._row[concepts] = np.arange(len(concepts))
        self._vectors = self._encode(concepts, GRAPH_TOKENS).requires_grad_()

    def lifted(self, concepts: Longs) -> Tensor:
        rows = torch.from_numpy(self._row[concepts]).to(self._vectors.device)
        return self._network.lift(self._vectors.index_select(0, rows))

    def backward(self) -> None:
        assert self._vectors.grad is not None
        for rows, kept in zip(distributed.share(self._parts(self._concepts)), self._graph, strict=True):
            part = self._embed(self._concepts[rows]) if kept is None else kept
            torch.autograd.backward(part, self._vectors.grad[torch.from_numpy(rows)])
        self._graph = []
        distributed.add_up_gradients(self.parameters())

    def lift_all(self) -> Tensor:
        with torch.no_grad():
            return self._network.lift(self._encode(np.arange(len(self._tokens))))

    def parameters(self) -> list[nn.Parameter]:
        return list(self.learned.values())

    def state(self) -> dict[str, NDArray[np.float32]]:
        """The trained weights, by their names in the encoder's model."""
        return {name: value.detach().cpu().numpy().copy() for name, value in self.learned.items()}
