"""BERT's forward pass for a handful of texts of different lengths at once.

For one new concept the time goes into reading the weights from memory and into calls, not into arithmetic. Here texts
of all padded lengths share every matrix product and part for the attention alone, so that the weights are read once and
not once for each length; and but for the attention, padding is left out. The steps and their order are those of the
model's own pass, and so are the bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

if TYPE_CHECKING:
    from torch import Tensor

Batch = tuple["Tensor", "Tensor"]

_ROWS_STEP = 8  # a product of fewer rows, or of an odd number of them, may add up in another order


def plain(model: Any) -> bool:
    """Is it the BERT that `hidden` knows: absolute positions, gelu, 32 bits, no dropout?"""
    config = model.config
    return (
        config.model_type == "bert"
        and config.hidden_act == "gelu"
        and getattr(config, "position_embedding_type", "absolute") == "absolute"
        and not getattr(config, "is_decoder", False)
        and model.dtype == torch.float32
        and not model.training
    )


def hidden(model: Any, batches: Sequence[Batch]) -> list[Tensor]:
    """Token vectors (b, width, dim) of each batch of (ids, mask), both (b, width)."""
    embeddings, heads = model.embeddings, model.config.num_attention_heads
    mask = torch.cat([mask.flatten() for _, mask in batches]) == 1
    real, place = _without_padding(mask)
    parts = []
    for ids, _ in batches:
        words = embeddings.word_embeddings.weight[ids] + embeddings.token_type_embeddings.weight[0]
        parts.append((words + embeddings.position_embeddings.weight[: ids.shape[1]]).flatten(0, 1))
    rows = _normed(embeddings.LayerNorm, torch.cat(parts)[real])  # (tokens of all batches, dim)
    hiding = [None if bool(mask.all()) else _hiding(mask) for _, mask in batches]
    for layer in model.encoder.layer:
        own, output = layer.attention.self, layer.attention.output
        asked = [_linear(part, rows)[place] for part in (own.query, own.key, own.value)]
        mixed = _attention(asked, batches, hiding, heads)[real]
        rows = _normed(output.LayerNorm, _linear(output.dense, mixed) + rows)
        wide = F.gelu(_linear(layer.intermediate.dense, rows))
        rows = _normed(layer.output.LayerNorm, _linear(layer.output.dense, wide) + rows)
    sizes = [ids.numel() for ids, _ in batches]
    return [part.view(*ids.shape, -1) for part, (ids, _) in zip(torch.split(rows[place], sizes), batches, strict=True)]


def _without_padding(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Which of the padded tokens (t,) go through the products, and where each padded token finds its row among them;
    padding that was left out finds the first one, which nobody looks at there."""
    count = -(-int(mask.sum()) // _ROWS_STEP) * _ROWS_STEP
    real = torch.argsort(mask, descending=True, stable=True)[:count]
    place = torch.zeros(len(mask), dtype=torch.long)
    place[real] = torch.arange(count)
    return real, place


def _hiding(mask: Tensor) -> Tensor:
    """What is added to attention so that nobody looks at padding: made once, every layer asks for it."""
    b, width = mask.shape
    return torch.zeros(b, 1, 1, width).masked_fill_(mask[:, None, None, :] == 0, -torch.inf).expand(b, 1, width, width)


def _attention(
    asked: Sequence[Tensor], batches: Sequence[Batch], hiding: Sequence[Tensor | None], heads: int
) -> Tensor:
    """Each batch by itself: tokens look at those of their own text only."""
    mixed, start = [], 0
    for (ids, _), unseen in zip(batches, hiding, strict=True):
        b, width = ids.shape
        stop = start + b * width
        query, key, value = (part[start:stop].view(b, width, heads, -1).transpose(1, 2) for part in asked)
        found = F.scaled_dot_product_attention(query, key, value, attn_mask=unseen)
        mixed.append(found.transpose(1, 2).reshape(b * width, -1))
        start = stop
    return torch.cat(mixed)


def _linear(layer: Any, rows: Tensor) -> Tensor:
    return F.linear(rows, layer.weight, layer.bias)


def _normed(layer: Any, rows: Tensor) -> Tensor:
    return F.layer_norm(rows, layer.normalized_shape, layer.weight, layer.bias, layer.eps)
