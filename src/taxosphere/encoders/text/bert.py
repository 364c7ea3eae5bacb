"""BERT's forward pass on processors, for texts of different lengths at once.

For one new concept the time goes into reading the weights from memory and into calls, not into arithmetic. Here texts
of all padded lengths share every matrix product and part for the attention alone, so that the weights are read once and
not once for each length; but for the attention, padding is left out; and the weights lie in memory as the products read
them, which lets two cores share few rows.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as F

Batch = tuple[Tensor, Tensor]

_EMBEDDINGS = (
    *(f"{name}_embeddings.weight" for name in ("word", "position", "token_type")),
    *(f"LayerNorm.{kind}" for kind in ("weight", "bias")),
)
_LAYER = tuple(
    f"{name}.{kind}"
    for name in (
        *(f"attention.self.{name}" for name in ("query", "key", "value")),
        *("attention.output.dense", "attention.output.LayerNorm"),
        *("intermediate.dense", "output.dense", "output.LayerNorm"),
    )
    for kind in ("weight", "bias")
)
_ROWS_STEP = 8  # a product of an odd number of rows may add up in another order


@dataclass(frozen=True)
class BertWeights:
    """The weights of a BERT by the names that transformers gives them, and what else a forward pass needs."""

    tensors: Mapping[str, Tensor]
    layers: int
    heads: int
    epsilon: float  # of the layer norms

    @classmethod
    def of(cls, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> BertWeights:
        return cls(tensors, config["num_hidden_layers"], config["num_attention_heads"], config["layer_norm_eps"])

    @property
    def words(self) -> Tensor:
        """Vectors (vocabulary, dim) of the word pieces."""
        return self.tensors["embeddings.word_embeddings.weight"]

    def replace(self, tuned: Mapping[str, Tensor]) -> BertWeights | None:
        """The weights with some of them replaced; None where a name or a shape does not fit."""
        for name, value in tuned.items():
            if name not in self.tensors or self.tensors[name].shape != value.shape:
                return None
        return dataclasses.replace(self, tensors={**self.tensors, **tuned})


def of_model(model: Any) -> BertWeights | None:
    """The weights of a model of transformers; None unless it is a plain BERT in 32 bits on a CPU, in eval mode."""
    config = model.config.to_dict()
    if not _plain(config) or model.dtype != torch.float32 or model.device.type != "cpu" or model.training:
        return None
    return BertWeights.of(config, dict(model.named_parameters()))


def load(folder: Path) -> BertWeights | None:
    """The weights of a folder, read without transformers; None where they are not those of a plain BERT in 32 bits."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if not _plain(config) or (config.get("dtype") or config.get("torch_dtype") or "float32") != "float32":
            return None
        tensors = load_file(folder / "model.safetensors")
    except (OSError, ValueError, SafetensorError):  # transformers tells what is wrong
        return None
    names = {f"embeddings.{name}" for name in _EMBEDDINGS}
    names |= {f"encoder.layer.{n}.{name}" for n in range(config["num_hidden_layers"]) for name in _LAYER}
    if not names <= tensors.keys() or any(tensors[name].dtype != torch.float32 for name in names):
        return None
    return BertWeights.of(config, tensors)


def _plain(config: Mapping[str, Any]) -> bool:
    """Whether settings are those of a BERT as `Reader` computes it: absolute positions, gelu."""
    return (
        config.get("model_type") == "bert"
        and config.get("hidden_act") == "gelu"
        and (config.get("position_embedding_type") or "absolute") == "absolute"
        and not config.get("is_decoder")
        and {"num_hidden_layers", "num_attention_heads", "layer_norm_eps"} <= config.keys()
    )


class Product:
    """rows · weightᵀ + bias, for linear layers that read the same rows side by side."""

    def __init__(self, weights: Sequence[Tensor], biases: Sequence[Tensor]) -> None:
        with torch.no_grad():
            self.bias = torch.cat(list(biases))
            self.weight = torch.cat(list(weights))
            self.packed = _packs()
            if self.packed:
                self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight)

    def __call__(self, rows: Tensor, *, gelu: bool = False) -> Tensor:
        if self.packed:
            product: Tensor = torch.ops.mkldnn._linear_pointwise(
                rows, self.weight, self.bias, "gelu" if gelu else "none", [], "none"
            )
            return product
        product = F.linear(rows, self.weight, self.bias)
        return F.gelu(product) if gelu else product


@cache
def _packs() -> bool:
    """Whether this torch has oneDNN's products with weights laid out beforehand.

    They are no part of its public interface, so they are tried once.
    """
    rows, weight, bias = torch.arange(16.0).view(2, 8), torch.arange(32.0).view(4, 8), torch.arange(4.0)
    try:
        packed = torch.ops.mkldnn._reorder_linear_weight(weight)
        product = torch.ops.mkldnn._linear_pointwise(rows, packed, bias, "none", [], "none")
    except (AttributeError, NotImplementedError, RuntimeError):
        return False
    return torch.equal(product, F.linear(rows, weight, bias))


class Norm:
    """A layer norm over the last dimension."""

    def __init__(self, weight: Tensor, bias: Tensor, epsilon: float) -> None:
        self.weight, self.bias, self.epsilon = weight, bias, epsilon

    def __call__(self, rows: Tensor) -> Tensor:
        return F.layer_norm(rows, self.weight.shape, self.weight, self.bias, self.epsilon)


class Layer:
    """The products and norms of one layer."""

    def __init__(self, weights: BertWeights, number: int) -> None:
        def product(*names: str) -> Product:
            places = [f"encoder.layer.{number}.{name}" for name in names]
            return Product(
                [weights.tensors[f"{place}.weight"] for place in places],
                [weights.tensors[f"{place}.bias"] for place in places],
            )

        def norm(name: str) -> Norm:
            place = f"encoder.layer.{number}.{name}.LayerNorm"
            return Norm(weights.tensors[f"{place}.weight"], weights.tensors[f"{place}.bias"], weights.epsilon)

        self.projections = product(*(f"attention.self.{name}" for name in ("query", "key", "value")))
        self.attended = product("attention.output.dense")
        self.wide, self.narrow = product("intermediate.dense"), product("output.dense")
        self.attention_norm, self.norm = norm("attention.output"), norm("output")


class Reader:
    """BERT's forward pass over a copy of a model's weights as they are at this moment."""

    def __init__(self, weights: BertWeights) -> None:
        self.heads = weights.heads
        tensors = weights.tensors
        self.words = weights.words
        self._types = tensors["embeddings.token_type_embeddings.weight"]
        self._positions = tensors["embeddings.position_embeddings.weight"]
        place = "embeddings.LayerNorm"
        self._norm = Norm(tensors[f"{place}.weight"], tensors[f"{place}.bias"], weights.epsilon)
        self._layers = [Layer(weights, number) for number in range(weights.layers)]
        self._copied = [(value, value._version) for name, value in tensors.items() if name.startswith("encoder.")]

    @property
    def outdated(self) -> bool:
        """Whether the model's weights have changed since they were copied."""
        return any(weight._version != version for weight, version in self._copied)

    def hidden(self, batches: Sequence[Batch]) -> list[Tensor]:
        """Token vectors (b, width, dim) of each batch of (ids, mask), both (b, width)."""
        real, place = _without_padding(torch.cat([mask.flatten() for _, mask in batches]) == 1)
        parts = []
        for ids, _ in batches:
            words = self.words[ids] + self._types[0]
            parts.append((words + self._positions[: ids.shape[1]]).flatten(0, 1))
        rows = self._norm(torch.cat(parts)[real])  # (tokens of all batches, dim)
        hiding = [None if bool(mask.all()) else _hiding(mask) for _, mask in batches]
        for layer in self._layers:
            mixed = self._attention(layer.projections(rows)[place], batches, hiding)[real]
            rows = layer.attention_norm(layer.attended(mixed) + rows)
            rows = layer.norm(layer.narrow(layer.wide(rows, gelu=True)) + rows)
        sizes = [ids.numel() for ids, _ in batches]
        return [
            part.view(*ids.shape, -1) for part, (ids, _) in zip(torch.split(rows[place], sizes), batches, strict=True)
        ]

    def _attention(self, projected: Tensor, batches: Sequence[Batch], hiding: Sequence[Tensor | None]) -> Tensor:
        """Attention within each text, from projections (tokens, 3 · dim); one batch after the other."""
        mixed, start = [], 0
        for (ids, _), hidden in zip(batches, hiding, strict=True):
            b, width = ids.shape
            stop = start + b * width
            query, key, value = projected[start:stop].view(b, width, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
            values = F.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
            mixed.append(values.transpose(1, 2).reshape(b * width, -1))
            start = stop
        return torch.cat(mixed)


def _without_padding(mask: Tensor) -> tuple[Tensor, Tensor]:
    """Positions of the tokens that go through the products, and the row of each padded token (t,) among them.

    Padding that was left out gets the first row; attention ignores it.
    """
    count = min(-(-int(mask.sum()) // _ROWS_STEP) * _ROWS_STEP, len(mask))
    real = torch.argsort(mask, descending=True, stable=True)[:count]
    place = torch.zeros(len(mask), dtype=torch.long)
    place[real] = torch.arange(count)
    return real, place


def _hiding(mask: Tensor) -> Tensor:
    """What is added to attention so that padding is ignored; made once for all layers."""
    b, width = mask.shape
    return torch.zeros(b, 1, 1, width).masked_fill_(mask[:, None, None, :] == 0, -torch.inf).expand(b, 1, width, width)
