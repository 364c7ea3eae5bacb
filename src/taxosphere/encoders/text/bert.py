"""BERT's forward pass on processors, for texts of different lengths at once.

For one new concept the time goes into reading the weights from memory and into calls, not into arithmetic. Here texts
of all padded lengths share every matrix product and part for the attention alone, so that the weights are read once and
not once for each length; but for the attention, padding is left out; and the weights lie in memory as the products read
them, which lets two cores share few rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor

Batch = tuple["Tensor", "Tensor"]

_ROWS_STEP = 8  # a product of an odd number of rows may add up in another order


def plain(model: Any) -> bool:
    """Is it the BERT that `Reader` knows: absolute positions, gelu, 32 bits on a processor, no dropout?"""
    config = model.config
    return (
        config.model_type == "bert"
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not getattr(config, "is_decoder", False)
        and model.dtype == torch.float32
        and model.device.type == "cpu"
        and not model.training
    )


class Product:
    """rows · weightᵀ + bias, for linear layers that read the same rows side by side."""

    def __init__(self, *layers: Any) -> None:
        with torch.no_grad():
            self.bias = torch.cat([layer.bias for layer in layers])
            self.weight = torch.cat([layer.weight for layer in layers])
            self.packed = _packs()
            if self.packed:
                self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight)

    def __call__(self, rows: Tensor, *, gelu: bool = False) -> Tensor:
        if self.packed:
            found: Tensor = torch.ops.mkldnn._linear_pointwise(
                rows, self.weight, self.bias, "gelu" if gelu else "none", [], "none"
            )
            return found
        found = F.linear(rows, self.weight, self.bias)
        return F.gelu(found) if gelu else found


@cache
def _packs() -> bool:
    """Does this torch have oneDNN's products with weights laid out beforehand? They are no part of its promised
    interface, so they are tried once."""
    rows, weight, bias = torch.arange(16.0).view(2, 8), torch.arange(32.0).view(4, 8), torch.arange(4.0)
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight(weight)
        found = torch.ops.mkldnn._linear_pointwise(rows, packed, bias, "none", [], "none")
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
    return torch.equal(found, F.linear(rows, weight, bias))


@dataclass(frozen=True)
class Layer:
    asking: Product
    """Query, key and value."""
    attended: Product
    wide: Product
    narrow: Product
    norms: tuple[Any, Any]


class Reader:
    """A model's weights, copied as they are at this moment."""

    def __init__(self, model: Any) -> None:
        self.embeddings, self.heads = model.embeddings, model.config.num_attention_heads
        self._copied = [(weight, weight._version) for weight in model.encoder.parameters()]
        self.layers = [
            Layer(
                Product(layer.attention.self.query, layer.attention.self.key, layer.attention.self.value),
                Product(layer.attention.output.dense),
                Product(layer.intermediate.dense),
                Product(layer.output.dense),
                (layer.attention.output.LayerNorm, layer.output.LayerNorm),
            )
            for layer in model.encoder.layer
        ]

    @property
    def outdated(self) -> bool:
        """Has the model learned since?"""
        return any(weight._version != version for weight, version in self._copied)

    def hidden(self, batches: Sequence[Batch]) -> list[Tensor]:
        """Token vectors (b, width, dim) of each batch of (ids, mask), both (b, width)."""
        embeddings = self.embeddings
        real, place = _without_padding(torch.cat([mask.flatten() for _, mask in batches]) == 1)
        parts = []
        for ids, _ in batches:
            words = embeddings.word_embeddings.weight[ids] + embeddings.token_type_embeddings.weight[0]
            parts.append((words + embeddings.position_embeddings.weight[: ids.shape[1]]).flatten(0, 1))
        rows = _normed(embeddings.LayerNorm, torch.cat(parts)[real])  # (tokens of all batches, dim)
        hiding = [None if bool(mask.all()) else _hiding(mask) for _, mask in batches]
        for layer in self.layers:
            mixed = self._attention(layer.asking(rows)[place], batches, hiding)[real]
            rows = _normed(layer.norms[0], layer.attended(mixed) + rows)
            rows = _normed(layer.norms[1], layer.narrow(layer.wide(rows, gelu=True)) + rows)
        sizes = [ids.numel() for ids, _ in batches]
        return [
            part.view(*ids.shape, -1) for part, (ids, _) in zip(torch.split(rows[place], sizes), batches, strict=True)
        ]

    def _attention(self, asked: Tensor, batches: Sequence[Batch], hiding: Sequence[Tensor | None]) -> Tensor:
        """Each batch by itself: tokens look at those of their own text only."""
        mixed, start = [], 0
        for (ids, _), unseen in zip(batches, hiding, strict=True):
            b, width = ids.shape
            stop = start + b * width
            query, key, value = asked[start:stop].view(b, width, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            found = F.scaled_dot_product_attention(query, key, value, attn_mask=unseen)
            mixed.append(found.transpose(1, 2).reshape(b * width, -1))
            start = stop
        return torch.cat(mixed)


def _without_padding(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Which of the padded tokens (t,) go through the products, and where each padded token finds its row among them;
    padding that was left out finds the first one, which nobody looks at there."""
    count = min(-(-int(mask.sum()) // _ROWS_STEP) * _ROWS_STEP, len(mask))
    real = torch.argsort(mask, descending=True, stable=True)[:count]
    place = torch.zeros(len(mask), dtype=torch.long)
    place[real] = torch.arange(count)
    return real, place


def _hiding(mask: Tensor) -> Tensor:
    """What is added to attention so that nobody looks at padding: made once, every layer asks for it."""
    b, width = mask.shape
    return torch.zeros(b, 1, 1, width).masked_fill_(mask[:, None, None, :] == 0, -torch.inf).expand(b, 1, width, width)


def _normed(layer: Any, rows: Tensor) -> Tensor:
    return F.layer_norm(rows, layer.normalized_shape, layer.weight, layer.bias, layer.eps)
