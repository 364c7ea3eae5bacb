"""A Hugging Face text model: tokens in, one unit vector per text out."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from taxosphere.encoders.device import CPU, with_device
from taxosphere.encoders.loading import without_progress_bars
from taxosphere.encoders.text import recipe
from taxosphere.encoders.weights import Weights, verify
from taxosphere.errors import TaxosphereError
from taxosphere.typing import CountProgress, Floats

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor, nn

    from taxosphere.encoders.text.bert import Reader

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")

_OTHER_ENCODER = "{}: another encoder than the one that was fine-tuned"
_BATCH = 32
# Batches hold texts of one padded length, a multiple of this. With such shapes the vector of a text has the same bits
# in every company and on any number of threads, so a half-filled cache cannot change a result.
_LENGTH_STEP = 8
_LAYER = re.compile(r"(?:^|\.)(?:layers?|blocks?|h)\.(\d+)\.")  # how BERT, its relatives, T5 and GPT count them


class TransformerEncoder:
    """A Hugging Face text model, loaded at the first text.

    Parameters
    ----------
    weights : Weights
        Folder and identity of the weights.
    max_tokens : int
        Longer texts are cut off.
    prefix : str, optional
        Put in front of every text; None: what the model's folder asks for.
    tuned : mapping, optional
        Fine-tuned weights by name, in place of those on disk.
    device : str
        Where the model computes, as torch names it.
    """

    def __init__(
        self,
        weights: Weights,
        *,
        max_tokens: int = 64,
        prefix: str | None = None,
        tuned: Arrays | None = None,
        device: str = CPU,
    ) -> None:
        self.weights = weights
        self.device = device
        self.tuned = tuned or {}
        self.name = weights.name
        self.recipe = recipe.read(weights.folder, weights.name)
        self.dim = self.recipe.dim
        self.max_tokens = min(max_tokens, self.recipe.max_tokens)
        self.prefix = self.recipe.prompt if prefix is None else prefix
        self._reader: Reader | None = None

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copy, without the weights that were laid out for this processor."""
        return {**vars(self), "_reader": None}

    @property
    def identity(self) -> str:
        """Everything that decides the vector of a text."""
        parts = [self.weights.identity, self.recipe.pooling, self.max_tokens, self.prefix]
        if self.tuned:
            parts.append(_digest(self.tuned))
        return with_device(json.dumps(parts), self.device)

    def with_weights(self, tuned: Arrays) -> TransformerEncoder:
        """The encoder with these weights, by their names in its model, in place of those on disk."""
        return TransformerEncoder(
            self.weights, max_tokens=self.max_tokens, prefix=self.prefix, tuned=tuned, device=self.device
        )

    def upper(self, layers: int) -> dict[str, nn.Parameter]:
        """Parameters of the last ``layers`` layers and of what follows them, by name; all there are for 0."""
        parameters: dict[str, nn.Parameter] = dict(self.model.named_parameters())
        numbers = {name: int(match[1]) for name in parameters if (match := _LAYER.search(name))}
        if layers == 0 or not numbers:
            return parameters
        first = max(numbers.values()) + 1 - layers
        start = min(place for place, name in enumerate(parameters) if numbers.get(name, -1) >= first)
        return {name: value for place, (name, value) in enumerate(parameters.items()) if place >= start}

    @cached_property
    def _fast_tokenizer(self) -> FastTokenizer | None:
        return load_tokenizer(self.weights.folder, self.max_tokens)

    @cached_property
    def tokenizer(self) -> Any:
        """The tokenizer as transformers loads it."""
        from transformers import AutoTokenizer

        return without_progress_bars(lambda: AutoTokenizer.from_pretrained(self.weights.folder, local_files_only=True))

    @cached_property
    def model(self) -> Any:
        """The model as transformers loads it, with the tuned weights in place."""
        from transformers import AutoModel

        verify(self.weights)
        try:
            model = without_progress_bars(lambda: AutoModel.from_pretrained(self.weights.folder, local_files_only=True))
        except (OSError, ValueError) as error:
            first = str(error).strip().splitlines()[0]
            raise TaxosphereError(f"{self.weights.folder}: the encoder cannot be loaded: {first}") from error
        if self.tuned:
            _replace(model, self.tuned, self.weights.folder)
        return model.eval().to(self.device)

    def encode(self, texts: Sequence[str], *, progress: CountProgress | None = None) -> Floats:
        """Vectors (len(texts), dim), rows of length one; each distinct text is encoded once, shortest first."""
        import torch

        distinct = list(dict.fromkeys(texts))
        vectors = np.zeros((len(distinct), self.dim), np.float32)
        tokens = self.tokenize(distinct)
        done = 0
        with torch.no_grad():  # inference mode would mark weights loaded in it as unfit for fine-tuning
            groups = batches_by_length(tokens)
            batches = [[tokens[row] for row in rows] for rows in groups]
            for rows, embedded in zip(groups, self._embed_each(batches), strict=True):
                vectors[rows] = embedded.cpu().numpy()
                done += len(rows)
                if progress is not None:
                    progress(done, len(distinct))
        where = {text: row for row, text in enumerate(distinct)}
        return vectors[[where[text] for text in texts]] if texts else vectors

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of every text with its prefix, at most ``max_tokens`` of them."""
        if not texts:
            return []
        ready = [self.prefix + text for text in texts]
        if self.recipe.lower_case:
            ready = [text.lower() for text in ready]
        if self._fast_tokenizer is not None:
            return self._fast_tokenizer(ready)
        tokens: list[list[int]] = self.tokenizer(ready, truncation=True, max_length=self.max_tokens)["input_ids"]
        return tokens

    def embed(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        """Unit vectors (b, dim) of one batch; differentiable, for fine-tuning."""
        ids, mask = self._pad(tokens)
        return self._unit(self.model(input_ids=ids, attention_mask=mask).last_hidden_state, mask)

    def _embed_each(self, batches: Sequence[Sequence[Sequence[int]]]) -> Iterator[Tensor]:
        """`embed` of several batches; a BERT computes small ones together."""
        reader = self._bert_reader()
        if reader is None:
            yield from map(self.embed, batches)
            return
        for together in _joined(batches):
            padded = [self._pad(tokens) for tokens in together]
            for hidden, (_, mask) in zip(reader.hidden(padded), padded, strict=True):
                yield self._unit(hidden, mask)

    def _bert_reader(self) -> Reader | None:
        """Our forward pass where the model is a plain BERT; None where transformers has to run it.

        Without transformers, whose import takes seconds, unless its model is loaded already: that one may be trained.
        """
        from taxosphere.encoders.text import bert

        if self.device != CPU:
            return None
        if "model" not in vars(self):
            self._reader = self._reader or self._read_weights()
            if self._reader is not None:
                return self._reader
        weights = bert.of_model(self.model)
        if weights is None:
            return None
        if self._reader is None or self._reader.outdated or self._reader.words is not weights.words:
            self._reader = bert.Reader(weights)
        return self._reader

    def _read_weights(self) -> Reader | None:
        import torch

        from taxosphere.encoders.text import bert

        verify(self.weights)
        weights = bert.load(self.weights.folder)
        if weights is None:
            return None
        weights = weights.replace({name: torch.tensor(value) for name, value in self.tuned.items()})
        if weights is None:
            raise TaxosphereError(_OTHER_ENCODER.format(self.weights.folder))
        return bert.Reader(weights)

    def _pad(self, tokens: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
        """Token numbers and mask, both (b, width), on the device of the model."""
        import torch

        width = min(padded_length(max(len(row) for row in tokens)), self.recipe.max_tokens)
        pad = self.tokenizer.pad_token_id or 0 if self._fast_tokenizer is None else self._fast_tokenizer.pad
        ids = torch.tensor([[*row, *([pad] * (width - len(row)))] for row in tokens])
        mask = (torch.arange(width) < torch.tensor([[len(row)] for row in tokens])).long()
        return ids.to(self.device), mask.to(self.device)

    def _unit(self, hidden: Tensor, mask: Tensor) -> Tensor:
        from torch.nn import functional as F

        return F.normalize(_pool(hidden.float(), mask, self.recipe.pooling), dim=-1)


def _replace(model: Any, tuned: Arrays, folder: Path) -> None:
    import torch

    parameters = dict(model.named_parameters())
    if any(name not in parameters or parameters[name].shape != value.shape for name, value in tuned.items()):
        raise TaxosphereError(_OTHER_ENCODER.format(folder))
    with torch.no_grad():
        for name, value in tuned.items():
            parameters[name].copy_(torch.tensor(value))


def _digest(arrays: Arrays) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name in sorted(arrays):
        digest.update(name.encode() + b"\0")
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def batches_by_length(tokens: Sequence[Sequence[int]], size: int = _BATCH) -> list[NDArray[np.intp]]:
    """Row numbers of batches, each of one padded length, shortest first."""
    lengths = np.array([padded_length(len(row)) for row in tokens], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1) if len(order) else []
    return [group[start : start + size] for group in groups for start in range(0, len(group), size)]


def _joined(batches: Iterable[Sequence[T]]) -> Iterator[list[Sequence[T]]]:
    """Batches one after another that hold no more texts together than one may."""
    group: list[Sequence[T]] = []
    for batch in batches:
        if group and sum(map(len, group)) + len(batch) > _BATCH:
            yield group
            group = []
        group.append(batch)
    if group:
        yield group


def padded_length(length: int) -> int:
    """The length that a text of so many tokens is padded to."""
    return max(1, -(-length // _LENGTH_STEP)) * _LENGTH_STEP


def _pool(hidden: Tensor, mask: Tensor, mode: str) -> Tensor:
    """(b, width, dim) token vectors to (b, dim)."""
    import torch

    weight = mask.unsqueeze(-1).to(hidden.dtype)
    if mode == "cls":
        return hidden[:, 0]
    if mode == "last":
        return hidden[torch.arange(len(hidden), device=hidden.device), mask.sum(1) - 1]
    if mode == "max":
        return hidden.masked_fill(weight == 0, -torch.inf).amax(1)
    total, count = (hidden * weight).sum(1), weight.sum(1).clamp(min=1)
    return total / (count.sqrt() if mode == "mean_sqrt" else count)


_BERT_TOKENIZERS = ("BertTokenizer", "BertTokenizerFast", "PreTrainedTokenizerFast", "TokenizersBackend")


class FastTokenizer:
    """Token ids of texts, special tokens included, cut off after ``max_tokens``.

    Read from ``tokenizer.json`` without importing transformers, which takes seconds.
    """

    def __init__(self, tokenizer: Tokenizer, pad: int, max_tokens: int) -> None:
        self.pad = pad
        self._tokenizer = tokenizer
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]


def load_tokenizer(folder: Path, max_tokens: int) -> FastTokenizer | None:
    """The tokenizer of a folder; None where transformers might read its files in another way."""
    stated, settings = _json(folder / "tokenizer.json"), _json(folder / "tokenizer_config.json")
    if stated is None or settings is None or not _is_plain_bert(stated, settings):
        return None
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else it warns after a fork
    from tokenizers import Tokenizer

    pad = next(token["id"] for token in stated["added_tokens"] if token["content"] == settings["pad_token"])
    return FastTokenizer(Tokenizer.from_file(str(folder / "tokenizer.json")), pad, max_tokens)


def _is_plain_bert(stated: dict[str, Any], settings: dict[str, Any]) -> bool:
    """Whether both files describe the same BERT tokenizer and nothing else."""
    normalizer = stated.get("normalizer") or {}
    normal = {
        "do_lower_case": normalizer.get("lowercase"),
        "strip_accents": normalizer.get("strip_accents"),
        "tokenize_chinese_chars": normalizer.get("handle_chinese_chars"),
    }
    tokens = {token["content"] for token in stated.get("added_tokens") or []}
    special = {value for key, value in settings.items() if key.endswith("_token") and isinstance(value, str)}
    decoder = settings.get("added_tokens_decoder") or {}
    return (
        settings.get("tokenizer_class") in _BERT_TOKENIZERS
        and normalizer.get("type") == "BertNormalizer"
        and (stated.get("pre_tokenizer") or {}).get("type") == "BertPreTokenizer"
        and (stated.get("model") or {}).get("type") == "WordPiece"
        and all(settings.get(key, value) == value for key, value in normal.items())
        and settings.get("pad_token") in tokens
        and tokens == special
        and {token.get("content") for token in decoder.values()} <= tokens
    )


def _json(path: Path) -> dict[str, Any] | None:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
