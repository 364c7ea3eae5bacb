"""Static vectors: a text is the mean of the vectors of its word pieces, looked up in a table.

No network is computed, so thousands of texts a second pass on one core; word order is lost. The folders are those of
model2vec: ``tokenizer.json`` and the table in ``model.safetensors``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taxosphere.encoders.weights import Weights, verify
from taxosphere.errors import InputError
from taxosphere.typing import Floats

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_TABLE = "embeddings"
_PART = 4096  # texts whose token vectors are held at once


def is_static(folder: Path) -> bool:
    """Whether a folder of weights says that it is a table of static vectors."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(config, dict) and config.get("model_type") == "model2vec"


class StaticEncoder:
    """A table of token vectors, read at the first text.

    Parameters
    ----------
    weights : Weights
        Folder of the table and its tokenizer.
    max_tokens : int
        Tokens beyond are left out.
    prefix : str, optional
        Put in front of every text.
    """

    def __init__(self, weights: Weights, *, max_tokens: int = 64, prefix: str | None = None) -> None:
        self.weights = weights
        self.name = weights.name
        self.max_tokens = max_tokens
        self.prefix = prefix or ""
        self.dim = self._dim()

    def _dim(self) -> int:
        from safetensors import SafetensorError, safe_open

        path = self.weights.folder / "model.safetensors"
        try:
            with safe_open(path, "np") as tensors:
                shape = tensors.get_slice(_TABLE).get_shape()
        except (OSError, SafetensorError) as error:
            raise InputError(f"holds no table '{_TABLE}' of static vectors: {error}", path) from None
        if len(shape) != 2:
            raise InputError(f"its table '{_TABLE}' has the shape {shape}, not a row per token", path)
        return int(shape[1])

    @cached_property
    def _table(self) -> Floats:
        from safetensors.numpy import load_file

        verify(self.weights)
        table: Floats = load_file(self.weights.folder / "model.safetensors")[_TABLE].astype(np.float32)
        return table

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # else it warns after a fork
        from tokenizers import Tokenizer

        path = self.weights.folder / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises no narrower class
            raise InputError(f"the tokenizer cannot be read: {error}", path) from None
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _unknown(self) -> int:
        """Token of unknown words; it counts only in texts that have no other."""
        return int(self._tokenizer.token_to_id("[UNK]") or 0)

    def encode(self, texts: Sequence[str]) -> Floats:
        """Vectors (len(texts), dim), rows of length one; a text without a known word gets that of unknown words."""
        vectors = np.empty((len(texts), self.dim), np.float32)
        for start in range(0, len(texts), _PART):
            part = [self.prefix + text for text in texts[start : start + _PART]]
            vectors[start : start + len(part)] = self._means(part)
        return vectors

    def _means(self, texts: Sequence[str]) -> Floats:
        tokens = []
        for encoding in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False):
            recognised = [token for token in encoding.ids if token != self._unknown]
            tokens.append(recognised[: self.max_tokens] or [self._unknown])
        counts = np.array([len(row) for row in tokens])
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        # The mean is scaled to length one, so the sum serves as well.
        sums = np.add.reduceat(self._table[np.concatenate([np.array(row) for row in tokens])], starts, axis=0)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        units = np.asarray(sums / np.where(norms == 0, 1, norms), np.float32)
        units[norms[:, 0] == 0, 0] = 1.0  # vectors that cancel out have no direction of their own
        return units
